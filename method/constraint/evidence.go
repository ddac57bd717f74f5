package constraint

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

// Fix returns the pair probabilities with those that are known: 1 of a must-link and of
// an edge within a component, 0 of an edge between what cannot be together. Must-links
// that are no edges become edges. It takes g over. The only error is the context's own.
func (k *Known) Fix(ctx context.Context, g *graph.Graph, threads int) (*graph.Graph, error) {
	if k == nil {
		return g, nil
	}
	add := make([]link, 0, len(k.must))
	for _, p := range k.must {
		add = append(add, link{p[0], p[1], 1})
	}
	out, err := with(ctx, g, add, threads)
	if err != nil {
		return nil, err
	}
	tokens := k.jointly()
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := out.Of(i)
			for e, j := range index {
				switch {
				case k.Component[i] == k.Component[j]:
					weight[e] = 1
				case common(tokens.of(i), tokens.of(int(j))):
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

// around is how many neighbours of a sample hear of what is known of it.
const around = 3

// Spread tells the surroundings of two samples what is known of the two. Two samples are
// together if they are together with two that are, and apart if they are together with
// two that are apart: with r the pair probabilities of g, and r(i,i) = 1,
//
//	r'(i,j) = max(r(i,j), max over must-links (a,b) of r(i,a) r(j,b))
//	          x product over what keeps a and b apart of (1 - max of r(i,a) r(j,b)),
//
// where a and b are among the 3 most probable neighbours of i and j, or i and j
// themselves. It takes g over. The only error is the context's own.
func (k *Known) Spread(ctx context.Context, g *graph.Graph, threads int) (*graph.Graph, error) {
	if k == nil {
		return g, nil
	}
	near, err := nearest(ctx, g, threads)
	if err != nil {
		return nil, err
	}
	var add []link
	for _, p := range k.must {
		for _, x := range near.of(int(p[0])) {
			for _, y := range near.of(int(p[1])) {
				if w := x.weight * y.weight; x.to != y.to && w > 0 {
					add = append(add, link{x.to, y.to, w})
				}
			}
		}
	}
	out, err := with(ctx, g, add, threads)
	if err != nil || len(k.Token) == 0 {
		return out, err
	}
	heard, err := k.hear(ctx, near, threads)
	if err != nil {
		return nil, err
	}
	err = parallel.Blocks(ctx, threads, out.Samples(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			mine := heard.of(i)
			if len(mine) == 0 {
				continue
			}
			index, weight := out.Of(i)
			for e, j := range index {
				weight[e] *= doubt(mine, heard.of(int(j)))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// rumour is that a component, which is as probable to be with a sample as weight says,
// holds a token.
type rumour struct {
	token, component int32
	weight           float32
}

// hear returns what every sample hears of tokens from its surroundings: by token, and of
// the most probable first.
func (k *Known) hear(ctx context.Context, near *rows[end], threads int) (*rows[rumour], error) {
	tokens := k.jointly()
	return gather(ctx, len(k.Component), threads, func(i int, row []rumour) []rumour {
		for _, x := range near.of(i) {
			for _, t := range tokens.of(int(x.to)) {
				row = append(row, rumour{t, k.Component[x.to], x.weight})
			}
		}
		slices.SortFunc(row, func(a, b rumour) int {
			return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(b.weight, a.weight), cmp.Compare(a.component, b.component))
		})
		return row
	})
}

// doubt returns the probability that nothing keeps two samples apart that hear a and b. In
// which order constraints were given must not show, so factors are multiplied by size.
func doubt(a, b []rumour) float32 {
	var few [8]float32
	factors := few[:0]
	for len(a) > 0 && len(b) > 0 {
		t := min(a[0].token, b[0].token)
		x, y := run(a, t), run(b, t)
		most := float32(0)
		for _, u := range x {
			for _, v := range y {
				if u.component != v.component {
					most = max(most, u.weight*v.weight)
					break
				}
			}
		}
		if most > 0 {
			factors = append(factors, 1-most)
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

// run returns the beginning of row that is about the token.
func run(row []rumour, token int32) []rumour {
	n := 0
	for n < len(row) && row[n].token == token {
		n++
	}
	return row[:n]
}

// jointly returns the tokens of every component, for each of its samples, ascending.
func (k *Known) jointly() *rows[int32] {
	if k.count.Components == 0 {
		return &rows[int32]{k.Offsets, k.Token}
	}
	joint := map[int32][]int32{}
	for i, c := range k.Component {
		if len(k.Of(i)) > 0 {
			joint[c] = append(joint[c], k.Of(i)...)
		}
	}
	for _, t := range joint {
		slices.Sort(t)
	}
	r := &rows[int32]{start: make([]int, 1, len(k.Component)+1)}
	for _, c := range k.Component {
		r.all = append(r.all, joint[c]...)
		r.start = append(r.start, len(r.all))
	}
	return r
}

// common reports whether two ascending lists have an element in common.
func common(a, b []int32) bool {
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

// nearest returns every sample's most probable neighbours, among equals those of the lowest
// number, and last the sample itself, with weight 1.
func nearest(ctx context.Context, g *graph.Graph, threads int) (*rows[end], error) {
	return gather(ctx, g.Samples(), threads, func(i int, row []end) []end {
		index, weight := g.Of(i)
		for e, j := range index {
			w := weight[e]
			at := len(row)
			for at > 0 && row[at-1].weight < w {
				at--
			}
			if at < around && w > 0 {
				row = slices.Insert(row[:min(len(row), around-1)], at, end{j, w})
			}
		}
		return append(row, end{int32(i), 1})
	})
}

// link is an edge that is to be.
type link struct {
	a, b   int32
	weight float32
}

// with returns a graph in which the links are edges, of at least their weights. It takes g
// over, and is g itself where all links are edges of it.
func with(ctx context.Context, g *graph.Graph, links []link, threads int) (*graph.Graph, error) {
	n := g.Samples()
	more, err := ends(ctx, n, links, threads)
	if err != nil {
		return nil, err
	}
	out := &graph.Graph{Offsets: make([]int, n+1)}
	missing := 0
	for i := range n {
		index, weight := g.Of(i)
		for _, x := range more.of(i) {
			if at, ok := slices.BinarySearch(index, x.to); ok {
				weight[at] = max(weight[at], x.weight)
			} else {
				missing++
			}
		}
		out.Offsets[i+1] = g.Offsets[i+1] + missing
	}
	if missing == 0 {
		return g, nil
	}
	out.Index, out.Weight = make([]int32, out.Offsets[n]), make([]float32, out.Offsets[n])
	err = parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			to, w := out.Of(i)
			add, at := more.of(i), 0
			for e, j := range index {
				for ; len(add) > 0 && add[0].to <= j; add = add[1:] {
					if add[0].to < j {
						to[at], w[at] = add[0].to, add[0].weight
						at++
					}
				}
				to[at], w[at] = j, weight[e]
				at++
			}
			for _, x := range add {
				to[at], w[at] = x.to, x.weight
				at++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ends returns the links of every sample by the number of the other one, each once, of
// its largest weight.
func ends(ctx context.Context, n int, links []link, threads int) (*rows[end], error) {
	all := &rows[end]{start: make([]int, n+1), all: make([]end, 2*len(links))}
	for _, l := range links {
		all.start[l.a+1]++
		all.start[l.b+1]++
	}
	for i := range n {
		all.start[i+1] += all.start[i]
	}
	fill := slices.Clone(all.start)
	for _, l := range links {
		all.all[fill[l.a]], all.all[fill[l.b]] = end{l.b, l.weight}, end{l.a, l.weight}
		fill[l.a]++
		fill[l.b]++
	}
	return gather(ctx, n, threads, func(i int, row []end) []end {
		row = append(row, all.of(i)...)
		slices.SortFunc(row, func(a, b end) int {
			return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(b.weight, a.weight))
		})
		return slices.CompactFunc(row, func(a, b end) bool { return a.to == b.to })
	})
}

// rows are lists, one after another: that of i is all[start[i]:start[i+1]].
type rows[T any] struct {
	start []int
	all   []T
}

func (r *rows[T]) of(i int) []T { return r.all[r.start[i]:r.start[i+1]] }

func (r *rows[T]) count() int { return len(r.start) - 1 }

// add appends a row.
func (r *rows[T]) add(row ...T) {
	r.all = append(r.all, row...)
	r.start = append(r.start, len(r.all))
}

// gather makes n rows, each of which make appends to an empty one.
func gather[T any](ctx context.Context, n, threads int, row func(i int, row []T) []T) (*rows[T], error) {
	const block = 256
	parts := make([][]T, (n+block-1)/block)
	r := &rows[T]{start: make([]int, n+1)}
	err := parallel.Blocks(ctx, threads, n, block, func(_, lo, hi int) {
		var part, one []T
		for i := lo; i < hi; i++ {
			one = row(i, one[:0])
			part = append(part, one...)
			r.start[i+1] = len(one)
		}
		parts[lo/block] = part
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		r.start[i+1] += r.start[i]
	}
	r.all = slices.Concat(parts...)
	return r, nil
}
