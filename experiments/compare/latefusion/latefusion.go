// Package latefusion has what EEIMC and OSLF share: the kernels of the views, the base partition of
// each, the partition of all of them together, and the steps that both repeat.
//
// A base partition H_v has a row for every sample and k columns, which are the leading eigenvectors
// of the kernel of view v among the samples that have it. The rows of those that lack it are 0 at
// first, and found along the way.
package latefusion

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

// State is what is fused: H_v, the rotations W_v, the weights b_v, whose squares have the sum 1,
// and H_0.
type State struct {
	Base, Turn []*mat.Dense
	Weight     []float64
	Common     *mat.Dense
	missing    [][]int // by view, the samples that lack it
}

// Kernel compares the samples of one view: by the products of their rows, or else by the matrix All.
// In lists these samples.
type Kernel struct {
	Rows *mat.Dense
	All  *mat.SymDense
	In   []int
}

// Kernels returns that of every view: the cosine, or with a width above 0 exp(-d / (2 width m)),
// where d are the squared distances of two samples, and m is their mean.
func Kernels(views []*view.View, width float64) []Kernel {
	kernels := make([]Kernel, len(views))
	for m, v := range views {
		var in []int
		for i := range v.Samples {
			if v.Has(i) {
				in = append(in, i)
			}
		}
		x := mat.NewDense(len(in), v.Dims, nil)
		for r, i := range in {
			row := x.RawRowView(r)
			for c, value := range v.Row(i) {
				row[c] = float64(value)
			}
		}
		if width > 0 {
			kernels[m] = Kernel{All: gaussian(x, width), In: in}
			continue
		}
		system.UnitRows(x)
		kernels[m] = Kernel{Rows: x, In: in}
	}
	return kernels
}

func gaussian(rows *mat.Dense, width float64) *mat.SymDense {
	k := system.SquaredDistances(rows)
	n := k.SymmetricDim()
	mean := 0.0
	for i := range n {
		for j := range i {
			mean += 2 * k.At(i, j) / float64(n) / float64(n)
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, math.Exp(-k.At(i, j)/max(2*width*mean, math.SmallestNonzeroFloat32)))
		}
	}
	return k
}

// Whole is the kernel of all samples.
func Whole(k *mat.SymDense) Kernel {
	in := make([]int, k.SymmetricDim())
	for i := range in {
		in[i] = i
	}
	return Kernel{All: k, In: in}
}

// centre moves the samples such that their mean is the origin, and then to the unit sphere.
func (k Kernel) centre() {
	if k.Rows == nil {
		centre(k.All)
		return
	}
	n, d := k.Rows.Dims()
	mean := make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1/float64(n), k.Rows.RawRowView(i))
	}
	for i := range n {
		floats.Sub(k.Rows.RawRowView(i), mean)
	}
	system.UnitRows(k.Rows)
}

func centre(k *mat.SymDense) {
	n := k.SymmetricDim()
	mean := make([]float64, n)
	for i := range n {
		for j := range n {
			mean[i] += k.At(i, j) / float64(n)
		}
	}
	all := floats.Sum(mean) / float64(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, k.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	length := make([]float64, n)
	for i := range n {
		length[i] = math.Sqrt(max(k.At(i, i), 1e-12))
	}
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, k.At(i, j)/(length[i]*length[j]))
		}
	}
}

// leading returns orthonormal vectors, in the columns, of which the first are the leading
// eigenvectors of the kernel.
func (k Kernel) leading(ctx context.Context, count int) (*mat.Dense, error) {
	if k.Rows == nil {
		_, vectors, err := system.Highest(ctx, k.All, count)
		return vectors, err
	}
	n, d := k.Rows.Dims()
	product := new(mat.SymDense)
	if n <= d {
		product.SymOuterK(1, k.Rows)
		_, vectors, err := system.Highest(ctx, product, count)
		return vectors, err
	}
	// The rows have as many dimensions of their own at most.
	product.SymOuterK(1, k.Rows.T())
	values, directions, err := system.Highest(ctx, product, min(count, d))
	if err != nil {
		return nil, err
	}
	var images mat.Dense
	images.Mul(k.Rows, directions)
	random := rand.New(rand.NewPCG(0, uint64(n)))
	vectors := mat.NewDense(n, count, nil)
	for c := range count {
		real := c < len(values) && values[c] > rank*values[0]
		for i := range n {
			if real {
				vectors.Set(i, c, images.At(i, c)/math.Sqrt(values[c]))
			} else { // any vector does that is orthogonal to these
				vectors.Set(i, c, random.NormFloat64())
			}
		}
	}
	opponent.Orthonormal(vectors)
	return vectors, nil
}

