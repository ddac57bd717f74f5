package mvclust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Model is a clustering with all that it rests on: what packages predict and explain need,
// and what a model file holds. Samples are numbered as in the views.
type Model struct {
	// IDs holds the samples' own ids, which are UTF-8, all different and never empty; or it
	// is nil.
	IDs []string
	// Views holds the views, in the order of the fit.
	Views []ModelView
	// Functions holds the views' probability functions.
	Functions *probability.Functions
	// Graph holds the refined pair probabilities.
	Graph *graph.Graph
	// Neighbourhoods holds the most probable neighbours of every sample: as many as the level
	// of the most neighbours compares. Graph was made of the first K. It is nil without
	// co-neighbour propagation.
	Neighbourhoods *refine.Neighbourhoods
	// Labels holds the cluster of every sample, numbered from 0, and Confidence its
	// partition.Confidence, in [0, 1], or 1 where all samples have the same rows.
	Labels     []int
	Confidence []float64
	// Levels holds the granularities that can become the current one, coarse to fine, and Level
	// the place of that of Labels among them, or -1 where it is none of them.
	Levels []Level
	Level  int
	// Retired is 0 if every number up to the largest label is in use. After an update that
	// has dissolved clusters it is above all numbers that were ever in use.
	Retired int
	// Constraints holds the constraints, all of which Labels honours.
	Constraints constraint.Set
	// Examples holds the examples of the fit or the latest Cut; what follows from them is in
	// Constraints.
	Examples []Example
	// Against holds those of them that the clusters contradicted before they had to meet them. A
	// file does not have it.
	Against []Example
	// Linked says whether Labels are the clusters of average linkage, which a Cut to a number of clusters
	// may take. A file does not have it.
	Linked bool
	// Settings holds the settings of the fit.
	Settings ModelSettings

	nearest *storedNearest // where OpenModel has left the neighbours; nil elsewhere
	read    *Model         // what ReadModel or Cut returned, and found valid; nil for other models
}

// ModelView is one view of a Model.
type ModelView struct {
	// Rows holds the samples' rows as they were given.
	Rows *View
	// Metric is the similarity measure.
	Metric similarity.Metric
	// Scaler scales the rows before they are compared.
	Scaler *view.Scaler
	// LocalScales holds the local scale of every sample, the factor that
	// similarity.Space.Localised has for it; nil where similarities are not localised.
	LocalScales []float32
	// LeftOut says that the view was not used, because it blurs another or agrees with the others no more
	// than noise would.
	LeftOut bool
	// Index is how the rows are searched for the neighbours of new ones, with the Candidates and Seed of
	// the Settings; nil where that is not known, and found out where it is needed.
	Index *neighbour.Parts

	stored *blocks // where OpenModel or OpenCurrent has left the rows; nil elsewhere
}

// HasRows reports whether there are rows, in memory or, for OpenModel and OpenCurrent, in the file: Fit may
// have dropped them.
func (v *ModelView) HasRows() bool {
	return v.stored != nil || v.Rows != nil && (len(v.Rows.Data) > 0 || v.Rows.Samples == 0)
}

// ModelSettings holds the settings of a fit, with all defaults filled in.
type ModelSettings struct {
	// Neighbours is K, the number of most probable neighbours, and Candidates the number
	// of nearest neighbours per view from which they were taken.
	Neighbours int
	Candidates int
	// Resolution is that of the partition; see Options.
	Resolution float64
	// Chosen is the number of samples from which Neighbours and Resolution were chosen; 0
	// where one of them was given.
	Chosen int
	// Anchored is the number of samples when Resolution was last set by Fit, or by predict.Update
	// so that the clusters stay as coarse as they are; 0 stands for those of the model.
	Anchored int
	// Posterior, Refinement and Partition are those of the stages.
	Posterior  posterior.Settings
	Refinement refine.Settings
	Partition  partition.Settings
	// Seed is the seed of all random numbers.
	Seed uint64
}

