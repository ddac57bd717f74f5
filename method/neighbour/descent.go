package neighbour

import (
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
)

// followed is the number of neighbours of a sample, in either direction, whose neighbours
// are candidates.
const followed = 12

// descentPass compares every row with the neighbours of its neighbours, a pass of
// NN-descent. Neighbours are here the first few of its list, and the first few samples that
// have it among theirs.
func (f *finder) descentPass() error {
	n, s := f.rows.count(), min(followed, f.k)
	done := f.meter.stage(float64(n)*f.passPairs(), linking)
	follow := f.links(s)
	return parallel.Blocks(f.ctx, f.threads, n, 64, func(worker, lo, hi int) {
		l := f.scratch(worker)
		for r := lo; r < hi; r++ {
			i := int32(f.space.Sample(r))
			l.seen.reset(f.k + 4*s*(s+1))
			l.seen.add(i)
			l.index, l.keys = l.index[:0], l.keys[:0]
			for _, j := range f.lists.Of(int(i)) {
				l.addOnce(j)
			}
			for _, j := range follow.of(i) {
				l.addOnce(j)
				for _, other := range follow.of(j) {
					l.addOnce(other)
				}
			}
			f.compare(l, int(i))
			f.setList(r, rank.Best(l.keys, f.k))
		}
		done(float64(hi-lo) * f.passPairs())
	})
}

// addOnce adds sample j to the candidates unless it is one already.
func (l *scratch) addOnce(j int32) {
	if l.seen.add(j) {
		l.index = append(l.index, j)
	}
}

// links holds at most per linked samples for each sample.
type links struct {
	per  int
	next []int32
	fill []int32
}

func (l *links) of(i int32) []int32 {
	at := int(i) * l.per
	return l.next[at : at+int(l.fill[i])]
}

func (l *links) add(i, j int32) {
	l.next[int(i)*l.per+int(l.fill[i])] = j
	l.fill[i]++
}

// links returns the first s neighbours of every sample, and the first s samples, by number,
// that have it among theirs.
func (f *finder) links(s int) *links {
	l := &links{2 * s, make([]int32, f.space.Samples*2*s), make([]int32, f.space.Samples)}
	for i := range int32(f.space.Samples) {
		if f.space.Has(int(i)) {
			for _, j := range f.lists.Of(int(i))[:s] {
				l.add(i, j)
			}
		}
	}
	for i := range int32(f.space.Samples) {
		if f.space.Has(int(i)) {
			for _, j := range f.lists.Of(int(i))[:s] {
				if int(l.fill[j]) < l.per {
					l.add(j, i)
				}
			}
		}
	}
	return l
}

// sampleSet is a hash set of samples. Emptying it takes no time: entries of earlier rounds
// do not count.
type sampleSet struct {
	slots []stamp
	round uint32
}

type stamp struct {
	sample int32
	round  uint32
}

// reset empties the set and makes room for n samples.
func (s *sampleSet) reset(n int) {
	size := 64
	for size < 2*n {
		size *= 2
	}
	if s.round++; len(s.slots) < size || s.round == 0 {
		s.slots, s.round = make([]stamp, size), 1
	}
}

// add adds j, and reports whether it is new.
func (s *sampleSet) add(j int32) bool {
	mask := uint32(len(s.slots) - 1)
	for at := uint32(j) * 2654435769 >> 8 & mask; ; at = (at + 1) & mask {
		switch slot := &s.slots[at]; {
		case slot.round != s.round:
			*slot = stamp{j, s.round}
			return true
		case slot.sample == j:
			return false
		}
	}
}
