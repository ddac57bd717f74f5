package mvclust

import (
	"context"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Options steer Fit. The zero value is the automatic mode, which needs none.
type Options struct {
	// Preset says what the options that are left at zero stand for: Auto, or Paper.
	Preset Preset
	// Neighbours is K, the number of most probable neighbours that a sample is
	// compared by; the best value is near the size of the classes. 0 leaves the choice
	// to package selection under Auto, and stands for DefaultNeighbours under Paper, or
	// one fewer than the samples where that is less.
	Neighbours int
	// Resolution, above 0, has modularity of this resolution take the place of Eq. pi_loss:
	// the higher, the more and smaller the clusters; see partition.Find. 0 leaves the choice
	// to package selection under Auto, and stands for Eq. pi_loss under Paper.
	Resolution float64
	// Candidates is the number of nearest neighbours per view whose pairs are
	// looked at, from which the K most probable are then taken. 0 stands, under Auto, for
	// 960 shared out among the views, at least 20 and at most 80 for each, a third of the
	// samples at most, and K at least; under Paper for 8 K shared out, at least K and at
	// most 4 K for each; or for one fewer than the samples where that is less.
	Candidates int
	// Scale makes the features of every view alike in size before similarities are
	// measured. Under cosine, a sample whose features all become 0 counts as missing.
	// NoScale stands for Mixed under Auto, where the metric is cosine.
	Scale view.Scale
	// Local has similarities measured against how far either sample is from its
	// neighbours; see similarity.Space.Localised. Auto always does.
	Local bool
	// Metrics holds the similarity measure of every view, or one for all. nil
	// stands for cosine.
	Metrics []similarity.Metric
	// Search steers how the nearest neighbours are found.
	Search neighbour.Settings
	// Learning steers how the probability functions are learned. Under Auto they are
	// the quantiles that learning starts from.
	Learning probability.Settings
	// Learner, if not nil, takes the place of probability.Learn, and Learning is
	// not used.
	Learner Learner
	// Posterior steers how a pair's views are fused. Symmetric stands for Pooled under
	// Auto.
	Posterior posterior.Settings
	// Refinement steers the graph refinement. Auto does without paths.
	Refinement refine.Settings
	// Partition steers the search for the clusters. Under Auto, a Resolution of 0 leaves
	// it to package selection.
	Partition partition.Settings
	// Constraints are what is known of pairs of samples, by their numbers in the views.
	// All are honoured, and those that contradict each other are a *ConstraintError.
	Constraints Constraints
	// Clusters, above 0, is the exact number of clusters; see Model.Cut. Fewer than follow from
	// the constraints, or more, are a *partition.CountError.
	Clusters int
	// Examples are samples whose classes are known. They choose the granularity; then samples
	// of one label are put together, and of two labels apart.
	Examples []Example
	// Seed decides all that is drawn at random.
	Seed uint64
	// Order decides ties and the order of moves. It holds every sample once; of equals, the
	// earlier is taken. If samples and Order are permuted alike, the clusters hold the same
	// samples. nil stands for an order that follows from Seed, and under Auto from Seed and the
	// samples' values, so that the order of the rows does not matter.
	Order []int
	// Threads bounds the goroutines that compute at a time; 0 stands for
	// GOMAXPROCS. It does not change the result.
	Threads int
	// Consume lets Fit scale the rows of the views where they are, which saves a copy,
	// and drop them after the fusion. Afterwards, also after an error, the views' Data must
	// not be used. No two views may share it. Clusters of average linkage, which compares rows as they are
	// given, are then not tried; see MostLinked. A view that is left out may still decide ties.
	Consume bool
	// Lean makes Fit keep the rows of views under Cosine that are scaled as they are given, and scale them
	// when they are compared. That takes less memory, see Footprint, and more time. It does not
	// change the result.
	Lean bool
	// Progress, if not nil, is called now and then, by one goroutine at a time.
	// It should return quickly.
	Progress func(Progress)
}

// Preset is a set of defaults.
type Preset int

const (
	// Auto needs no setting. It scales features in several ways, compares samples on a
	// local scale, leaves out views that agree with no other, and chooses how many
	// neighbours to look at and how fine the clusters are.
	Auto Preset = iota
	// Paper is the method as it was published, with K given.
	Paper
)

var presets = enum.Type[Preset]{Noun: "preset", Names: []string{"auto", "paper"}}

// ParsePreset returns the preset named "auto" or "paper".
func ParsePreset(name string) (Preset, error) { return presets.Parse(name) }

// String returns the preset's name, as ParsePreset reads it.
func (p Preset) String() string { return presets.String(p) }

// MarshalText writes the preset's name, and fails where it has none.
func (p Preset) MarshalText() ([]byte, error) { return presets.Marshal(p) }

// UnmarshalText reads a preset's name. It leaves *p alone where it fails.
func (p *Preset) UnmarshalText(text []byte) error { return presets.Unmarshal(p, text) }

// Learner finds the views' probability functions: P(same class | similarity).
//
// pairs holds the two samples of every pair that is looked at, numbered as in the
// views, the lower first; the pairs are in no particular order. similarities holds, by
// view and pair, how alike the two are, and NaN where one of them lacks the view; it
// must not be changed. The functions must pass probability.Functions.Validate, and have base
// rates for posterior.Asymmetric and cross functions for completion.
type Learner func(ctx context.Context, pairs [][2]int32, similarities [][]float32) (*probability.Functions, error)

// DefaultNeighbours is the number of neighbours under Paper where none is asked for.
const DefaultNeighbours = 20

// Stage is a step of Fit.
type Stage string

// The stages of Fit, in order.
const (
	// StageStructure is there under Auto where the granularity is chosen.
	StageStructure  Stage = "structure"
	StagePrepare    Stage = "prepare"
	StageNeighbours Stage = "neighbours"
	StagePairs      Stage = "pairs"
	StageLearn      Stage = "learn"
	StageFuse       Stage = "fuse"
	StageRefine     Stage = "refine"
	StagePartition  Stage = "partition"
	// StageChoose takes the place of StageRefine and StagePartition under Auto.
	StageChoose Stage = "choose"
	// StageAlone comes last under Auto with several views: where what is chosen in all is not clear, they are
	// clustered one at a time, and if one is clearer all stages begin again with that alone.
	StageAlone Stage = "alone"
)

// Progress says how far a stage is. A stage may end before Done reaches Total:
// then a last report has both equal.
type Progress struct {
	Stage       Stage
	Done, Total int
	// Share is about how much of the whole run's time has passed, from 0 to 1.
	Share float64
}

// OptionError says which option cannot be used, and why: Field is its path from Options, such
// as "Neighbours" or "Partition.Clip", and Problem what is wrong and what to do about it.
type OptionError = option.Error
