package dataset

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestLabels(t *testing.T) {
	f := newFolder(t)
	y := func(name string, values ...int64) entry { return ints(name, values...) }
	x := matrix("X1", 3, 2)
	cells := func(name string, of ...entry) entry { return entry{name, nil, of} }
	for _, c := range []struct {
		source string
		want   string // labels and names
	}{
		{f.npy("a.npy", entry{"", []int{3}, []int64{7, -1, 7}}), "[1 0 1] [-1 7]"},
		{f.npy("b.npy", entry{"", []int{3, 1}, []int64{2, 10, 1}}), "[1 2 0] [1 2 10]"},
		{f.npy("c.npy", entry{"", []int{1, 3}, []float32{2, 10, 1}}), "[1 2 0] [1 2 10]"},
		{f.npz("d.npz", x, labels(3, 3, 1), y("id", 1, 2, 3)), "[1 1 0] [1 3]"},
		{f.npz("e.npz", x, y("Y", 5, 6, 5)), "[0 1 0] [5 6]"},
		{f.npz("g.npz", x, y("p", 5, 6, 5), y("q", 1, 2, 3)) + ":q", "[0 1 2] [1 2 3]"},
		{f.npz("h.npz", y("anything", 5, 6, 5)), "[0 1 0] [5 6]"},
		{f.mat("i.mat", x, entry{"gt", []int{1, 3}, []int64{2, 1, 2}}), "[1 0 1] [1 2]"},
		{f.mat("j.mat", cells("X", x, x), cells("truelabel", y("", 2, 1, 2), y("", 2, 1, 2))), "[1 0 1] [1 2]"},
		{f.mat("k.mat", cells("a", y("", 2, 1, 2), y("", 1, 1, 2))) + ":a{2}", "[0 0 1] [1 2]"},
		{f.mat("l.mat", x, entry{"label", nil, []string{"dog", "cat", "dog"}}), "[1 0 1] [cat dog]"},
		{f.text("m.csv", "9", "10", "9"), "[0 1 0] [9 10]"},
		{f.text("n.txt", "b", "a", " b "), "[1 0 1] [a b]"},
		{f.text("o.csv", "p,class,y", "1,3,5", "2,3,5", "3,1,6"), "[1 1 0] [1 3]"},
		{f.text("p.csv", "p,Y", "1,3", "2,3", "3,1"), "[1 1 0] [1 3]"},
		{f.text("q.csv", "p,kind", "1,u", "2,v", "3,u") + ":kind", "[0 1 0] [u v]"},
		{f.text("r.csv", "1,5", "2,6", "3,5") + ":col1", "[0 1 0] [5 6]"},
		{f.text("s.csv", "id,species", "a,5", "b,6", "c,5"), "[0 1 0] [5 6]"},
		{f.text("t.csv", "label", "1.0", "1e0", "1"), "[0 0 0] [1]"},
		{f.text("u.csv", "label", "1", "1.5", "x"), "[0 1 2] [1 1.5 x]"},
		{f.text("v.tsv", "label\tp", "10\t1", "9\t1", "x\t1"), "[0 1 2] [10 9 x]"},
	} {
		truth, err := Labels(t.Context(), c.source, nil, 3)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprint(truth.Labels, " ", truth.Names); got != c.want {
			t.Errorf("%s: %s, want %s", c.source, got, c.want)
		}
	}
}

