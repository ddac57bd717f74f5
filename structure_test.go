package mvclust_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// featureless returns views without groups, of 240 samples.
func featureless(kind string, random *rand.Rand) []*mvclust.View {
	const n = 240
	made := func(dims int, fill func(i int, row []float32)) *mvclust.View {
		v := &mvclust.View{Name: kind, Samples: n, Dims: dims, Data: make([]float32, n*dims)}
		for i := range n {
			fill(i, v.Row(i))
		}
		return v
	}
	normal := func(row []float32) {
		for k := range row {
			row[k] = float32(random.NormFloat64())
		}
	}
	switch kind {
	case "cube":
		return []*mvclust.View{made(4, func(_ int, row []float32) {
			for k := range row {
				row[k] = random.Float32()
			}
		})}
	case "ball":
		return []*mvclust.View{made(3, func(_ int, row []float32) {
			normal(row)
			length := math.Hypot(float64(row[0]), math.Hypot(float64(row[1]), float64(row[2])))
			for k := range row {
				row[k] *= float32(math.Cbrt(random.Float64()) / length)
			}
		})}
	case "counts":
		return []*mvclust.View{made(60, func(_ int, row []float32) {
			for k := range row {
				row[k] = 0
				for random.IntN(2+k%4) == 0 {
					row[k]++
				}
			}
		})}
	case "normal":
		return []*mvclust.View{made(10, func(_ int, row []float32) { normal(row) })}
	}
	// Columns, and views, that depend on each other.
	hidden := made(3, func(_ int, row []float32) { normal(row) })
	views := make([]*mvclust.View, 2)
	for m := range views {
		views[m] = made(6, func(i int, row []float32) {
			normal(row)
			for k := range row {
				row[k] = 0.3*row[k] + hidden.Row(i)[k%3] + 0.5*hidden.Row(i)[(k+m)%3] + 2
			}
		})
		if kind == "missing" {
			views[m].Present = make([]bool, n)
			for i := range n {
				views[m].Present[i] = i%4 != m
			}
		}
	}
	return views
}

// TestStructureNone holds that data without groups are told as such, and clustered all the same.
func TestStructureNone(t *testing.T) {
	for _, kind := range []string{"cube", "ball", "normal", "counts", "correlated", "missing"} {
		told := 0
		const draws = 4
		for draw := range uint64(draws) {
			got := fit(t, featureless(kind, rand.New(rand.NewPCG(draw, 1))), mvclust.Options{Candidates: 20, Seed: draw})
			s := got.Structure
			if s == nil || len(got.Labels) != 240 {
				t.Fatalf("%s: %+v", kind, s)
			}
			if s.Verdict == structure.None {
				told++
			} else {
				t.Logf("%s %d: %v", kind, draw, s)
			}
		}
		if told < draws-1 {
			t.Errorf("%s: %d of %d draws are told to be without structure", kind, told, draws)
		}
	}
}

// TestStructureClear holds that groups are found, in the same way on any number of threads and
// whether rows are consumed or not.
func TestStructureClear(t *testing.T) {
	for _, missing := range []float64{0, 0.4} {
		make := func() []*mvclust.View {
			return generate(t, synth.Config{Samples: 400, Classes: 6, Dims: []int{20}, Missing: missing}).Views
		}
		got := fit(t, make(), mvclust.Options{Threads: 1}).Structure
		if got == nil || got.Verdict != structure.Clear || got.Samples != structure.Compared(400) || got.Clouds != structure.Clouds {
			t.Errorf("missing %v: %v", missing, got)
		}
		for _, opt := range []mvclust.Options{{Threads: 3}, {Consume: true}} {
			if again := fit(t, make(), opt).Structure; !reflect.DeepEqual(again, got) {
				t.Errorf("missing %v: %v, and %v", missing, got, again)
			}
		}
	}
}

// TestStructureAbsent holds that there is no verdict where there was nothing to choose, or where
// the samples that are compared cannot be clustered by themselves.
func TestStructureAbsent(t *testing.T) {
	set := generate(t, synth.Config{Samples: 120, Classes: 4, Dims: []int{8}})
	for _, opt := range []mvclust.Options{{Preset: mvclust.Paper}, {Neighbours: 8}, {Resolution: 1}} {
		got := fit(t, set.Views, opt)
		if got.Structure != nil {
			t.Errorf("%v, K %d, resolution %v: %v", opt.Preset, opt.Neighbours, opt.Resolution, got.Structure)
		}
		for _, timing := range got.Trace.Stages {
			if timing.Stage == mvclust.StageStructure {
				t.Errorf("%v, K %d, resolution %v: compared", opt.Preset, opt.Neighbours, opt.Resolution)
			}
		}
	}
	// All samples are alike but for the first, which the comparison leaves out.
	alike := &mvclust.View{Name: "alike", Samples: 600, Dims: 2, Data: make([]float32, 1200)}
	alike.Data[0], alike.Data[1] = -1, 1
	got := fit(t, []*mvclust.View{alike}, mvclust.Options{Scale: view.MinMax})
	if got.Structure != nil || len(got.Labels) != 600 {
		t.Errorf("the samples that are compared have no directions, and are told %v", got.Structure)
	}
}

// TestDoubted holds that halves of a long cloud without groups, which are found again, are no clear plateau, and that groups are.
func TestDoubted(t *testing.T) {
	const samples, dims = 300, 20
	doubted := 0
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 5))
		cloud := &mvclust.View{Name: "cloud", Samples: samples, Dims: dims, Data: make([]float32, samples*dims)}
		for i := range samples {
			row := cloud.Row(i)
			for k := range row {
				row[k] = float32(random.NormFloat64())
			}
			row[0] *= 20
		}
		if fit(t, []*mvclust.View{cloud}, mvclust.Options{}).Trace.Doubted {
			doubted++
		}
		for i := range samples {
			cloud.Row(i)[1+i%3] += 40
		}
		if r := fit(t, []*mvclust.View{cloud}, mvclust.Options{}); r.Trace.Doubted || r.Structure.Verdict != structure.Clear || len(r.Sizes) != 3 {
			t.Errorf("seed %d: three groups are %d clusters, doubted %t, %v", seed, len(r.Sizes), r.Trace.Doubted, r.Structure)
		}
	}
	if doubted == 0 {
		t.Error("no plateau of a cloud is doubted")
	}
}
