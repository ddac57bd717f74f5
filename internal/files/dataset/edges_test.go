package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/method/view"
)

// edgesOf reads the links of a file, of samples of these ids, or of those that it lists.
func edgesOf(t *testing.T, path string, ids []string) (*edges, []string, error) {
	t.Helper()
	l := newLibrary(t.Context())
	defer l.close()
	all, err := l.openAllEdges([]string{path})
	if err != nil {
		return nil, nil, err
	}
	set := &Set{}
	number := set.entering()
	if ids != nil {
		number, set.IDs = numberOf(ids, len(ids)), ids
	}
	return all[0], set.IDs, all[0].read(number, ids == nil)
}

func TestReadEdges(t *testing.T) {
	f := newFolder(t)
	ids := []string{"a", "b", "c"}
	for _, c := range []struct {
		file, columns, text string
		ids                 []string
		want                view.Links
	}{
		{"e.csv", "", "a,b\nb,c\n", nil, view.Links{Pairs: [][2]int{{0, 1}, {1, 2}}}},
		{"e.csv", "", "b,c\r\n", ids, view.Links{Pairs: [][2]int{{1, 2}}}},
		{"e.csv", "", "\xef\xbb\xbfFrom,To\na, b\n", nil, view.Links{Pairs: [][2]int{{0, 1}}}},
		{"e.csv", "", "paper,cited\na,b\n", ids, view.Links{Pairs: [][2]int{{0, 1}}}},
		{"e.tsv", "", "a\tb\t2.5\nb\tc\t0\n", nil, view.Links{Pairs: [][2]int{{0, 1}, {1, 2}}, Weights: []float64{2.5, 0}}},
		{"e.csv", "", "x,y,strength\na,b,2\n", nil, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{2}}},
		{"e.csv", "", "x,y,probability\na,b,0.5\n", nil, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{0.5}, Probability: true}},
		{"e.csv", "", "match_weight,match_probability,unique_id_l,unique_id_r,gamma\n9,0.5,a,b,1\n", nil, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{0.5}, Probability: true}},
		{"e.csv", ":citing,cited", "year,citing,cited\n1999,a,b\n", nil, view.Links{Pairs: [][2]int{{0, 1}}}},
		{"e.csv", ":citing,cited,year", "year,citing,cited\n1999,a,b\n", nil, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{1999}}},
		{"e.csv", "", "source,times,target\na,3,b\n", nil, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{3}}},
	} {
		e, names, err := edgesOf(t, f.write(c.file, []byte(c.text))+c.columns, c.ids)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := e.links; !slices.Equal(got.Pairs, c.want.Pairs) || !slices.Equal(got.Weights, c.want.Weights) || got.Probability != c.want.Probability {
			t.Errorf("%q: %+v", c.text, got)
		}
		if want := ids[:len(names)]; !slices.Equal(names, want) {
			t.Errorf("%q: ids %q", c.text, names)
		}
	}
}

func TestReadEdgesParquet(t *testing.T) {
	f := newFolder(t)
	var b strings.Builder
	err := parquet.Write(&b, parquet.Column{Name: "match_probability", Data: []float64{0.5, 0.25}},
		parquet.Column{Name: "unique_id_l", Data: []int64{7, 7}}, parquet.Column{Name: "unique_id_r", Data: []int64{8, 9}})
	if err != nil {
		t.Fatal(err)
	}
	e, ids, err := edgesOf(t, f.write("e.parquet", []byte(b.String())), nil)
	if err != nil || !slices.Equal(e.links.Pairs, [][2]int{{0, 1}, {0, 2}}) || !slices.Equal(e.links.Weights, []float64{0.5, 0.25}) || !e.links.Probability {
		t.Errorf("%+v, %v", e, err)
	}
	if !slices.Equal(ids, []string{"7", "8", "9"}) {
		t.Error(ids)
	}
}

