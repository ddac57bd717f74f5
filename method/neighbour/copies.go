package neighbour

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// copies are the groups of samples whose rows are equal. A group is named by its first sample.
type copies struct {
	firsts  []int32 // the first sample of every group, ascending
	start   []int   // by group: its first entry in members
	members []int32 // sorted by group, then by number
	groupOf []int32 // by sample: its group, where the sample has the view
}

// of returns the samples of a group, the lowest number first.
func (c *copies) of(group int32) []int32 { return c.members[c.start[group]:c.start[group+1]] }

// findCopies returns the groups of equal rows, or nil where all rows are distinct.
func findCopies(ctx context.Context, s *similarity.Space, threads int) (*copies, error) {
	n := s.Count()
	hashes := make([]uint64, n)
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			hashes[r] = view.Hash(0, s.Row(r))
		}
	})
	if err != nil {
		return nil, err
	}
	lowest, distinct := view.Alike(hashes, func(a, b int) int { return slices.Compare(s.Row(a), s.Row(b)) })
	if distinct == n {
		return nil, nil
	}
	c := &copies{groupOf: make([]int32, s.Samples)}
	for r, first := range lowest {
		i := s.Sample(r)
		if int(first) == r {
			c.groupOf[i] = int32(len(c.firsts))
			c.firsts = append(c.firsts, int32(i))
		} else {
			c.groupOf[i] = c.groupOf[s.Sample(int(first))]
		}
	}
	c.sort(s)
	return c, nil
}

// sort lists the members of every group.
func (c *copies) sort(s *similarity.Space) {
	c.start, c.members = make([]int, len(c.firsts)+1), make([]int32, s.Count())
	for r := range s.Count() {
		c.start[c.groupOf[s.Sample(r)]+1]++
	}
	for g := range c.firsts {
		c.start[g+1] += c.start[g]
	}
	next := slices.Clone(c.start)
	for r := range s.Count() {
		i := s.Sample(r)
		g := c.groupOf[i]
		c.members[next[g]] = int32(i)
		next[g]++
	}
}

// searchDistinct searches among the first samples of the groups, and then puts all samples of
// a group in the place of its first. The lists are those of an exact search but for what the
// search among the first samples misses.
func searchDistinct(ctx context.Context, s *similarity.Space, c *copies, k int, seed uint64, settings Settings, threads int, progress func(done int)) (*Lists, error) {
	n, shown := s.Count(), 0
	among := s.Only(c.firsts)
	distinct, err := Search(ctx, among, k, seed, settings, threads, func(done int) {
		if progress != nil {
			shown = done * n / len(c.firsts)
			progress(shown)
		}
	})
	if err != nil {
		return nil, err
	}
	f := newFinder(ctx, s, k, seed, settings, threads, nil)
	f.lists.Search = distinct.Search
	err = parallel.Blocks(ctx, f.threads, len(c.firsts), 16, func(worker, lo, hi int) {
		l := f.scratch(worker)
		for g := lo; g < hi; g++ {
			f.setCopies(l, c, int32(g), distinct.Of(int(c.firsts[g])))
		}
	})
	if err != nil {
		return nil, err
	}
	if progress != nil && shown < n {
		progress(n)
	}
	return f.lists, nil
}

// setCopies sets the lists of all samples of a group. near lists the first samples of the
// groups that are nearest to it.
func (f *finder) setCopies(l *scratch, c *copies, group int32, near []int32) {
	first := c.firsts[group]
	l.index, l.keys = append(append(l.index[:0], first), near...), l.keys[:0]
	f.compare(l, int(first))
	rank.Sort(l.keys)
	groups := l.keys
	l.keys = make([]rank.Key, 0, 2*f.k+2)
	for t, g := range groups {
		if len(l.keys) > f.k && g.Score() < groups[t-1].Score() {
			break
		}
		members := c.of(c.groupOf[g.Number()])
		for _, j := range members[:min(len(members), f.k+1)] {
			l.keys = append(l.keys, rank.New(g.Score(), j))
		}
	}
	// The best k+1 hold the best k of every member, which is not its own neighbour.
	best := rank.Best(l.keys, f.k+1)
	for _, i := range c.of(group) {
		to := f.lists.Values[f.lists.Offsets[i]:f.lists.Offsets[i]]
		for _, key := range best {
			if j := key.Number(); j != i && len(to) < f.k {
				to = append(to, j)
			}
		}
	}
}
