package speed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/score"
)

// report is the part of run.json that is of use here.
type report struct {
	Settings struct {
		Neighbours int `json:"neighbors"`
	} `json:"settings"`
	Inputs struct {
		Samples int `json:"samples"`
		Views   []struct {
			Dims       int `json:"dims"`
			Candidates int `json:"candidates"`
			Neighbours struct {
				Method string  `json:"method"`
				Recall float64 `json:"recall"`
			} `json:"neighbours"`
		} `json:"views"`
	} `json:"inputs"`
	Stages []struct {
		Stage   string  `json:"stage"`
		Seconds float64 `json:"seconds"`
	} `json:"stages"`
}

// promise returns the memory that the run should not exceed, in bytes: 2.5 times the input and
// 24 bytes for each of K neighbours of every sample in every view.
func (r *report) promise() float64 {
	input, views := 0, len(r.Inputs.Views)
	for _, v := range r.Inputs.Views {
		input += 4 * r.Inputs.Samples * v.Dims
	}
	return 2.5*float64(input) + 24*float64(r.Inputs.Samples*r.Settings.Neighbours*views)
}

// fit is a whole run. It is not given the classes: scoring is not a part of the run.
func (e *Experiment) fit(ctx context.Context, t *lab.Task) error {
	as := lab.Paper
	if t.Setup.Method == wholeDefault {
		as = lab.Default
	}
	out := filepath.Join(e.l.Scratch, "fit")
	args := append([]string{"fit", t.Data.Path, "--json", "--quiet", "--threads", fmt.Sprint(e.Threads), "-o", out}, t.Setup.By(as).Arguments()...)
	p, err := e.l.Mvclust(ctx, args...)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(p.Out, &r); err != nil {
		return fmt.Errorf("fit: run.json cannot be read: %w", err)
	}
	t.Seconds = append(t.Seconds, p.Seconds)
	t.Peak = max(t.Peak, p.Peak)
	var stages []string
	for _, s := range r.Stages {
		stages = append(stages, s.Stage)
		t.Set("stage "+s.Stage, s.Seconds)
	}
	t.Set("promise", r.promise())
	recall, by := 1.0, ""
	for _, v := range r.Inputs.Views {
		if n := v.Neighbours; n.Method != neighbour.Exact.String() {
			recall = min(recall, n.Recall)
		}
		switch {
		case by == "":
			by = v.Neighbours.Method
		case by != v.Neighbours.Method:
			by = "mixed"
		}
	}
	t.Set("recall", recall)
	t.Set("candidates", float64(r.Inputs.Views[0].Candidates))
	t.Words = map[string]string{"stages": strings.Join(stages, " "), "neighbours": by}
	if len(t.Seconds) > 1 {
		return nil
	}
	p, err = e.l.Mvclust(ctx, "eval", "--truth", t.Data.Path+":labels", filepath.Join(out, "labels.csv"), "--json")
	if err != nil {
		return err
	}
	t.Scores = &score.Scores{}
	if err := json.Unmarshal(p.Out, t.Scores); err != nil || as != lab.Default || t.Setup.Synth == nil {
		return err
	}
	return e.afterwards(ctx, t, out)
}

// search finds the neighbours of one view by the cosine, from the view to the lists.
func (e *Experiment) search(ctx context.Context, t *lab.Task) error {
	views, err := t.Views(ctx)
	if err != nil {
		return err
	}
	by := neighbour.Exact
	if t.Setup.Method == approximate {
		by = neighbour.Approximate
	}
	start := time.Now()
	s, err := similarity.NewSpace(ctx, views[0], similarity.Cosine, nil, false, e.Threads)
	if err != nil {
		return err
	}
	l, err := neighbour.Search(ctx, s, e.w.neighbours, 0, neighbour.Settings{Method: by}, e.Threads, nil)
	if err != nil {
		return err
	}
	t.Seconds = append(t.Seconds, lab.Round(time.Since(start).Seconds()))
	if by == neighbour.Exact {
		e.truth = l
		return nil
	}
	t.Set("recall", shared(e.truth, func(i int, mark func(j int32)) {
		for _, j := range l.Of(i) {
			mark(j)
		}
	}))
	return nil
}

// flat is faiss's exact search: of the graph's neighbours, or of all views of a whole run.
func (e *Experiment) flat(ctx context.Context, t *lab.Task) error {
	r := &request{Task: "flat", File: t.Data.Path, Neighbours: candidates}
	for v := range t.Setup.Synth.Views {
		r.Arrays = append(r.Arrays, fmt.Sprint("view", v))
	}
	compare := t.Setup.Synth.Views == 1
	if compare {
		r.Neighbours, r.Output = e.w.neighbours, filepath.Join(e.l.Scratch, "found")
	}
	a, err := e.ask(ctx, t, faiss, r)
	if err != nil {
		return err
	}
	t.Seconds = append(t.Seconds, lab.Round(a.Seconds))
	if !compare {
		return nil
	}
	theirs, err := os.ReadFile(r.Output)
	if err != nil {
		return err
	}
	t.Set("agreement", agreement(e.truth, theirs))
	return nil
}

