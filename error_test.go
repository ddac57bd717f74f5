package mvclust_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

func TestOptionErrors(t *testing.T) {
	set := generate(t, synth.Config{Samples: 10, Classes: 2, Dims: []int{3}})
	twice := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 8}
	outside := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}
	for _, c := range []struct {
		opt         mvclust.Options
		field, want string
	}{
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: -1}, "Neighbours", "-1 is not between 1 and 9, one fewer than the samples; choose about the size of a class"},
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: 10}, "Neighbours", "10 is not between 1 and 9, one fewer than the samples; choose about the size of a class"},
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: math.MaxInt32}, "Neighbours", "2147483647 is not between 1 and 9, one fewer than the samples; choose about the size of a class"},
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: 4, Candidates: 3}, "Candidates", "3 is not between 4, the number of neighbours, and 9, one fewer than the samples"},
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: 4, Candidates: -1}, "Candidates", "-1 is not between 4, the number of neighbours, and 9, one fewer than the samples"},
		{mvclust.Options{Preset: mvclust.Paper, Neighbours: 4, Candidates: 10}, "Candidates", "10 is not between 4, the number of neighbours, and 9, one fewer than the samples"},
		{mvclust.Options{Preset: mvclust.Paper, Metrics: make([]similarity.Metric, 3)}, "Metrics", "3 metrics for 2 views; give one for all, or one per view"},
		{mvclust.Options{Preset: mvclust.Paper, Metrics: []similarity.Metric{99}}, "Metrics", "unknown metric 99; choose " + enum.Choices[similarity.Metric]()},
		{mvclust.Options{Preset: mvclust.Paper, Metrics: []similarity.Metric{0, -1}}, "Metrics", "unknown metric -1; choose " + enum.Choices[similarity.Metric]()},
		{mvclust.Options{Preset: mvclust.Paper, Scale: view.Mixed + 1}, "Scale", `unknown scale 3; choose none, minmax or mixed`},
		{mvclust.Options{Preset: mvclust.Paper, Search: neighbour.Settings{Method: 3}}, "Search.Method", `unknown search method 3; choose auto, exact or approximate`},
		{mvclust.Options{Preset: mvclust.Paper, Search: neighbour.Settings{Recall: 1.5}}, "Search.Recall", "1.5 is not above 0 and at most 1"},
		{mvclust.Options{Preset: mvclust.Paper, Search: neighbour.Settings{Recall: math.NaN()}}, "Search.Recall", "NaN is not above 0 and at most 1"},
		{mvclust.Options{Preset: mvclust.Paper, Learning: probability.Settings{Epochs: -1}}, "Learning.Epochs", "-1 is not between 1 and 10000000"},
		{mvclust.Options{Preset: mvclust.Paper, Posterior: posterior.Settings{Clip: 0.7}}, "Posterior.Clip", "0.7 is not between 1e-12 and 0.49"},
		{mvclust.Options{Preset: mvclust.Paper, Refinement: refine.Settings{Rounds: -2}}, "Refinement.Rounds", "-2 is not between 1 and 100"},
		{mvclust.Options{Preset: mvclust.Paper, Partition: partition.Settings{Sweeps: -3}}, "Partition.Sweeps", "-3 is not between 1 and 1000000"},
		{mvclust.Options{Preset: mvclust.Paper, Order: twice[:9]}, "Order", "9 entries for 10 samples; list every sample once"},
		{mvclust.Options{Preset: mvclust.Paper, Order: []int{}}, "Order", "0 entries for 10 samples; list every sample once"},
		{mvclust.Options{Preset: mvclust.Paper, Order: twice}, "Order", "8 is out of range or listed twice; list every number from 0 to 9 once"},
		{mvclust.Options{Preset: mvclust.Paper, Order: outside}, "Order", "10 is out of range or listed twice; list every number from 0 to 9 once"},
		{mvclust.Options{Preset: mvclust.Paper, Order: append(outside[:9:9], -1)}, "Order", "-1 is out of range or listed twice; list every number from 0 to 9 once"},
	} {
		c.opt.Progress = func(p mvclust.Progress) { t.Errorf("%s: the run starts: %+v", c.field, p) }
		got, err := mvclust.Fit(t.Context(), set.Views, c.opt)
		var of *mvclust.OptionError
		switch {
		case got != nil || !errors.As(err, &of):
			t.Errorf("%s: %v, %v", c.field, got, err)
		case of.Field != c.field || of.Problem != c.want || err.Error() != c.field+": "+c.want:
			t.Errorf("got  %v\nwant %s: %s", err, c.field, c.want)
		}
		if bytes, planned := c.opt.Footprint(10, []int{3, 3}); bytes != 0 || !reflect.DeepEqual(planned, err) {
			t.Errorf("%s: the footprint is %d, %v", c.field, bytes, planned)
		}
	}
}

