// Package explain answers questions about a clustering:
//
//	Explainer.Sample   why is a sample in its cluster?
//	Explainer.Pair     why do two samples share a cluster, or not?
//	Explainer.Suggest  which clusters may be one, or two, and what should a person be asked?
//	Describe           what is each cluster like?
package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
)

// Explainer answers questions about a model. Several goroutines may use it at a time.
type Explainer struct {
	m           *mvclust.Model
	fused       *posterior.Estimator
	worth       *partition.Worth
	sizes       map[int]int          // by cluster
	resolved    *constraint.Resolved // what follows from the constraints
	constraints *constraint.Pairs
	threads     int
}

// New prepares a model, which must be valid, must have the rows of its views, and must not
// change. It goes once through the links. threads of 0 stands for all processors, and
// changes no answer. The errors are those of Model.Validate, rows that are missing, and the
// context's own.
func New(ctx context.Context, m *mvclust.Model, threads int) (*Explainer, error) {
	if m == nil {
		return nil, errors.New("there is no model; pass what mvclust.NewModel or mvclust.ReadModel returns")
	}
	for _, v := range m.Views {
		if v.Rows != nil && !v.HasRows() {
			return nil, fmt.Errorf("view %s has no rows any more; read the model from its file, or do not let the fit consume the views", v.Rows.Name)
		}
	}
	if err := m.Usable(); err != nil {
		return nil, err
	}
	m = m.Current()
	fused, err := posterior.New(m.Functions, m.Settings.Posterior)
	if err != nil {
		return nil, err
	}
	known, err := m.Constraints.Resolve(m.Samples())
	if err != nil {
		return nil, err
	}
	worth, err := partition.NewWorth(ctx, m.Graph, m.Labels, m.Settings.Resolution, m.Settings.Partition, threads)
	if err != nil {
		return nil, err
	}
	x := &Explainer{m: m, fused: fused, worth: worth, threads: threads, sizes: map[int]int{}, resolved: known, constraints: known.Pairs()}
	for _, l := range m.Labels {
		x.sizes[l]++
	}
	return x, nil
}

// Ref names a sample.
type Ref struct {
	// Sample is its number, from 0, and ID its id, or the number if samples have no ids.
	Sample int    `json:"sample"`
	ID     string `json:"id"`
	// Cluster is the number of its cluster.
	Cluster int `json:"cluster"`
}

func (x *Explainer) ref(i int) Ref { return Ref{i, x.m.ID(i), x.m.Labels[i]} }

// check returns an error for a number that is no sample's.
func (x *Explainer) check(i int) error {
	if i < 0 || i >= x.m.Samples() {
		return fmt.Errorf("there is no sample %d; the model has %d, counted from 0", i, x.m.Samples())
	}
	return nil
}

// State says whether and how a view has compared samples.
type State string

const (
	// Compared says that both samples have the view, or the one that was asked about has it.
	Compared State = "compared"
	// Completed says that one of the two lacks the view, whose probability is estimated from
	// other views.
	Completed State = "completed"
	// Missing says that one of the samples lacks the view, or has a row of zeros, which has
	// no cosine.
	Missing State = "missing"
	// LeftOut says that the fit did not use the view, because it blurs another or agrees with the others no
	// more than noise would.
	LeftOut State = "left_out"
)

// comparison is what the views say of one pair.
type comparison struct {
	similarity  []float32 // by view; NaN if it says nothing
	probability []float64 // the same
	logOdds     []float64 // the same; nil if the fusion does not add log-odds
	fused       float64
	deciding    int // view, or -1
}

// compare compares pairs of samples.
func (x *Explainer) compare(ctx context.Context, pairs [][2]int) ([]comparison, error) {
	var samples []int
	place := map[int]int{}
	for _, p := range pairs {
		for _, i := range p {
			if _, ok := place[i]; !ok {
				place[i] = len(samples)
				samples = append(samples, i)
			}
		}
	}
	spaces, err := x.m.SpacesOf(ctx, samples, x.threads)
	if err != nil {
		return nil, err
	}
	out := make([]comparison, len(pairs))
	for t, p := range pairs {
		a, b := place[p[0]], place[p[1]]
		w := comparison{similarity: make([]float32, len(spaces)), probability: make([]float64, len(spaces))}
		for m, s := range spaces {
			w.similarity[m] = s.Similarity(a, b)
		}
		x.fused.Views(w.probability, func(m int) float32 { return w.similarity[m] })
		w.fused = x.fused.Fuse(w.probability)
		w.logOdds = x.fused.LogOdds(w.probability)
		w.deciding = x.fused.Deciding(w.probability)
		out[t] = w
	}
	return out, nil
}

// has reports, by view and sample, which samples can be compared.
func (x *Explainer) has(ctx context.Context, samples ...int) ([][]bool, error) {
	spaces, err := x.m.SpacesOf(ctx, samples, x.threads)
	if err != nil {
		return nil, err
	}
	out := make([][]bool, len(spaces))
	for m, s := range spaces {
		for k := range samples {
			out[m] = append(out[m], s.Has(k))
		}
	}
	return out, nil
}
