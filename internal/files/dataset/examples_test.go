package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadExamples(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	for text, want := range map[string]struct {
		samples []int
		labels  []string
		problem string
	}{
		"id,label\nc,cat\na,dog \nb,\n":     {[]int{2, 0}, []string{"cat", "dog"}, ""},
		"id,label\nc,cat\nc,cat\nd,NA\n":    {[]int{2}, []string{"cat"}, ""},
		"id,note,label\nc,x,a b\nd,y,a b\n": {[]int{2, 3}, []string{"a b", "a b"}, ""},
		"id,label\nc,cat\nc,dog\n":          {problem: "row 1 (counted from 0, without the header): \"c\" is \"dog\" here and \"cat\" in an earlier row"},
		"id,label\nz,cat\n":                 {problem: "no sample has the id \"z\""},
		"id,label\na,\n":                    {problem: "has no label"},
		"name,label\na,cat\n":               {problem: "column of ids"},
		"id,left,right\na,cat,dog\n":        {problem: "name that of the labels by FILE:NAME"},
	} {
		path := filepath.Join(t.TempDir(), "e.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		e, err := ReadExamples(t.Context(), path, ids, 4)
		if want.problem != "" {
			if err == nil || !strings.Contains(err.Error(), want.problem) || !strings.Contains(err.Error(), "e.csv") {
				t.Errorf("%q: %v, want %s", text, err, want.problem)
			}
			continue
		}
		if err != nil || !slices.Equal(e.Samples, want.samples) || !slices.Equal(e.Labels, want.labels) {
			t.Errorf("%q: %+v, %v", text, e, err)
		}
	}
}

// FuzzExamples holds what is accepted to the samples that there are, each with one label.
func FuzzExamples(f *testing.F) {
	for _, s := range []string{"id,label\n0,cat\n", "id,label\n0,cat\n0,dog\n", "id,label\n9,cat\n", "id\n1\n", "", "id,label\n1,\"a\nb\"\n", "id,label\n1,\xff\n", "\xef\xbb\xbfid;label\n1;x\n"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		path := filepath.Join(dir, "e.csv")
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
		e, err := ReadExamples(t.Context(), path, nil, 5)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || e != nil {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if len(e.Samples) == 0 || len(e.Samples) != len(e.Labels) || slices.Contains(e.Labels, "") {
			t.Fatalf("%q: %+v", s, e)
		}
		seen := map[int]bool{}
		for _, i := range e.Samples {
			if i < 0 || i > 4 || seen[i] {
				t.Fatalf("%q: %+v", s, e)
			}
			seen[i] = true
		}
	})
}
