package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/sparse"
)

// DescribeSettings steer Describe. The zero value gives the defaults.
type DescribeSettings struct {
	// Members is the greatest number of central members listed, and of uncertain ones. 0
	// stands for 5.
	Members int
	// Merges is the greatest number of linked clusters listed. 0 stands for 3.
	Merges int
	// First is the greatest number of clusters described: those with the lowest numbers,
	// which in a result of Fit are the largest. 0 stands for all.
	First int
	// Resolution is that of the partition, with 0 for Eq. pi_loss; see partition.Find.
	Resolution float64
	// Clip is that of the partition, partition.Settings.Clip. 0 stands for
	// partition.DefaultClip.
	Clip float64
}

// resolve fills in the defaults and checks the ranges.
func (s *DescribeSettings) resolve() error {
	p := partition.Settings{Clip: s.Clip}
	err := option.Resolve([]option.Parameter{
		{Field: "Members", Value: option.Whole(&s.Members, 5, 1, math.MaxInt32)},
		{Field: "Merges", Value: option.Whole(&s.Merges, 3, 1, math.MaxInt32)},
		{Field: "First", Value: option.Whole(&s.First, math.MaxInt32, 1, math.MaxInt32)},
		partition.ResolutionParameter(&s.Resolution),
	})
	if err == nil {
		err = p.Resolve()
	}
	s.Clip = p.Clip
	return err
}

// Cluster describes a cluster. P is the probability of a link.
type Cluster struct {
	// Size is the number of members.
	Size int `json:"size"`
	// Cohesion is the share, in [0, 1], of the members' links that stay in the cluster: the
	// mean over the members i of
	//
	//	(sum of P over the links of i into the cluster) / (sum of P over all links of i).
	//
	// A member without links counts 0.
	Cohesion float64 `json:"cohesion"`
	// Confidence is the mean confidence of the members.
	Confidence float64 `json:"mean_confidence"`
	// Central holds the members with the largest sums of P over their links into the
	// cluster, the largest first.
	Central []int `json:"central"`
	// Uncertain holds the members with the least confidence, the least first.
	Uncertain []int `json:"uncertain"`
	// Merges holds the clusters that this one is linked to, by falling Pull.
	Merges []LinkedCluster `json:"merges"`
}

// LinkedCluster is a cluster that another is linked to.
type LinkedCluster struct {
	// Cluster is the number of the other cluster.
	Cluster int `json:"cluster"`
	// Pull is the evidence for merging the two clusters A and B, as a share, in [0, 1], of
	// the evidence for and against. With a resolution γ it is
	//
	//	W / (W + γ D(A) D(B) / D),
	//
	// with W the sum of P over the links between A and B, D(A) the sum of P over all links
	// of A's members, and D that over all samples. A merge raises modularity where Pull is
	// above 1/2.
	//
	// Without a resolution it is the pooled probability of the links between A and B,
	//
	//	1 / (1 + exp(-mean of log(P / (1 - P)))),
	//
	// with P clipped as in Eq. pi_loss. If there are fewer links than the smaller of A and
	// B has members, the missing ones count with the least P. A merge lowers Eq. pi_loss
	// where Pull is above 1/2.
	Pull float64 `json:"pull"`
}

