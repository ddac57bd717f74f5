package agreement

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// Readings tells which version of each view's rows is compared, and why.
type Readings struct {
	// Taken holds, by view, the version that is compared.
	Taken []view.Version
	// Confirmed holds, by view and version, how far the other views confirm the neighbours that the
	// version finds: the mean over the other views b of agreement(b, m), with x in the package
	// comment from the nearest in that version of m. The others are read as Taken says. It is in
	// [-1, 1], and 0 where too few samples have another view, or the view has no such version.
	Confirmed [][]float64
}

const (
	// clearer is by what share the neighbours of a version must disagree less with the other views
	// than those of the joined ones, for it to be compared alone.
	clearer = 0.1
	// beyond is by how much they must agree more, which samples do not bring about by chance.
	beyond = 0.01
	// draws is how often so many samples are drawn, where there are so many: what some say varies.
	draws = 4
	// compared is the number of samples that are compared at a time, and values bounds the products of two values
	// that the neighbours in one view take, but leaves at least fewest samples.
	compared = 1500
	values   = 1 << 32
	fewest   = 300
)

// Apply returns the scalers that compare what is taken. It is an error if there is not one for each view,
// or if one has no such version.
func (r *Readings) Apply(scalers []*view.Scaler) ([]*view.Scaler, error) {
	if len(scalers) != len(r.Taken) {
		return nil, fmt.Errorf("there are %d scalers for %d views; give one for each", len(scalers), len(r.Taken))
	}
	out := make([]*view.Scaler, len(scalers))
	for m, version := range r.Taken {
		var err error
		if out[m], err = scalers[m].Only(version); err != nil {
			return nil, fmt.Errorf("view %d (counted from 0): %w", m, err)
		}
	}
	return out, nil
}

// Compared returns how many of the given number of samples Read compares at a time, in views of these dimensions.
func Compared(samples int, dims []int) int {
	widest := 1
	for _, d := range dims {
		widest = max(widest, d)
	}
	return max(0, min(samples, compared, max(fewest, int(math.Sqrt(values/float64(widest))))))
}

// Footprint returns how many bytes Read holds at most, beside the views, for so many samples in views of
// these dimensions.
func Footprint(samples int, dims []int) int64 {
	n, lists := Compared(samples, dims), int64(0)
	search := int64(0)
	for _, d := range dims {
		lists += int64(versions) * neighbour.ListsFootprint(n, nearest)
		rows := view.Mixed.Footprint(n, d)
		search = max(search, rows+neighbour.Settings{Method: neighbour.Exact}.Footprint(n, view.Mixed.Dims(d), nearest))
	}
	return draws*lists + search
}

// Cost returns about how many nanoseconds Read takes on two processors.
func Cost(samples int, dims []int) float64 {
	n, all := float64(Compared(samples, dims)), 0.0
	for _, d := range dims {
		all += float64(d)
	}
	times := max(1, min(draws, float64(samples)/max(1, n)))
	return times * n * all * (20 + 0.1*n + 10*float64(len(dims)))
}

// reader compares some samples in all versions of their rows.
type reader struct {
	ctx     context.Context
	views   []*view.View
	scalers []*view.Scaler
	metrics []similarity.Metric
	chosen  []int
	threads int
	lists   [][]*neighbour.Lists // by view and version; nil where there is none
	// judged holds, by view that judges and its version, the agreement with the neighbours of another
	// view by its version; nil where it was not asked for.
	judged map[judge][][]float64
}

// judge is a view, read in a version.
type judge struct {
	view    int
	version view.Version
}

// versions is the number of versions of a row.
const versions = int(view.Standard) + 1

