package constraint

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// Clamp returns g with the pair probabilities that the constraints fix: 1 of must-links and
// of edges within a component, 0 of edges between samples that cannot be in one cluster.
// Must-links that are no edges of g become edges. Without constraints it returns g itself.
// The errors are those of Graph.Check and Resolved.Check, and the context's own.
func (r *Resolved) Clamp(ctx context.Context, g *graph.Graph, threads int) (*graph.Graph, error) {
	if r == nil {
		return g, nil
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := r.Check(g.Samples()); err != nil {
		return nil, err
	}
	if len(r.must) == 0 && len(r.Exclusions.Values) == 0 {
		return g, nil
	}
	links := make([]link, 0, len(r.must))
	for _, p := range r.must {
		links = append(links, link{p[0], p[1], 1})
	}
	out, err := joined(ctx, g, links, threads)
	if err != nil {
		return nil, err
	}
	barriers := r.barriers()
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := out.Of(i)
			for e, j := range index {
				switch {
				case r.Component[i] == r.Component[j]:
					weight[e] = 1
				case barriers.between(r.Component[i], r.Component[j]):
					weight[e] = 0
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// reach is the number of a sample's neighbours to which its constraints are propagated.
const reach = 3

// Propagate returns g with the constraints propagated to the neighbours of their samples.
// With r the pair probabilities of g, and r(i,i) = 1,
//
//	r'(i,j) = max(r(i,j), max over must-links (a,b) of r(i,a) r(j,b))
//	          x product over exclusions of (1 - max over members a, b of r(i,a) r(j,b)),
//
// where a and b are among the 3 most probable neighbours of i and j, or i and j themselves,
// and belong to different components. Without constraints it returns g itself. The errors
// are those of Clamp.
func (r *Resolved) Propagate(ctx context.Context, g *graph.Graph, threads int) (*graph.Graph, error) {
	if r == nil {
		return g, nil
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := r.Check(g.Samples()); err != nil {
		return nil, err
	}
	if len(r.must) == 0 && len(r.Exclusions.Values) == 0 {
		return g, nil
	}
	near, err := nearest(ctx, g, threads)
	if err != nil {
		return nil, err
	}
	var links []link
	for _, p := range r.must {
		for _, x := range near.Of(int(p[0])) {
			for _, y := range near.Of(int(p[1])) {
				if w := x.weight * y.weight; x.to != y.to && w > 0 {
					links = append(links, link{x.to, y.to, w})
				}
			}
		}
	}
	out, err := joined(ctx, g, links, threads)
	if err != nil || len(r.Exclusions.Values) == 0 {
		return out, err
	}
	barriers := r.barriers()
	members, err := r.memberships(ctx, near, &barriers.groups, threads)
	if err != nil {
		return nil, err
	}
	scratch := make([]*compatibility, parallel.Threads(threads))
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(worker, lo, hi int) {
		if scratch[worker] == nil {
			scratch[worker] = &compatibility{r: r, barriers: barriers, near: near, members: members, marked: make([]int32, out.Samples())}
		}
		for i := lo; i < hi; i++ {
			scratch[worker].multiply(i, out)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// membership says that a sample counts, with the probability weight, as a member of an
// exclusion, because a component is one.
type membership struct {
	exclusion, component int32
	weight               float32
}

// memberships returns those of every sample through its nearest neighbours, by exclusion and
// falling weight.
func (r *Resolved) memberships(ctx context.Context, near *sparse.Rows[end], groups *sparse.Rows[int32], threads int) (*sparse.Rows[membership], error) {
	return build(ctx, len(r.Component), threads, func(i int, out []membership) []membership {
		for _, x := range near.Of(i) {
			for _, e := range row(groups, r.Component[x.to]) {
				out = append(out, membership{e, r.Component[x.to], x.weight})
			}
		}
		slices.SortFunc(out, func(a, b membership) int {
			return cmp.Or(cmp.Compare(a.exclusion, b.exclusion), cmp.Compare(b.weight, a.weight), cmp.Compare(a.component, b.component))
		})
		return out
	})
}

// compatibility multiplies edges by the probability that no exclusion separates their samples.
type compatibility struct {
	r        *Resolved
	barriers *barriers
	near     *sparse.Rows[end]
	members  *sparse.Rows[membership] // of the larger exclusions
	marked   []int32                  // by component: the last sample, from 1, near which one is that it is apart from
	factors  []factor
}

// factor is a probability, so many times.
type factor struct {
	p     float32
	times int32
	pair  [2]int32 // the components, the lower first; zeros for a larger exclusion
}

// multiply does so for the edges of sample i in one direction. The factors are multiplied in the
// order of their size, so that the result does not depend on the order of the constraints.
func (c *compatibility) multiply(i int, g *graph.Graph) {
	own := c.members.Of(i)
	bound := len(own) > 0
	for _, x := range c.near.Of(i) {
		for _, b := range row(&c.barriers.apart, c.r.Component[x.to]) {
			c.marked[b.component], bound = int32(i)+1, true
		}
	}
	if !bound {
		return
	}
	index, weight := g.Of(i)
	for e, j := range index {
		c.factors = c.factors[:0]
		for a, b := own, c.members.Of(int(j)); len(a) > 0 && len(b) > 0; {
			first := min(a[0].exclusion, b[0].exclusion)
			x, y := of(a, first), of(b, first)
			if p := separation(x, y); p > 0 {
				c.factors = append(c.factors, factor{p: 1 - p, times: 1})
			}
			a, b = a[len(x):], b[len(y):]
		}
		for _, y := range c.near.Of(int(j)) {
			if c.marked[c.r.Component[y.to]] == int32(i)+1 {
				c.addPairs(i, y)
			}
		}
		slices.SortFunc(c.factors, func(a, b factor) int { return cmp.Compare(a.p, b.p) })
		p := float32(1)
		for _, f := range c.factors {
			for n := int32(0); n < f.times && p*f.p != p; n++ {
				p *= f.p
			}
		}
		weight[e] *= p
	}
}

// addPairs adds the factors of the cannot-links between what is near sample i and y.
func (c *compatibility) addPairs(i int, y end) {
	b := c.r.Component[y.to]
	for _, x := range c.near.Of(i) {
		a := c.r.Component[x.to]
		times := c.barriers.times(a, b)
		if p := x.weight * y.weight; times > 0 && p > 0 {
			pair := [2]int32{min(a, b), max(a, b)}
			if at := slices.IndexFunc(c.factors, func(f factor) bool { return f.pair == pair }); at >= 0 {
				c.factors[at].p = min(c.factors[at].p, 1-p)
			} else {
				c.factors = append(c.factors, factor{1 - p, times, pair})
			}
		}
	}
}

// separation returns the largest product of the weights of two memberships, one of a and one
// of b, through different components; both are sorted by falling weight.
func separation(a, b []membership) float32 {
	largest := float32(0)
	for _, x := range a {
		for _, y := range b {
			if x.component != y.component {
				largest = max(largest, x.weight*y.weight)
				break
			}
		}
	}
	return largest
}

// of returns the memberships in one exclusion, with which the sorted row must begin, if it
// has any.
func of(row []membership, exclusion int32) []membership {
	n := 0
	for n < len(row) && row[n].exclusion == exclusion {
		n++
	}
	return row[:n]
}

// barriers say which components may not be in one cluster. Rows of components that are called
// after other samples are empty.
type barriers struct {
	apart  sparse.Rows[barrier] // by component: what exclusions of two keep it from, ascending
	groups sparse.Rows[int32]   // by component: the larger exclusions that it has members of, ascending
}

// barrier is a component that so many exclusions of two keep from another.
type barrier struct{ component, times int32 }

// barriers returns what Apart does, by component.
func (r *Resolved) barriers() *barriers {
	if len(r.members.Values) == 0 {
		return &barriers{}
	}
	r.apart.byBarrier.Do(func() { r.apart.barriers = r.findBarriers() })
	return r.apart.barriers
}

func (r *Resolved) findBarriers() *barriers {
	pairs, groups := r.Apart()
	n := len(r.Component)
	byComponent := func(rows *sparse.Rows[int32], value func(v int32) int32) sparse.Rows[int32] {
		all := sparse.Collect(n, func(add func(row int, value int32)) {
			for i := range rows.Len() {
				for _, v := range rows.Of(i) {
					add(int(r.Component[i]), value(v))
				}
			}
		})
		for c := range n {
			slices.Sort(all.Of(c))
		}
		return all
	}
	b := &barriers{}
	if len(groups.Values) > 0 {
		b.groups = byComponent(&groups, func(x int32) int32 { return x })
	}
	if len(pairs.Values) == 0 {
		return b
	}
	apart := byComponent(&pairs, func(j int32) int32 { return r.Component[j] })
	b.apart.Offsets = append(make([]int, 0, n+1), 0)
	for c := range n {
		for _, d := range apart.Of(c) {
			if last := len(b.apart.Values) - 1; last >= b.apart.Offsets[c] && b.apart.Values[last].component == d {
				b.apart.Values[last].times++
			} else {
				b.apart.Values = append(b.apart.Values, barrier{d, 1})
			}
		}
		b.apart.Offsets = append(b.apart.Offsets, len(b.apart.Values))
	}
	return b
}

// row returns a component's row of rows, of which there may be none.
func row[T any](rows *sparse.Rows[T], component int32) []T {
	if len(rows.Values) == 0 {
		return nil
	}
	return rows.Of(int(component))
}

// times returns how many exclusions of two there are between two components.
func (b *barriers) times(c, d int32) int32 {
	others := row(&b.apart, c)
	at, found := slices.BinarySearchFunc(others, d, func(x barrier, d int32) int { return cmp.Compare(x.component, d) })
	if !found {
		return 0
	}
	return others[at].times
}

// between reports whether two components may not be in one cluster.
func (b *barriers) between(c, d int32) bool {
	return b.times(c, d) > 0 || intersect(row(&b.groups, c), row(&b.groups, d))
}

// intersect reports whether two ascending lists have an element in common.
func intersect(a, b []int32) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// end is one end of an edge.
type end struct {
	to     int32
	weight float32
}

// nearest returns, by sample, its most probable neighbours, among equals those of the lowest
// number, and last the sample itself, with weight 1.
func nearest(ctx context.Context, g *graph.Graph, threads int) (*sparse.Rows[end], error) {
	return build(ctx, g.Samples(), threads, func(i int, row []end) []end {
		index, weight := g.Of(i)
		for e, j := range index {
			w := weight[e]
			at := len(row)
			for at > 0 && row[at-1].weight < w {
				at--
			}
			if at < reach && w > 0 {
				row = slices.Insert(row[:min(len(row), reach-1)], at, end{j, w})
			}
		}
		return append(row, end{int32(i), 1})
	})
}

// link is an edge to be added.
type link struct {
	a, b   int32
	weight float32
}

// joined returns a copy of g in which the links are edges, of at least their weights.
func joined(ctx context.Context, g *graph.Graph, links []link, threads int) (*graph.Graph, error) {
	n := g.Samples()
	if len(links) == 0 {
		return &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: slices.Clone(g.Weight)}, nil
	}
	to := sparse.Collect(n, func(add func(row int, to int32)) {
		for _, l := range links {
			add(int(l.a), l.b)
		}
	})
	weight := sparse.Collect(n, func(add func(row int, weight float32)) {
		for _, l := range links {
			add(int(l.a), l.weight)
		}
	})
	added, err := graph.FromRows(ctx, n, func(i int) ([]int32, []float32) { return to.Of(i), weight.Of(i) }, threads)
	if err != nil {
		return nil, err
	}
	return g.Join(ctx, added, threads)
}

// build returns n rows; row appends row i to an empty one.
func build[T any](ctx context.Context, n, threads int, row func(i int, row []T) []T) (*sparse.Rows[T], error) {
	const block = 256
	parts := make([][]T, (n+block-1)/block)
	offsets := make([]int, n+1)
	err := parallel.Blocks(ctx, threads, n, block, func(_, lo, hi int) {
		var part, one []T
		for i := lo; i < hi; i++ {
			one = row(i, one[:0])
			part = append(part, one...)
			offsets[i+1] = len(one)
		}
		parts[lo/block] = part
	})
	if err != nil {
		return nil, err
	}
	sparse.Cumulate(offsets)
	return &sparse.Rows[T]{Offsets: offsets, Values: slices.Concat(parts...)}, nil
}
