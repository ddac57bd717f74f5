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
	// Bound says that constraints had a say in the place of the sample: another place may
	// then be worth more to it.
	Bound bool `json:"bound,omitempty"`
	// Places says what every cluster that the sample has a link to is worth to it, in the
	// terms of what the partition goes by: its own first, and then the others, by falling
	// gain. Being alone is worth 0.
	Places []partition.Place `json:"places"`
	// Second is the cluster of the largest gain but its own, or -1 where no link leads to
	// another, and Margin by how much its own is worth more; 0 where there is no second.
	Second int     `json:"second"`
	Margin float64 `json:"margin"`
	// Confidence is how sure the place is, and what it is made of.
	Confidence Confidence `json:"confidence"`
	// Links holds the links into the cluster, the strongest first.
	Links []Link `json:"links"`
	// Views holds the part of every view in these links, in the order of the model.
	Views []ViewShare `json:"views"`
}

// Confidence is partition.Confidence of a sample and its factors: Value is Linked x Lead.
type Confidence struct {
	Value float64 `json:"value"`
	// Linked is the probability that at least one link into the cluster is right.
	Linked float64 `json:"linked"`
	// Own and Next are the sums of the sample's link probabilities to its own cluster and
	// to the next best one, Cluster; that is -1 where there is none.
	Own     float64 `json:"own"`
	Next    float64 `json:"next"`
	Cluster int     `json:"cluster"`
	// Lead is (Own - Next) / (Own + Next), or 0 if that is less.
	Lead float64 `json:"lead"`
}

// Link is a link of a sample.
type Link struct {
	Ref
	// Probability is the refined one, and Fused what the views alone say.
	Probability float64 `json:"probability"`
	Fused       float64 `json:"fused"`
}

// ViewShare is the part that a view has in the links of a sample into its cluster.
type ViewShare struct {
	Name string `json:"name"`
	// State is Compared where the sample has the view, else Missing or LeftOut.
	State State `json:"state"`
	// Links counts the links of which the view speaks.
	Links int `json:"links"`
	// LogOdds is the mean of what it adds to the log-odds of these; nil where it speaks of
	// none or the fusion does not add up.
	LogOdds *float64 `json:"log_odds"`
	// Share is the view's share in all that the views say of the links, in absolute
	// log-odds; or, where the fusion does not add up, the share of the links that it decides.
	Share float64 `json:"share"`
}

// Sample explains sample i, by its number. It is an error if there is no such sample, or
// if ctx is done.
func (x *Explainer) Sample(ctx context.Context, i int) (*Sample, error) {
	if err := x.known(i); err != nil {
		return nil, err
	}
	own, sums := x.m.Labels[i], x.worth.Links()
	x.worth.LinksOf(sums, i)
	out := &Sample{Ref: x.ref(i), Size: x.sizes[own], Bound: x.given.Bound(i), Second: -1, Links: []Link{}, Places: x.worth.Places(i, sums)}
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
	said, err := x.ask(ctx, pairs)
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

// shares returns the part that every view has in what is said of pairs of samples, in the
// order of the model; the pairs take the place of a sample's links, and State is Missing
// where a view speaks of none.
func (x *Explainer) shares(ctx context.Context, pairs [][2]int) ([]ViewShare, error) {
	said, err := x.ask(ctx, pairs)
	if err != nil {
		return nil, err
	}
	return x.parts(said), nil
}

// parts adds up what the views say.
func (x *Explainer) parts(said []words) []ViewShare {
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
