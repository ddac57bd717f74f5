package dataset

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/parquet"
)

// pairsOf writes a file and reads the pairs in it.
func pairsOf(t *testing.T, name, content string, ids []string, samples int) (*Pairs, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return ReadPairs(t.Context(), path, ids, samples, "same")
}

func TestReadPairs(t *testing.T) {
	ids := []string{"a", "b", "one, two", "4"}
	for _, c := range []struct {
		name, text string
		ids        []string
		pairs      [][2]int
		rows       []int
	}{
		{"p.csv", "0,1\n", nil, [][2]int{{0, 1}}, []int{1}},
		{"p.csv", "\xef\xbb\xbffrom,to\r\n 3 ,1\r\n0,2\r\n", nil, [][2]int{{3, 1}, {0, 2}}, []int{2, 3}},
		{"p.txt", "0\t1\n2\t3", nil, [][2]int{{0, 1}, {2, 3}}, []int{1, 2}},
		{"p.tsv", "id\tid\na\tone, two\n", ids, [][2]int{{0, 2}}, []int{2}},
		{"p.csv", "a,b\n", ids, [][2]int{{0, 1}}, []int{1}},
		{"p.csv", "name,label\na,\"one, two\"\n4, b\n", ids, [][2]int{{0, 2}, {3, 1}}, []int{2, 3}},
		{"p.csv", ",,level,2\na,b,same,merge\n,,level,0\nb,4,different,split\na,4,skip,sample\n4,b,same,\n", ids, [][2]int{{0, 1}, {3, 1}}, []int{2, 6}},
		{"p.csv", "a;b\nb;a\n", ids, [][2]int{{0, 1}, {1, 0}}, []int{1, 2}},
	} {
		p, err := pairsOf(t, c.name, c.text, c.ids, len(ids))
		if err != nil || !slices.Equal(p.Pairs, c.pairs) || !slices.Equal(p.rows, c.rows) || p.File.Bytes != int64(len(c.text)) {
			t.Errorf("%q: %+v, %v", c.text, p, err)
		}
	}
}

func TestReadPairsParquet(t *testing.T) {
	var b strings.Builder
	if err := parquet.Write(&b, parquet.Column{Name: "x", Data: []int64{3, 0}}, parquet.Column{Name: "y", Data: []int64{1, 2}}); err != nil {
		t.Fatal(err)
	}
	p, err := pairsOf(t, "p.parquet", b.String(), nil, 4)
	if err != nil || !slices.Equal(p.Pairs, [][2]int{{3, 1}, {0, 2}}) {
		t.Fatal(p, err)
	}
	if got := p.Where([]int{1, 0}); !strings.HasSuffix(got, "p.parquet, rows 1 and 0 (counted from 0)") {
		t.Error(got)
	}
}

func TestReadGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.csv")
	if err := os.WriteFile(path, []byte("id,photo\nb,beach \nc,NA\na,\nd,beach\ne,null\nf, park\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := ReadGroups(t.Context(), path+":photo", []string{"a", "b", "c", "d", "f"}, 5)
	if err != nil || !slices.Equal(g.Groups, []int{-1, 0, -1, 0, 1}) || !slices.Equal(g.Names, []string{"beach", "park"}) {
		t.Errorf("%+v, %v", g, err)
	}
	g, err = ReadGroups(t.Context(), path+":photo", nil, 6)
	if err != nil || !slices.Equal(g.Groups, []int{0, -1, -1, 0, -1, 1}) {
		t.Errorf("%+v, %v", g, err)
	}
}

// FuzzPairs holds what is accepted to encoding/csv and the samples that there are.
func FuzzPairs(f *testing.F) {
	for _, s := range []string{"0,1\n", "from,to\n3,1\n", "\xef\xbb\xbf1,2\r\n", "1\n", "", "a,b,c\n", "1,2,same,x\n3,4,skip\n", "1,\"2\n", "1,\x00\n", "9,1\n", "+1,01\n"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		path := filepath.Join(dir, "p.csv")
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := ReadPairs(t.Context(), path, nil, 5, "same")
		if err != nil {
			if strings.Contains(err.Error(), "\n") || p != nil {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(s, "\xef\xbb\xbf")))
		line, _, _ := strings.Cut(s, "\n")
		for _, c := range "\t;," {
			if strings.ContainsRune(line, c) {
				r.Comma = c
			}
		}
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		rows = slices.DeleteFunc(rows, func(row []string) bool { return len(row) > 2 && row[2] != "same" })
		if err != nil || len(rows) < len(p.Pairs) {
			t.Fatalf("%q: %v, %v", s, rows, err)
		}
		for i, row := range rows[len(rows)-len(p.Pairs):] {
			a, errA := strconv.Atoi(strings.TrimSpace(row[0]))
			b, errB := strconv.Atoi(strings.TrimSpace(row[1]))
			if errA != nil || errB != nil || p.Pairs[i] != [2]int{a, b} || min(a, b) < 0 || max(a, b) > 4 {
				t.Fatalf("%q: pair %d is %v", s, i, p.Pairs[i])
			}
		}
	})
}
