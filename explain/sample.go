package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/partition"
)

// Sample says why a sample is in its cluster.
type Sample struct {
	Ref
	// Size is the number of samples in the cluster.
	Size int `json:"size"`
	// Bound says that constraints limit the sample's choice of cluster, so that another
	// cluster may be worth more to it.
	Bound bool `json:"bound,omitempty"`
	// Places says what each cluster that the sample has links to is worth to it, by the
	// objective of the partition: its own first, and then the others by falling gain. A
	// cluster of its own would have a gain of 0.
	Places []partition.Place `json:"places"`
	// Second is the other cluster with the largest gain, or -1 if no link leads to another,
	// and Margin is the gain of the own cluster minus that of Second, or 0.
	Second int     `json:"second"`
	Margin float64 `json:"margin"`
	// Confidence is the confidence and its factors.
	Confidence Confidence `json:"confidence"`
	// Links holds the links into the cluster, the strongest first.
	Links []Link `json:"links"`
	// Views holds what each view contributes to these links, in the order of the model.
	Views []ViewShare `json:"views"`
}

// Confidence is partition.Confidence of a sample, Value = Linked x Lead, and its factors. Where all
// samples have the same rows, Value is 1.
type Confidence struct {
	Value float64 `json:"value"`
	// Linked is the probability that at least one link into the cluster is right.
	Linked float64 `json:"linked"`
	// Own is the sum of the sample's link probabilities to its own cluster, and Next the
	// largest sum to another, Cluster, which is -1 if there is none.
	Own     float64 `json:"own"`
	Next    float64 `json:"next"`
	Cluster int     `json:"cluster"`
	// Lead is max(0, (Own - Next) / (Own + Next)).
	Lead float64 `json:"lead"`
}

// Link is a link of a sample to the one that it names.
type Link struct {
	Ref
	// Probability is the refined probability, and Fused that by the views alone.
	Probability float64 `json:"probability"`
	Fused       float64 `json:"fused"`
}

// ViewShare is what a view contributes to links.
type ViewShare struct {
	Name string `json:"name"`
	// State is Compared if the sample has the view, or else Missing or LeftOut.
	State State `json:"state"`
	// Links is the number of links for which the view has a probability.
	Links int `json:"links"`
	// LogOdds is the mean of what the view adds to their log-odds; nil if there is no such
	// link or the fusion does not add log-odds.
	LogOdds *float64 `json:"log_odds"`
	// Share is the view's share in the sum of absolute log-odds over all views and links;
	// or the share of the links that it decides, if the fusion does not add log-odds.
	Share float64 `json:"share"`
}

// Sample says why sample i is in its cluster. It is an error if there is no such sample, or
// if ctx is done.
func (x *Explainer) Sample(ctx context.Context, i int) (*Sample, error) {
	if err := x.check(i); err != nil {
		return nil, err
	}
	own, sums := x.m.Labels[i], x.worth.Links()
	x.worth.LinksOf(sums, i)
	out := &Sample{Ref: x.ref(i), Size: x.sizes[own], Bound: x.constraints.Bound(i), Second: -1, Links: []Link{}, Places: x.worth.Places(i, sums)}
	if len(out.Places) > 1 {
		out.Second, out.Margin = out.Places[1].Cluster, out.Places[0].Gain-out.Places[1].Gain
	}
	standing := sums.Standing(own)
	out.Confidence = Confidence{x.m.Confidence[i], standing.Linked, standing.Own, standing.Next, standing.Runner, standing.Lead()}
	index, weight := x.m.Graph.Of(i)
	var pairs [][2]int
	for e, j := range index {
		if x.m.Labels[j] == own {
			out.Links = append(out.Links, Link{Ref: x.ref(int(j)), Probability: float64(weight[e])})
			pairs = append(pairs, [2]int{i, int(j)})
		}
	}
	said, err := x.compare(ctx, pairs)
	if err != nil {
		return nil, err
	}
	for t := range said {
		out.Links[t].Fused = said[t].fused
	}
	slices.SortFunc(out.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), a.Sample-b.Sample)
	})
	has, err := x.has(ctx, i)
	if err != nil {
		return nil, err
	}
	out.Views = x.parts(said)
	for v := range out.Views {
		if p := &out.Views[v]; p.State != LeftOut {
			p.State = Compared
			if !has[v][0] {
				p.State = Missing
			}
		}
	}
	return out, nil
}

// shares returns what each view contributes to pairs of samples. State is Missing for a view
// that says nothing of any.
func (x *Explainer) shares(ctx context.Context, pairs [][2]int) ([]ViewShare, error) {
	said, err := x.compare(ctx, pairs)
	if err != nil {
		return nil, err
	}
	return x.parts(said), nil
}

// parts adds up what the views say of pairs.
func (x *Explainer) parts(said []comparison) []ViewShare {
	parts := make([]ViewShare, len(x.m.Views))
	sums, sizes := make([]float64, len(parts)), make([]float64, len(parts))
	all := 0.0
	for _, w := range said {
		for m, p := range w.probability {
			if p != p {
				continue
			}
			parts[m].Links++
			size := 0.0
			switch {
			case w.logOdds != nil:
				sums[m] += w.logOdds[m]
				size = math.Abs(w.logOdds[m])
			case w.deciding == m:
				size = 1
			}
			sizes[m] += size
			all += size
		}
	}
	for m := range parts {
		p := &parts[m]
		p.Name, p.State = x.m.Views[m].Rows.Name, Compared
		switch {
		case x.m.Views[m].LeftOut:
			p.State = LeftOut
		case p.Links == 0:
			p.State = Missing
		}
		if p.Links > 0 && x.m.Settings.Posterior.Fusion.Additive() {
			p.LogOdds = number(sums[m] / float64(p.Links))
		}
		if all > 0 {
			p.Share = sizes[m] / all
		}
	}
	return parts
}
