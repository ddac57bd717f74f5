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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
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

// Kernel compares the samples of one view; In lists these.
type Kernel struct {
	*mat.SymDense
	In []int
}

// Cosines returns the kernel of every view: the cosine.
func Cosines(views []*view.View) []Kernel {
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
		system.UnitRows(x)
		k := new(mat.SymDense)
		k.SymOuterK(1, x)
		kernels[m] = Kernel{k, in}
	}
	return kernels
}

// Whole is the kernel of all samples.
func Whole(k *mat.SymDense) Kernel {
	in := make([]int, k.SymmetricDim())
	for i := range in {
		in[i] = i
	}
	return Kernel{k, in}
}

// centre moves the samples such that their mean is the origin, and then to the unit sphere.
func (k Kernel) centre() {
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

// Start centres the kernels of n samples and makes the partitions of them.
func Start(ctx context.Context, kernels []Kernel, n, clusters int) (*State, error) {
	s := &State{Weight: make([]float64, len(kernels))}
	all := mat.NewSymDense(n, nil)
	for m, k := range kernels {
		k.centre()
		s.Weight[m] = 1 / math.Sqrt(float64(len(kernels)))
		_, leading, err := system.Highest(ctx, k.SymDense, min(clusters, len(k.In)))
		if err != nil {
			return nil, err
		}
		_, columns := leading.Dims()
		base, turn, has := mat.NewDense(n, clusters, nil), mat.NewDense(clusters, clusters, nil), make([]bool, n)
		for r, i := range k.In {
			copy(base.RawRowView(i)[:columns], leading.RawRowView(r))
			has[i] = true
			for c, j := range k.In[r:] {
				all.SetSym(i, j, all.At(i, j)+s.Weight[m]*k.At(r, r+c))
			}
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
	_, s.Common, err = system.Highest(ctx, all, clusters)
	return s, err
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
		fit[v] = max(0, Inner(h, &turned))
	}
	if length := floats.Norm(fit, 2); length > 0 {
		floats.ScaleTo(s.Weight, 1/length, fit)
	}
	return nil
}

// Inner returns trace(a'b).
func Inner(a, b *mat.Dense) float64 {
	n, _ := a.Dims()
	sum := 0.0
	for i := range n {
		sum += floats.Dot(a.RawRowView(i), b.RawRowView(i))
	}
	return sum
}

// Rounds bounds the rounds of the methods, which in most cases end sooner.
const Rounds = 100

// Done reports whether the last round changed the objective so little that it was the last one.
func Done(objective []float64) bool {
	n := len(objective)
	return n >= Rounds || n > 2 && math.Abs(objective[n-1]-objective[n-2]) < 1e-4*math.Abs(objective[n-1])
}