// rank is the share of the largest eigenvalue that is nothing.
const rank = 1e-10

// Start centres the kernels of n samples and makes the partitions of them.
func Start(ctx context.Context, kernels []Kernel, n, clusters int) (*State, error) {
	s := &State{Weight: make([]float64, len(kernels))}
	for m, k := range kernels {
		k.centre()
		s.Weight[m] = 1 / math.Sqrt(float64(len(kernels)))
		leading, err := k.leading(ctx, min(clusters, len(k.In)))
		if err != nil {
			return nil, err
		}
		_, columns := leading.Dims()
		base, turn, has := mat.NewDense(n, clusters, nil), mat.NewDense(clusters, clusters, nil), make([]bool, n)
		for r, i := range k.In {
			copy(base.RawRowView(i)[:columns], leading.RawRowView(r))
			has[i] = true
		}
		for c := range clusters {
			turn.Set(c, c, 1)
		}
		var missing []int
		for i := range has {
			if !has[i] {
				missing = append(missing, i)
			}
		}
		s.Base, s.Turn, s.missing = append(s.Base, base), append(s.Turn, turn), append(s.missing, missing)
	}
	var err error
	s.Common, err = together(kernels, n).leading(ctx, clusters)
	return s, err
}

// together returns the mean of the kernels of n samples, which are alike by 0 where one lacks a view:
// where they have rows, these stand side by side.
func together(kernels []Kernel, n int) Kernel {
	if kernels[0].Rows == nil {
		sum := mat.NewSymDense(n, nil)
		for _, k := range kernels {
			for a, i := range k.In {
				for b, j := range k.In[:a+1] {
					sum.SetSym(i, j, sum.At(i, j)+k.All.At(a, b)/float64(len(kernels)))
				}
			}
		}
		return Kernel{All: sum}
	}
	dims := 0
	for _, k := range kernels {
		_, d := k.Rows.Dims()
		dims += d
	}
	rows, from := mat.NewDense(n, dims, nil), 0
	for _, k := range kernels {
		_, d := k.Rows.Dims()
		for r, i := range k.In {
			copy(rows.RawRowView(i)[from:], k.Rows.RawRowView(r))
		}
		from += d
	}
	return Kernel{Rows: rows}
}

// Sum returns sum_v b_v H_v W_v + lambda H_0.
func (s *State) Sum(lambda float64) *mat.Dense {
	var sum, part mat.Dense
	sum.Scale(lambda, s.Common)
	for v, h := range s.Base {
		part.Mul(h, s.Turn[v])
		part.Scale(s.Weight[v], &part)
		sum.Add(&sum, &part)
	}
	return &sum
}

// Align finds what makes trace(H'sum_v b_v H_v W_v) largest for a given H: first the rotations, then
// the rows of samples that lack a view, which are orthonormal in every view, then the weights.
func (s *State) Align(h *mat.Dense) error {
	var err error
	_, k := h.Dims()
	fit := make([]float64, len(s.Base))
	for v, base := range s.Base {
		var product mat.Dense
		product.Mul(base.T(), h)
		if s.Turn[v], err = system.Polar(&product); err != nil {
			return err
		}
		if missing := s.missing[v]; len(missing) > 0 {
			rows := mat.NewDense(len(missing), k, nil)
			for r, i := range missing {
				rows.SetRow(r, h.RawRowView(i))
			}
			var back mat.Dense
			back.Mul(rows, s.Turn[v].T())
			found, err := system.Polar(&back)
			if err != nil {
				return err
			}
			for r, i := range missing {
				base.SetRow(i, found.RawRowView(r))
			}
		}
		var turned mat.Dense
		turned.Mul(base, s.Turn[v])
		fit[v] = max(0, system.Inner(h, &turned))
	}
	if length := floats.Norm(fit, 2); length > 0 {
		floats.ScaleTo(s.Weight, 1/length, fit)
	}
	return nil
}

// Rounds bounds the rounds of the methods, which in most cases end sooner.
const Rounds = 100

// Done reports whether the last round changed the objective so little that it was the last one.
func Done(objective []float64) bool {
	n := len(objective)
	return n >= Rounds || n > 2 && math.Abs(objective[n-1]-objective[n-2]) < 1e-4*math.Abs(objective[n-1])
}
