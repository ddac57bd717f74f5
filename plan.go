package mvclust

import (
	"math"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/similarity"
)

// Footprint returns how many bytes Fit holds at its peak, at most, when it clusters so
// many samples that all have views of the given dimensions, the views' Data included. The
// Go runtime comes on top of that, with the garbage that it has not collected yet, which
// runtime/debug.SetMemoryLimit bounds. The error is an *OptionError.
func (o Options) Footprint(samples int, dims []int) (int64, error) {
	if samples < 3 || len(dims) == 0 {
		return 0, nil // which Fit refuses
	}
	o, err := o.resolve(len(dims), samples)
	if err != nil {
		return 0, err
	}
	n, views := int64(samples), len(dims)
	rows, search := o.rowsFootprint(samples, dims)
	list := neighbour.ListsFootprint(samples, o.Candidates)
	pairs := pair.Most(samples, o.Candidates, views)
	neighbours := int64(views-1)*list + search
	union := int64(views)*list + pair.Footprint(pairs)
	learn := pair.Footprint(pairs) + o.Learning.Footprint(pairs, views)
	fuse := pair.Footprint(pairs) + posterior.Footprint(pairs, atATime(samples), views)
	if o.Learner != nil { // it is given all pairs, and their similarities
		learn = pair.Footprint(pairs) + (8+4*int64(views))*pairs
	}
	refine := 24 * pairs // and the rows are gone
	if o.Preset == Auto {
		refine = 8*2*pairs + o.granularity().Footprint(samples, pairs, o.Threads)
	}
	if !o.Consume {
		refine += rows
	}
	refine += o.constraintFootprint(n, pairs)
	return max(rows+max(neighbours, union, learn, fuse), refine) + n*int64(48+16*views) + fixed, nil
}

// rowsFootprint returns how many bytes the rows of all views hold, as they are and as they
// are compared, and how many the largest search of neighbours takes beside them.
func (o Options) rowsFootprint(samples int, dims []int) (rows, search int64) {
	var largest int64
	for m, d := range dims {
		given := 4 * int64(samples) * int64(d)
		scale, metric := o.scale(o.Metrics[m]), o.Metrics[m]
		scaled := scale.Footprint(samples, d)
		d = scale.Dims(d)
		if o.Consume && scaled > 0 {
			largest = max(largest, given) // which goes once it is scaled
			given = 0
		}
		rows += given + scaled + metric.Footprint(samples, d, o.Consume || scaled > 0)
		search = max(search, o.Search.Footprint(samples, d, o.Candidates))
	}
	return rows + largest, search
}

// fixed is what a run holds however few samples there are.
const fixed = 8 << 20

// costs estimates the time of every stage, in about nanoseconds of two processors. Only
// their relation matters: it tells the share of a run that is done.
type costs []cost

type cost struct {
	stage Stage
	time  float64
	done  func(share float64) float64 // share of the time, by that of the progress; nil where they are alike
}

// estimate goes by what runs of 10,000 to 1,000,000 samples took on two processors.
func estimate(opt Options, views []*View) costs {
	n := float64(views[0].Samples)
	pairs, rows, search := 0.0, 0.0, 0.0
	for m, v := range views {
		count := v.Count()
		pairs += 0.7 * float64(count) * float64(min(opt.Candidates, count))
		dims := opt.scale(opt.Metrics[m]).Dims(v.Dims)
		rows += float64(count) * float64(dims)
		search += opt.Search.Cost(count, dims, opt.Candidates)
	}
	// The larger the run, the less of what it reads is in the caches.
	far := math.Pow(max(1e4, n)/1e5, 0.3)
	refinement, steps := 0.0, opt.Refinement.Steps()
	var refining func(share float64) float64
	if steps > 0 {
		refinement = 10 * pairs * float64(steps)
	}
	if paths := 25 * pairs * far; !opt.Refinement.WithoutPaths {
		refinement += paths
		// Paths come first, one step of all, and take most of the time.
		refining = func(share float64) float64 {
			return (paths*min(1, share*float64(steps)) + (refinement-paths)*share) / refinement
		}
	}
	// Every sweep has about half as much to do as the one before.
	moving := func(share float64) float64 { return 1 - math.Pow(0.5, share*float64(opt.Partition.Steps())) }
	clustering := costs{
		{StageRefine, refinement, refining},
		{StagePartition, 170 * n * float64(opt.Neighbours) * far, moving},
	}
	if opt.Preset == Auto {
		clustering = costs{{StageChoose, opt.granularity().Cost(views[0].Samples) * far, nil}}
	}
	return append(costs{
		{StagePrepare, similarity.Cost(rows), nil},
		{StageNeighbours, search, nil},
		{StagePairs, pair.Cost(pairs), nil},
		{StageLearn, opt.Learning.Cost(pairs, len(views)), nil},
		{StageFuse, posterior.Cost(pairs, len(views)), nil},
	}, clustering...)
}

// share returns how much of all is done when so much of a stage is.
func (c costs) share(stage Stage, done, total int) float64 {
	before, all, found := 0.0, 0.0, false
	for _, s := range c {
		switch {
		case s.stage == stage:
			found = true
			part := float64(done) / float64(max(1, total))
			if s.done != nil && done < total {
				part = s.done(part)
			}
			before += s.time * part
		case !found:
			before += s.time
		}
		all += s.time
	}
	return min(1, before/all)
}
