package discriminant

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// clouds returns the space of samples around as many centres as there are classes, in turn, and the classes. Every
// missing-th sample lacks the view; 0 stands for none.
func clouds(t testing.TB, samples, classes, dims, missing int, noise float64, seed uint64) (*similarity.Space, []int32) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	centres := make([]float64, classes*dims)
	for k := range centres {
		centres[k] = random.NormFloat64()
	}
	v := &view.View{Name: "clouds", Samples: samples, Dims: dims, Data: make([]float32, samples*dims), Present: make([]bool, samples)}
	labels := make([]int32, samples)
	for i := range samples {
		labels[i] = int32(i % classes)
		v.Present[i] = missing == 0 || i%missing != 0
		for k := range dims {
			v.Row(i)[k] = float32(centres[int(labels[i])*dims+k] + noise*random.NormFloat64())
		}
	}
	s, err := similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s, labels
}

func coordinatesOf(t testing.TB, spaces ...*similarity.Space) *Coordinates {
	t.Helper()
	c, err := Read(t.Context(), spaces, 2)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func of(t testing.TB, c *Coordinates, labels []int32, clusters int) float64 {
	t.Helper()
	kappa, err := c.Of(t.Context(), labels, clusters, 2)
	if err != nil {
		t.Fatal(err)
	}
	return kappa
}

// random returns labels by chance.
func random(samples, clusters int) []int32 {
	r, labels := rand.New(rand.NewPCG(9, 9)), make([]int32, samples)
	for i := range labels {
		labels[i] = int32(r.IntN(clusters))
	}
	return labels
}

// Classes are foretold, few or many, merged or not; labels by chance are not, nor are pieces that no place is of.
func TestOf(t *testing.T) {
	for _, classes := range []int{2, 10, 150} {
		s, labels := clouds(t, 600, classes, 20, 0, 0.3, uint64(classes))
		c := coordinatesOf(t, s)
		if x := of(t, c, labels, classes); x < 0.97 {
			t.Errorf("%d classes are foretold by %.3f", classes, x)
		}
		pairs := make([]int32, len(labels))
		for i, l := range labels {
			pairs[i] = l / 2
		}
		if x := of(t, c, pairs, (classes+1)/2); classes > 2 && x < 0.8 {
			t.Errorf("%d pairs of classes are foretold by %.3f", classes/2, x)
		}
		if x := of(t, c, random(600, classes), classes); math.Abs(x) > 0.15 {
			t.Errorf("%d clusters by chance are foretold by %.3f", classes, x)
		}
	}
	s, _ := clouds(t, 600, 1, 50, 0, 1, 3)
	if x := of(t, coordinatesOf(t, s), random(600, 60), 60); math.Abs(x) > 0.1 {
		t.Errorf("clusters by chance of one cloud are foretold by %.3f", x)
	}
}

// A sample alone is never foretold, and one cluster says nothing.
func TestOfTrivial(t *testing.T) {
	s, _ := clouds(t, 40, 4, 8, 0, 0.1, 4)
	c := coordinatesOf(t, s)
	alone := make([]int32, 40)
	for i := range alone {
		alone[i] = int32(i)
	}
	if x := of(t, c, alone, 40); x > 0 {
		t.Errorf("samples alone are foretold by %.3f", x)
	}
	if x := of(t, c, make([]int32, 40), 1); x != 0 {
		t.Errorf("one cluster is foretold by %.3f", x)
	}
	if x := of(t, coordinatesOf(t), nil, 2); x != 0 {
		t.Errorf("no samples are foretold by %.3f", x)
	}
}

// Each view of a sample counts, and one that it lacks drops out: two views that tell half of the classes each.
func TestOfViews(t *testing.T) {
	a, fine := clouds(t, 900, 6, 12, 5, 0.2, 5)
	b, _ := clouds(t, 900, 4, 12, 7, 0.2, 6)
	both := make([]int32, len(fine))
	for i := range both {
		both[i] = int32(i % 12) // of 6 and of 4 classes at once
	}
	alone, together := of(t, coordinatesOf(t, a), both, 12), of(t, coordinatesOf(t, a, b), both, 12)
	if alone > 0.6 || together < 0.75 {
		t.Errorf("%.3f by one view, %.3f by both", alone, together)
	}
	if x := of(t, coordinatesOf(t, a, b.Emptied()), both, 12); x != alone {
		t.Errorf("%.3f with a view that no sample has, %.3f without", x, alone)
	}
}

// The result is that of a plain transcription, and the same for any number of threads.
func TestOfPlainly(t *testing.T) {
	a, labels := clouds(t, 200, 5, 10, 6, 1.2, 7)
	b, _ := clouds(t, 200, 5, 7, 0, 1.5, 8)
	c := coordinatesOf(t, a, b)
	want := plainly(c, labels, 5)
	for threads := 1; threads <= 3; threads++ {
		got, err := c.Of(t.Context(), labels, 5, threads)
		if err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%d threads: %v, %v, want %v", threads, got, err, want)
		}
	}
	if want < 0.2 || want > 0.95 {
		t.Errorf("%.3f says little", want)
	}
}

