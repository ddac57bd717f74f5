package mvclust

import (
	"math"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
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
	n, views := int64(samples), int64(len(dims))
	list := 4 * n * int64(o.Candidates)
	// At most, and where the views have no pair in common.
	pairs := n * int64(o.Candidates) * views
	var rows, largest, search int64
	for m, d := range dims {
		size := 4 * n * int64(d)
		scale := o.scale(o.Metrics[m])
		d = scale.Dims(d)
		scaled := 4 * n * int64(d)
		switch {
		case !o.Consume:
			rows += size
			if scale != view.NoScale || o.Metrics[m] == similarity.Cosine {
				rows += scaled
			}
		case scale != view.NoScale:
			rows += scaled
			largest = max(largest, size) // of which there are two for a moment
		default:
			rows += size
		}
		search = max(search, o.Search.Footprint(samples, d, o.Candidates))
	}
	rows += largest
	neighbours := (views-1)*list + search
	union := 2 * views * list
	fuse := 8*pairs + min(pairs, int64(atATime(samples)))*4*(views+1)
	// What one view tells of another takes memory by the pairs that are trained on.
	trained := min(pairs, int64(o.Learning.Pairs))
	learn := 4*pairs + trained*(8+8*views+16*views*(views-1))
	if o.Learner != nil {
		learn = 0
		fuse = max(fuse, (12+4*views)*pairs)
	}
	refine := 24 * pairs // and the rows are gone
	if o.Preset == Auto {
		refine = 8*2*pairs + o.granularity().Footprint(samples, pairs, o.Threads)
	}
	if !o.Consume {
		refine += rows
	}
	refine += o.constraintFootprint(n, pairs)
	return max(rows+max(neighbours, union, learn, fuse), refine) + n*(48+16*views) + fixed, nil
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
	trained := min(pairs, float64(opt.Learning.Pairs)) * float64(len(views))
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
		{StagePrepare, 0.3 * rows, nil},
		{StageNeighbours, search, nil},
		{StagePairs, 50 * pairs, nil},
		{StageLearn, 13 * trained * float64(opt.Learning.Epochs), nil},
		{StageFuse, 20 * pairs * float64(1+len(views)), nil},
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
