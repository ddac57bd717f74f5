package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/posterior"
)

// Pair says how two samples, A and B, came to share a cluster, or not to.
type Pair struct {
	A Ref `json:"a"`
	B Ref `json:"b"`
	// Views holds what each view says, in the order of the model.
	Views []PairView `json:"views"`
	// Fusion is how one probability is made of what they say.
	Fusion posterior.Fusion `json:"fusion"`
	// LogOdds is the sum of those of the views, and Fused is 1 / (1 + exp(-LogOdds)), the
	// probability that the two are of one class as far as the views alone tell. LogOdds is
	// nil where the fusion does not add up, or where no view speaks of the pair; then
	// Fused is 0.
	LogOdds *float64 `json:"log_odds"`
	Fused   float64  `json:"fused"`
	// Deciding is the view that the fusion goes by most where it does not add up.
	Deciding string `json:"deciding,omitempty"`
	// Path is what path propagation made of Fused; nil where it is left out.
	Path *Path `json:"path"`
	// CoNeighbours is what co-neighbour propagation made of that; nil where it is left out.
	CoNeighbours *CoNeighbours `json:"co_neighbors"`
	// Link is the refined probability, the weight of the link between the two; nil where
	// they are not linked, because neither is among the other's most probable neighbours.
	Link *float64 `json:"link"`
	// Known says that the two were known to be together, or not to be: a chain of
	// must-links, a cannot-link or a group. The fit then took that for the probability of
	// the pair in place of Fused, and told the surroundings of the two, whose links are no
	// longer the sums of CoNeighbours.
	Known constraint.Kind `json:"known,omitempty"`
	// Together says whether the two share a cluster.
	Together bool `json:"together"`
	// Chain is the strongest chain of links from A to B, within their cluster if they
	// share one; nil where there is none.
	Chain *Chain `json:"chain"`
}

// PairView is what a view says of a pair.
type PairView struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Lacking holds those of the two that lack the view, where State is not LeftOut.
	Lacking []Ref `json:"lacking"`
	// Similarity is nil where the two are not compared.
	Similarity *float64 `json:"similarity"`
	// Probability is that of the pair being of one class by the view alone, within the
	// clip of the fusion; nil where the view has nothing to say.
	Probability *float64 `json:"probability"`
	// LogOdds is what the view adds to the log-odds of the fused probability; nil where it
	// has nothing to say or the fusion does not add up.
	LogOdds *float64 `json:"log_odds"`
}

// Path is what path propagation made of a pair: the larger of its fused probability and
// the best way round over one other sample.
type Path struct {
	Probability float64 `json:"probability"`
	// Kept says that Probability is what the fit had, and compared neighbours by: one of
	// the two is among the other's most probable neighbours. Otherwise it is what the
	// neighbours of the two give now; the fit may not have looked at the pair.
	Kept bool `json:"kept"`
	// Via is the sample in between on the best way round that was found, Steps are the
	// fused probabilities from A to it and from it to B, and Round is their product. Via is
	// nil where the two have no such sample.
	Via   *Ref       `json:"via"`
	Steps [2]float64 `json:"steps"`
	Round float64    `json:"round"`
	// Raised says whether the way round is more probable than the pair itself.
	Raised bool `json:"raised"`
}

// CoNeighbours is what co-neighbour propagation made of a pair: of all the probability
// that the two give to their most probable neighbours, themselves included, the share
// that goes to neighbours that they have in common.
type CoNeighbours struct {
	// Probability is the sum of the shares in Common. It is the weight of the link, if the
	// two are linked.
	Probability float64 `json:"probability"`
	// Ranks holds the place of B among A's most probable neighbours, counted from 1, and of
	// A among B's; 0 where it is not among them. Lists holds how many either has.
	Ranks [2]int `json:"ranks"`
	Lists [2]int `json:"lists"`
	// Common holds the neighbours in common, those of the largest share first.
	Common []CommonNeighbour `json:"common"`
}

// CommonNeighbour is a neighbour that two samples have in common.
type CommonNeighbour struct {
	Ref
	// Probabilities holds those that A and B give to it; a sample gives itself 1.
	Probabilities [2]float64 `json:"probabilities"`
	// Share is their sum over all that A and B give away.
	Share float64 `json:"share"`
}