// Read finds which version of each view's rows is compared: all three that view.Mixed joins, or one of
// them alone, where its neighbours disagree with the other views by a tenth less. That is, with a the
// mean agreement of the neighbours by the joined versions, it must be at least 0.9 a + 0.1, and at least
// a + 0.01. Views are decided on one at a time, the clearest first, and the rest are judged with it.
//
// scalers and metrics are those of the views; only those under view.Mixed have several versions. Up to
// four times 1500 samples are compared, evenly spaced in the given order; nil stands for that in which they are
// stored. The result does not depend on threads. The errors are those of view.Samples, Scaler.Validate and
// similarity.Part, numbers of scalers or metrics that are not that of the views, and the context's own.
func Read(ctx context.Context, views []*view.View, scalers []*view.Scaler, metrics []similarity.Metric, order sparse.Permutation, threads int) (*Readings, error) {
	if len(scalers) != len(views) || len(metrics) != len(views) {
		return nil, fmt.Errorf("there are %d scalers and %d metrics for %d views; give one of each for every view", len(scalers), len(metrics), len(views))
	}
	chosen, err := choose(views, scalers, order)
	if err != nil {
		return nil, err
	}
	readers := make([]*reader, len(chosen))
	for draw, samples := range chosen {
		r := &reader{ctx: ctx, views: views, scalers: scalers, metrics: metrics, chosen: samples, threads: threads, judged: map[judge][][]float64{}}
		if err := r.neighbours(); err != nil {
			return nil, err
		}
		readers[draw] = r
	}
	out := &Readings{Taken: make([]view.Version, len(views))}
	for {
		if out.Confirmed, err = confirmed(readers, out.Taken); err != nil {
			return nil, err
		}
		m, v := clearest(out)
		if m < 0 {
			for _, confirmed := range out.Confirmed {
				for version, x := range confirmed {
					if x != x {
						confirmed[version] = 0
					}
				}
			}
			return out, nil
		}
		out.Taken[m] = v
	}
}

// confirmed returns Readings.Confirmed for what is taken: the mean over the draws.
func confirmed(readers []*reader, taken []view.Version) ([][]float64, error) {
	out := make([][]float64, len(taken))
	for m := range out {
		out[m] = make([]float64, versions)
	}
	for _, r := range readers {
		some, err := r.confirmed(taken)
		if err != nil {
			return nil, err
		}
		for m := range out {
			for v := range out[m] {
				out[m][v] += some[m][v] / float64(len(readers))
			}
		}
	}
	return out, nil
}

// choose checks the views and scalers, and returns the samples that are compared, by draw. No sample is in two.
func choose(views []*view.View, scalers []*view.Scaler, order sparse.Permutation) ([][]int, error) {
	n, err := view.Samples(views)
	if err != nil {
		return nil, err
	}
	dims := make([]int, len(views))
	for m, v := range views {
		if err := scalers[m].Validate(v.Dims); err != nil {
			return nil, fmt.Errorf("view %d (counted from 0): %w", m, err)
		}
		dims[m] = v.Dims
	}
	if order != nil {
		if err := order.Check(n); err != nil {
			return nil, err
		}
	}
	some := Compared(n, dims)
	chosen := make([][]int, max(1, min(draws, n/max(1, some))))
	for draw := range chosen {
		chosen[draw] = make([]int, some)
		for t := range some {
			i := sparse.Spaced(t*len(chosen)+draw, some*len(chosen), n)
			if order != nil {
				i = order[i]
			}
			chosen[draw][t] = i
		}
	}
	return chosen, nil
}

// neighbours finds the nearest of every sample, by view and version.
func (r *reader) neighbours() error {
	for m := range r.views {
		lists := make([]*neighbour.Lists, versions)
		err := r.each(m, r.scalers[m].Versions(), func(v view.Version, space *similarity.Space) error {
			if space.Count() < enough {
				return nil
			}
			var err error
			lists[v], err = neighbour.Search(r.ctx, space, nearest, 0, neighbour.Settings{Method: neighbour.Exact}, r.threads, nil)
			return err
		})
		if err != nil {
			return err
		}
		r.lists = append(r.lists, lists)
	}
	return nil
}

