package agreement

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// read calls Read with the scalers of view.Mixed.
func read(t testing.TB, ctx context.Context, views []*view.View, order sparse.Permutation, threads int) (*Readings, error) {
	t.Helper()
	var scalers []*view.Scaler
	for _, v := range views {
		s, err := v.Scaler(t.Context(), view.Mixed, nil)
		if err != nil {
			t.Fatal(err)
		}
		scalers = append(scalers, s)
	}
	return Read(ctx, views, scalers, make([]similarity.Metric, len(views)), order, threads)
}

// with is v with further columns of noise, of the given deviation.
func with(v *view.View, columns int, deviation float64) *view.View {
	r := rand.New(rand.NewPCG(5, 5))
	out := &view.View{Name: v.Name, Samples: v.Samples, Dims: v.Dims + columns, Present: v.Present}
	out.Data = make([]float32, out.Samples*out.Dims)
	for i := range v.Samples {
		row := out.Row(i)
		copy(row, v.Row(i))
		for k := v.Dims; k < out.Dims; k++ {
			row[k] = float32(deviation * r.NormFloat64())
		}
	}
	return out
}

func TestRead(t *testing.T) {
	good := classes(t, 4, 0)
	large := slices.Max(good[1].Data)
	for _, c := range []struct {
		name  string
		views []*view.View
		want  []view.Version
	}{
		{"alike in every version", good[:3], make([]view.Version, 3)},
		{"many small columns of noise", []*view.View{good[0], with(good[1], 150, float64(large)/40), good[2]}, []view.Version{view.Joined, view.Given, view.Joined}},
		{"nothing but noise", []*view.View{noise(1), noise(2), noise(3)}, make([]view.Version, 3)},
		{"no sample in common", []*view.View{only(good[0], 0, 150), only(with(good[1], 150, float64(large)/40), 150, 300)}, make([]view.Version, 2)},
		{"half lack it", []*view.View{good[0], only(with(good[1], 150, float64(large)/40), 0, 150), good[2]}, []view.Version{view.Joined, view.Given, view.Joined}},
		{"one view", good[:1], make([]view.Version, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, t.Context(), c.views, nil, 2)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Taken, c.want) {
				t.Errorf("%v of %.3f, want %v", got.Taken, got.Confirmed, c.want)
			}
			for m, confirmed := range got.Confirmed {
				for v, x := range confirmed {
					alone := len(c.views) == 1 || c.name == "no sample in common"
					if alone != (x == 0) || x != x || x < -1 || x > 1 {
						t.Errorf("view %d: %v is confirmed by %v", m, view.Version(v), x)
					}
				}
			}
		})
	}
}

// What has one version is compared as it is, and judges all the same.
func TestReadOneVersion(t *testing.T) {
	good := classes(t, 2, 0)
	scaler, err := good[0].Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), good, []*view.Scaler{scaler, {}}, []similarity.Metric{similarity.Cosine, similarity.L2}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if x := got.Confirmed[1]; x[view.Joined] < 0.3 || x[view.Given] != 0 || got.Confirmed[0][view.Given] < 0.3 {
		t.Errorf("%v", got.Confirmed)
	}
}

// The result is the same for any number of threads, and but for a little for other orders.
func TestReadThreads(t *testing.T) {
	views := append(classes(t, 3, 0.3), noise(1))
	views[1] = with(views[1], 150, 0.05)
	var want *Readings
	for _, threads := range []int{1, 2, 8, 0} {
		got, err := read(t, t.Context(), views, nil, threads)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads: %v, want %v", threads, got, want)
		}
	}
	got, err := read(t, t.Context(), views, rand.New(rand.NewPCG(1, 1)).Perm(300), 0)
	if err != nil {
		t.Fatal(err)
	}
	for m := range want.Confirmed {
		for v, x := range want.Confirmed[m] {
			if math.Abs(got.Confirmed[m][v]-x) > 0.03 {
				t.Errorf("view %d, %v: %.3f, in another order %.3f", m, view.Version(v), x, got.Confirmed[m][v])
			}
		}
	}
}

