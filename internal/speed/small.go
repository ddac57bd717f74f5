package speed

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/score"
)

// Small compares a whole run on some thousand samples in four views with
// scikit-learn's spectral clustering, which is given the fused graph and the number of
// classes, as whole processes.
type Small struct {
	Set      string       `json:"set"`
	Samples  int          `json:"samples"`
	Views    int          `json:"views"`
	Classes  int          `json:"classes"`
	Seconds  Times        `json:"seconds"`
	Scores   score.Scores `json:"scores"`
	Spectral Times        `json:"spectral_seconds,omitempty"`
	// SpectralScores is nil where scikit-learn was not found.
	SpectralScores *score.Scores `json:"spectral_scores,omitempty"`
	Ratio          float64       `json:"ratio,omitempty"` // of the medians
}

// small measures the small run, in turn with spectral clustering.
func (b *bench) small() error {
	file, err := b.smallSet()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Join(b.Folder, fmt.Sprint("data", b.Workload.Small))) }()
	set, err := dataset.Load(b.ctx, []string{file}, dataset.Options{})
	if err != nil {
		return err
	}
	truth, err := dataset.Labels(b.ctx, file, set.IDs, set.Views[0].Samples)
	if err != nil {
		return err
	}
	s := &Small{Set: filepath.Base(file), Samples: len(truth.Labels), Views: len(set.Views), Classes: len(truth.Names)}
	b.say("measuring %s beside spectral clustering", s.Set)
	fused := filepath.Join(b.Folder, "graph.npz")
	if err := b.fuse(set.Views, fused); err != nil {
		return err
	}
	compare := true
	for range b.Workload.SmallRounds {
		f, err := b.fit(file)
		if err != nil {
			return err
		}
		s.Seconds = append(s.Seconds, f.seconds)
		if compare {
			start := time.Now()
			a, err := b.ask(sklearn, &request{Task: "spectral", File: fused, Clusters: s.Classes, Threads: b.Threads})
			seconds := since(start)
			if err := b.optional("spectral clustering", err); err != nil {
				return err
			}
			if compare = err == nil; compare {
				s.Spectral = append(s.Spectral, seconds)
				scores, err := score.Compare(truth.Labels, a.Labels)
				if err != nil {
					return err
				}
				s.SpectralScores = &scores
			}
		}
	}
	found, err := dataset.Labels(b.ctx, filepath.Join(b.results(), "labels.csv"), nil, s.Samples)
	if err != nil {
		return err
	}
	if s.Scores, err = score.Compare(truth.Labels, found.Labels); err != nil {
		return err
	}
	s.Ratio = ratio(s.Seconds.Median(), s.Spectral.Median())
	b.r.Small = s
	line := fmt.Sprintf("%s: %.3gs", s.Set, s.Seconds.Median())
	if s.Ratio > 0 {
		line += fmt.Sprintf(", %.2f of spectral clustering", s.Ratio)
	}
	b.say("%s", line)
	return nil
}

// smallSet returns the file of the small set: Handwritten, or what stands in for it.
func (b *bench) smallSet() (string, error) {
	if b.Workload.Real {
		file := filepath.Join(b.Data, "Handwritten.npz")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
		b.note("Handwritten.npz is not in the folder of data sets: %d synthetic samples stand in for it.", b.Workload.Small)
	}
	_, file, err := b.synth(b.Workload.Small, 4)
	return file, err
}

// fuse writes the graph of the fused views, before any refinement, as the three arrays
// of a compressed sparse matrix: offsets, index and weight.
func (b *bench) fuse(views []*mvclust.View, file string) error {
	opt := mvclust.Options{Threads: b.Threads}
	opt.Refinement.WithoutPaths, opt.Refinement.WithoutCoNeighbours = true, true
	result, err := mvclust.Fit(b.ctx, views, opt)
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
	return create(file, func(w io.Writer) error {
		z := npy.NewWriter(w)
		for _, part := range []struct {
			name string
			data any
			n    int
		}{{"offsets", offsets, len(offsets)}, {"index", index, len(index)}, {"weight", g.Weight, len(g.Weight)}} {
			if err := z.Add(part.name, []int{part.n}, part.data); err != nil {
				return err
			}
		}
		return z.Close()
	})
}