// rows returns a view of n samples that differ in two dimensions.
func rows(name string, n int) *mvclust.View {
	v := &view.View{Name: name, Samples: n, Dims: 2, Data: make([]float32, 2*n)}
	for i := range n {
		v.Row(i)[0], v.Row(i)[1] = 1, float32(i)
	}
	return v
}

func TestInputErrors(t *testing.T) {
	// changed returns a view of five samples after change.
	changed := func(name string, change func(v *mvclust.View)) *mvclust.View {
		v := rows(name, 5)
		change(v)
		return v
	}
	lacking := func(name string, absent ...int) *mvclust.View {
		return changed(name, func(v *mvclust.View) {
			v.Present = []bool{true, true, true, true, true}
			for _, i := range absent {
				v.Present[i] = false
			}
		})
	}
	zero := func(name string, zeros ...int) *mvclust.View {
		return changed(name, func(v *mvclust.View) {
			for _, i := range zeros {
				clear(v.Row(i))
			}
		})
	}
	nan, infinite := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		views []*mvclust.View
		want  mvclust.InputError
	}{
		{nil, mvclust.InputError{Row: -1, Problem: "there is no view; pass at least one"}},
		{[]*mvclust.View{rows("a", 5), nil}, mvclust.InputError{Row: -1, Problem: "view 1 (counted from 0) is nil; leave it out"}},
		{[]*mvclust.View{rows("a", 0)}, mvclust.InputError{Row: -1, Problem: "there are too few samples to cluster, 0; give at least 3"}},
		{[]*mvclust.View{rows("a", 1)}, mvclust.InputError{Row: -1, Problem: "there are too few samples to cluster, 1; give at least 3"}},
		{[]*mvclust.View{rows("a", 2)}, mvclust.InputError{Row: -1, Problem: "there are too few samples to cluster, 2; give at least 3"}},
		{[]*mvclust.View{rows("a", 5), rows("b", 4)}, mvclust.InputError{View: "b", Row: -1, Problem: "4 samples where a has 5; give every view one row per sample, in the same order"}},
		{[]*mvclust.View{rows("a", 5), rows("b", 0)}, mvclust.InputError{View: "b", Row: -1, Problem: "0 samples where a has 5; give every view one row per sample, in the same order"}},
		{[]*mvclust.View{lacking("a", 1, 4), lacking("b", 2, 4)}, mvclust.InputError{Row: 4, Problem: "is missing from every view; remove the sample, or give it at least one view"}},
		{[]*mvclust.View{zero("a", 3)}, mvclust.InputError{View: "a", Row: 3, Problem: "is all zeros, which has no cosine, and the sample has no other view; remove the sample, or choose the l1, l2 or l3 metric"}},
		{[]*mvclust.View{lacking("a", 3), zero("b", 2, 3)}, mvclust.InputError{View: "b", Row: 3, Problem: "is all zeros, which has no cosine, and the sample has no other view; remove the sample, or choose the l1, l2 or l3 metric"}},
		// Packages view and similarity test the sentences of their own errors.
		{[]*mvclust.View{changed("a", func(v *mvclust.View) { v.Data = v.Data[1:] })}, mvclust.InputError{View: "a", Row: -1}},
		{[]*mvclust.View{changed("a", func(v *mvclust.View) { v.Present = make([]bool, 4) })}, mvclust.InputError{View: "a", Row: -1}},
		{[]*mvclust.View{rows("a", 5), changed("b", func(v *mvclust.View) { v.Row(2)[1] = nan })}, mvclust.InputError{View: "b", Row: 2}},
		{[]*mvclust.View{rows("a", 5), changed("b", func(v *mvclust.View) { v.Row(3)[0] = infinite })}, mvclust.InputError{View: "b", Row: 3}},
		{[]*mvclust.View{rows("a", 5), lacking("b", 0, 1, 2, 3)}, mvclust.InputError{View: "b", Row: -1}},
		{[]*mvclust.View{rows("a", 5), lacking("b", 0, 1, 2, 3, 4)}, mvclust.InputError{View: "b", Row: -1}},
		{[]*mvclust.View{rows("a", 5), zero("b", 0, 1, 2, 3, 4)}, mvclust.InputError{View: "b", Row: 0}},
		{[]*mvclust.View{rows("a", 5), changed("b", func(v *mvclust.View) { copy(v.Data, []float32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) })}, mvclust.InputError{View: "b", Row: -1}},
	} {
		got, err := mvclust.Fit(t.Context(), c.views, mvclust.Options{Preset: mvclust.Paper})
		var of *mvclust.InputError
		if got != nil || !errors.As(err, &of) {
			t.Errorf("%v, %v, want %v", got, err, &c.want)
			continue
		}
		if c.want.Problem == "" {
			if of.Problem == "" {
				t.Errorf("%+v says nothing", of)
			}
			c.want.Problem = of.Problem
		}
		if *of != c.want {
			t.Errorf("got  %v\nwant %v", err, &c.want)
		}
	}

	// Scaling can leave a row without a direction, and errors then say that they are
	// about what scaling made of the view.
	for _, c := range []struct {
		views []*mvclust.View
		want  string
	}{
		{[]*mvclust.View{changed("a", func(v *mvclust.View) { copy(v.Data, []float32{1, 1, 2, 2, 3, 5, 4, 10, 5, 17}) })}, "a: row 0 (counted from 0) is all zeros, which has no cosine, and the sample has no other view; remove the sample, or choose the l1, l2 or l3 metric (this is about the view after scale minmax)"},
		{[]*mvclust.View{changed("b", func(v *mvclust.View) { copy(v.Data, []float32{1, 9, 2, 7, 3, 5, 4, 2, 5, 1}) }), changed("a", func(v *mvclust.View) { copy(v.Data, []float32{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}) })}, "a: row 0 (counted from 0) is all zeros, which has no cosine, and without such rows (5 in all) only 0 of 5 samples have this view, where similarity needs two; drop this view (this is about the view after scale minmax)"},
		{[]*mvclust.View{rows("a", 5), nil}, "view 1 (counted from 0) is nil; leave it out"},
	} {
		_, err := mvclust.Fit(t.Context(), c.views, mvclust.Options{Preset: mvclust.Paper, Scale: view.MinMax})
		if of, ok := errors.AsType[*mvclust.InputError](err); !ok || of.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}

	// What keeps a metric from working does no harm under another.
	for _, views := range [][]*mvclust.View{{zero("a", 3)}, {lacking("a", 3), zero("b", 2, 3)}} {
		fit(t, views, mvclust.Options{Preset: mvclust.Paper, Metrics: []similarity.Metric{similarity.L2}})
	}
	got := fit(t, []*mvclust.View{rows("a", 5), zero("b", 1, 3)}, mvclust.Options{Preset: mvclust.Paper})
	if !slices.Equal(got.Trace.Zero, []int{0, 2}) || !slices.Equal(got.Trace.FirstZero, []int{-1, 1}) {
		t.Errorf("%v all-zero rows from %v", got.Trace.Zero, got.Trace.FirstZero)
	}
}

// TestInputBeforeOptions checks that unusable views are reported first, as the
// limits of the options depend on them.
func TestInputBeforeOptions(t *testing.T) {
	var of *mvclust.InputError
	if _, err := mvclust.Fit(t.Context(), nil, mvclust.Options{Preset: mvclust.Paper, Neighbours: -1}); !errors.As(err, &of) {
		t.Error(err)
	}
}