func TestBadLabels(t *testing.T) {
	f := newFolder(t)
	cells := func(of ...entry) entry { return entry{"truelabel", nil, of} }
	for _, c := range []struct {
		source string
		words  []string
	}{
		{f.npy("a.npy", entry{"", []int{2}, []int64{1, 2}}), []string{"a.npy: holds 2 labels for 3 samples; give"}},
		{f.npy("b.npy", entry{"", []int{3}, []float32{1, nan, 2}}), []string{"b.npy: the array at [1] is NaN"}},
		{f.npy("c.npy", entry{"", []int{3}, []float32{1, 1.5, 2}}), []string{"c.npy: the array at [1] is 1.5"}},
		{f.npy("d.npy", matrix("", 3, 2)), []string{"d.npy: the array has the shape [3 2]; give one value per sample"}},
		{f.npz("e.npz", labels(1, 2, 3), ints("Y", 1, 2, 3)), []string{"e.npz: holds labels and Y; say which are the labels by FILE:NAME"}},
		{f.npz("g.npz", matrix("p", 3, 2), matrix("q", 3, 2)), []string{"g.npz: holds p and q; say"}},
		{f.npz("h.npz", labels(1, 2, 3)) + ":y", []string{`h.npz: holds no array "y", only labels`}},
		{f.mat("i.mat", cells(ints("", 1, 2, 3), ints("", 1, 2, 4))), []string{"i.mat: truelabel{1} and truelabel{2} are not the same; name"}},
		{f.mat("j.mat", cells(ints("", 1, 2, 3), ints("", 1, 2))), []string{"truelabel{1} and truelabel{2} are not the same"}},
		{f.text("k.csv", "label", "1", "NaN", "2"), []string{"k.csv: row 1 (counted from 0) has no label"}},
		{f.text("l.csv", "p,label", "1,u", "2,", "3,v"), []string{"l.csv: row 1 (counted from 0) has no label"}},
		{f.text("m.csv", "label", "1", "2.5", "3"), []string{"m.csv: row 1 (counted from 0) holds 2.5; give whole numbers or names"}},
		{f.text("n.csv", "p,q", "1,2", "3,4", "5,6"), []string{`n.csv: has no column "label", only p and q; name that of the labels by FILE:NAME`}},
		{f.text("o.csv", "p,label", "1,2", "3,4", "5,6") + ":q", []string{`o.csv: has no column "q", only p and label`}},
		{f.text("p.csv", "id,label", "a,2", "b,4", "a,6"), []string{`p.csv: rows 0 and 2 (counted from 0) have the same id "a"`}},
		{f.dir + "/none.csv", []string{"none.csv: there is no such file"}},
		{f.npy("q.npy", entry{"", []int{0}, []int64{}}), []string{"q.npy: holds no labels"}},
	} {
		truth, err := Labels(t.Context(), c.source, nil, 3)
		if err == nil {
			t.Errorf("%s: labels %v", c.source, truth.Labels)
			continue
		}
		f.mentions(err, c.words...)
	}
}

func TestLabelsByID(t *testing.T) {
	f := newFolder(t)
	// As the program itself writes them.
	path := f.text("LABELS.csv", "id,label,confidence", "s1,4,0.5", "s2,2,1", "s3,9,0.25", "s4,4,1")
	truth, err := Labels(t.Context(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(path)
	if truth.File.Path != path || truth.File.Bytes != int64(len(content)) || len(truth.File.SHA256) != 64 {
		t.Errorf("file %v", truth.File)
	}
	if got := fmt.Sprint(truth.Labels, truth.Names, truth.IDs); got != "[1 0 2 1] [2 4 9] [s1 s2 s3 s4]" {
		t.Error(got)
	}
	ids := []string{"s4", "s2", "s1"}
	if truth, err = Labels(t.Context(), path, ids, 3); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(truth.Labels, truth.Names, truth.IDs); got != "[1 0 1] [2 4] [s4 s2 s1]" {
		t.Error(got)
	}
	_, err = Labels(t.Context(), path, []string{"s1", "s5"}, 2)
	if err == nil {
		t.Fatal("no error for an id that is not there")
	}
	f.mentions(err, `LABELS.csv: has no label for the sample with the id "s5"; add`)

	// Labels without ids go by row.
	plain := f.text("plain.csv", "label", "u", "v", "u")
	if truth, err = Labels(t.Context(), plain, ids, 3); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(truth.Labels, []int{0, 1, 0}) || truth.IDs != nil {
		t.Error(truth)
	}
	if _, err = Labels(t.Context(), plain, ids[:2], 2); err == nil {
		t.Fatal("no error for a wrong number of labels")
	}
	f.mentions(err, "plain.csv: holds 3 labels for 2 samples")
	if truth, err = Labels(t.Context(), plain, nil, 0); err != nil || len(truth.Labels) != 3 {
		t.Error(truth, err)
	}
}
