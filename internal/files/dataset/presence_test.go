package dataset

import (
	"strings"
	"testing"
)

func TestIndex(t *testing.T) {
	f := newFolder(t)
	// What an index leaves out may be NaN in part, or infinite.
	bad := matrix("", 4, 3)
	bad.data.([]float32)[3*3+1] = nan
	views := entry{"data", nil, []entry{matrix("", 4, 2), bad, matrix("", 4, 5)}}
	lists := func(of ...[]int64) entry {
		var cells []entry
		for _, l := range of {
			cells = append(cells, ints("", l...))
		}
		return entry{"index", nil, cells}
	}
	index := lists([]int64{4, 1}, []int64{1, 2, 3}, []int64{1, 2, 3, 4})
	a := f.mat("a.mat", views, index)
	want := []string{"[1 1001] [1 1001 2001] [1 1001 2001 3001 4001]", "- [2 1002 2002] [2 1002 2002 3002 4002]", "- [3 1003 2003] [3 1003 2003 3003 4003]", "[4 1004] - [4 1004 2004 3004 4004]"}
	ways := map[string]string{
		"by name":      a + ":index",
		"by rule":      a,
		"matrix":       f.npy("m.npy", entry{"", []int{4, 3}, []int64{1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1}}),
		"matrix, mat":  f.mat("m.mat", entry{"MissingStatus", []int{4, 3}, []int64{1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1}}),
		"other side":   f.npy("o.npy", entry{"", []int{3, 4}, []int64{1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1}}),
		"other, mat":   f.mat("o.mat", entry{"index", []int{3, 4}, []int64{1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1}}),
		"cell by name": f.mat("p.mat", entry{"folds", nil, []entry{{"", []int{4, 3}, []int64{1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1}}, matrix("", 4, 3)}}) + ":folds{1}",
		"table":        f.text("m.csv", "a,b,c", "1,1,1", "0,1,1", "0,1,1", "1,0,1"),
	}
	for way, arg := range ways {
		set := f.load(Options{Index: arg}, a)
		for i, w := range want {
			if got := f.sample(set, i); got != w {
				t.Errorf("%s: sample %d: %s, want %s", way, i, got, w)
			}
		}
		// One list per view that was found, in their order.
		set = f.load(Options{Index: arg, Views: []string{"2", "0"}}, a)
		if got := f.sample(set, 1); got != "[2 1002 2002 3002 4002] -" {
			t.Errorf("%s: sample 1 of the chosen views: %s", way, got)
		}
	}
	// One list per view that was chosen, in the order of choice.
	two := f.mat("two.mat", lists([]int64{1, 2, 3, 4}, []int64{3}))
	set := f.load(Options{Index: two, Views: []string{"2", "0"}}, a)
	if got := f.sample(set, 2) + f.sample(set, 3); got != "[3 1003 2003 3003 4003] [3 1003][4 1004 2004 3004 4004] -" {
		t.Error(got)
	}
	// A single view has a single list.
	set = f.load(Options{Index: f.mat("one.mat", ints("index", 1, 2, 3, 4))}, a+":data{1}")
	f.shows(set, "a.mat:data{1} 4 x 2")

	for _, c := range []struct {
		index entry
		words []string
	}{
		{lists([]int64{1}, []int64{2, 3, 4}), []string{"has 2 lists for 3 views; give one for each view"}},
		{lists([]int64{1, 5}, []int64{2, 3, 4}, []int64{1}), []string{"is about 5 samples or more", "a.mat:data{3} is 4 x 5;"}},
		{lists([]int64{1, 0}, []int64{2, 3, 4}, []int64{1}), []string{"entry 1 of the list of view 0", "is 0; samples are numbered from 1 to 4"}},
		{lists([]int64{1, -1}, []int64{2, 3, 4}, []int64{1}), []string{"is -1; samples are numbered from 1 to 4"}},
		{lists([]int64{1}, []int64{2, 3, 2}, []int64{1}), []string{"the list of view 1 (counted from 0) has sample 2 twice"}},
		{lists([]int64{1, 2}, []int64{2, 3}, []int64{1}), []string{"row 3 (counted from 0) lacks every view"}},
		{lists([]int64{1, 2}, []int64{2, 3}, []int64{4}), nil},
		{entry{"index", []int{5, 3}, make([]int64, 15)}, []string{"is about 5 samples, and", "a.mat:data{1} is 4 x 2,"}},
		{entry{"index", []int{4, 3}, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1}}, []string{"i.mat: index holds 2 for sample 3 and view 1 (counted from 0); write 1"}},
		{entry{"index", []int{4, 2}, make([]int64, 8)}, []string{"has 4 lists for 3 views"}},
		{entry{"index", []int{4, 1}, []int64{1, 2, 3, 4}}, []string{"has 1 list for 3 views"}},
		{entry{"index", []int{2, 1}, []float32{1, 1.5}}, []string{"i.mat: index(2,1) is 1.5"}},
		{entry{"index", nil, []string{"a", "b"}}, []string{"i.mat: index holds text"}},
	} {
		path := f.mat("i.mat", c.index)
		if c.words == nil {
			f.load(Options{Index: path}, a)
			continue
		}
		f.refuse(Options{Index: path}, []string{a}, c.words...)
	}
	f.refuse(Options{Index: a + ":folds"}, []string{a}, `a.mat: holds no array "folds"`)
	f.refuse(Options{Index: f.mat("q.mat", matrix("p", 2, 2), matrix("q", 2, 2))}, []string{a}, "q.mat: holds p and q; say which are the lists of present samples by FILE:NAME")
	f.refuse(Options{Index: f.dir + "/none.mat"}, []string{a}, "--index", "none.mat: there is no such file")
}

func TestIndexAndOtherMarks(t *testing.T) {
	f := newFolder(t)
	a := matrix("", 3, 2)
	a.data.([]float32)[2], a.data.([]float32)[3] = nan, nan
	views := f.mat("a.mat", entry{"data", nil, []entry{a, matrix("", 3, 5)}})
	set := f.load(Options{Index: f.mat("i.mat", entry{"index", nil, []entry{ints("", 1, 2), ints("", 1, 2, 3)}})}, views)
	f.shows(set, "a.mat:data{1} 3 x 2 of 1", "a.mat:data{2} 3 x 5")
	if got := strings.Join(set.Notes, "\n"); got != "a.mat:data{1} lacks 1 sample that --index lists, being NaN throughout there" {
		t.Errorf("notes %q", got)
	}
	// The lists tell which side the samples are, as far as they do.
	set = f.load(Options{Index: f.mat("j.mat", ints("index", 1, 2, 3, 4, 5, 6, 7, 8))}, f.npy("b.npy", matrix("", 5, 8)))
	f.shows(set, "b.npy 8 x 5")
}

func TestIndexOfTables(t *testing.T) {
	f := newFolder(t)
	a, b := f.text("a.csv", "id,p", "u,1", "v,2"), f.text("b.csv", "id,q", "v,1", "u,2")
	index := f.npy("i.npy", entry{"", []int{2, 2}, []int64{1, 0, 0, 1}})
	f.refuse(Options{Index: index}, []string{a, b}, "--index", "joined by their ids; leave it out")
	set := f.load(Options{Index: index}, a, f.npy("c.npy", matrix("", 2, 3)))
	if got := f.sample(set, 0) + f.sample(set, 1); got != "[1] -- [2 1002 2002]" {
		t.Error(got)
	}
}
