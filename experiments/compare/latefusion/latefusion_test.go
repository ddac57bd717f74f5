package latefusion

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/simple"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

// Kernels start from the same partitions as matrices as by their rows, also where samples lack a view,
// and Gaussian ones are 1 on the diagonal and less beside it.
func TestStart(t *testing.T) {
	in, _ := systemtest.Input(t, simple.Systems()[1], 60, 3, 2, 0.3, 0.3)
	kernels := Kernels(in.Views, 0)
	var whole []Kernel
	for _, k := range kernels {
		all := new(mat.SymDense)
		all.SymOuterK(1, k.Rows)
		// The rows are moved to their mean before they are compared, and so is the matrix.
		whole = append(whole, Kernel{All: all, In: k.In})
	}
	a, err := Start(t.Context(), kernels, 60, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Start(t.Context(), whole, 60, 3)
	if err != nil {
		t.Fatal(err)
	}
	for at, pair := range [][2]*mat.Dense{{a.Common, b.Common}, {a.Base[0], b.Base[0]}, {a.Base[1], b.Base[1]}} {
		var p, q mat.Dense
		p.Mul(pair[0], pair[0].T())
		q.Mul(pair[1], pair[1].T())
		if !mat.EqualApprox(&p, &q, 1e-3) {
			t.Errorf("partition %d differs", at)
		}
	}
	for _, k := range Kernels(in.Views, 0.5) {
		for i := range k.In {
			for j := range i {
				if x := k.All.At(i, j); x <= 0 || x >= 1 || k.All.At(i, i) != 1 {
					t.Fatalf("kernel %d, %d is %v", i, j, x)
				}
			}
		}
	}
}
