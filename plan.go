package mvclust

import (
	"cmp"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/linkage"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/separation"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/method/view"
)

// plan is what a run does: options with every default filled in, for views of a known shape.
// While the run goes on, rows that are all the same change Metrics, and views that are left out Order and Candidates. Neighbours and Resolution are 0 where they are to
// be chosen from the data.
type plan struct {
	Options
	samples int
	dims    []int
	most    int // bounds the numbers of neighbours that are tried; 0 stands for the default
	indexed int // samples from which on it is found out how new ones are to be searched for
}

// indexedFrom is plan.indexed: to find that out takes a tenth of the time of a fit there, a twentieth
// for 1,000,000 samples, and is most of what predict takes to get ready.
const indexedFrom = 300_000

// plan checks the options for views of the given shape, and fills in what is left at zero,
// all but the order. The error is an *OptionError.
func (o Options) plan(samples int, dims []int) (*plan, error) {
	p := &plan{Options: o, samples: samples, dims: dims, indexed: indexedFrom}
	if _, err := o.Preset.MarshalText(); err != nil {
		return nil, option.Errorf("Preset", "%v", err)
	}
	if o.Preset == Auto {
		p.automatic()
	}
	p.Threads = min(parallel.Threads(o.Threads), samples) // more would find no work
	err := cmp.Or(
		p.neighbours(), p.candidates(), p.metrics(), p.order(),
		option.Resolve(p.Parameters()),
	)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// automatic fills in what Auto decides.
func (p *plan) automatic() {
	if p.Scale == view.NoScale {
		p.Scale = view.Mixed
	}
	p.Local = true
	p.Learning.Untrained = true
	if p.Posterior.Fusion == posterior.Symmetric {
		p.Posterior.Fusion = posterior.Pooled
	}
	p.Refinement.WithoutPaths = true
	if p.Partition.Levels == 0 {
		p.Partition.Levels = selection.Levels
	}
}

// neighbours checks K, and fills it in under Paper.
func (p *plan) neighbours() error {
	if p.Neighbours < 0 || p.Neighbours >= p.samples {
		return option.Errorf("Neighbours", "%d is not between 1 and %d, one fewer than the samples; choose about the size of a class", p.Neighbours, p.samples-1)
	}
	if p.Neighbours == 0 && p.Preset == Paper {
		p.Neighbours = min(DefaultNeighbours, p.samples-1)
	}
	return nil
}

// mostCandidates is shared by the views, where they have as many as there is use for.
const mostCandidates = 960

// candidates fills in the number of candidates per view: as many as Options say.
func (p *plan) candidates() error {
	k, views := p.Neighbours, len(p.dims)
	switch {
	case p.Candidates != 0:
	case p.Preset == Auto:
		p.Candidates = min(max(k, Candidates(p.samples, views)), p.samples-1)
	default:
		p.Candidates = min(max(k, min(4*k, 8*k/views)), p.samples-1)
	}
	if p.Candidates < k || p.Candidates >= p.samples {
		return option.Errorf("Candidates", "%d is not between %d, the number of neighbours, and %d, one fewer than the samples", p.Candidates, k, p.samples-1)
	}
	return nil
}

// Candidates returns the number of candidates per view that Options.Candidates of 0 stands for under
// Auto, where no number of neighbours is given.
func Candidates(samples, views int) int {
	shared := min(selection.MaxNeighbours(samples), max(20, mostCandidates/max(1, views)))
	// Beyond a third of the samples, neighbours are no neighbours.
	return max(0, min(shared, (samples+2)/3, samples-1))
}

// metrics gives every view its metric.
func (p *plan) metrics() error {
	given, views := p.Metrics, len(p.dims)
	if n := len(given); n > 1 && n != views {
		return option.Errorf("Metrics", "%d metrics for %d views; give one for all, or one per view", n, views)
	}
	p.Metrics = make([]similarity.Metric, views)
	for m := range p.Metrics {
		if len(given) > 0 {
			p.Metrics[m] = given[min(m, len(given)-1)]
		}
		if _, err := p.Metrics[m].MarshalText(); err != nil {
			return option.Errorf("Metrics", "%v", err)
		}
	}
	return nil
}

// scale returns how the features of view m are scaled: Mixed is made for the
// cosine.
func (p *plan) scale(m int) view.Scale {
	if p.Scale == view.Mixed && p.Metrics[m] != similarity.Cosine {
		return view.NoScale
	}
	return p.Scale
}

// lean says whether the rows of view m stay as they are given, and are scaled when they are compared.
func (p *plan) lean(m int) bool {
	return p.Lean && p.Metrics[m] == similarity.Cosine && p.scale(m) != view.NoScale
}

// order checks the order that was given.
func (p *plan) order() error {
	if p.Order == nil {
		return nil
	}
	if len(p.Order) != p.samples {
		return option.Errorf("Order", "%d entries for %d samples; list every sample once", len(p.Order), p.samples)
	}
	if err := sparse.Permutation(p.Order).Validate(); err != nil {
		return option.Errorf("Order", "%v", err)
	}
	p.Order = slices.Clone(p.Order) // Result keeps it
	return nil
}

// selection returns the settings of the search for K and the resolution.
func (p *plan) selection() selection.Settings {
	s := selection.Settings{Neighbours: p.Neighbours, Resolution: p.Resolution, MaxNeighbours: p.most, Partition: p.Partition}
	if p.most > 0 {
		s.Orders = 1 // the best score of many hardly hangs on the orders
	}
	return s
}

// Footprint returns how many bytes Fit holds at its peak, at most, when it clusters so
// many samples that all have views of the given dimensions, the views' Data included. The
// Go runtime comes on top of that, with the garbage that it has not collected yet, which
// runtime/debug.SetMemoryLimit bounds. It is 0 for samples or views that Fit refuses. The
// error is an *OptionError.
func (o Options) Footprint(samples int, dims []int) (int64, error) {
	if samples < 3 || len(dims) == 0 {
		return 0, nil
	}
	p, err := o.plan(samples, dims)
	if err != nil {
		return 0, err
	}
	return p.footprint(), nil
}

// footprint is the largest of the phases: until the pairs are fused, while the rows are held,
// and from the graph on.
func (p *plan) footprint() int64 {
	views := len(p.dims)
	rows, preparing, search, index := p.rowsFootprint()
	list := neighbour.ListsFootprint(p.samples, p.Candidates)
	pairs := pair.Bound(p.samples, p.Candidates, views)
	held := pair.Footprint(pairs)
	neighbours := int64(views-1)*list + search
	union := int64(views)*list + held
	indexes := int64(0) // that the result has
	if p.samples >= p.indexed {
		early := int64(0) // those of which the rows are held while further views are searched
		for m, d := range p.dims {
			own := 4 * int64(p.samples) * int64(1+min(neighbour.MaxStored, p.scale(m).Dims(d)/2))
			if indexes += own; m < views-1 && !p.lean(m) {
				early += own
			}
		}
		neighbours = max(neighbours+early, int64(views)*list+index+indexes)
		union += indexes
	}
	learn := held + p.Learning.Footprint(pairs, views)
	learn += 4 * int64(views) * min(pairs, int64(pairsAtOnce(p.samples))) // similarities that are kept for the fusion
	fuse := held + posterior.Footprint(pairs, pairsAtOnce(p.samples), views)
	if p.Learner != nil { // it is given all pairs, and their similarities
		learn = held + (8+4*int64(views))*pairs
	}
	graph := 8 * 2 * pairs
	clustering := refine.Footprint(pairs)
	if p.Preset == Auto {
		clustering = p.selection().Footprint(p.samples, pairs, p.Threads)
		if !p.Constraints.Empty() { // which are put into the graph at the end
			clustering += graph
		}
		nearest := graph + 8*int64(p.samples)*int64(selection.MaxNeighbours(p.samples)+1)
		clustering = max(clustering, nearest)
	}
	if !p.Consume {
		clustering += rows
	}
	samples, most := int64(p.samples), int64(selection.MaxNeighbours(p.samples))
	clustering += p.Constraints.Footprint(samples, pairs, min(pairs, samples*most), p.Threads)
	if !p.Constraints.Empty() && p.Preset == Auto {
		clustering += 8 * samples * (most + 1) // the neighbours without them, too
	}
	linked := p.linkedFootprint()
	if linked > 0 || p.cuts() {
		linked += graph + 8*samples*(most+1)
	}
	switch {
	case p.cuts() && p.samples < cutOnce:
		linked += 4 * graph // from two levels in two ways
	case p.cuts():
		linked += graph
	}
	return max(rows+max(preparing, neighbours, union, learn+indexes, fuse+indexes), clustering+indexes, linked, p.structureFootprint(), p.readingFootprint(), p.aloneFootprint()) + p.featuresFootprint() + samples*int64(48+16*views) + fixed
}

// reads says whether it is found out which version of the rows of each view is compared. Where samples are only held
// against clouds, all are: it would take half of the time.
func (p *plan) reads() bool {
	return p.Preset == Auto && p.most == 0 && len(p.dims) > 1 && slices.ContainsFunc(p.Metrics, func(m similarity.Metric) bool { return m == similarity.Cosine }) && p.Scale == view.Mixed
}

// readingFootprint returns the bytes that this takes, beside all rows as given.
func (p *plan) readingFootprint() int64 {
	if !p.reads() {
		return 0
	}
	return p.given() + agreement.Footprint(p.samples, p.dims)
}

// given returns the bytes of all rows as given.
func (p *plan) given() int64 {
	sum := int64(0)
	for _, d := range p.dims {
		sum += 4 * int64(p.samples) * int64(d)
	}
	return sum
}

// featuresFootprint returns the bytes of the features that separations are measured by, and of the coordinates that clusters are foretold by.
func (p *plan) featuresFootprint() int64 {
	if p.Preset != Auto {
		return 0
	}
	return separation.Footprint(p.samples, p.dims) + discriminant.Footprint(p.samples, len(p.dims))
}

// cuts says whether a number of clusters, or what suits examples, is made by a cut of what is found without them.
func (p *plan) cuts() bool { return p.Preset == Auto && (p.Clusters > 0 || len(p.Examples) > 0) }

// tells says whether clusters that one distance tells are looked for.
func (p *plan) tells() bool {
	return p.Preset == Auto && p.Neighbours == 0 && p.Resolution == 0 && p.most == 0 && p.samples <= MostLinked && !p.Consume
}

// linkedFootprint returns the bytes that this takes, beside the graph and all rows as given.
func (p *plan) linkedFootprint() int64 {
	if !p.tells() && (!p.cuts() || p.samples > MostLinked || p.Consume) {
		return 0
	}
	return p.given() + linkage.Footprint(p.samples, len(p.dims))
}

// structureFootprint returns the bytes of the comparison with clouds, beside all rows as given.
func (p *plan) structureFootprint() int64 {
	small := p.compared()
	if small == nil {
		return 0
	}
	dims := 0
	for _, d := range p.dims {
		dims += d
	}
	excerpt := 4 * int64(small.samples) * int64(dims)
	making := excerpt + structure.Footprint(small.samples, slices.Max(p.dims), dims)
	return 4*int64(p.samples)*int64(dims) + max(making, small.footprint()-fixed)
}

// rowsFootprint returns the bytes of the rows of all views, as given and as compared, and those
// that are held beside them while they are prepared, in the largest search, and for the largest index that is sought apart.
func (p *plan) rowsFootprint() (rows, preparing, search, index int64) {
	var scalers []int64
	for m, d := range p.dims {
		given, scale := 4*int64(p.samples)*int64(d), p.scale(m)
		scalers = append(scalers, scale.ScalerFootprint(p.samples, d))
		scaled := scale.Footprint(p.samples, d)
		d = scale.Dims(d)
		kept := int64(0)
		switch {
		case p.lean(m):
			rows += given + similarity.LazyFootprint(p.samples, d, p.Threads)
			kept = similarity.KeptFootprint(p.samples, d)
		case p.Consume && scaled > 0:
			preparing = max(preparing, given) // which is freed once it is scaled
			rows += scaled
		default:
			rows += given + scaled + p.Metrics[m].Footprint(p.samples, d, p.Consume || scaled > 0)
		}
		search = max(search, kept+p.Search.Footprint(p.samples, d, p.Candidates))
		index = max(index, kept+neighbour.PartsFootprint(p.samples, d, p.Candidates))
	}
	slices.Sort(scalers)
	measuring := p.given() - rows // as many views as there are threads, before any is scaled
	for _, s := range scalers[max(0, len(scalers)-p.Threads):] {
		measuring += s
	}
	return rows, max(preparing, measuring), search, index
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

// costs estimates the time by the samples that have each view. It goes by what runs of
// 10,000 to 1,000,000 samples took on two processors.
func (p *plan) costs(counts []int) costs {
	n := float64(p.samples)
	pairs, rows, search := 0.0, 0.0, 0.0
	for m, count := range counts {
		pairs += 0.7 * float64(count) * float64(min(p.Candidates, count))
		dims := p.scale(m).Dims(p.dims[m])
		rows += float64(count) * float64(dims)
		search += p.Search.Cost(count, dims, p.Candidates)
	}
	// The larger the run, the less of what it reads is in the caches.
	far := math.Pow(max(1e4, n)/1e5, 0.3)
	refinement, refined := p.Refinement.Cost(pairs, far)
	moving, moved := p.Partition.Cost(p.samples, p.Neighbours, far)
	clustering := costs{{StageRefine, refinement, refined}, {StagePartition, moving, moved}}
	if p.Preset == Auto {
		clustering = costs{{StageChoose, p.selection().Cost(p.samples) * far, nil}}
	}
	preparing := similarity.Cost(rows)
	if p.reads() {
		preparing += agreement.Cost(p.samples, p.dims)
	}
	if p.choosesAlone() && len(counts) > 1 {
		again := seldom * float64(len(counts)+1) * clustering[0].time
		clustering = append(clustering, cost{StageAlone, again, nil})
	}
	return append(costs{
		{StageStructure, p.structureCost(), nil},
		{StagePrepare, preparing, nil},
		{StageNeighbours, search, nil},
		{StagePairs, pair.Cost(pairs), nil},
		{StageLearn, p.Learning.Cost(pairs, len(counts)), nil},
		{StageFuse, posterior.Cost(pairs, len(counts)), nil},
	}, clustering...)
}

// seldom is the share of runs in which views are compared one at a time.
const seldom = 0.25

// structureCost estimates the time of the comparison with clouds.
func (p *plan) structureCost() float64 {
	small := p.compared()
	if small == nil {
		return 0
	}
	counts, dims, each := make([]int, len(p.dims)), 0, 0.0
	for m, d := range p.dims {
		counts[m] = small.samples
		dims += d
	}
	for _, c := range small.costs(counts) {
		each += c.time
	}
	return (1+structure.Clouds)*each + structure.Clouds*structure.Cost(small.samples, dims)
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
