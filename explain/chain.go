package explain

import (
	"container/heap"
	"context"
	"math"
	"slices"
)

// Chain is a path of links from one sample to another in the refined graph: one whose
// weakest link is the strongest; of these, one with the fewest links; and of these, one
// with the largest product of probabilities.
type Chain struct {
	// Samples holds the samples on the path, both ends included.
	Samples []Ref `json:"samples"`
	// Links holds the probability of the link from each sample to the next.
	Links []float64 `json:"links"`
	// Weakest is the least of Links.
	Weakest float64 `json:"weakest"`
	// Within says that the path stays in one cluster.
	Within bool `json:"within"`
}

// chain finds the chain from a to b.
func (x *Explainer) chain(ctx context.Context, a, b int) (*Chain, error) {
	within := x.m.Labels[a] == x.m.Labels[b]
	// Ties are decided from the lower number on, whichever is asked for first.
	from, to := min(a, b), max(a, b)
	open := func(j int32) bool { return !within || x.m.Labels[j] == x.m.Labels[a] }
	weakest, err := x.widest(ctx, from, to, open)
	if err != nil || weakest == 0 {
		return nil, err
	}
	on, err := x.shortest(ctx, from, to, weakest, open)
	if err != nil {
		return nil, err
	}
	if from != a {
		slices.Reverse(on)
	}
	out := &Chain{Weakest: float64(weakest), Within: within}
	for t, i := range on {
		out.Samples = append(out.Samples, x.ref(i))
		if t > 0 {
			p, _ := x.m.Graph.Between(on[t-1], i)
			out.Links = append(out.Links, float64(p))
		}
	}
	return out, nil
}

// reach is a sample and the weakest link on the path to it.
type reach struct {
	weakest float32
	sample  int32
}

// frontier is a heap with the largest of the weakest links on top.
type frontier []reach

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(s, t int) bool { return f[s].weakest > f[t].weakest }
func (f frontier) Swap(s, t int)      { f[s], f[t] = f[t], f[s] }
func (f *frontier) Push(x any)        { *f = append(*f, x.(reach)) }
func (f *frontier) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	*f = (*f)[:last]
	return x
}

// widest returns the weakest link of the path between two samples on which it is the
// strongest, or 0 where there is no path. The path keeps to samples that open accepts.
func (x *Explainer) widest(ctx context.Context, from, to int, open func(int32) bool) (float32, error) {
	best := make([]float32, x.m.Samples())
	best[from] = 2
	f := &frontier{{2, int32(from)}}
	for steps := 0; f.Len() > 0; steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		r := heap.Pop(f).(reach)
		if int(r.sample) == to {
			return r.weakest, nil
		}
		if r.weakest < best[r.sample] {
			continue // it has been reached by a better path since
		}
		index, weight := x.m.Graph.Of(int(r.sample))
		for e, j := range index {
			if p := min(r.weakest, weight[e]); p > best[j] && open(j) {
				best[j] = p
				heap.Push(f, reach{p, j})
			}
		}
	}
	return 0, nil
}

// shortest returns the path with the fewest links, each of at least floor.
func (x *Explainer) shortest(ctx context.Context, from, to int, floor float32, open func(int32) bool) ([]int, error) {
	n := x.m.Samples()
	before := make([]int32, n)  // the one before it on the chain, counted from 1
	depth := make([]int32, n)   // counted from 1
	worth := make([]float64, n) // the sum of the logarithms of the links
	depth[from] = 1
	layer := []int32{int32(from)}
	for steps := 0; len(layer) > 0 && depth[to] == 0; {
		var next []int32
		for _, i := range layer {
			if steps++; steps%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			index, weight := x.m.Graph.Of(int(i))
			for e, j := range index {
				if weight[e] < floor || depth[j] != 0 && depth[j] <= depth[i] || !open(j) {
					continue
				}
				w := worth[i] + math.Log(float64(weight[e]))
				if depth[j] == 0 {
					depth[j] = depth[i] + 1
					next = append(next, j)
				} else if w <= worth[j] {
					continue
				}
				before[j], worth[j] = i+1, w
			}
		}
		slices.Sort(next)
		layer = next
	}
	on := []int{to}
	for i := to; i != from; {
		i = int(before[i]) - 1
		on = append(on, i)
	}
	slices.Reverse(on)
	return on, nil
}
