package speed

import (
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/mvclust/mvclust/internal/kernel"
)

// Kernel is how fast one core sums products of float32, by dimensions.
type Kernel struct {
	Name string `json:"name"`
	// Speeds holds, for every number of dimensions of kernelDims, the best of
	// several measurements in billions of operations a second, an addition and a
	// multiplication being one each.
	Speeds []float64 `json:"gflops"`
}

// kernelDims are the numbers of dimensions at which kernels are measured.
var kernelDims = []int{128, 256}

// kernels measures all kernels in turn, several times over, and keeps the best of
// each.
func (b *bench) kernels() error {
	type contestant struct {
		name string
		make func(dims int) (work func(), operations float64)
	}
	var list []contestant
	for _, k := range kernel.Available() {
		list = append(list, contestant{"mvclust " + k.Name, func(dims int) (func(), float64) { return tiles(k, dims) }})
	}
	list = append(list, contestant{"gonum Sgemm", sgemm})
	result := make([]Kernel, len(list))
	peer := Kernel{Name: "OpenBLAS, through numpy", Speeds: make([]float64, len(kernelDims))}
	for i, c := range list {
		result[i] = Kernel{c.name, make([]float64, len(kernelDims))}
	}
	compare := true
	b.say("measuring the inner loops")
	for range b.Workload.KernelRounds {
		for i, c := range list {
			for d, dims := range kernelDims {
				if err := b.ctx.Err(); err != nil {
					return err
				}
				work, operations := c.make(dims)
				best := &result[i].Speeds[d]
				*best = max(*best, speed(work, operations, b.Workload.KernelTime))
			}
		}
		if !compare {
			continue
		}
		a, err := b.ask(numpy, &request{Task: "product", Dims: kernelDims, Seconds: b.Workload.KernelTime.Seconds(), Threads: 1})
		if err := b.optional(peer.Name, err); err != nil {
			return err
		}
		if compare = err == nil; compare {
			for d, x := range a.Speeds {
				peer.Speeds[d] = max(peer.Speeds[d], round(x))
			}
		}
	}
	if compare {
		result = append(result, peer)
	}
	b.r.Kernels = result
	for _, k := range result {
		b.say("kernel %s: %.3g GFLOP/s at %d dimensions", k.Name, k.Speeds[len(kernelDims)-1], kernelDims[len(kernelDims)-1])
	}
	return nil
}

// speed runs work for at least a time and returns billions of operations a second.
func speed(work func(), operations float64, least time.Duration) float64 {
	work() // fills the caches
	start, count := time.Now(), 0
	for {
		work()
		count++
		if elapsed := time.Since(start); elapsed >= least {
			return round(operations * float64(count) / elapsed.Seconds() / 1e9)
		}
	}
}

// side is about how many rows are multiplied with as many others: few enough for the
// second-level cache, in which the search itself works too.
const side = 192

// tiles multiplies packed rows with packed rows.
func tiles(k *kernel.Kernel, dims int) (work func(), operations float64) {
	rows, columns := kernel.Panels(side, k.Rows), kernel.Panels(side, k.Columns)
	a, b, c := random(rows*k.Rows*dims), random(columns*k.Columns*dims), make([]float32, k.Rows*k.Columns)
	return func() {
		for j := range columns {
			for i := range rows {
				k.Tile(kernel.Dot, dims, a[i*k.Rows*dims:], b[j*k.Columns*dims:], c, false)
			}
		}
	}, 2 * float64(rows*k.Rows) * float64(columns*k.Columns) * float64(dims)
}

// sgemm multiplies rows with rows by gonum, of a number that it does not share out
// among cores.
func sgemm(dims int) (work func(), operations float64) {
	const rows, columns = 64, 128
	a, b, c := random(rows*dims), random(columns*dims), make([]float32, rows*columns)
	return func() {
		gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, rows, columns, dims, 1, a, dims, b, dims, 0, c, columns)
	}, 2 * rows * columns * float64(dims)
}

// random returns n values, always the same.
func random(n int) []float32 {
	r := rand.New(rand.NewPCG(0, 0))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}
