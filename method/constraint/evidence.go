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
	links := make([]link, 0, len(r.must))
	for _, p := range r.must {
		links = append(links, link{p[0], p[1], 1})
	}
	out, err := joined(ctx, g, links, threads)
	if err != nil {
		return nil, err
	}
	exclusions := r.byComponent()
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := out.Of(i)
			for e, j := range index {
				switch {
				case r.Component[i] == r.Component[j]:
					weight[e] = 1
				case intersect(exclusions.Of(i), exclusions.Of(int(j))):
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
	members, err := r.memberships(ctx, near, threads)
	if err != nil {
		return nil, err
	}
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			own := members.Of(i)
			if len(own) == 0 {
				continue
			}
			index, weight := out.Of(i)
			for e, j := range index {
				weight[e] *= compatibility(own, members.Of(int(j)))
			}
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
func (r *Resolved) memberships(ctx context.Context, near *sparse.Rows[end], threads int) (*sparse.Rows[membership], error) {
	exclusions := r.byComponent()
	return build(ctx, len(r.Component), threads, func(i int, row []membership) []membership {
		for _, x := range near.Of(i) {
			for _, e := range exclusions.Of(int(x.to)) {
				row = append(row, membership{e, r.Component[x.to], x.weight})
			}
		}
		slices.SortFunc(row, func(a, b membership) int {
			return cmp.Or(cmp.Compare(a.exclusion, b.exclusion), cmp.Compare(b.weight, a.weight), cmp.Compare(a.component, b.component))
		})
		return row
	})
}

// compatibility returns the probability that no exclusion separates two samples with the
// memberships a and b. The factors are multiplied in the order of their size, so that the
// result does not depend on the order of the constraints.
func compatibility(a, b []membership) float32 {
	var few [8]float32
	factors := few[:0]
	for len(a) > 0 && len(b) > 0 {
		e := min(a[0].exclusion, b[0].exclusion)
		x, y := of(a, e), of(b, e)
		if p := separation(x, y); p > 0 {
			factors = append(factors, 1-p)
		}
		a, b = a[len(x):], b[len(y):]
	}
	slices.Sort(factors)
	p := float32(1)
	for _, f := range factors {
		p *= f
	}
	return p
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

// byComponent returns, by sample, the exclusions that any sample of its component is a member
// of, ascending.
func (r *Resolved) byComponent() *sparse.Rows[int32] {
	if r.count.Components == 0 {
		return &r.Exclusions
	}
	joint := map[int32][]int32{}
	for i, c := range r.Component {
		if own := r.Exclusions.Of(i); len(own) > 0 {
			joint[c] = append(joint[c], own...)
		}
	}
	for _, row := range joint {
		slices.Sort(row)
	}
	out := &sparse.Rows[int32]{}
	for _, c := range r.Component {
		out.Append(joint[c]...)
	}
	return out
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
