package mvclust_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/synth"
)

// drawConstraints returns pairs of random samples, linked as their classes tell.
func drawConstraints(truth []int, pairs int, seed uint64) constraint.Set {
	r := rand.New(rand.NewPCG(seed, 77))
	var s constraint.Set
	for len(s.MustLink)+len(s.CannotLink) < pairs {
		a, b := r.IntN(len(truth)), r.IntN(len(truth))
		switch {
		case a == b:
		case truth[a] == truth[b]:
			s.MustLink = append(s.MustLink, [2]int{a, b})
		default:
			s.CannotLink = append(s.CannotLink, [2]int{a, b})
		}
	}
	return s
}

// wantHonoured wants the labels to break no constraint.
func wantHonoured(t *testing.T, s constraint.Set, labels []int) {
	t.Helper()
	known, err := s.Resolve(len(labels))
	if err != nil {
		t.Fatal(err)
	}
	if pair, broken := known.Violation(labels); broken {
		t.Errorf("samples %v break a constraint", pair)
	}
}

var presets = []mvclust.Options{{}, {Preset: mvclust.Paper, Neighbours: 20}, {Neighbours: 10}, {Preset: mvclust.Paper, Neighbours: 20, Resolution: 0.5, Partition: partition.Settings{Levels: 4}}}

// TestConstraintsHonoured gives links that have nothing to do with the data.
func TestConstraintsHonoured(t *testing.T) {
	set := mixed(t)
	r := rand.New(rand.NewPCG(1, 0))
	for turn, opt := range presets {
		class := make([]int, len(set.Labels))
		for i := range class {
			class[i] = r.IntN(30)
		}
		opt.Constraints = drawConstraints(class, 400, uint64(turn))
		opt.Constraints.Distinct = make([]int, len(class))
		for i := range class {
			opt.Constraints.Distinct[i] = i % 20 / 2 // and most contradict the links
			for _, p := range opt.Constraints.MustLink {
				if p[0] == i || p[1] == i {
					opt.Constraints.Distinct[i] = -1
				}
			}
		}
		var first *mvclust.Result
		for _, threads := range []int{1, 3} {
			opt.Threads = threads
			got := fit(t, set.Views, opt)
			wantHonoured(t, opt.Constraints, got.Labels)
			if first == nil {
				first = got
			}
			if !slices.Equal(first.Labels, got.Labels) || !slices.Equal(first.Confidence, got.Confidence) {
				t.Errorf("%v: %d threads give another result", opt.Preset, threads)
			}
		}
	}
}

// TestConstraintsNothing gives constraints that say nothing.
func TestConstraintsNothing(t *testing.T) {
	set := mixed(t)
	for _, opt := range presets {
		want := fit(t, set.Views, opt)
		opt.Constraints.Distinct = make([]int, len(set.Labels))
		for i := range opt.Constraints.Distinct {
			opt.Constraints.Distinct[i] = i
		}
		got := fit(t, set.Views, opt)
		if !slices.Equal(want.Labels, got.Labels) || !slices.Equal(want.Confidence, got.Confidence) || !slices.Equal(want.Graph.Weight, got.Graph.Weight) {
			t.Errorf("%v: constraints that say nothing change the result", opt.Preset)
		}
	}
}

// TestConstraintsOrder stores the samples in another order, and maps Order and the
// constraints along.
func TestConstraintsOrder(t *testing.T) {
	set := mixed(t)
	n := len(set.Labels)
	r := rand.New(rand.NewPCG(2, 0))
	for _, opt := range presets {
		opt.Order = r.Perm(n)
		opt.Constraints = drawConstraints(set.Labels, 200, 3)
		want := fit(t, set.Views, opt)
		to := r.Perm(n)
		moved := opt
		moved.Order = make([]int, n)
		for at, i := range opt.Order {
			moved.Order[at] = to[i]
		}
		moved.Constraints = constraint.Set{}
		for _, p := range opt.Constraints.MustLink {
			moved.Constraints.MustLink = append(moved.Constraints.MustLink, [2]int{to[p[1]], to[p[0]]})
		}
		for _, p := range opt.Constraints.CannotLink {
			moved.Constraints.CannotLink = append(moved.Constraints.CannotLink, [2]int{to[p[1]], to[p[0]]})
		}
		slices.Reverse(moved.Constraints.MustLink) // in which order they are given is of no matter
		slices.Reverse(moved.Constraints.CannotLink)
		got := fit(t, permute(set.Views, to), moved)
		back := make([]int, n)
		for i, j := range to {
			back[i] = got.Labels[j]
			if want.Confidence[i] != got.Confidence[j] {
				t.Fatalf("%v: sample %d has another confidence", opt.Preset, i)
			}
		}
		if s := compare(t, want.Labels, back); s.ARI != 1 {
			t.Errorf("%v: the clusters are others, ARI %v", opt.Preset, s.ARI)
		}
	}
}

// TestConstraintsRefused passes on what package constraint says, before any work.
func TestConstraintsRefused(t *testing.T) {
	set := mixed(t)
	opt := mvclust.Options{Progress: func(p mvclust.Progress) { t.Errorf("the work begins with %v", p.Stage) }}
	opt.Constraints.MustLink = [][2]int{{1, 2}}
	opt.Constraints.CannotLink = [][2]int{{2, 1}}
	result, err := mvclust.Fit(t.Context(), set.Views, opt)
	if bad, ok := errors.AsType[*constraint.Error](err); !ok || result != nil || bad.Samples != [2]int{2, 1} {
		t.Error(err)
	}
}

// TestConstraintsFootprint is that constraints take memory, and none takes none.
func TestConstraintsFootprint(t *testing.T) {
	footprint := func(s constraint.Set) int64 {
		bytes, err := mvclust.Options{Constraints: s}.Footprint(100_000, []int{8})
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	none := footprint(constraint.Set{})
	for _, s := range []constraint.Set{{MustLink: [][2]int{{0, 1}}}, {CannotLink: [][2]int{{0, 1}}}, {Distinct: make([]int, 100_000)}} {
		if footprint(s) <= none {
			t.Errorf("%d must-links, %d cannot-links, %d groups take nothing", len(s.MustLink), len(s.CannotLink), len(s.Distinct))
		}
	}
}

// Photos show several people each. Nobody is on a photo twice, and two pictures are known to
// be of one person.
func ExampleOptions_constraints() {
	faces, err := synth.Generate(synth.Config{Samples: 200, Classes: 10, Noise: []float64{1}})
	if err != nil {
		log.Fatal(err)
	}
	var known constraint.Set
	taken := map[[2]int]bool{}
	for i, person := range faces.Labels {
		photo := i % 37
		if taken[[2]int{photo, person}] {
			photo = -1 // a picture by itself
		}
		taken[[2]int{photo, person}] = true
		known.Distinct = append(known.Distinct, photo)
	}
	for i := range faces.Labels {
		if i > 0 && faces.Labels[i] == faces.Labels[0] {
			known.MustLink = append(known.MustLink, [2]int{0, i})
			break
		}
	}
	result, err := mvclust.Fit(context.Background(), faces.Views, mvclust.Options{Constraints: known})
	if err != nil {
		log.Fatal(err)
	}
	p := known.MustLink[0]
	fmt.Println("together:", result.Labels[p[0]] == result.Labels[p[1]])

	known.CannotLink = append(known.CannotLink, p)
	_, err = known.Resolve(len(faces.Labels))
	_, contradiction := errors.AsType[*constraint.Error](err)
	fmt.Println("a contradiction:", contradiction)
	// Output:
	// together: true
	// a contradiction: true
}
