package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/posterior"
)

// Pair says why two samples, A and B, share a cluster or not.
type Pair struct {
	A Ref `json:"a"`
	B Ref `json:"b"`
	// Views holds what each view says of the pair, in the order of the model.
	Views []PairView `json:"views"`
	// Fusion is how the views' probabilities are fused.
	Fusion posterior.Fusion `json:"fusion"`
	// Fused is the probability that the two are of one class by the views alone. It is
	// 1 / (1 + exp(-LogOdds)), with LogOdds the sum of those of the views. LogOdds is nil
	// if the fusion does not add log-odds. It is also nil if the two have no view in
	// common; Fused is then 0.
	LogOdds *float64 `json:"log_odds"`
	Fused   float64  `json:"fused"`
	// Deciding is the view that decides Fused if the fusion does not add log-odds.
	Deciding string `json:"deciding,omitempty"`
	// Path is the result of path propagation; nil if the fit left it out.
	Path *Path `json:"path"`
	// CoNeighbours is the result of co-neighbour propagation; nil if the fit left it out.
	CoNeighbours *CoNeighbours `json:"co_neighbors"`
	// Link is the refined probability, the weight of the link between the two. It is nil
	// if they are not linked: neither is among the other's most probable neighbours.
	Link *float64 `json:"link"`
	// Constraint is set if the constraints decide about the pair. The fit then used 1 or 0
	// in place of Fused, and propagated that to the links around the two, which are no
	// longer the sums of CoNeighbours.
	Constraint constraint.Kind `json:"known,omitempty"`
	// Together says whether the two share a cluster.
	Together bool `json:"together"`
	// Chain is the strongest chain of links from A to B, within their cluster if they
	// share one; nil if there is none.
	Chain *Chain `json:"chain"`
}

// PairView is what a view says of a pair.
type PairView struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Lacking holds those of the two that lack the view, unless State is LeftOut.
	Lacking []Ref `json:"lacking"`
	// Similarity is nil unless State is Compared.
	Similarity *float64 `json:"similarity"`
	// Probability is the view's probability that the two are of one class, clipped as in
	// the fusion; nil if the view says nothing.
	Probability *float64 `json:"probability"`
	// LogOdds is what the view adds to Pair.LogOdds; nil if the view says nothing or the
	// fusion does not add log-odds.
	LogOdds *float64 `json:"log_odds"`
}

// Path is the result of path propagation for a pair: the larger of its fused probability
// and that of the best path over one other sample.
type Path struct {
	Probability float64 `json:"probability"`
	// Kept says that Probability is the fit's: one of the two is among the other's most
	// probable neighbours. Otherwise it is computed from the neighbours that the model has;
	// the fit may not have compared the two.
	Kept bool `json:"kept"`
	// Via is the sample in the middle of the best path, Steps holds the fused
	// probabilities from A to it and from it to B, and Product is their product. Via is
	// nil if there is no such sample.
	Via     *Ref       `json:"via"`
	Steps   [2]float64 `json:"steps"`
	Product float64    `json:"round"`
	// Raised says that the path is more probable than the pair itself.
	Raised bool `json:"raised"`
}

// CoNeighbours is the result of co-neighbour propagation for a pair. Each sample gives
// its K most probable neighbours their probabilities, and itself 1. The result is the
// share of the sum of both that goes to neighbours in common.
type CoNeighbours struct {
	// Probability is the sum of the shares in Common: the weight of the link, if the two
	// are linked.
	Probability float64 `json:"probability"`
	// Ranks holds the rank of B among A's most probable neighbours, from 1, and that of A
	// among B's; 0 if it is not among them. Lists holds the number of neighbours of A and B.
	Ranks [2]int `json:"ranks"`
	Lists [2]int `json:"lists"`
	// Common holds the neighbours in common, by falling share.
	Common []CommonNeighbour `json:"common"`
}

// CommonNeighbour is a neighbour that two samples have in common.
type CommonNeighbour struct {
	Ref
	// Probabilities holds what A and B give to it.
	Probabilities [2]float64 `json:"probabilities"`
	// Share is the sum of Probabilities over the sum of all that A and B give.
	Share float64 `json:"share"`
}

// Pair says why samples a and b share a cluster or not. Pair(b, a) says the same with the
// two exchanged. It is an error if there are no two such samples, or if ctx is done.
func (x *Explainer) Pair(ctx context.Context, a, b int) (*Pair, error) {
	for _, i := range []int{a, b} {
		if err := x.check(i); err != nil {
			return nil, err
		}
	}
	if a == b {
		return nil, fmt.Errorf("sample %s cannot be compared with itself; name two samples, or one alone to see why it is in its cluster", x.m.ID(a))
	}
	near, err := x.nearest(a, b)
	if err != nil {
		return nil, err
	}
	vias := x.vias(a, b, near)
	pairs := [][2]int{{a, b}}
	for _, h := range vias {
		pairs = append(pairs, [2]int{a, h}, [2]int{h, b})
	}
	said, err := x.compare(ctx, pairs)
	if err != nil {
		return nil, err
	}
	out := &Pair{
		A: x.ref(a), B: x.ref(b), Fusion: x.m.Settings.Posterior.Fusion, Fused: said[0].fused,
		Together: x.m.Labels[a] == x.m.Labels[b], Constraint: x.constraints.Of(a, b),
	}
	if out.Views, err = x.views(ctx, a, b, &said[0]); err != nil {
		return nil, err
	}
	for _, v := range out.Views {
		if v.LogOdds != nil {
			if out.LogOdds == nil {
				out.LogOdds = new(float64)
			}
			*out.LogOdds += *v.LogOdds
		}
	}
	if d := said[0].deciding; d >= 0 {
		out.Deciding = x.m.Views[d].Rows.Name
	}
	if !x.m.Settings.Refinement.WithoutPaths {
		out.Path = x.path(a, b, near, said, vias)
	}
	if near != nil {
		out.CoNeighbours = x.coNeighbours(a, b, near)
	}
	if p, ok := x.m.Graph.Between(a, b); ok {
		link := float64(p)
		out.Link = &link
	}
	out.Chain, err = x.chain(ctx, a, b)
	return out, err
}

