package speed

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/internal/files/npy"
)

// What is done with the model of a fit: the names of its values, in seconds and bytes of memory.
const (
	explained   = "explain"
	placedOne   = "predict one"
	placed      = "predict"
	updated     = "update"
	cutCoarser  = "cut"
	newSamples  = "new samples"
	rowBytes    = "bytes of the rows"
	peakOf      = "peak of "
	everyNew    = 50   // a new sample for so many of the model
	newNoise    = 0.05 // of a value's noise, in units of the root of the mean square of its row
	noiseStream = 27
)

// afterwards measures what is done with the model in out, each time by a process of its own. The new
// samples are every 50th row of the data, with a little noise.
func (e *Experiment) afterwards(ctx context.Context, t *lab.Task, out string) error {
	one, many := filepath.Join(e.l.Scratch, "one.npz"), filepath.Join(e.l.Scratch, "new.npz")
	defer func() { _ = os.Remove(one); _ = os.Remove(many) }() // they are made again where they are needed
	n := t.Setup.Synth.Samples
	count := n / everyNew
	t.Set(newSamples, float64(count))
	t.Set(rowBytes, float64(4*n*t.Setup.Synth.Views*t.Setup.Synth.Dims))
	if err := e.noisy(t, one, 1); err != nil {
		return err
	}
	if err := e.noisy(t, many, count); err != nil {
		return err
	}
	to, threads := filepath.Join(e.l.Scratch, "after"), fmt.Sprint(e.Threads)
	for _, x := range []struct {
		name string
		args []string
	}{
		{explained, []string{"explain", out, "17"}},
		{placedOne, []string{"predict", out, one, "--quiet", "--threads", threads, "-o", to}},
		{placed, []string{"predict", out, many, "--quiet", "--threads", threads, "-o", to}},
		{updated, []string{"update", out, many, "--quiet", "--threads", threads, "-o", to}},
		{cutCoarser, []string{"cut", out, "--coarser", "--quiet", "--threads", threads}}, // last, since it changes the model
	} {
		p, err := e.l.Mvclust(ctx, x.args...)
		if err != nil {
			return err
		}
		t.Set(x.name, p.Seconds)
		t.Set(peakOf+x.name, float64(p.Peak))
	}
	return nil
}

// noisy writes so many new samples to a file. It reads the rows that it needs alone: this process must stay
// small, see Cases.
func (e *Experiment) noisy(t *lab.Task, path string, count int) (err error) {
	data, err := os.Open(t.Data.Path)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }() // it is read alone
	info, err := data.Stat()
	if err != nil {
		return err
	}
	from, err := npy.Open(data, info.Size())
	if err != nil {
		return err
	}
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := to.Close(); err == nil {
			err = closed
		}
	}()
	w, random := npy.NewWriter(to), rand.New(rand.NewPCG(uint64(count), noiseStream))
	for i, a := range from.Arrays() {
		if len(a.Shape) != 2 {
			continue
		}
		stored, dims := npy.Stored(from, i, "f4"), a.Shape[1]
		if stored == nil {
			return fmt.Errorf("%s: array %s is not stored as float32", t.Data.Path, a.Name)
		}
		rows, bytes := make([]float32, 0, count*dims), make([]byte, 4*dims)
		for r := range count {
			if _, err := io.ReadFull(io.NewSectionReader(stored, int64(r*everyNew%a.Shape[0])*int64(len(bytes)), int64(len(bytes))), bytes); err != nil {
				return err
			}
			row, square := make([]float64, dims), 0.0
			for k := range row {
				row[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*k:])))
				square += row[k] * row[k] / float64(dims)
			}
			for _, x := range row {
				rows = append(rows, float32(x+newNoise*math.Sqrt(square)*random.NormFloat64()))
			}
		}
		if err := w.Add(a.Name, []int{count, dims}, rows); err != nil {
			return err
		}
	}
	return w.Close()
}

// rate returns how many new samples a second are predicted, without what is done before the first.
func rate(r *lab.Record) float64 {
	if d := r.Value(placed) - r.Value(placedOne); d > 0 {
		return (r.Value(newSamples) - 1) / d
	}
	return math.NaN()
}

// afterAims holds those of what is done with the model of a run in the default mode, nil where there is none.
func afterAims(r *lab.Record) []lab.Aim {
	of := func(f func() float64) float64 {
		if r == nil || r.Values[explained] == nil {
			return math.NaN()
		}
		return f()
	}
	on := " on its model"
	seconds := func(x float64) string { return lab.Digits(x) + " s" }
	return []lab.Aim{
		{What: "explain" + on + ", time", Bound: 1, Measured: of(func() float64 { return r.Value(explained) }), Write: seconds},
		{What: "predict" + on + ", time for one sample", Bound: 3, Measured: of(func() float64 { return r.Value(placedOne) }), Write: seconds},
		{What: "predict" + on + ", samples a second after that", Bound: 20_000, AtLeast: true, Measured: of(func() float64 { return rate(r) }), Write: func(x float64) string { return lab.Whole(int(x)) }},
		{What: "predict" + on + ", memory over that of the rows", Bound: 1.5, Measured: of(func() float64 { return r.Value(peakOf+placed) / r.Value(rowBytes) }), Write: lab.Decimals(2)},
		{What: "cut" + on + ", time over that of the fit", Bound: 0.1, Measured: of(func() float64 { return r.Value(cutCoarser) / r.Median() }), Write: lab.Decimals(2)},
	}
}

// AfterTable is the table of what is done with models.
func (p *page) AfterTable() string {
	rows := [][]string{{"command", "samples", "s", "peak", "new samples a second"}}
	for _, r := range p.runs(wholeDefault) {
		if r.Values[explained] == nil {
			continue
		}
		many := lab.Whole(int(r.Value(newSamples)))
		for _, x := range [][2]string{
			{explained, "explain"}, {placedOne, "predict, 1 sample"}, {placed, "predict, " + many}, {updated, "update, " + many}, {cutCoarser, "cut --coarser"},
		} {
			speed := ""
			if each := rate(r); x[0] == placed && each == each {
				speed = lab.Whole(int(each))
			}
			rows = append(rows, []string{x[1], lab.Whole(r.Scores.Samples), lab.Digits(r.Value(x[0])), lab.Bytes(int64(r.Value(peakOf + x[0]))), speed})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return lab.Table(rows, 1)
}
