package mvclust

import (
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/linkage"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/sparse"
)

const (
	// witnessed is the least F1, without any one view, of clusters that are taken because one distance tells
	// them. Where a single view has them, it may be made of few values, as an attribute is.
	witnessed = 0.85
	// explaining is the least share of the compression of the clusters by moves that such clusters have: others
	// are those of copies, or one beside a few samples.
	explaining = 0.5
)

// tell makes clusters of average linkage that one distance tells a level, if there are any. It takes them where
// the views confirm each other. order and known are those of found.
func (r *run) tell(found *clustering, views []*View, order sparse.Permutation, known *constraint.Resolved) error {
	d, err := distances(r.ctx, r.given(views), order, r.plan.Threads)
	if err != nil {
		return err
	}
	cuts, err := linkage.Told(r.ctx, d, r.plan.Threads)
	if err != nil || len(cuts) == 0 {
		return err
	}
	walk, err := walked(r.ctx, found.nearest, found.refined, r.plan.Threads)
	if err != nil {
		return err
	}
	moved, err := selection.Compression(walk, found.partition.Labels)
	if err != nil {
		return err
	}
	var best *linkage.Cut
	most := explaining * max(0, moved)
	for at := range cuts {
		c := &cuts[at]
		compression, err := selection.Compression(walk, c.Labels)
		if err != nil {
			return err
		}
		if compression > most && !parted(sparse.Scatter(order, c.Labels), r.cutter.equal) {
			best, most = c, compression
		}
	}
	if best == nil {
		return nil
	}
	own, err := r.told(found, best, known)
	if err != nil {
		return err
	}
	take, share := d.Views() > 1 && best.Least >= witnessed, 1.0
	if !take && moved > most {
		share = most / moved
	}
	own.Compression, own.Score, own.Stability = most, share*found.levels[found.level].Score, best.F1*best.Least
	return r.add(found, own, best, walk, share*r.trace.Tried[r.trace.Chosen].Score, take)
}

// told returns the clusters of a cut as a level of the graph that was found, with what is known met.
func (r *run) told(found *clustering, c *linkage.Cut, known *constraint.Resolved) (selection.Level, error) {
	own := selection.Level{Neighbours: found.granularity.Neighbours, Labels: partition.Number(c.Labels), Linked: true}
	var err error
	if own.Resolution, err = holding(r.ctx, found.refined, own.Labels, found.granularity.Resolution, r.plan.Threads); err != nil {
		return own, err
	}
	if _, broken := known.Violation(own.Labels); broken {
		met, err := partition.Mend(r.ctx, found.refined, own.Resolution, known, r.plan.Partition, own.Labels, r.plan.random(toldStream))
		if err != nil {
			return own, err
		}
		own.Labels = met.Labels
	}
	own.Clusters = 1 + slices.Max(own.Labels)
	return own, nil
}

// add makes a level of a cut one more, and a candidate of the given score; the current one if it is to be taken.
func (r *run) add(found *clustering, own selection.Level, c *linkage.Cut, walk *graph.Graph, score float64, take bool) error {
	modularity, err := selection.Modularity(walk, own.Labels)
	if err != nil {
		return err
	}
	labels, keep := make([][]int, len(found.levels)), found.level
	for at := range found.levels {
		labels[at] = found.levels[at].Labels
	}
	if take {
		keep = -1
	}
	gone, at, now := selection.Place(labels, keep, own.Labels)
	if gone >= 0 {
		found.levels = slices.Delete(found.levels, gone, gone+1)
	}
	found.levels, found.level = slices.Insert(found.levels, at, own), now
	r.trace.Tried = append(r.trace.Tried, selection.Candidate{
		Neighbours: own.Neighbours, Resolution: own.Resolution, Clusters: own.Clusters, Reproducibility: 1, Plateau: c.F1, Agreement: c.Least,
		Evenness: selection.Evenness(sizes(own.Labels)), Compression: own.Compression, Modularity: modularity, Separation: 1, Discriminability: 1, Score: score, Linked: true,
	})
	if take {
		found.level, r.trace.Chosen, r.trace.Linked = at, len(r.trace.Tried)-1, true
		found.granularity.Resolution = own.Resolution
		found.partition = &partition.Result{Labels: own.Labels, Sweeps: found.partition.Sweeps}
	}
	return nil
}