// NewModel returns the model of a result of Fit and its views. ids holds the samples' own
// ids, or is nil. The model shares the memory of the views and the result.
//
// Where Options.Consume has dropped the views' rows, the model has none. It can then only
// be written, by a ModelWriter that was given the rows before Fit.
//
// NewModel checks nothing. Of views that are not those of the result, or of no result, it makes
// a model that Validate refuses.
func NewModel(views []*View, r *Result, ids []string) *Model {
	if r == nil {
		return &Model{IDs: ids}
	}
	m := &Model{
		IDs:            ids,
		Graph:          r.Graph,
		Neighbourhoods: r.Neighbourhoods,
		Labels:         r.Labels,
		Confidence:     r.Confidence,
		Levels:         r.Levels,
		Level:          r.Level,
		Constraints:    r.Options.Constraints,
		Examples:       r.Options.Examples,
		Against:        r.Against,
		Linked:         r.Trace.Linked,
		Settings: ModelSettings{
			Neighbours: r.Granularity.Neighbours, Candidates: r.Options.Candidates, Resolution: r.Granularity.Resolution,
			Posterior: r.Options.Posterior, Refinement: r.Options.Refinement, Partition: r.Options.Partition,
			Seed: r.Options.Seed,
		},
	}
	if f := r.Functions; f != nil { // without the learning curve and the settings of learning
		m.Functions = &probability.Functions{ByView: f.ByView, Cross: f.Cross, BaseRate: f.BaseRate}
	}
	if own, err := examplesSet(m.Examples, len(r.Labels)); err == nil {
		m.Constraints.MustLink = slices.Concat(m.Constraints.MustLink, own.MustLink)
		m.Constraints.CannotLink = slices.Concat(m.Constraints.CannotLink, own.CannotLink)
	}
	if r.Granularity.Chosen && r.Options.Clusters == 0 && len(m.Examples) == 0 {
		m.Settings.Chosen = len(r.Labels)
	}
	for i, v := range views {
		m.Views = append(m.Views, ModelView{
			Rows: v, Metric: at(r.Options.Metrics, i), Scaler: at(r.Scalers, i), LocalScales: at(r.LocalScales, i),
			LeftOut: r.Trace.leftOut(i), Index: at(r.Indexes, i),
		})
	}
	return m
}

// at returns values[i], or the zero value where there is none.
func at[T any](values []T, i int) (x T) {
	if i < len(values) {
		x = values[i]
	}
	return x
}

// Samples returns the number of samples.
func (m *Model) Samples() int { return len(m.Labels) }

// Clusters returns the number of clusters.
func (m *Model) Clusters() int {
	labels := slices.Clone(m.Labels)
	slices.Sort(labels)
	return len(slices.Compact(labels))
}

// Numbers returns the lowest number that no cluster has ever had. It exceeds Clusters
// where updates have dissolved clusters, whose numbers are not used again.
func (m *Model) Numbers() int {
	numbers := m.Retired
	for _, l := range m.Labels {
		numbers = max(numbers, l+1)
	}
	return numbers
}

// ID returns the id of sample i, or its number where samples have no ids. It panics if samples
// have ids and i is out of range.
func (m *Model) ID(i int) string {
	if m.IDs == nil {
		return fmt.Sprint(i)
	}
	return m.IDs[i]
}

// Spaces returns the views as Fit compared them: the similarities are the same to the last
// bit on the same kind of processor, but for views of mostly zeros, where last bits differ. In a view that was left out, no sample has a row. It
// takes another copy of the rows, or three under view.Mixed. Of rows that OpenCurrent has left in the
// file it is similarity.Stored. The errors are those of similarity.NewSpace, similarity.Stored and
// view.Scaler.Apply, and a view without rows or with other than one local scale per sample.
func (m *Model) Spaces(ctx context.Context, threads int) ([]*similarity.Space, error) {
	spaces := make([]*similarity.Space, len(m.Views))
	for i := range m.Views {
		v := &m.Views[i]
		err := v.check(v.samples())
		if err != nil {
			return nil, err
		}
		s, err := v.space(ctx, threads)
		if err != nil {
			return nil, err
		}
		if v.LocalScales != nil {
			s = s.WithLocalScales(v.LocalScales)
		}
		if v.LeftOut {
			s = s.Emptied()
		}
		spaces[i] = s
	}
	return spaces, nil
}

// space returns the rows as they are compared.
func (v *ModelView) space(ctx context.Context, threads int) (*similarity.Space, error) {
	if v.stored != nil && v.Index != nil {
		source := v.Source()
		return similarity.Stored(ctx, &source, v.Scaler, threads)
	}
	scaled, err := v.Scaler.Apply(ctx, v.Rows, threads)
	if err != nil {
		return nil, err
	}
	return similarity.NewSpace(ctx, scaled, v.Metric, nil, scaled != v.Rows, threads)
}

