// Package explain answers questions about a clustering:
//
//	Explainer.Sample   why is a sample in its cluster?
//	Explainer.Pair     why do two samples share a cluster, or not?
//	Explainer.Suggest  which clusters may be one, or two, and what should a person be asked?
//	Describe           what is each cluster like?
package explain

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
)

// Explainer explains a model. It may be used by several goroutines at a time.
type Explainer struct {
	m        *mvclust.Model
	fused    *posterior.Estimator
	worth    *partition.Worth
	sizes    map[int]int          // by cluster
	resolved *constraint.Resolved // what follows from the constraints
	given    *constraint.Pairs
	threads  int
}

// New prepares a model, which must be valid and have its rows, and keeps it. It goes once
// through the links. It is an error if the rows are gone, or if ctx is done. threads of 0
// stands for GOMAXPROCS; it does not change what is said.
func New(ctx context.Context, m *mvclust.Model, threads int) (*Explainer, error) {
	for _, v := range m.Views {
		if len(v.Rows.Data) != v.Rows.Samples*v.Rows.Dims {
			return nil, fmt.Errorf("view %s has no rows any more; read the model from its file, or do not let the fit consume the views", v.Rows.Name)
		}
	}
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
	x := &Explainer{m: m, fused: fused, worth: worth, threads: threads, sizes: map[int]int{}, resolved: known, given: known.Pairs()}
	for _, l := range m.Labels {
		x.sizes[l]++
	}
	return x, nil
}

// Ref names a sample.
type Ref struct {
	// Sample is its number, counted from 0, and ID its id, or the number where there is none.
	Sample int    `json:"sample"`
	ID     string `json:"id"`
	// Cluster is the number of its cluster.
	Cluster int `json:"cluster"`
}

func (x *Explainer) ref(i int) Ref { return Ref{i, x.m.ID(i), x.m.Labels[i]} }

// known reports a number that is no sample's.
func (x *Explainer) known(i int) error {
	if i < 0 || i >= x.m.Samples() {
		return fmt.Errorf("there is no sample %d; the model has %d, counted from 0", i, x.m.Samples())
	}
	return nil
}

// State says what a view has to say.
type State string

const (
	// Compared says that both samples have the view, or that the one asked about has it.
	Compared State = "compared"
	// Completed says that one of the two lacks the view, and that what other views tell of
	// it stands in.
	Completed State = "completed"
	// Missing says that one of the samples lacks the view, or has a row of zeros there,
	// which has no cosine.
	Missing State = "missing"
	// LeftOut says that the view had no say in the whole run, because it agrees with the
	// others no more than noise would.
	LeftOut State = "left_out"
)

// words is what the views say of one pair.
type words struct {
	similarity  []float32 // by view; NaN where there is none
	probability []float64 // the same
	logOdds     []float64 // the same; nil where the fusion does not add up
	fused       float64
	deciding    int // view, or -1
}

// ask has the views speak of pairs of samples.
func (x *Explainer) ask(ctx context.Context, pairs [][2]int) ([]words, error) {
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
	out := make([]words, len(pairs))
	for t, p := range pairs {
		a, b := place[p[0]], place[p[1]]
		w := words{similarity: make([]float32, len(spaces)), probability: make([]float64, len(spaces))}
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

// has reports, by view and sample, which of the samples can be compared in it.
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