// Describe returns what each cluster is like. g is the refined graph of a result, whose
// edges are the links of its samples. labels holds the cluster of every sample, numbered
// from 0, and confidence its confidence. Ties go to the lower number.
//
// It goes through the edges twice. The result does not depend on threads, where 0 stands
// for all processors. It is an error if a setting is out of range, if g, labels and
// confidence differ in length, if a label is not the number of a cluster, or if ctx is
// done.
func Describe(ctx context.Context, g *graph.Graph, labels []int, confidence []float64, set DescribeSettings, threads int) ([]Cluster, error) {
	if err := set.resolve(); err != nil {
		return nil, err
	}
	if err := checkSamples(g, labels, confidence); err != nil {
		return nil, err
	}
	d, err := newDescriber(ctx, g, labels, confidence, set, threads)
	if err != nil {
		return nil, err
	}
	out := make([]Cluster, min(set.First, d.members.Len()))
	between := make([]*partition.Links, parallel.Threads(threads))
	err = parallel.Blocks(ctx, threads, len(out), 1, func(worker, c, _ int) {
		if between[worker] == nil {
			between[worker] = d.worth.Links()
		}
		out[c] = d.describe(c, between[worker])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkSamples checks the lengths of the input and the range of the labels.
func checkSamples(g *graph.Graph, labels []int, confidence []float64) error {
	if err := g.Check(); err != nil {
		return err
	}
	n := g.Samples()
	if len(labels) != n || len(confidence) != n {
		return fmt.Errorf("there are %d labels and %d confidences for a graph of %d samples; give one of each per sample", len(labels), len(confidence), n)
	}
	for i, l := range labels {
		if l < 0 || l >= n {
			return fmt.Errorf("sample %d (counted from 0) has the label %d; number the clusters of %d samples from 0 to %d at most, as partition.Number does", i, l, n, n-1)
		}
	}
	return nil
}

// describer describes one cluster after another.
type describer struct {
	ctx        context.Context
	g          *graph.Graph
	set        DescribeSettings
	labels     []int
	confidence []float64
	members    sparse.Rows[int32] // of each cluster, ascending
	worth      *partition.Worth
}

func newDescriber(ctx context.Context, g *graph.Graph, labels []int, confidence []float64, set DescribeSettings, threads int) (*describer, error) {
	worth, err := partition.NewWorth(ctx, g, labels, set.Resolution, partition.Settings{Clip: set.Clip}, threads)
	if err != nil {
		return nil, err
	}
	members := sparse.Collect(len(worth.Degrees.Cluster), func(add func(c int, i int32)) {
		for i, c := range labels {
			add(c, int32(i))
		}
	})
	return &describer{ctx, g, set, labels, confidence, members, worth}, nil
}

// describe describes cluster c. It adds up the links to other clusters in between.
func (d *describer) describe(c int, between *partition.Links) Cluster {
	members := d.members.Of(c)
	out := Cluster{Size: len(members), Central: []int{}, Uncertain: []int{}, Merges: []LinkedCluster{}}
	if len(members) == 0 {
		return out
	}
	between.Clear()
	within := make([]float64, len(members)) // by member: the sum of P over its links into c
	for at, i := range members {
		if at%1024 == 0 && d.ctx.Err() != nil {
			return out
		}
		index, weight := d.g.Of(int(i))
		for e, j := range index {
			if p, other := float64(weight[e]), d.labels[j]; other == c {
				within[at] += p
			} else {
				between.Add(other, p)
			}
		}
		if within[at] > 0 {
			out.Cohesion += min(1, within[at]/d.worth.Degrees.Sample[i])
		}
		out.Confidence += d.confidence[i]
	}
	out.Cohesion /= float64(len(members))
	out.Confidence /= float64(len(members))
	out.Central = first(members, d.set.Members, func(at int) float64 { return -within[at] })
	out.Uncertain = first(members, d.set.Members, func(at int) float64 { return d.confidence[members[at]] })
	out.Merges = d.merges(c, between)
	return out
}

// merges returns the clusters that c is linked to, those with the largest pull first.
func (d *describer) merges(c int, between *partition.Links) []LinkedCluster {
	all := make([]LinkedCluster, 0, len(between.Clusters))
	for _, other := range between.Clusters {
		all = append(all, LinkedCluster{int(other), d.pull(c, int(other), between)})
	}
	slices.SortFunc(all, func(a, b LinkedCluster) int {
		return cmp.Or(cmp.Compare(b.Pull, a.Pull), a.Cluster-b.Cluster)
	})
	return slices.Clone(all[:min(len(all), d.set.Merges)])
}

// pull is LinkedCluster.Pull of clusters a and b; between has the links of a.
func (d *describer) pull(a, b int, between *partition.Links) float64 {
	if d.set.Resolution > 0 {
		weight, mass := between.Weight(b), d.worth.Degrees.Cluster
		if weight <= 0 {
			return 0
		}
		return weight / (weight + d.worth.Degrees.Expected(d.set.Resolution, mass[a], mass[b]))
	}
	links := between.Count(b)
	missing := max(0, min(len(d.members.Of(a)), len(d.members.Of(b)))-links)
	mean := (between.Cost(b) + float64(missing)*d.worth.Cost(0)) / float64(links+missing)
	return 1 / (1 + math.Exp(mean))
}

// first returns the n members with the least values, or all if there are fewer, least first.
func first(members []int32, n int, value func(at int) float64) []int {
	var best []int // places among members
	for at := range members {
		x := value(at)
		if len(best) == n && !(x < value(best[n-1])) {
			continue
		}
		to := len(best)
		for to > 0 && x < value(best[to-1]) {
			to--
		}
		best = slices.Insert(best, to, at)
		best = best[:min(len(best), n)]
	}
	for k, at := range best {
		best[k] = int(members[at])
	}
	return best
}
