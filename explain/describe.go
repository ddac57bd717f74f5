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
	// Members bounds the members that are listed as central, and those that are listed
	// as uncertain. 0 stands for DefaultMembers.
	Members int
	// Merges bounds the clusters that are listed as likely to be merged with. 0 stands
	// for DefaultMerges.
	Merges int
	// First bounds the clusters that are described: those with the lowest numbers, which
	// in a run are the largest. 0 stands for all.
	First int
	// Resolution is that of the partition, with 0 for Eq. pi_loss; see partition.Find.
	Resolution float64
	// Clip is that of the partition, partition.Settings.Clip. 0 stands for
	// partition.DefaultClip.
	Clip float64
}

// Defaults of DescribeSettings.
const (
	DefaultMembers = 5
	DefaultMerges  = 3
)

// Resolve fills in the defaults and checks the ranges.
func (s *DescribeSettings) Resolve() error {
	p := partition.Settings{Clip: s.Clip}
	err := option.Resolve([]option.Parameter{
		{Field: "Members", Value: option.Whole(&s.Members, DefaultMembers, 1, math.MaxInt32)},
		{Field: "Merges", Value: option.Whole(&s.Merges, DefaultMerges, 1, math.MaxInt32)},
		{Field: "First", Value: option.Whole(&s.First, math.MaxInt32, 1, math.MaxInt32)},
		partition.ResolutionParameter(&s.Resolution),
	})
	if err == nil {
		err = p.Resolve()
	}
	s.Clip = p.Clip
	return err
}

// Cluster describes a cluster. P are the weights of the graph's edges, its links.
type Cluster struct {
	// Size is the number of members.
	Size int `json:"size"`
	// Cohesion says, in [0, 1], how much of what binds the members binds them to each
	// other. It is the mean over the members i of
	//
	//	(sum of P over the links of i into the cluster) / (sum of P over all links of i),
	//
	// where a member without links, or with none but of weight 0, counts 0.
	Cohesion float64 `json:"cohesion"`
	// Confidence is the mean confidence of the members.
	Confidence float64 `json:"mean_confidence"`
	// Central holds the members with the largest sums of P over their links into the
	// cluster, the largest first.
	Central []int `json:"central"`
	// Uncertain holds the members of the least confidence, the least first.
	Uncertain []int `json:"uncertain"`
	// Merges holds the clusters that this one is linked to, those with the largest Pull
	// first.
	Merges []LinkedCluster `json:"merges"`
}

// LinkedCluster says how near two clusters are to being one.
type LinkedCluster struct {
	// Cluster is the number of the other cluster.
	Cluster int `json:"cluster"`
	// Pull says, in [0, 1], how far the links between the clusters A and B speak for
	// merging them. With a Resolution γ it is
	//
	//	W / (W + γ D(A) D(B) / D),
	//
	// with W the sum of P over the links between A and B, D(A) the sum over A's members
	// of all that links them, and D that over all samples: what speaks for a merge over
	// what speaks for and against. At 1/2 modularity does not change; W / (its
	// counterpart) is the share of γ at which they would be one.
	//
	// Without one, it is the pooled probability of the links between A and B,
	//
	//	1 / (1 + exp(-mean of log(P / (1 - P)))),
	//
	// with P clipped as Eq. pi_loss has it, where links that are missing to as many as
	// the smaller of A and B has members count with the least P. Above 1/2, a merge
	// lowers Eq. pi_loss.
	Pull float64 `json:"pull"`
}

// Describe describes the clusters of the samples of g, whose links are what labels and
// confidence were found by: the refined graph of a run. labels holds the cluster of every
// sample, numbered from 0, and confidence how sure each is. Ties go to the lower number.
//
// It goes through the edges at most twice, and holds a few numbers per sample, and two per
// cluster and thread. The result does not depend on threads; 0 stands for GOMAXPROCS. It
// is an error if a setting is out of range, if g, labels and confidence are not of the
// same samples, if a label is not a number of a cluster, or if ctx is done.
func Describe(ctx context.Context, g *graph.Graph, labels []int, confidence []float64, set DescribeSettings, threads int) ([]Cluster, error) {
	if err := set.Resolve(); err != nil {
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

// checkSamples reports input that is not of one set of samples.
func checkSamples(g *graph.Graph, labels []int, confidence []float64) error {
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

// first returns the at most n members with the least values, least first.
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