func (x *Explainer) views(ctx context.Context, a, b int, said *comparison) ([]PairView, error) {
	has, err := x.has(ctx, a, b)
	if err != nil {
		return nil, err
	}
	views := make([]PairView, len(x.m.Views))
	for m := range views {
		v := PairView{Name: x.m.Views[m].Rows.Name, State: Compared, Lacking: []Ref{}}
		if x.m.Views[m].LeftOut {
			v.State = LeftOut
		} else {
			for k, i := range []int{a, b} {
				if !has[m][k] {
					v.State = Missing
					v.Lacking = append(v.Lacking, x.ref(i))
				}
			}
		}
		v.Similarity = number(float64(said.similarity[m]))
		v.Probability = number(said.probability[m])
		if said.logOdds != nil {
			v.LogOdds = number(said.logOdds[m])
		}
		if v.State != Compared && v.Probability != nil {
			v.State = Completed
		}
		views[m] = v
	}
	return views, nil
}

// number returns a pointer to x, or nil for NaN, which JSON cannot represent.
func number(x float64) *float64 {
	if x != x {
		return nil
	}
	return &x
}

// nearest are the most probable neighbours of a sample.
type nearest struct {
	index       []int32
	probability []float32
}

// nearest returns the most probable neighbours of some samples; nil where the model has none.
func (x *Explainer) nearest(samples ...int) (map[int]nearest, error) {
	if !x.m.HasNearest() {
		return nil, nil
	}
	near := map[int]nearest{}
	for _, i := range samples {
		index, probability, err := x.m.Nearest(i)
		if err != nil {
			return nil, err
		}
		near[i] = nearest{index, probability}
	}
	return near, nil
}

// vias returns the samples over which the best path from a to b may lead: neighbours of
// either, for a path that makes one a most probable neighbour of the other leads over
// such a one.
func (x *Explainer) vias(a, b int, near map[int]nearest) []int {
	if x.m.Settings.Refinement.WithoutPaths {
		return nil
	}
	var all []int
	for _, i := range []int{a, b} {
		var index []int32
		if x.firstRound() {
			index = near[i].index
		} else {
			index, _ = x.m.Graph.Of(i)
		}
		for _, h := range index {
			if int(h) != a && int(h) != b {
				all = append(all, int(h))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// firstRound reports whether the neighbourhoods have the probabilities before the first
// round of co-neighbour propagation.
func (x *Explainer) firstRound() bool {
	return x.m.HasNearest() && x.m.Settings.Refinement.Rounds <= 1
}

// path returns the result of path propagation for a and b. said holds what the views say of
// the two, and then of the two steps over each of vias.
func (x *Explainer) path(a, b int, near map[int]nearest, said []comparison, vias []int) *Path {
	direct := float32(said[0].fused)
	kept, ok := x.propagated(a, b, near)
	out := &Path{Kept: ok, Probability: float64(kept)}
	if !ok {
		kept = 1 // no path is more probable
	}
	best := float32(0)
	for t, h := range vias {
		first, second := float32(said[1+2*t].fused), float32(said[2+2*t].fused)
		// If the product exceeds the fit's probability, the fit did not compare one of the steps.
		if p := first * second; p > best && p <= kept {
			best = p
			via := x.ref(h)
			out.Via, out.Steps, out.Product = &via, [2]float64{float64(first), float64(second)}, float64(p)
		}
	}
	if !ok {
		out.Probability = float64(max(direct, best))
	}
	out.Raised = float32(out.Probability) > direct
	return out
}

// propagated returns a pair's probability after path propagation, if the model has it.
func (x *Explainer) propagated(a, b int, near map[int]nearest) (float32, bool) {
	if near == nil {
		return x.m.Graph.Between(a, b)
	}
	if !x.firstRound() {
		return 0, false
	}
	for _, p := range [][2]int{{a, b}, {b, a}} {
		list := near[p[0]]
		if at := slices.Index(list.index, int32(p[1])); at >= 0 {
			return list.probability[at], true
		}
	}
	return 0, false
}

// coNeighbours finds the shares that make up the refined probability of a and b.
func (x *Explainer) coNeighbours(a, b int, near map[int]nearest) *CoNeighbours {
	out := &CoNeighbours{Common: []CommonNeighbour{}}
	gives := [2]map[int]float64{{a: 1}, {b: 1}}
	all := 2.0
	for side, i := range []int{a, b} {
		list := near[i]
		out.Lists[side] = len(list.index)
		for k, h := range list.index {
			if int(h) == a+b-i {
				out.Ranks[side] = k + 1
			}
			gives[side][int(h)] = float64(list.probability[k])
			all += float64(list.probability[k])
		}
	}
	for h, p := range gives[0] {
		if q, ok := gives[1][h]; ok {
			out.Common = append(out.Common, CommonNeighbour{x.ref(h), [2]float64{p, q}, (p + q) / all})
		}
	}
	slices.SortFunc(out.Common, func(s, t CommonNeighbour) int {
		return cmp.Or(cmp.Compare(t.Share, s.Share), s.Sample-t.Sample)
	})
	for _, s := range out.Common {
		out.Probability += s.Share
	}
	return out
}
