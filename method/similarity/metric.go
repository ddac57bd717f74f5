package similarity

import (
	"math"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/kernel"
)

// Metric is a similarity measure. Its zero value is Cosine.
type Metric int

const (
	// Cosine is the cosine of the angle between two rows, in [-1, 1] up to
	// rounding.
	Cosine Metric = iota
	// L1 is minus the sum of absolute differences.
	L1
	// L2 is minus the Euclidean distance.
	L2
	// L3 is minus the cube root of the sum of cubed absolute differences.
	L3
)

// measures is the table of the metrics.
var measures = [...]struct {
	sum   kernel.Sum                // over the dimensions of two rows
	power float64                   // p of a sum of |x-y|^p
	root  func(sum float64) float64 // what makes a distance of it; nil for the sum itself
}{
	Cosine: {sum: kernel.Dot},
	L1:     {kernel.Absolute, 1, nil},
	L2:     {kernel.Square, 2, math.Sqrt},
	L3:     {kernel.Cube, 3, math.Cbrt},
}

var metrics = enum.Type[Metric]{Noun: "metric", Names: []string{"cosine", "l1", "l2", "l3"}}

// ParseMetric returns the metric named "cosine", "l1", "l2" or "l3".
func ParseMetric(name string) (Metric, error) { return metrics.Parse(name) }

// String returns the metric's name, as ParseMetric reads it.
func (m Metric) String() string { return metrics.String(m) }

// MarshalText writes the metric's name, and fails where it has none.
func (m Metric) MarshalText() ([]byte, error) { return metrics.Marshal(m) }

// UnmarshalText reads a metric's name. It leaves *m alone where it fails.
func (m *Metric) UnmarshalText(text []byte) error { return metrics.Unmarshal(m, text) }

// Sum returns what is summed over the dimensions of two rows: the higher, the more alike.
func (s *Space) Sum() kernel.Sum { return measures[s.metric].sum }

// finish turns sums, which are negative for distances, into similarities.
func (m Metric) finish(dst []float32) {
	if root := measures[m].root; root != nil {
		for t, x := range dst {
			dst[t] = -float32(root(float64(-x)))
		}
	}
}