func TestReadCancelled(t *testing.T) {
	views := classes(t, 2, 0)
	for questions := 0; ; questions += 1 + questions/3 {
		got, err := read(t, lapse.After(t.Context(), questions), views, nil, 1)
		if err == nil {
			if questions < 10 {
				t.Errorf("it asks %d times", questions)
			}
			return
		}
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d questions: %v", questions, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	good := classes(t, 2, 0)
	scalers := []*view.Scaler{{}, {}}
	short := &view.View{Name: "short", Samples: 2, Dims: 1, Data: []float32{1, 2}}
	for name, c := range map[string]struct {
		views   []*view.View
		scalers []*view.Scaler
		order   sparse.Permutation
	}{
		"a scaler too few":    {good, scalers[:1], nil},
		"a nil view":          {[]*view.View{good[0], nil}, scalers, nil},
		"a nil scaler":        {good, []*view.Scaler{{}, nil}, nil},
		"other samples":       {[]*view.View{good[0], short}, scalers, nil},
		"an order of too few": {good, scalers, sparse.Permutation{0}},
		"a scaler of others":  {good, []*view.Scaler{{Scale: view.Mixed}, {}}, nil},
	} {
		if got, err := Read(t.Context(), c.views, c.scalers, make([]similarity.Metric, 2), c.order, 0); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	r := &Readings{Taken: []view.Version{view.Given, view.Joined}}
	if _, err := r.Apply(scalers); err == nil {
		t.Error("a scaler without versions is no error")
	}
	if _, err := r.Apply(scalers[:1]); err == nil {
		t.Error("a scaler too few is no error")
	}
}

func TestClearest(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		confirmed [][]float64
		taken     []view.Version
		m         int
		v         view.Version
	}{
		"none":                   {nil, nil, -1, 0},
		"hardly clearer":         {[][]float64{{0.5, 0.54, 0.2, 0.2}}, make([]view.Version, 1), -1, 0},
		"clearer":                {[][]float64{{0.5, 0.56, 0.2, 0.2}}, make([]view.Version, 1), 0, view.Given},
		"the clearest of a view": {[][]float64{{0.5, 0.56, 0.57, 0.2}}, make([]view.Version, 1), 0, view.Ranged},
		"the clearest of all":    {[][]float64{{0.5, 0.56, 0.2, 0.2}, {0.9, 0.89, 0.8, 0.92}}, make([]view.Version, 2), 1, view.Standard},
		"taken already":          {[][]float64{{0.5, 0.56, 0.2, 0.2}}, []view.Version{view.Given}, -1, 0},
		"too little to tell":     {[][]float64{{0.99, 0.995, 0.9, 0.9}}, make([]view.Version, 1), -1, 0},
		"nothing left":           {[][]float64{{1, 1, 1, 1}}, make([]view.Version, 1), -1, 0},
		"unknown":                {[][]float64{{nan, nan, nan, nan}}, make([]view.Version, 1), -1, 0},
		"a version is missing":   {[][]float64{{0.5, nan, nan, 0.6}}, make([]view.Version, 1), 0, view.Standard},
	} {
		if m, v := clearest(&Readings{c.taken, c.confirmed}); m != c.m || m >= 0 && v != c.v {
			t.Errorf("%s: view %d, %v", name, m, v)
		}
	}
}

func TestCompared(t *testing.T) {
	for _, c := range []struct {
		samples int
		dims    []int
		want    int
	}{
		{0, nil, 0}, {100, []int{10}, 100}, {1_000_000, []int{128, 128}, 1500}, {5000, []int{10, 10_000}, 655}, {5000, []int{1 << 20}, 300},
	} {
		if got := Compared(c.samples, c.dims); got != c.want {
			t.Errorf("%d of %v: %d, want %d", c.samples, c.dims, got, c.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	views := classes(b, 3, 0)
	for b.Loop() {
		if _, err := read(b, b.Context(), views, nil, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

// Rows that are mostly zeros are compared by what is not 0, and as alike as whole rows are.
func TestReadSparse(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	v := &view.View{Name: "words", Samples: 80, Dims: 120, Data: make([]float32, 80*120)}
	for i := range v.Samples {
		for range 6 {
			v.Row(i)[20*(i%4)+random.IntN(40)] = float32(1 + random.IntN(3))
		}
	}
	scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{
		ctx: t.Context(), views: []*view.View{v}, scalers: []*view.Scaler{scaler}, chosen: []int{3, 1, 4, 15, 9, 2, 6},
		metrics: []similarity.Metric{similarity.Cosine}, threads: 2,
	}
	found := 0
	err = r.each(0, scaler.Versions(), func(version view.Version, space *similarity.Space) error {
		found++
		one, err := scaler.Only(version)
		if err != nil {
			return err
		}
		want, err := similarity.Lazy(t.Context(), v, one, nil, 1)
		if err != nil {
			return err
		}
		if !space.Sparse() {
			t.Errorf("%v: whole rows are compared", version)
		}
		for i, a := range r.chosen {
			for j, b := range r.chosen {
				if x, y := space.Similarity(i, j), want.Similarity(a, b); math.Abs(float64(x-y)) > 1e-5 {
					t.Errorf("%v: samples %d and %d: %v, want %v", version, a, b, x, y)
				}
			}
		}
		return nil
	})
	if err != nil || found != 4 {
		t.Errorf("%d versions, %v", found, err)
	}
}
