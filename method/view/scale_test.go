package view_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		name string
		dims int
		data []float32
		want []float32 // 0 in rows that are missing
	}{
		{"known", 2, []float32{1, -4, 3, 0, 2, -3}, []float32{0, 0, 1, 1, 0.5, 0.25}},
		{"constant feature", 2, []float32{1, 7, 3, 7}, []float32{0, 0, 1, 0}},
		{"constant view", 1, []float32{-5, -5, -5}, []float32{0, 0, 0}},
		{"missing", 2, []float32{nan, nan, 1, 10, nan, nan, 5, 20, 2, 15}, []float32{0, 0, 0, 0, 0, 0, 1, 1, 0.25, 0.5}},
		{"a single sample", 2, []float32{nan, nan, 3, -1}, []float32{0, 0, 0, 0}},
		{"all missing", 1, []float32{nan, nan}, []float32{0, 0}},
		{"no sample", 3, nil, nil},
		{"extremes", 1, []float32{-math.MaxFloat32, math.MaxFloat32, 0}, []float32{0, 1, 0.5}},
		{"next to nothing", 1, []float32{0, math.SmallestNonzeroFloat32, 2 * math.SmallestNonzeroFloat32}, []float32{0, 0.5, 1}},
		{"neighbours", 1, []float32{1, math.Nextafter32(1, 2)}, []float32{0, 1}},
	} {
		v, err := view.New(c.name, len(c.data)/c.dims, c.dims, c.data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Samples {
			for k := range v.Row(i) {
				if !v.Has(i) {
					v.Row(i)[k] = inf // never read
				}
			}
		}
		before := *v
		before.Data, before.Present = slices.Clone(v.Data), slices.Clone(v.Present)
		got := scaled(t, v, view.MinMax)
		if !slices.Equal(got.Data, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got.Data, c.want)
		}
		if got.Name != v.Name || got.Samples != v.Samples || got.Dims != v.Dims || !slices.Equal(got.Present, v.Present) {
			t.Errorf("%s: %+v of %+v", c.name, got, v)
		}
		if !slices.Equal(v.Data, before.Data) || !slices.Equal(v.Present, before.Present) {
			t.Errorf("%s: the view has changed", c.name)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if scaled(t, v, view.NoScale) != v {
			t.Errorf("%s: another view where nothing is scaled", c.name)
		}
	}
}

// Every feature goes from 0 to 1, whatever it was, keeps its order, and does not
// notice that it was shifted or stretched.
func TestScaledProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		n, dims := 2+rnd.IntN(20), 1+rnd.IntN(5)
		v := &view.View{Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: make([]bool, n)}
		other := &view.View{Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: v.Present}
		for i := range n {
			v.Present[i] = i < 2 || rnd.IntN(4) > 0
		}
		for k := range dims {
			// Whole numbers, and powers of two, so that the change is exact.
			factor, shift := float32(math.Ldexp(1, rnd.IntN(40)-20)), float32(rnd.IntN(200)-100)
			for i := range n {
				v.Row(i)[k] = float32(rnd.IntN(1000))
				other.Row(i)[k] = factor * (v.Row(i)[k] + shift)
			}
			v.Row(0)[k] = -float32(1 + rnd.IntN(10))
			other.Row(0)[k] = factor * (v.Row(0)[k] + shift)
		}
		got := scaled(t, v, view.MinMax)
		if !reflect.DeepEqual(got.Data, scaled(t, other, view.MinMax).Data) {
			t.Fatal("an affine change of the features is seen")
		}
		if again := scaled(t, got, view.MinMax); !slices.Equal(again.Data, got.Data) {
			t.Fatal("what was scaled is scaled again")
		}
		for k := range dims {
			var before, after []float32
			for i := range n {
				if v.Has(i) {
					before, after = append(before, v.Row(i)[k]), append(after, got.Row(i)[k])
				}
			}
			if slices.Min(after) != 0 || slices.Max(after) != 1 {
				t.Fatalf("%v becomes %v", before, after)
			}
			for a := range before {
				for b := range before {
					if before[a] < before[b] && after[a] > after[b] {
						t.Fatalf("%v becomes %v", before, after)
					}
				}
			}
		}
	}
}

func TestScaleNames(t *testing.T) {
	for s, name := range map[view.Scale]string{view.NoScale: "none", view.MinMax: "minmax", view.Mixed: "mixed"} {
		if s.String() != name {
			t.Errorf("%s is named %v", name, s)
		}
		text, err := json.Marshal(s)
		if err != nil || string(text) != `"`+name+`"` {
			t.Errorf("%v is written as %s, %v", s, text, err)
		}
		var got view.Scale
		if err := json.Unmarshal(text, &got); got != s || err != nil {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	unknown := view.MinMax
	if err := unknown.UnmarshalText([]byte("MinMax")); unknown != view.MinMax || err == nil || err.Error() != `unknown scale "MinMax"; choose none, minmax or mixed` {
		t.Errorf("%v, %v", unknown, err)
	}
	if s := view.Scale(7); s.String() != "scale(7)" {
		t.Error(s)
	}
	if _, err := view.Scale(-1).MarshalText(); err == nil {
		t.Error("an unknown scale is written")
	}
}

func scaled(t testing.TB, v *view.View, s view.Scale) *view.View {
	t.Helper()
	out, err := v.Scaled(t.Context(), s, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
