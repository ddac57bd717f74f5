package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// soakUpdates adds 200 batches to a model (10 without -soak), each in the folder of the one
// before, and at the end compares it with a fit of all samples.
func soakUpdates(t *testing.T, _ []*scene) (round, error) {
	dir := t.TempDir()
	batches := 200
	if *soakTime == 0 {
		batches = 10
	}
	return func(number uint64, random *rand.Rand, seen counts) error {
		at := filepath.Join(dir, fmt.Sprint(number))
		defer func() { _ = os.RemoveAll(at) }()
		const first, batch = 200, 3
		data, err := synth.Generate(synth.Config{
			Samples: first + batch*batches, Classes: 4 + random.IntN(8), Dims: []int{8, 8}, Noise: []float64{0.3 + 0.4*random.Float64()},
			Missing: 0.3 * random.Float64(), Seed: number,
		})
		if err != nil {
			return err
		}
		u := &updates{dir: at, data: data, order: random.Perm(len(data.Labels))}
		return u.run(t, first, batch, seen)
	}, nil
}

// updates is a soak of updates.
type updates struct {
	dir   string
	data  *synth.Set
	order []int   // of the samples
	told  bool    // whether an update has told of a granularity that scores better
	start float64 // the ARI of the first fit
}

func (u *updates) run(t *testing.T, first, batch int, seen counts) error {
	out := filepath.Join(u.dir, "out")
	if err := os.MkdirAll(u.dir, 0o777); err != nil {
		return err
	}
	if err := u.write("first.npz", 0, first); err != nil {
		return err
	}
	if err := quietly(t, "fit", filepath.Join(u.dir, "first.npz"), "-o", out, "--quiet"); err != nil {
		return err
	}
	var err error
	if u.start, err = u.ari(t, out, first); err != nil {
		return err
	}
	for from := first; from < len(u.order); from += batch {
		if err := u.write("batch.npz", from, from+batch); err != nil {
			return err
		}
		again := []string{"update", out, filepath.Join(u.dir, "batch.npz"), "-o", out, "--quiet"}
		if err := quietly(t, again...); err != nil {
			return fmt.Errorf("update from sample %d: %w", from, err)
		}
		if err := u.check(out, from+batch); err != nil {
			return fmt.Errorf("update from sample %d: %w", from, err)
		}
		if err := quietly(t, again...); err == nil || !strings.Contains(err.Error(), "already") {
			return fmt.Errorf("the batch from sample %d is added twice: %w", from, err)
		}
		seen["updates"]++
	}
	return u.compare(t, out, seen)
}

// write writes the samples in places from a to b of the order.
func (u *updates) write(name string, a, b int) error {
	var buf bytes.Buffer
	z := npy.NewWriter(&buf)
	for k, v := range u.data.Views {
		var x []float32
		for _, i := range u.order[a:b] {
			for _, value := range v.Row(i) {
				if !v.Has(i) {
					value = float32(math.NaN())
				}
				x = append(x, value)
			}
		}
		if err := z.Add(fmt.Sprint("view", k), []int{b - a, v.Dims}, x); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(u.dir, name), buf.Bytes(), 0o666)
}

// check looks at the files, their digests and the size of the model.
func (u *updates) check(out string, samples int) error {
	got, err := contents(out)
	if err != nil {
		return err
	}
	for name := range got {
		if strings.HasPrefix(name, ".") {
			return fmt.Errorf("the folder holds %s", name)
		}
	}
	var report struct {
		Samples int
		Changes predict.Changes
		Files   map[string]string
	}
	if err := json.Unmarshal([]byte(got[updateFile]), &report); err != nil {
		return err
	}
	u.told = u.told || report.Changes.Better != nil
	for _, name := range []string{"labels.csv", modelFile} {
		if report.Files[name] != sha(got[name]) {
			return fmt.Errorf("%s is not the one that update.json names", name)
		}
	}
	if rows := strings.Count(got["labels.csv"], "\n") - 1; rows != samples || report.Samples != samples {
		return fmt.Errorf("%d labels and %d samples in place of %d", rows, report.Samples, samples)
	}
	// Ten neighbours and more per view, 12 bytes each, and the rows: far less than this.
	if size := len(got[modelFile]); size > 20_000+4_000*samples {
		return fmt.Errorf("a model of %d bytes for %d samples", size, samples)
	}
	return nil
}

// ari scores the labels of the first samples.
func (u *updates) ari(t *testing.T, folder string, samples int) (float64, error) {
	var classes []int
	for _, i := range u.order[:samples] {
		classes = append(classes, u.data.Labels[i])
	}
	labels, err := dataset.Labels(t.Context(), filepath.Join(folder, "labels.csv"), nil, samples)
	if err != nil {
		return 0, err
	}
	s, err := score.Compare(classes, labels.Labels)
	return s.ARI, err
}

// mostLoss is the ARI that updates may lose against the fit that they started from or, where that
// is less, one of all samples. They keep the granularity of the first fit, so that where it has two
// classes in one cluster, the updates have.
const mostLoss = 0.1

// compare scores the updated labels and those of a new fit.
func (u *updates) compare(t *testing.T, out string, seen counts) error {
	if err := u.write("all.npz", 0, len(u.order)); err != nil {
		return err
	}
	fresh := filepath.Join(u.dir, "fresh")
	if err := quietly(t, "fit", filepath.Join(u.dir, "all.npz"), "-o", fresh, "--quiet"); err != nil {
		return err
	}
	var ari []float64
	var size []int64
	for _, folder := range []string{out, fresh} {
		a, err := u.ari(t, folder, len(u.order))
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(folder, modelFile))
		if err != nil {
			return err
		}
		ari, size = append(ari, a), append(size, info.Size())
	}
	seen["sets of updates"]++
	seen["ARI lost, in thousandths, all sets together"] += int(math.Round(1000 * (ari[1] - ari[0])))
	if ari[0] < ari[1]-mostLoss {
		seen[fmt.Sprintf("sets whose granularity costs more, and were told of a better one: %v", u.told)]++
	}
	switch {
	case ari[0] < min(u.start, ari[1])-mostLoss:
		return fmt.Errorf("after the updates the ARI is %.3f, of the first fit %.3f, after a fit of all %.3f", ari[0], u.start, ari[1])
	case size[0] > 2*size[1]:
		return fmt.Errorf("after the updates the model has %d bytes, after a fit of all %d", size[0], size[1])
	}
	return nil
}