// plainly transcribes Of for up to 1000 samples, solving W a = mu by Gaussian elimination.
func plainly(c *Coordinates, labels []int32, clusters int) float64 {
	n := len(labels)
	score := make([][]float64, n)
	size := make([]float64, clusters)
	for _, l := range labels {
		size[l]++
	}
	for i := range score {
		score[i] = make([]float64, clusters)
		for l := range score[i] {
			score[i][l] = math.Log(size[l])
			if int32(l) == labels[i] {
				score[i][l] = math.Log(size[l] - 1)
			}
		}
	}
	for _, v := range c.views {
		d := v.dims
		mean := func(l, but int) ([]float64, float64) {
			sum, count := make([]float64, d), 0.0
			for i := range n {
				if v.has[i] && labels[i] == int32(l) && i != but {
					count++
					for k, x := range v.of(i) {
						sum[k] += float64(x)
					}
				}
			}
			for k := range sum {
				sum[k] /= max(1, count)
			}
			return sum, count
		}
		w, count, held := make([][]float64, d), 0.0, 0.0
		for k := range w {
			w[k] = make([]float64, d)
		}
		for l := range clusters {
			mu, own := mean(l, -1)
			if count += own; own > 0 {
				held++
			}
			for i := range n {
				if v.has[i] && labels[i] == int32(l) {
					for a := range d {
						for b := range d {
							w[a][b] += (float64(v.of(i)[a]) - mu[a]) * (float64(v.of(i)[b]) - mu[b])
						}
					}
				}
			}
		}
		trace := 0.0
		for k := range d {
			trace += w[k][k] / (count - held)
		}
		for a := range d {
			for b := range d {
				w[a][b] *= 0.9 / (count - held)
			}
			w[a][a] += 0.1 * trace / float64(d)
		}
		for i := range n {
			if !v.has[i] {
				continue
			}
			for l := range clusters {
				mu, _ := mean(l, i)
				for k, x := range eliminate(w, mu) {
					score[i][l] += (float64(v.of(i)[k]) - mu[k]/2) * x
				}
			}
		}
	}
	tested, found := make([]int32, n), make([]int32, n)
	for i := range n {
		tested[i] = int32(i)
		for l, x := range score[i] {
			if x > score[i][found[i]] {
				found[i] = int32(l)
			}
		}
	}
	return kappa(labels, tested, found, clusters)
}

// eliminate returns x with w x = y.
func eliminate(w [][]float64, y []float64) []float64 {
	n := len(y)
	m := make([][]float64, n)
	for a := range m {
		m[a] = append(append([]float64(nil), w[a]...), y[a])
	}
	for a := range n {
		for b := range n {
			if f := m[b][a] / m[a][a]; b != a {
				for k := a; k <= n; k++ {
					m[b][k] -= f * m[a][k]
				}
			}
		}
	}
	x := make([]float64, n)
	for a := range x {
		x[a] = m[a][n] / m[a][a]
	}
	return x
}

// Half of the labels right and half wrong agree by half beyond chance.
func TestKappa(t *testing.T) {
	labels, all := []int32{0, 1, 0, 1}, []int32{0, 1, 2, 3}
	for _, c := range []struct {
		found []int32
		want  float64
	}{{labels, 1}, {[]int32{0, 1, 1, 1}, 0.5}, {[]int32{0, 0, 0, 0}, 0}, {[]int32{1, 0, 1, 0}, -1}} {
		if got := kappa(labels, all, c.found, 2); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.found, got, c.want)
		}
	}
	if got := kappa([]int32{0, 0}, []int32{0, 1}, []int32{0, 0}, 1); got != 0 {
		t.Errorf("one cluster: %v", got)
	}
}

// Equal rows have no covariance, which breaks nothing.
func TestOfEqual(t *testing.T) {
	s, labels := clouds(t, 60, 3, 8, 0, 0, 10)
	if x := of(t, coordinatesOf(t, s), labels, 3); x != 1 {
		t.Errorf("%v", x)
	}
}

func TestReadErrors(t *testing.T) {
	a, _ := clouds(t, 40, 4, 8, 0, 0.1, 4)
	b, labels := clouds(t, 50, 4, 8, 0, 0.1, 4)
	if _, err := Read(t.Context(), []*similarity.Space{a, b}, 1); err == nil {
		t.Error("spaces of different samples are taken")
	}
	if _, err := Read(t.Context(), []*similarity.Space{nil}, 1); err == nil {
		t.Error("no space is taken")
	}
	c := coordinatesOf(t, b)
	for _, after := range []int{0, 1, 2} {
		_, err := Read(lapse.After(t.Context(), after), []*similarity.Space{b}, 1)
		if !errors.Is(err, context.Canceled) && after == 0 {
			t.Error(err)
		}
	}
	for _, wrong := range [][]int32{nil, labels[1:], append([]int32{4}, labels[1:]...), append([]int32{-1}, labels[1:]...)} {
		if _, err := c.Of(t.Context(), wrong, 4, 1); err == nil {
			t.Errorf("labels %v are taken", wrong[:min(1, len(wrong))])
		}
	}
	if _, err := (*Coordinates)(nil).Of(t.Context(), labels, 4, 1); err == nil {
		t.Error("no coordinates are taken")
	}
	if _, err := c.Of(lapse.After(t.Context(), 0), labels, 4, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if Footprint(MaxSamples+1, 2) != 0 || Footprint(1000, 2) <= 0 {
		t.Error("the footprint is that of other samples")
	}
}

func BenchmarkOf(b *testing.B) {
	s, labels := clouds(b, 3000, 300, 40, 0, 0.5, 11)
	c := coordinatesOf(b, s)
	b.ReportAllocs()
	for b.Loop() {
		of(b, c, labels, 300)
	}
}
