package opponent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

// This file has k-means: it parts rows into k clusters such that they are near the means of
// their clusters, by Lloyd's algorithm from the seeds of k-means++ (Arthur and Vassilvitskii,
// 2007).

// Result is a clustering of rows.
type Result struct {
	// Labels holds the cluster of every row, in [0, k). No cluster is empty where k
	// rows are distinct; where fewer are, each is a cluster of its own, and labels
	// end there.
	Labels []int
	// Inertia is the sum of the squared Euclidean distances of the rows from the
	// centres of their clusters.
	Inertia float64
}

// rounds bounds the steps of a descent, which in most cases ends far sooner.
const rounds = 300

// Means clusters rows of equal length, restarts times from other seeds, and returns
// the clustering of the least inertia, the first among equals. It draws from rnd
// alone and gives the same result whatever threads is; 0 stands for GOMAXPROCS. It is
// an error if k is not between 1 and the number of rows, if restarts is less than 1,
// if the rows differ in length or hold a value that is not finite, or if ctx is done.
func Means(ctx context.Context, rows [][]float32, k, restarts, threads int, rnd *rand.Rand) (*Result, error) {
	if err := check(rows, k, restarts); err != nil {
		return nil, err
	}
	s := &search{
		ctx: ctx, threads: threads, rows: rows,
		labels: make([]int, len(rows)), distance: make([]float64, len(rows)),
	}
	best := &Result{Inertia: math.Inf(1)}
	for range restarts {
		if err := s.seed(k, rnd); err != nil {
			return nil, err
		}
		if err := s.descend(); err != nil {
			return nil, err
		}
		inertia := 0.0
		for _, d := range s.distance {
			inertia += d
		}
		if inertia < best.Inertia {
			best = &Result{slices.Clone(s.labels), inertia}
		}
	}
	return best, nil
}

func check(rows [][]float32, k, restarts int) error {
	if k < 1 || k > len(rows) {
		return fmt.Errorf("%d rows cannot make %d clusters; choose between 1 and the number of rows", len(rows), k)
	}
	if restarts < 1 {
		return fmt.Errorf("%d restarts; choose at least 1", restarts)
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return fmt.Errorf("row %d has %d values where row 0 has %d; give all the same length", i, len(row), len(rows[0]))
		}
		for c, x := range row {
			if x-x != 0 {
				return fmt.Errorf("row %d holds %v in column %d; give finite numbers", i, x, c)
			}
		}
	}
	return nil
}

// search is one descent.
type search struct {
	ctx      context.Context
	threads  int
	rows     [][]float32
	centres  [][]float64
	labels   []int
	distance []float64 // squared, of every row from its centre
}

// seed draws up to k rows as centres, each with a probability in proportion to its
// squared distance from the nearest one before: no two are equal.
func (s *search) seed(k int, rnd *rand.Rand) error {
	for i := range s.rows {
		s.labels[i], s.distance[i] = 0, math.Inf(1)
	}
	s.centres = s.centres[:0]
	row := rnd.IntN(len(s.rows))
	for {
		c := len(s.centres)
		s.centres = append(s.centres, make([]float64, len(s.rows[0])))
		for at, x := range s.rows[row] {
			s.centres[c][at] = float64(x)
		}
		if c+1 == k {
			return nil
		}
		err := s.each(func(i int) {
			s.distance[i] = min(s.distance[i], squared(s.rows[i], s.centres[c], s.distance[i]))
		})
		if err != nil {
			return err
		}
		total := 0.0
		for _, d := range s.distance {
			total += d
		}
		if total == 0 {
			return nil // every row is a centre
		}
		left := rnd.Float64() * total
		for i, d := range s.distance {
			if d > 0 && left >= 0 { // the last such row where rounding leaves something
				row = i
			}
			left -= d
		}
	}
}

// descend moves rows to their nearest centre, and centres to the mean of their rows,
// until none moves.
func (s *search) descend() error {
	for round := 0; ; round++ {
		moved, err := s.assign()
		if err != nil {
			return err
		}
		if s.fill() {
			moved = true
		}
		if round > 0 && !moved || round == rounds {
			return nil
		}
		s.centre()
	}
}

// assign gives every row the nearest centre, the lowest of equally near ones, and
// reports whether one has another than before.
func (s *search) assign() (moved bool, err error) {
	before := slices.Clone(s.labels)
	err = s.each(func(i int) {
		// The centre of the last round is likely the nearest and bounds the others.
		best := s.labels[i]
		least := squared(s.rows[i], s.centres[best], math.Inf(1))
		for c, centre := range s.centres {
			if d := squared(s.rows[i], centre, least); d < least || d == least && c < best {
				best, least = c, d
			}
		}
		s.labels[i], s.distance[i] = best, least
	})
	return !slices.Equal(before, s.labels), err
}

// fill gives every empty cluster the row that is farthest from its centre, and
// reports whether there was one.
func (s *search) fill() bool {
	count := make([]int, len(s.centres))
	for _, l := range s.labels {
		count[l]++
	}
	filled := false
	for c, n := range count {
		if n > 0 {
			continue
		}
		// The seeds are distinct, so some cluster has two rows that are not.
		far := -1
		for i, d := range s.distance {
			if count[s.labels[i]] > 1 && (far < 0 || d > s.distance[far]) {
				far = i
			}
		}
		count[s.labels[far]]--
		count[c]++
		s.labels[far], s.distance[far] = c, 0
		filled = true
	}
	return filled
}

// centre moves every centre to the mean of its rows.
func (s *search) centre() {
	count := make([]float64, len(s.centres))
	for _, c := range s.centres {
		clear(c)
	}
	for i, row := range s.rows {
		c := s.labels[i]
		count[c]++
		for at, x := range row {
			s.centres[c][at] += float64(x)
		}
	}
	for c, centre := range s.centres {
		for at := range centre {
			centre[at] /= count[c]
		}
	}
}

// each calls do for every row, in parallel.
func (s *search) each(do func(i int)) error {
	return parallel.Blocks(s.ctx, s.threads, len(s.rows), 32, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			do(i)
		}
	})
}

// squared returns the squared distance of a row from a centre, or something above
// bound where that is above it.
func squared(row []float32, centre []float64, bound float64) float64 {
	const part = 16
	sum := 0.0
	for lo := 0; lo < len(row) && sum <= bound; lo += part {
		hi := min(lo+part, len(row))
		to := centre[lo:hi]
		for k, x := range row[lo:hi] {
			d := float64(x) - to[k]
			sum += d * d
		}
	}
	return sum
}
