package lab

import "github.com/mvclust/mvclust/score"

// Metric is a column of a table: a score, or another number of a run.
type Metric string

// The metrics, by the names that the scores have in JSON.
const (
	PairwisePrecision Metric = "pairwise_precision"
	PairwiseRecall    Metric = "pairwise_recall"
	PairwiseF         Metric = "pairwise_f"
	BCubedPrecision   Metric = "bcubed_precision"
	BCubedRecall      Metric = "bcubed_recall"
	BCubedF           Metric = "bcubed_f"
	NMI               Metric = "nmi"
	ARI               Metric = "ari"
	Clusters          Metric = "clusters"
	Large             Metric = "large"
	Seconds           Metric = "seconds"
	Peak              Metric = "peak"
	// Processor is for how many seconds processors worked, which does not depend on what else the
	// machine does, as Seconds do.
	Processor Metric = "processor"
)

// scores are the metrics that are scores: their names on a page, and where they are.
var scores = map[Metric]struct {
	title string
	of    func(*score.Scores) float64
}{
	PairwisePrecision: {"pairwise precision", func(s *score.Scores) float64 { return s.PairwisePrecision }},
	PairwiseRecall:    {"pairwise recall", func(s *score.Scores) float64 { return s.PairwiseRecall }},
	PairwiseF:         {"pairwise F", func(s *score.Scores) float64 { return s.PairwiseF }},
	BCubedPrecision:   {"BCubed precision", func(s *score.Scores) float64 { return s.BCubedPrecision }},
	BCubedRecall:      {"BCubed recall", func(s *score.Scores) float64 { return s.BCubedRecall }},
	BCubedF:           {"BCubed F", func(s *score.Scores) float64 { return s.BCubedF }},
	NMI:               {"NMI", func(s *score.Scores) float64 { return s.NMI }},
	ARI:               {"ARI", func(s *score.Scores) float64 { return s.ARI }},
}

// IsScore reports whether the metric is a score, in percent.
func (m Metric) IsScore() bool { return scores[m].of != nil }

// Title is the metric's name on a page.
func (m Metric) Title() string {
	if m.IsScore() {
		return scores[m].title
	}
	return string(m)
}

// Of returns the metric's value in a run: scores in percent; 0 where there are no scores.
func (m Metric) Of(r *Record) float64 {
	switch {
	case m == Large:
		return float64(r.Large)
	case m == Seconds:
		return r.Median()
	case m == Peak:
		return float64(r.Peak)
	case m == Processor:
		return r.Value(string(m))
	case r.Scores == nil:
		return 0
	case m == Clusters:
		return float64(r.Scores.Clusters)
	default:
		return 100 * scores[m].of(r.Scores)
	}
}
