package selection

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// Criterion is a factor of the score of a candidate.
type Criterion struct {
	// Name is its key in the JSON of a Candidate.
	Name string
	// Meaning says in one line what it measures.
	Meaning string
	// Exponent is the power that it has in the score.
	Exponent float64
	// Factor returns the factor, at least 0, of which the score has the power.
	Factor func(c *Candidate) float64

	// measure returns the value of candidate at, for its field; nil where the search has
	// set that.
	measure func(j *judge, at int) float64
	field   func(c *Candidate) *float64
}

// sternness is the exponent of the criteria of stability. Below 2, partitions are chosen
// that are too fine to be found again; above 3, a few coarse ones that always are.
// docs/auto.md has the figures.
const sternness = 2.5

// Criteria lists the factors of the score. Those of the same exponent stand together, since
// they are multiplied before the power is taken.
func Criteria() []Criterion {
	return []Criterion{
		{
			Name: "plateau", Meaning: "adjusted Rand index with the partition of a neighbouring resolution",
			Exponent: sternness, Factor: func(c *Candidate) float64 { return max(0, c.Plateau) },
			measure: (*judge).plateau, field: func(c *Candidate) *float64 { return &c.Plateau },
		},
		{
			Name: "agreement", Meaning: "adjusted Rand index with the most similar partitions of the next numbers of neighbours",
			Exponent: sternness, Factor: func(c *Candidate) float64 { return max(0, c.Agreement) },
			measure: (*judge).agreement, field: func(c *Candidate) *float64 { return &c.Agreement },
		},
		{
			Name: "strain", Meaning: "share of the constraints that the partition contradicts, beyond chance",
			Exponent: sternness, Factor: func(c *Candidate) float64 { return 1 - c.Strain },
			field: func(c *Candidate) *float64 { return &c.Strain },
		},
		{
			Name: "compression", Meaning: "share by which the clusters shorten the description of a random walk",
			Exponent: 1, Factor: func(c *Candidate) float64 { return max(0, c.Compression) },
			measure: (*judge).compression, field: func(c *Candidate) *float64 { return &c.Compression },
		},
	}
}

// score returns the product of the criteria's powers. One cluster, or hardly any two samples
// together, is no answer.
func (c *Candidate) score(criteria []Criterion) float64 {
	if n := len(c.labels); c.Clusters < 2 || c.Clusters > n/2 {
		return 0
	}
	score, product := 1.0, 1.0
	for i, x := range criteria {
		product *= x.Factor(c)
		if i+1 == len(criteria) || criteria[i+1].Exponent != x.Exponent {
			score *= math.Pow(product, x.Exponent)
			product = 1
		}
	}
	return score
}

// judge measures candidates. One goroutine uses it at a time.
type judge struct {
	ctx        context.Context
	candidates []Candidate
	width      int          // candidates of each number of neighbours, which are a row
	walk       *graph.Graph // over which the random walk goes
	degree     []float64
	single     float64 // the code length of a single cluster
	table      tabulation
}

// setScores sets the criteria and the scores of the candidates, which are in rows of the same
// number of neighbours.
func setScores(ctx context.Context, walk *graph.Graph, candidates []Candidate, width, threads int) error {
	n := walk.Samples()
	degree := make([]float64, n)
	for i := range degree {
		index, _ := walk.Of(i)
		degree[i] = float64(len(index))
	}
	single := codeLength(walk, degree, make([]int32, n), 1)
	criteria := Criteria()
	judges := make([]*judge, parallel.Threads(threads))
	return parallel.Blocks(ctx, threads, len(candidates), 1, func(worker, at, _ int) {
		if judges[worker] == nil {
			judges[worker] = &judge{ctx: ctx, candidates: candidates, width: width, walk: walk, degree: degree, single: single}
		}
		c := &candidates[at]
		for _, x := range criteria {
			if x.measure != nil {
				*x.field(c) = x.measure(judges[worker], at)
			}
		}
		c.Score = c.score(criteria)
	})
}

// plateau returns the larger adjusted Rand index with the candidates of the next resolutions,
// or 1 where there are none.
func (j *judge) plateau(at int) float64 {
	if j.width == 1 {
		return 1
	}
	row, column, largest := at/j.width, at%j.width, -1.0
	for _, to := range []int{column - 1, column + 1} {
		if to >= 0 && to < j.width {
			largest = max(largest, j.table.rand(&j.candidates[at], &j.candidates[row*j.width+to]))
		}
	}
	return largest
}

// agreement returns the mean, over the next numbers of neighbours, of the largest adjusted
// Rand index with a candidate there, or 1 where there are no others.
func (j *judge) agreement(at int) float64 {
	row, rows := at/j.width, len(j.candidates)/j.width
	if rows == 1 {
		return 1
	}
	sum, sides := 0.0, 0
	for _, to := range []int{row - 1, row + 1} {
		if to < 0 || to >= rows {
			continue
		}
		largest := -1.0
		for other := to * j.width; other < (to+1)*j.width && j.ctx.Err() == nil; other++ {
			largest = max(largest, j.table.rand(&j.candidates[at], &j.candidates[other]))
		}
		sum += largest
		sides++
	}
	return sum / float64(sides)
}

// compression returns 1 - L / L(1), with L the code length, and L(1) that of one cluster.
func (j *judge) compression(at int) float64 {
	if j.single <= 0 {
		return 0
	}
	c := &j.candidates[at]
	return 1 - codeLength(j.walk, j.degree, c.labels, c.Clusters)/j.single
}

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
