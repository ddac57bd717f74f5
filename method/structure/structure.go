// Package structure tells whether views have groups at all: it draws clouds of the views' own
// joint covariance, which have none, and compares the scores of the partitions found in both.
//
// It follows the method and may change in any minor version.
package structure

import (
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/method/selection"
)

// Verdict says how much structure there is beyond that of a featureless cloud.
type Verdict int

const (
	// None says that a cloud without groups has nearly as high a score.
	None Verdict = iota
	// Weak says that the score is above that of the clouds, but not by far.
	Weak
	// Clear says that the score is far above that of the clouds.
	Clear
)

var verdicts = enum.Type[Verdict]{Noun: "verdict", Names: []string{"none", "weak", "clear"}}

// ParseVerdict returns the verdict named "none", "weak" or "clear".
func ParseVerdict(name string) (Verdict, error) { return verdicts.Parse(name) }

// String returns the verdict's name, as ParseVerdict reads it.
func (v Verdict) String() string { return verdicts.String(v) }

// MarshalText writes the verdict's name, and fails where it has none.
func (v Verdict) MarshalText() ([]byte, error) { return verdicts.Marshal(v) }

// UnmarshalText reads a verdict's name. It leaves *v alone where it fails.
func (v *Verdict) UnmarshalText(text []byte) error { return verdicts.Unmarshal(v, text) }

// Report tells how a comparison with clouds ended.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// Score is that of the samples that were compared, and CloudScore the largest of the
	// clouds; see the function Score.
	Score      float64 `json:"score"`
	CloudScore float64 `json:"cloud_score"`
	// Samples is the number of samples that were compared, and of those of each cloud.
	Samples int `json:"samples"`
	// Clouds is the number of clouds.
	Clouds int `json:"clouds"`
	// Few says that these samples, a part of all, hold fewer than 3 of a cluster on average: groups
	// as fine as the clusters are cannot show among them.
	Few bool `json:"few,omitempty"`
}

// least is the number of samples of a cluster that must have been compared for it to show.
const least = 3

// showing returns how many clusters of so many samples can show at most: any number where all samples were compared.
func (r *Report) showing(samples int) int {
	if r.Samples == samples {
		return samples
	}
	return r.Samples / least
}

// Hold sets Few, given how many of how many samples were clustered.
func (r *Report) Hold(samples, clusters int) { r.Few = clusters > r.showing(samples) }

// doubt is how many times as large as that of the clouds the score must be for a plateau to count.
const doubt = 4

// Doubted returns the number of clusters up to which no plateau of so many samples counts as clear; 0 where any does, and for
// a nil Report. Plateaus are doubted where Score is at most 4 times CloudScore: clouds fall into a few even pieces, too, that
// are found again. Clusters so fine that they cannot show among the samples that were compared are not doubted.
func (r *Report) Doubted(samples int) int {
	if r == nil || r.Score > doubt*r.CloudScore {
		return 0
	}
	return r.showing(samples)
}

// String says the verdict in a line, with the two scores.
func (r *Report) String() string {
	words := "%v beyond that of a featureless cloud"
	switch {
	case r.Few && r.Verdict != Clear:
		words += ", as far as so few samples of each cluster tell"
	case r.Verdict == None:
		words += "; the clusters may mean nothing"
	}
	return fmt.Sprintf(words+" (score %.3f, cloud %.3f, of %d samples each)", r.Verdict, r.Score, r.CloudScore, r.Samples)
}

// Score returns the largest plateau · agreement · apart · compression / C of the candidates that can be chosen, of
// so many samples, from 0 to 1. Apart is selection.Candidate.Apart, and C = log(e) / log(samples) about the
// compression of e even clusters that no step leads out of, e being the evenness times the number of clusters: so
// two clusters count as much as ten. The powers and criteria that choose well among partitions of the
// same samples make the scores of clouds vary more.
func Score(candidates []selection.Candidate, samples int) float64 {
	best, all := 0.0, math.Log(float64(samples))
	for i := range candidates {
		c := &candidates[i]
		if c.Score <= 0 {
			continue
		}
		explained := max(0, c.Compression) * all / math.Log(max(2, c.Evenness*float64(c.Clusters)))
		best = max(best, max(0, c.Plateau)*max(0, c.Agreement)*c.Apart()*min(1, explained))
	}
	return best
}

// What a score must exceed, as factors of the score of the clouds: those of Weak and of Clear.
// A floor is added to both, since a cloud of many dimensions may have no score at all, and since the
// separation of clusters in few dimensions is a measure by itself.
const (
	weak, clear      = 1.8, 2.5
	floor, separated = 0.01, 0.1
)

// Judge compares the score of some samples with those of clouds of as many. measured says that separations
// are part of the scores.
func Judge(score float64, clouds []float64, samples int, measured bool) *Report {
	r := &Report{Score: score, Samples: samples, Clouds: len(clouds)}
	if len(clouds) > 0 {
		r.CloudScore = slices.Max(clouds)
	}
	least := floor
	if measured {
		least = separated
	}
	switch {
	case score > clear*r.CloudScore+least:
		r.Verdict = Clear
	case score > weak*r.CloudScore+least:
		r.Verdict = Weak
	}
	return r
}

// Compared returns how many of the given number of samples are compared with clouds: a third,
// at least 100 and at most 1000, if there are that many.
func Compared(samples int) int { return max(0, min(samples, max(100, min(1000, samples/3)))) }

const (
	// Clouds is the number of clouds.
	Clouds = 2
	// Candidates bounds the neighbours that are sought in each view of a comparison.
	Candidates = 25
	// MaxNeighbours bounds the numbers of neighbours that are tried: a few small ones tell as
	// much.
	MaxNeighbours = 14
)

// Footprint returns how many bytes Cloud holds at most, the cloud included, of so many samples
// whose largest view and whose views together have the given dimensions.
func Footprint(samples, largest, dims int) int64 {
	n := int64(samples)
	return 4 * n * (n + int64(largest) + int64(dims))
}

// Cost returns about how many nanoseconds Cloud takes on two processors.
func Cost(samples, dims int) float64 {
	n := float64(samples)
	return n * n * (5 + 0.05*float64(dims))
}
