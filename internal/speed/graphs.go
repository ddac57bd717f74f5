package speed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// Graph is the exact neighbour graph of one view by the cosine, and how long it took.
type Graph struct {
	Rows       int   `json:"rows"`
	Dims       int   `json:"dims"`
	Neighbours int   `json:"neighbors"`
	Seconds    Times `json:"seconds"`
	// Peers holds those that were found.
	Peers []PeerGraph `json:"peers"`
	// Agreement is the share of our neighbours that faiss lists too, 0 where it did
	// not run.
	Agreement float64 `json:"agreement,omitempty"`
}

// PeerGraph is how long a peer took for the same graph.
type PeerGraph struct {
	Name    string `json:"name"`
	Seconds Times  `json:"seconds"`
	// Ratio is the median of our times over the median of these.
	Ratio float64 `json:"ratio"`
}

// Crossing compares exact and approximate search on the same rows.
type Crossing struct {
	Rows        int     `json:"rows"`
	Exact       float64 `json:"exact_seconds"`
	Approximate float64 `json:"approximate_seconds"`
	// Ratio is Approximate over Exact.
	Ratio float64 `json:"ratio"`
	// Recall is the share of the exact neighbours that the approximate search finds.
	Recall float64 `json:"recall"`
}

// search finds the neighbours of one view by the cosine.
func search(ctx context.Context, v *view.View, k int, by neighbour.Method, threads int) (*neighbour.Lists, error) {
	s, err := similarity.NewSpace(ctx, v, similarity.Cosine, nil, false, threads)
	if err != nil {
		return nil, err
	}
	return neighbour.Search(ctx, s, k, 0, neighbour.Settings{Method: by}, threads, nil)
}

// timedSearch is search with the seconds that it took, from the view to the lists.
func (b *bench) timedSearch(v *view.View, by neighbour.Method) (*neighbour.Lists, float64, error) {
	settle()
	start := time.Now()
	l, err := search(b.ctx, v, b.Workload.Neighbours, by, b.Threads)
	return l, since(start), err
}

// rows makes rows to be searched.
func (b *bench) rows(n int) (*view.View, error) {
	set, err := synth.Generate(synth.Config{
		Samples: n, Classes: recipe.classes(n), Views: 1, Dims: []int{b.Workload.Dims},
		Imbalance: recipe.Imbalance, Noise: []float64{recipe.Noise},
	})
	if err != nil {
		return nil, err
	}
	return set.Views[0], nil
}

// bruteLimit is the most rows that scikit-learn searches.
const bruteLimit = 20_000

// graphs measures exact search beside the peers, in turn.
func (b *bench) graphs() error {
	for _, size := range b.Workload.Exact {
		b.say("measuring exact neighbours of %d rows", size.Size)
		v, err := b.rows(size.Size)
		if err != nil {
			return err
		}
		g, err := b.graph(v, size.Rounds)
		if err != nil {
			return err
		}
		b.r.Graphs = append(b.r.Graphs, *g)
		words := []string{fmt.Sprintf("%.3gs", g.Seconds.Median())}
		for _, p := range g.Peers {
			words = append(words, fmt.Sprintf("%.2f of %s", p.Ratio, p.Name))
		}
		b.say("exact neighbours of %d x %d: %s", g.Rows, g.Dims, strings.Join(words, ", "))
	}
	return nil
}

func (b *bench) graph(v *view.View, rounds int) (*Graph, error) {
	file, found := filepath.Join(b.Folder, "rows.npy"), filepath.Join(b.Folder, "found")
	err := create(file, func(w io.Writer) error { return npy.Write(w, []int{v.Samples, v.Dims}, v.Data) })
	if err != nil {
		return nil, err
	}
	g := &Graph{Rows: v.Samples, Dims: v.Dims, Neighbours: b.Workload.Neighbours, Peers: []PeerGraph{}}
	type contestant struct {
		name, module, task string
		seconds            Times
		err                error
	}
	list := []*contestant{{name: "faiss IndexFlatIP", module: faiss, task: "flat"}}
	if v.Samples <= bruteLimit {
		list = append(list, &contestant{name: "scikit-learn, brute force", module: sklearn, task: "brute"})
	}
	for range rounds {
		l, seconds, err := b.timedSearch(v, neighbour.Exact)
		if err != nil {
			return nil, err
		}
		g.Seconds = append(g.Seconds, seconds)
		for _, c := range list {
			if c.err != nil {
				continue
			}
			r := &request{Task: c.task, File: file, Neighbours: g.Neighbours, Threads: b.Threads}
			compare := c.module == faiss && g.Agreement == 0
			if compare {
				r.Output = found
			}
			var a *answer
			if a, c.err = b.ask(c.module, r); c.err != nil {
				if err := b.optional(c.name, c.err); err != nil {
					return nil, err
				}
				continue
			}
			c.seconds = append(c.seconds, round(a.Seconds))
			if compare {
				if g.Agreement, err = agreement(l, found); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, c := range list {
		if c.err == nil {
			g.Peers = append(g.Peers, PeerGraph{c.name, c.seconds, ratio(g.Seconds.Median(), c.seconds.Median())})
		}
	}
	return g, nil
}

// agreement returns the share of our neighbours that are in a file of one row of
// neighbours per row, in 64 bits each.
func agreement(l *neighbour.Lists, path string) (float64, error) {
	theirs, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n := len(l.Offsets) - 1
	width := len(theirs) / n
	return shared(l, func(i int, mark func(j int32)) {
		for row := theirs[i*width : (i+1)*width]; len(row) >= 8; row = row[8:] {
			mark(int32(binary.LittleEndian.Uint64(row)))
		}
	}), nil
}

// shared returns the share of the neighbours in l that the other lists have too; of
// gives the other list of a sample.
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
	return round(float64(common) / float64(len(l.Values)))
}

// crossing compares exact and approximate search at rising sizes.
func (b *bench) crossing() error {
	for _, n := range b.Workload.Crossing {
		b.say("measuring approximate neighbours of %d rows", n)
		v, err := b.rows(n)
		if err != nil {
			return err
		}
		found, seconds, err := b.timedSearch(v, neighbour.Approximate)
		if err != nil {
			return b.optional("approximate neighbours", err)
		}
		c := Crossing{Rows: n, Approximate: seconds}
		truth, seconds, err := b.timedSearch(v, neighbour.Exact)
		if err != nil {
			return err
		}
		c.Exact, c.Ratio = seconds, ratio(c.Approximate, seconds)
		c.Recall = shared(truth, func(i int, mark func(j int32)) {
			for _, j := range found.Of(i) {
				mark(j)
			}
		})
		b.r.Crossing = append(b.r.Crossing, c)
		b.say("approximate neighbours of %d x %d: %.3gs, %.2f of exact, recall %.4f", n, v.Dims, c.Approximate, c.Ratio, c.Recall)
	}
	return nil
}

// crossingPoint returns the number of rows from which on approximate search is
// faster, between the sizes measured on a logarithmic scale; 0 where it is not at the
// largest.
func crossingPoint(list []Crossing) float64 {
	at := 0.0
	for i := len(list) - 1; i >= 0 && list[i].Ratio < 1; i-- {
		at = float64(list[i].Rows)
		if i > 0 && list[i-1].Ratio >= 1 {
			from, to := math.Log(list[i-1].Ratio), math.Log(list[i].Ratio)
			at = float64(list[i-1].Rows) * math.Pow(at/float64(list[i-1].Rows), from/(from-to))
		}
	}
	return at
}

// create writes a passing file.
func create(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}
