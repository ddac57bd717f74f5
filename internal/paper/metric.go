package paper

import "github.com/mvclust/mvclust/internal/bench"

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
	Seconds           Metric = "seconds"
)

// title is the metric's name on the page.
func (m Metric) title() string {
	switch m {
	case PairwisePrecision:
		return "pairwise precision"
	case PairwiseRecall:
		return "pairwise recall"
	case PairwiseF:
		return "pairwise F"
	case BCubedPrecision:
		return "BCubed precision"
	case BCubedRecall:
		return "BCubed recall"
	case BCubedF:
		return "BCubed F"
	case NMI:
		return "NMI"
	case ARI:
		return "ARI"
	default:
		return string(m)
	}
}

// of returns the metric's value in a run: scores in percent.
func (m Metric) of(t *bench.Trial) float64 {
	s := &t.Scores
	switch m {
	case PairwisePrecision:
		return 100 * s.PairwisePrecision
	case PairwiseRecall:
		return 100 * s.PairwiseRecall
	case PairwiseF:
		return 100 * s.PairwiseF
	case BCubedPrecision:
		return 100 * s.BCubedPrecision
	case BCubedRecall:
		return 100 * s.BCubedRecall
	case BCubedF:
		return 100 * s.BCubedF
	case NMI:
		return 100 * s.NMI
	case ARI:
		return 100 * s.ARI
	case Clusters:
		return float64(s.Clusters)
	default:
		return t.Seconds
	}
}