// each calls do with the space of the chosen samples in view m, in every one of the versions.
func (r *reader) each(m int, versions []view.Version, do func(v view.Version, space *similarity.Space) error) error {
	excerpt, err := view.Excerpt(r.views[m:m+1], r.chosen)
	if err != nil {
		return err
	}
	if r.metrics[m] == similarity.Cosine {
		if sparse, err := r.eachSparse(excerpt[0], m, versions, do); sparse || err != nil {
			return err
		}
	}
	scaled, err := r.scalers[m].Apply(r.ctx, excerpt[0], r.threads)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(versions) { // Joined is the last, whose space takes the rows
		rows := *scaled
		if v != view.Joined {
			rows.Dims = r.views[m].Dims
			at := int(v-view.Given) * rows.Dims
			rows.Data = make([]float32, rows.Samples*rows.Dims)
			for i := range rows.Samples {
				copy(rows.Row(i), scaled.Row(i)[at:at+rows.Dims])
			}
		}
		space, err := similarity.Part(r.ctx, &rows, r.metrics[m], r.threads)
		if err != nil {
			return err
		}
		if err := do(v, space); err != nil {
			return err
		}
	}
	return nil
}

// eachSparse is each where the rows are mostly zeros, and reports whether they are.
func (r *reader) eachSparse(excerpt *view.View, m int, versions []view.Version, do func(v view.Version, space *similarity.Space) error) (bool, error) {
	for _, v := range versions {
		scaler, err := r.scalers[m].Only(v)
		if err != nil {
			return false, err
		}
		space, err := similarity.SparsePart(r.ctx, excerpt, scaler, r.threads)
		if space == nil || err != nil {
			return false, err
		}
		if err := do(v, space); err != nil {
			return false, err
		}
	}
	return true, nil
}

// confirmed returns Readings.Confirmed for what is taken.
func (r *reader) confirmed(taken []view.Version) ([][]float64, error) {
	out := make([][]float64, len(r.views))
	for m := range out {
		out[m] = make([]float64, versions)
		for v := range out[m] {
			sum, n := 0.0, 0
			for b := range r.views {
				if b == m || r.lists[m][v] == nil {
					continue
				}
				judged, err := r.judge(judge{b, taken[b]})
				if err != nil {
					return nil, err
				}
				if x := judged[m][v]; x == x {
					sum += x
					n++
				}
			}
			out[m][v] = sum / float64(n) // NaN for none
		}
	}
	return out, nil
}

// judge measures the agreement of a view with the neighbours in all others, by version.
func (r *reader) judge(j judge) ([][]float64, error) {
	if r.judged[j] != nil {
		return r.judged[j], nil
	}
	var lists []*neighbour.Lists
	for m := range r.views {
		if m == j.view {
			lists = append(lists, make([]*neighbour.Lists, versions)...)
		} else {
			lists = append(lists, r.lists[m]...)
		}
	}
	var out [][]float64
	err := r.each(j.view, []view.Version{j.version}, func(_ view.Version, space *similarity.Space) error {
		found, err := compare(r.ctx, space, lists, rand.New(rand.NewPCG(0, stream+uint64(j.view))), r.threads)
		out = slices.Collect(slices.Chunk(found, versions))
		return err
	})
	if err != nil {
		return nil, err
	}
	r.judged[j] = out
	return out, nil
}

// clearest returns the view whose joined versions are the most clearly behind one of them, and that
// version; -1 where none is.
func clearest(r *Readings) (m int, v view.Version) {
	m, most := -1, clearer
	for at, confirmed := range r.Confirmed {
		joined := confirmed[view.Joined]
		if r.Taken[at] != view.Joined || !(joined < 1) {
			continue
		}
		for version, x := range confirmed {
			if gain := (x - joined) / (1 - joined); x >= joined+beyond && gain >= most {
				if m < 0 || gain > most {
					m, v, most = at, view.Version(version), gain
				}
			}
		}
	}
	return m, v
}
