// Package linkage is average linkage over all pairs of samples: the tree in which the two clusters whose
// samples are the least far apart on average become one, again and again (UPGMA). Where one distance tells
// classes apart, as it does records of one thing, its clusters are sound whatever their sizes are.
//
// It follows the method and may change in any minor version.
package linkage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Tree holds the merges of some samples, the nearest first.
type Tree struct {
	samples int
	merges  []merge
}

// merge makes one cluster of those of two samples, which are so far apart on average.
type merge struct {
	a, b     int32
	distance float32
}

// Average returns the tree of so many samples. distances sets dst[t] to how far samples i and i+1+t are
// apart; it is called once for each i, by several goroutines at a time. threads of 0 or less stands for all
// usable processors; the tree is the same for any number.
//
// The errors are fewer than 1 sample or more than can be numbered, no distances, a distance that is not a
// number of at least 0, and the context's own.
func Average(ctx context.Context, samples int, distances func(i int, dst []float32), threads int) (*Tree, error) {
	if samples < 1 || samples > math.MaxInt16*2 {
		return nil, fmt.Errorf("there are %d samples; a tree of all pairs has 1 to %d", samples, math.MaxInt16*2)
	}
	if distances == nil {
		return nil, errors.New("there are no distances; pass those of each sample with the later ones")
	}
	m := &matrix{samples, make([]float32, samples*samples)}
	var wrong atomic.Int64
	err := parallel.Blocks(ctx, threads, samples, 16, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := m.row(i)[i+1:]
			distances(i, row)
			for _, d := range row {
				if !(d >= 0) || math.IsInf(float64(d), 0) {
					wrong.Store(int64(i) + 1)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if i := wrong.Load(); i > 0 {
		return nil, fmt.Errorf("a distance of sample %d is not a number of at least 0", i-1)
	}
	m.mirror()
	t := &Tree{samples: samples}
	if err := t.grow(ctx, m); err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.merges, func(a, b merge) int { return cmp.Compare(a.distance, b.distance) })
	return t, nil
}

// Footprint returns the most bytes that Average takes for so many samples.
func Footprint(samples int) int64 { return (4*int64(samples) + 64) * int64(samples) }

// matrix holds the distances of clusters, each at the place of one of its samples.
type matrix struct {
	samples int
	values  []float32
}

func (m *matrix) row(i int) []float32 { return m.values[i*m.samples:][:m.samples] }

// mirror sets the lower half to the upper one.
func (m *matrix) mirror() {
	for i := range m.samples {
		row := m.row(i)
		for j := range i {
			row[j] = m.values[j*m.samples+i]
		}
	}
}

// grow finds all merges by a chain of nearest neighbours: two clusters that are each other's nearest are
// merged, and will be whatever else is merged before.
func (t *Tree) grow(ctx context.Context, m *matrix) error {
	size := slices.Repeat([]float32{1}, t.samples)
	open := make([]int32, t.samples) // the clusters that are left
	for i := range open {
		open[i] = int32(i)
	}
	var chain []int32
	for len(open) > 1 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(chain) == 0 {
			chain = append(chain, open[0])
		}
		a, before := chain[len(chain)-1], int32(-1)
		row, best, least := m.row(int(a)), int32(-1), float32(math.Inf(1))
		if len(chain) > 1 { // of equals, the one that it came from, so that the chain ends
			before = chain[len(chain)-2]
			best, least = before, row[before]
		}
		for _, b := range open {
			if d := row[b]; d < least && b != a {
				best, least = b, d
			}
		}
		if best != before {
			chain = append(chain, best)
			continue
		}
		chain = chain[:len(chain)-2]
		t.merges = append(t.merges, merge{min(a, best), max(a, best), least})
		m.join(open, size, a, best)
		at, _ := slices.BinarySearch(open, best)
		open = slices.Delete(open, at, at+1)
	}
	return nil
}

// join makes cluster b part of a.
func (m *matrix) join(open []int32, size []float32, a, b int32) {
	own, other := m.row(int(a)), m.row(int(b))
	share := size[a] / (size[a] + size[b])
	for _, c := range open {
		if c == a || c == b {
			continue
		}
		d := share*own[c] + (1-share)*other[c]
		own[c], m.values[int(c)*m.samples+int(a)] = d, d
	}
	size[a] += size[b]
}

// Cut returns the cluster of every sample where so many are left, numbered from 0 in the order of their
// first samples. It is an error if there cannot be as many, or if the tree is not one of Average.
func (t *Tree) Cut(clusters int) ([]int, error) {
	if t == nil || t.samples == 0 {
		return nil, errors.New("there is no tree; make it by Average")
	}
	if clusters < 1 || clusters > t.samples {
		return nil, fmt.Errorf("there cannot be %d clusters of %d samples; ask for 1 to %d", clusters, t.samples, t.samples)
	}
	into := make([]int32, t.samples)
	for i := range into {
		into[i] = int32(i)
	}
	root := func(i int32) int32 {
		for into[i] != i {
			into[i] = into[into[i]]
			i = into[i]
		}
		return i
	}
	for _, x := range t.merges[:t.samples-clusters] {
		into[root(x.b)] = root(x.a)
	}
	labels, number := make([]int, t.samples), map[int32]int{}
	for i := range labels {
		r := root(int32(i))
		if _, known := number[r]; !known {
			number[r] = len(number)
		}
		labels[i] = number[r]
	}
	return labels, nil
}