// brute is scikit-learn's exact search.
func (e *Experiment) brute(ctx context.Context, t *lab.Task) error {
	a, err := e.ask(ctx, t, sklearn, &request{Task: "brute", File: t.Data.Path, Arrays: []string{"view0"}, Neighbours: e.w.neighbours})
	if err == nil {
		t.Seconds = append(t.Seconds, lab.Round(a.Seconds))
	}
	return err
}

// agreement returns the share of our neighbours that are among theirs, one row of neighbours
// per row, in 64 bits each.
func agreement(l *neighbour.Lists, theirs []byte) float64 {
	width := len(theirs) / (len(l.Offsets) - 1)
	return shared(l, func(i int, mark func(j int32)) {
		for row := theirs[i*width : (i+1)*width]; len(row) >= 8; row = row[8:] {
			mark(int32(binary.LittleEndian.Uint64(row)))
		}
	})
}

// shared returns the share of the neighbours in l that the other lists have too; of gives the
// other list of a sample.
func shared(l *neighbour.Lists, of func(i int, mark func(j int32))) float64 {
	n := len(l.Offsets) - 1
	marked := make([]int32, n) // 1 + the last sample whose list has this one
	common := 0
	for i := range n {
		of(i, func(j int32) {
			if j >= 0 && int(j) < n { // faiss writes -1 where it has too few
				marked[j] = int32(i) + 1
			}
		})
		for _, j := range l.Of(i) {
			if marked[j] == int32(i)+1 {
				common++
			}
		}
	}
	if len(l.Values) == 0 {
		return 1
	}
	return float64(common) / float64(len(l.Values))
}

// cut is scikit-learn's spectral clustering of the graph of the fused views, before any
// refinement, as a process of its own that is told the number of classes.
func (e *Experiment) cut(ctx context.Context, t *lab.Task) error {
	views, err := t.Views(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(e.l.Scratch, "graph.npz")
	if err := e.fuse(ctx, views, file); err != nil {
		return err
	}
	start := time.Now()
	a, err := e.ask(ctx, t, sklearn, &request{Task: "spectral", File: file, Clusters: t.Data.Classes()})
	if err != nil {
		return err
	}
	t.Seconds = append(t.Seconds, lab.Round(time.Since(start).Seconds()))
	return t.Score(a.Labels)
}

// fuse writes the graph as the three arrays of a compressed sparse matrix: offsets, index and
// weight.
func (e *Experiment) fuse(ctx context.Context, views []*mvclust.View, file string) error {
	opt := mvclust.Options{Threads: e.Threads}
	opt.Refinement.WithoutPaths, opt.Refinement.WithoutCoNeighbours = true, true
	result, err := mvclust.Fit(ctx, views, opt)
	if err != nil {
		return err
	}
	g := result.Graph
	offsets, index := make([]int64, len(g.Offsets)), make([]int64, len(g.Index))
	for i, x := range g.Offsets {
		offsets[i] = int64(x)
	}
	for i, x := range g.Index {
		index[i] = int64(x)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := npy.NewWriter(f)
	return errors.Join(z.Add("offsets", []int{len(offsets)}, offsets), z.Add("index", []int{len(index)}, index),
		z.Add("weight", []int{len(g.Weight)}, g.Weight), z.Close(), f.Close())
}

// kernelDims are the numbers of dimensions at which inner loops are measured.
var kernelDims = []int{128, 256}

// kernel measures an inner loop: billions of operations a second, an addition and a
// multiplication being one each, of products of float32 rows in the cache, on one core.
func (e *Experiment) kernel(_ context.Context, t *lab.Task) error {
	start := time.Now()
	for _, dims := range kernelDims {
		var work func()
		var operations float64
		if all := kernel.Available(); t.Setup.Method == gonumSgemm {
			work, operations = sgemm(dims)
		} else {
			at := slices.IndexFunc(all, func(k *kernel.Kernel) bool { return ours(k) == t.Setup.Method })
			work, operations = tiles(all[at], dims)
		}
		work() // fills the caches
		count, from := 0, time.Now()
		for time.Since(from) < e.w.kernelTime {
			work()
			count++
		}
		t.Set(fmt.Sprint(dims), operations*float64(count)/time.Since(from).Seconds()/1e9)
	}
	t.Seconds = append(t.Seconds, lab.Round(time.Since(start).Seconds()))
	return nil
}

// product measures OpenBLAS in the same way.
func (e *Experiment) product(ctx context.Context, t *lab.Task) error {
	start := time.Now()
	a, err := e.ask(ctx, t, numpy, &request{Task: "product", Dims: kernelDims, Seconds: e.w.kernelTime.Seconds(), Threads: 1})
	if err != nil {
		return err
	}
	for d, x := range a.Speeds {
		t.Set(fmt.Sprint(kernelDims[d]), x)
	}
	t.Seconds = append(t.Seconds, lab.Round(time.Since(start).Seconds()))
	return nil
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

// sgemm multiplies rows with rows by gonum, of a number that it does not share out among
// cores.
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