// Pair explains samples a and b, by their numbers. Pair(b, a) says the same with the two
// in each other's place. It is an error if there are no two such samples, or if ctx is
// done.
func (x *Explainer) Pair(ctx context.Context, a, b int) (*Pair, error) {
	for _, i := range []int{a, b} {
		if err := x.known(i); err != nil {
			return nil, err
		}
	}
	if a == b {
		return nil, fmt.Errorf("sample %s cannot be compared with itself; name two samples, or one alone to see why it is in its cluster", x.m.ID(a))
	}
	vias := x.vias(a, b)
	pairs := [][2]int{{a, b}}
	for _, h := range vias {
		pairs = append(pairs, [2]int{a, h}, [2]int{h, b})
	}
	said, err := x.ask(ctx, pairs)
	if err != nil {
		return nil, err
	}
	out := &Pair{
		A: x.ref(a), B: x.ref(b), Fusion: x.m.Settings.Posterior.Fusion, Fused: said[0].fused,
		Together: x.m.Labels[a] == x.m.Labels[b], Known: x.given.Of(a, b),
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
		out.Path = x.path(a, b, said, vias)
	}
	if x.m.Neighbourhoods != nil {
		out.CoNeighbours = x.coNeighbours(a, b)
	}
	if p, ok := x.m.Graph.Between(a, b); ok {
		link := float64(p)
		out.Link = &link
	}
	out.Chain, err = x.chain(ctx, a, b)
	return out, err
}

func (x *Explainer) views(ctx context.Context, a, b int, said *words) ([]PairView, error) {
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

// number returns a pointer to a number, or nil for NaN, which JSON does not have.
func number(x float64) *float64 {
	if x != x {
		return nil
	}
	return &x
}

// vias returns the samples over which the best way round from a to b may lead: whoever is
// on a way that makes one of the two a most probable neighbour of the other is one itself.
func (x *Explainer) vias(a, b int) []int {
	if x.m.Settings.Refinement.WithoutPaths {
		return nil
	}
	var all []int
	for _, i := range []int{a, b} {
		var index []int32
		if x.firstRound() {
			index, _ = x.m.Neighbourhoods.Of(i)
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

// firstRound reports whether the neighbourhoods are those that path propagation gave, or
// fusion where it is left out.
func (x *Explainer) firstRound() bool {
	return x.m.Neighbourhoods != nil && x.m.Settings.Refinement.Rounds <= 1
}

// path finds what path propagation made of a and b, of whom said[0] speaks; said then has
// the two steps by way of each of vias.
func (x *Explainer) path(a, b int, said []words, vias []int) *Path {
	direct := float32(said[0].fused)
	kept, ok := x.propagated(a, b)
	out := &Path{Kept: ok, Probability: float64(kept)}
	if !ok {
		kept = 1 // what a way round may come to
	}
	best := float32(0)
	for t, h := range vias {
		first, second := float32(said[1+2*t].fused), float32(said[2+2*t].fused)
		// Where the product is above what the fit had, it did not look at one of the steps.
		if p := first * second; p > best && p <= kept {
			best = p
			via := x.ref(h)
			out.Via, out.Steps, out.Round = &via, [2]float64{float64(first), float64(second)}, float64(p)
		}
	}
	if !ok {
		out.Probability = float64(max(direct, best))
	}
	out.Raised = float32(out.Probability) > direct
	return out
}

// propagated returns what path propagation made of a pair, where the model has it.
func (x *Explainer) propagated(a, b int) (float32, bool) {
	if x.m.Neighbourhoods == nil {
		return x.m.Graph.Between(a, b)
	}
	if !x.firstRound() {
		return 0, false
	}
	for _, p := range [][2]int{{a, b}, {b, a}} {
		index, probability := x.m.Neighbourhoods.Of(p[0])
		if at := slices.Index(index, int32(p[1])); at >= 0 {
			return probability[at], true
		}
	}
	return 0, false
}

// coNeighbours finds the shares that make up the refined probability of a and b.
func (x *Explainer) coNeighbours(a, b int) *CoNeighbours {
	out := &CoNeighbours{Common: []CommonNeighbour{}}
	gives := [2]map[int]float64{{a: 1}, {b: 1}}
	all := 2.0
	for side, i := range []int{a, b} {
		index, probability := x.m.Neighbourhoods.Of(i)
		out.Lists[side] = len(index)
		for k, h := range index {
			if int(h) == a+b-i {
				out.Ranks[side] = k + 1
			}
			gives[side][int(h)] = float64(probability[k])
			all += float64(probability[k])
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