// Validate reports the first thing that makes the model unusable.
func (m *Model) Validate() error {
	for i := 0; m != nil && i < len(m.Views); i++ {
		if rows := m.Views[i].Rows; rows != nil && m.Views[i].stored == nil {
			if err := rows.Validate(); err != nil {
				return err
			}
		}
	}
	return m.validate()
}

// Usable is Validate, which goes over everything, for a model that may be fresh from ReadModel: one
// that is needs no second look. Whoever changes values within the parts of a model that was read
// calls Validate instead.
func (m *Model) Usable() error {
	if m == nil || m.read == nil || !m.isRead() {
		return m.Validate()
	}
	return nil
}

// isRead reports whether m still has the parts that were read.
func (m *Model) isRead() bool {
	r := m.read
	same := m.Functions == r.Functions && m.Graph == r.Graph && m.Neighbourhoods == r.Neighbourhoods &&
		sameSlice(m.IDs, r.IDs) && sameSlice(m.Labels, r.Labels) && sameSlice(m.Confidence, r.Confidence) &&
		sameSlice(m.Views, r.Views) && sameSlice(m.Levels, r.Levels) && sameSlice(m.Examples, r.Examples) &&
		sameSlice(m.Constraints.MustLink, r.Constraints.MustLink) && sameSlice(m.Constraints.CannotLink, r.Constraints.CannotLink) &&
		sameSlice(m.Constraints.Distinct, r.Constraints.Distinct)
	return same && m.Level == r.Level && m.Retired == r.Retired && m.Settings == r.Settings
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// validate is Validate, but the values of the rows may be gone.
func (m *Model) validate() error {
	if err := m.validateParts(); err != nil {
		return err
	}
	return m.Graph.Validate()
}

// validateParts is validate but for the edges of the graph.
func (m *Model) validateParts() error {
	if m == nil {
		return errors.New("there is no model; pass what NewModel or ReadModel returns")
	}
	n := len(m.Labels)
	switch {
	case len(m.Views) == 0:
		return errors.New("there is no view")
	case m.IDs != nil && len(m.IDs) != n:
		return fmt.Errorf("there are %d ids of %d samples", len(m.IDs), n)
	case len(m.Confidence) != n:
		return fmt.Errorf("there are %d confidences of %d samples", len(m.Confidence), n)
	case n < 1 || n > math.MaxInt32:
		return fmt.Errorf("there are %d samples", n)
	case m.Functions == nil || m.Graph == nil:
		return errors.New("the functions or the graph are missing")
	case m.Graph.Samples() != n:
		return fmt.Errorf("the graph has %d samples of %d", m.Graph.Samples(), n)
	case m.Neighbourhoods != nil && m.Neighbourhoods.Samples() != n:
		return fmt.Errorf("there are neighbours of %d samples of %d", m.Neighbourhoods.Samples(), n)
	}
	for _, v := range m.Views {
		if err := v.check(n); err != nil {
			return err
		}
	}
	if err := m.validateLabels(); err != nil {
		return err
	}
	if err := cmp.Or(m.validateLevels(), m.validateExamples()); err != nil {
		return err
	}
	known, err := m.Constraints.Resolve(n)
	if err != nil {
		return err
	}
	if pair, broken := known.Violation(m.Labels); broken {
		return fmt.Errorf("samples %d and %d have labels against a constraint", pair[0], pair[1])
	}
	if err := m.validateIDs(); err != nil {
		return err
	}
	if err := m.Functions.Validate(len(m.Views)); err != nil {
		return err
	}
	return m.validateSettings()
}

// validateIDs checks IDs.
func (m *Model) validateIDs() error {
	rows := make(map[string]int, len(m.IDs))
	for i, id := range m.IDs {
		switch k, again := rows[id]; {
		case id == "":
			return fmt.Errorf("sample %d has an empty id", i)
		case !utf8.ValidString(id):
			return fmt.Errorf("sample %d has the id %s, which is not UTF-8", i, words.Quote(id))
		case again:
			return fmt.Errorf("samples %d and %d have the same id %s", k, i, words.Quote(id))
		}
		rows[id] = i
	}
	return nil
}

// validateSettings checks Settings against the samples, functions and neighbours that there
// are: a number of neighbours is memory for every sample.
func (m *Model) validateSettings() error {
	n, s := len(m.Labels), m.Settings // a copy, for Resolve fills in
	switch {
	case s.Neighbours < 1 || s.Neighbours >= n:
		return fmt.Errorf("there are %d neighbours of each of %d samples; there is at least 1, and one fewer than the samples at most", s.Neighbours, n)
	case s.Candidates < 1 || s.Candidates >= n:
		return fmt.Errorf("there are %d candidates of each of %d samples; there is at least 1, and one fewer than the samples at most", s.Candidates, n)
	case s.Chosen < 0 || s.Chosen > n:
		return fmt.Errorf("the number of neighbours was chosen from %d samples of %d", s.Chosen, n)
	case s.Anchored < 0 || s.Anchored > n:
		return fmt.Errorf("the resolution was set for %d samples of %d", s.Anchored, n)
	case !m.HasNearest() && !s.Refinement.WithoutCoNeighbours:
		return errors.New("the neighbours for co-neighbour propagation are missing")
	case m.Neighbourhoods != nil && m.Neighbourhoods.K() >= n:
		return fmt.Errorf("%d neighbours are stored for each of %d samples", m.Neighbourhoods.K(), n)
	}
	err := cmp.Or(
		option.Within("Posterior", s.Posterior.Resolve()),
		option.Within("Refinement", s.Refinement.Resolve()),
		option.Within("Partition", s.Partition.Resolve()),
		option.Resolve([]option.Parameter{partition.ResolutionParameter(&s.Resolution)}),
	)
	if err != nil {
		return err
	}
	_, err = posterior.New(m.Functions, s.Posterior)
	return err
}

// samples returns the number of rows.
func (v *ModelView) samples() int {
	if v.Rows == nil {
		return 0
	}
	return v.Rows.Samples
}

// check reports the first thing that makes the view unusable. It looks at no value of its rows,
// which may be gone.
func (v *ModelView) check(samples int) error {
	if v.Rows == nil || v.Scaler == nil {
		return errors.New("a view has no rows, or no scale")
	}
	if len(v.Rows.Data) > 0 {
		if err := v.Rows.Check(); err != nil {
			return err
		}
	}
	if v.Rows.Samples != samples {
		return fmt.Errorf("view %s has %d rows for %d samples", words.Name(v.Rows.Name), v.Rows.Samples, samples)
	}
	if v.LocalScales != nil && len(v.LocalScales) != samples {
		return fmt.Errorf("view %s has %d local scales for %d samples", words.Name(v.Rows.Name), len(v.LocalScales), samples)
	}
	for i, s := range v.LocalScales {
		if !(s >= 0) || s-s != 0 {
			return fmt.Errorf("view %s has the local scale %v of sample %d", words.Name(v.Rows.Name), s, i)
		}
	}
	if _, err := v.Metric.MarshalText(); err != nil {
		return err
	}
	if v.Index != nil {
		if err := v.Index.Validate(v.Scaler.Scale.Dims(v.Rows.Dims)); err != nil {
			return fmt.Errorf("view %s: %w", words.Name(v.Rows.Name), err)
		}
	}
	return v.Scaler.Validate(v.Rows.Dims)
}

// maxNumbers bounds Retired, so that a damaged file cannot ask for much memory.
func maxNumbers(samples int) int { return max(1<<20, 4*samples) }

// validateLabels checks Labels, Confidence and Retired.
func (m *Model) validateLabels() error {
	numbers := len(m.Labels)
	if m.Retired != 0 {
		if numbers = maxNumbers(len(m.Labels)); m.Retired < 0 || m.Retired > numbers {
			return fmt.Errorf("%d numbers of clusters were in use", m.Retired)
		}
		numbers = m.Retired
	}
	seen := make([]bool, numbers)
	clusters := 0
	for i, l := range m.Labels {
		if l < 0 || l >= numbers {
			return fmt.Errorf("sample %d has label %d", i, l)
		}
		if !seen[l] {
			seen[l] = true
			clusters++
		}
		if c := m.Confidence[i]; !(c >= 0 && c <= 1) {
			return fmt.Errorf("sample %d has confidence %v", i, c)
		}
	}
	for l := 0; l < clusters && m.Retired == 0; l++ {
		if !seen[l] {
			return fmt.Errorf("no sample has label %d, and one has a higher one", l)
		}
	}
	return nil
}