func TestReadEdgesRefused(t *testing.T) {
	f := newFolder(t)
	ids := []string{"a", "b", "c"}
	for _, c := range []struct {
		columns, text string
		ids           []string
		want          []string
	}{
		{"", "a\n", nil, []string{"line 1 has 1 cell", "two ids"}},
		{"", "from,to\n", nil, []string{"lists no link"}},
		{"", "a,b\na,d\n", ids, []string{"line 2", `no sample has the id "d"`}},
		{"", "a,b,1\na,c,-1\n", nil, []string{"line 2", `the weight is "-1"`}},
		{"", "a,b,1\na,c,\n", nil, []string{"line 2", `the weight is ""`}},
		{"", "a,b,1,2\n", nil, []string{"line 1 has 4 cells", "FILE:from,to,weight"}},
		{"", "a,b\n,c\n", nil, []string{"line 2", "an id is empty; give every"}},
		{"", "a,b\nb,\xff\n", nil, []string{"line 2", `the id "\xff" is not UTF-8; save the file in UTF-8`}},
		{"", "a,b\nc\n", nil, []string{"line 2 and line 1 differ"}},
		{":from", "from,to\na,b\n", nil, []string{"names 1 column"}},
		{":from,till", "from,to\na,b\n", nil, []string{"no column \"till\"", "from and to"}},
	} {
		_, _, err := edgesOf(t, f.write("e.csv", []byte(c.text))+c.columns, c.ids)
		for _, want := range append(c.want, "e.csv") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", c.text, err)
			}
		}
	}
	if _, _, err := edgesOf(t, f.npy("e.npy", matrix("", 2, 2)), nil); err == nil || !strings.Contains(err.Error(), "is no table of links") {
		t.Error(err)
	}
}

func TestLoadEdges(t *testing.T) {
	f := newFolder(t)
	rows := f.text("rows.csv", "id,x,y", "p,1,2", "q,3,5", "r,4,4")
	links := f.text("links.csv", "from,to", "r,p")
	set := f.load(Options{Edges: []string{links}}, rows)
	if len(set.Views) != 2 || set.Views[1].Links != 1 || set.Views[1].Has(1) || !set.Views[1].Has(2) || set.Views[1].Name != "links.csv" {
		t.Errorf("%+v", set.Views)
	}
	if len(set.Files) != 2 || !slices.Equal(set.Sources, []int{0, 1}) || !slices.Contains(set.Notes, "links.csv: 1 link among 2 samples") {
		t.Error(set.Files, set.Sources, set.Notes)
	}
	var told []int
	set = f.load(Options{Edges: []string{links}, Sides: func(samples int, dims []int, _ int64) error {
		told = append(told, samples, len(dims), dims[0])
		return nil
	}})
	if !slices.Equal(set.IDs, []string{"r", "p"}) || len(set.Views) != 1 || !slices.Equal(told, []int{2, 1, view.LinkDims}) {
		t.Errorf("%+v, %v", set, told)
	}
	// A weight above 1 is no probability.
	f.load(Options{Edges: []string{f.text("p.csv", "from,to,probability", "r,p,0.5", "p,q,2")}})
	f.refuse(Options{Edges: []string{links, links}}, nil, "is named twice")
	f.refuse(Options{Edges: []string{filepath.Join(f.dir, "none.csv")}}, nil, "there is no such file")
}

// FuzzEdges looks for input that breaks the reader or what it promises.
func FuzzEdges(f *testing.F) {
	for _, s := range []string{"0,1\n", "from,to\n3,1\n", "a,b,0.5\nb,c,1\n", "x,y,probability\na,b,2\n", "\xef\xbb\xbf1,2\r\n", "1\n", "", "a,b,c,d\n", "from,to,weight\na,a,1\n", "1,\"2\n", "a,b,inf\n"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string, known bool) {
		path := filepath.Join(dir, "e.csv")
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
		var ids []string
		if known {
			ids = []string{"0", "1", "a", "b"}
		}
		e, ids, err := edgesOf(t, path, ids)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if l := &e.links; l.Probability && slices.Max(l.Weights) > 1 {
			l.Probability = false
		}
		if err := e.links.Validate("e.csv", len(ids)); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
