package selection

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// judge scores the candidates, which are in rows of the same number of neighbours.
func judge(ctx context.Context, walk *graph.Graph, candidates []Candidate, width, threads int) error {
	n := walk.Samples()
	rows := len(candidates) / width
	degree := make([]float64, n)
	for i := range degree {
		index, _ := walk.Of(i)
		degree[i] = float64(len(index))
	}
	single := codeLength(walk, degree, make([]int32, n), 1)
	tables := make([]tabulation, parallel.Threads(threads))
	return parallel.Blocks(ctx, threads, len(candidates), 1, func(worker, at, _ int) {
		c, table := &candidates[at], &tables[worker]
		row, column := at/width, at%width
		// Alone on its scale, a partition is as stable as it can be told to be.
		c.Plateau, c.Agreement = 1, 1
		if width > 1 {
			c.Plateau = -1
			for _, to := range []int{column - 1, column + 1} {
				if to >= 0 && to < width {
					c.Plateau = max(c.Plateau, table.rand(c, &candidates[row*width+to]))
				}
			}
		}
		if rows > 1 {
			sum, sides := 0.0, 0
			for _, to := range []int{row - 1, row + 1} {
				if to < 0 || to >= rows {
					continue
				}
				most := -1.0
				for other := to * width; other < (to+1)*width && ctx.Err() == nil; other++ {
					most = max(most, table.rand(c, &candidates[other]))
				}
				sum += most
				sides++
			}
			c.Agreement = sum / float64(sides)
		}
		if single > 0 {
			c.Compression = 1 - codeLength(walk, degree, c.labels, c.Clusters)/single
		}
		// One cluster, or hardly any two samples together, is no answer.
		if c.Clusters > 1 && c.Clusters <= n/2 {
			stable := max(0, c.Plateau) * max(0, c.Agreement) * (1 - c.Strain)
			c.Score = math.Pow(stable, sternness) * max(0, c.Compression)
		}
	})
}

// sternness is how much more stability weighs than compression. Below 2, partitions are
// taken that are finer than what is found again; above 3, a few coarse ones that always
// are. docs/auto.md has the figures.
const sternness = 2.5

// codeLength is the map equation: the bits that a step of a random walk over the graph
// takes to tell, when every cluster has names for its samples of its own.
func codeLength(walk *graph.Graph, degree []float64, labels []int32, clusters int) float64 {
	leaving, visits := make([]float64, clusters), make([]float64, clusters)
	all, samples := 0.0, 0.0
	for i, l := range labels {
		visits[l] += degree[i]
		all += degree[i]
		index, _ := walk.Of(i)
		for _, j := range index {
			if labels[j] != l {
				leaving[l]++
			}
		}
	}
	if all == 0 {
		return 0
	}
	for _, d := range degree {
		samples += plogp(d / all)
	}
	exits, each, inside := 0.0, 0.0, 0.0
	for l := range leaving {
		out := leaving[l] / all
		exits += out
		each += plogp(out)
		inside += plogp(out + visits[l]/all)
	}
	return plogp(exits) - 2*each - samples + inside
}

func plogp(p float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log2(p)
}

// compared bounds the samples that the agreement of two partitions is measured on.
const compared = 20_000

// tabulation counts what two partitions have in common. Its zero value is ready.
type tabulation struct {
	start   []int32 // cluster of the first partition -> its first sample in member
	member  []int32
	sizes   []int64
	common  []int64
	touched []int32
}

// rand returns the adjusted Rand index of two candidates' partitions, over evenly spaced
// samples where there are many; 1 where both are trivial in the same way. It is asked for
// thousands of times, so it keeps one table and leaves out score.Compare's other measures.
func (t *tabulation) rand(a, b *Candidate) float64 {
	n := len(a.labels)
	m := min(n, compared)
	at := func(s int) int { return sparse.Spaced(s, m, n) }
	t.start = resized(t.start, a.Clusters+1)
	t.sizes, t.common = resized(t.sizes, b.Clusters), resized(t.common, b.Clusters)
	t.member = resized(t.member, m)
	for s := range m {
		t.start[a.labels[at(s)]+1]++
		t.sizes[b.labels[at(s)]]++
	}
	var both, first, second int64
	for c := range a.Clusters {
		size := int64(t.start[c+1])
		first += size * (size - 1) / 2
		t.start[c+1] += t.start[c]
	}
	for _, size := range t.sizes {
		second += size * (size - 1) / 2
	}
	for s := range m {
		c := a.labels[at(s)]
		t.member[t.start[c]] = b.labels[at(s)]
		t.start[c]++
	}
	from := int32(0)
	for c := range a.Clusters {
		for _, l := range t.member[from:t.start[c]] {
			if t.common[l] == 0 {
				t.touched = append(t.touched, l)
			}
			both += t.common[l]
			t.common[l]++
		}
		for _, l := range t.touched {
			t.common[l] = 0
		}
		t.touched = t.touched[:0]
		from = t.start[c]
	}
	pairs := max(1, float64(m)*float64(m-1)/2) // of one sample there are none
	expected := float64(first) * float64(second) / pairs
	most := (float64(first) + float64(second)) / 2
	if most == expected {
		return 1
	}
	return (float64(both) - expected) / (most - expected)
}

// resized returns n zeros, in s where they fit.
func resized[T int32 | int64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
