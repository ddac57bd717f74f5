package probability

import (
	"math"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/option"
)

// Loss is a form of the consistency loss.
type Loss int

const (
	// Mixed holds Fsingle and Fcross to Fmix, Eq. loss_1: the paper's choice.
	Mixed Loss = iota
	// Direct holds Fsingle to Fmulti and to Fcross, Eq. loss_fz.
	Direct
)

var losses = enum.Type[Loss]{Noun: "loss", Names: []string{"mixed", "direct"}}

// String returns the loss's name, as UnmarshalText reads it.
func (l Loss) String() string { return losses.String(l) }

// MarshalText writes the loss's name, and fails where it has none.
func (l Loss) MarshalText() ([]byte, error) { return losses.Marshal(l) }

// UnmarshalText reads a loss's name. It leaves *l alone where it fails.
func (l *Loss) UnmarshalText(text []byte) error { return losses.Unmarshal(l, text) }

// Settings steer the learning. The zero value gives the defaults.
type Settings struct {
	// Segments is I, the number of segments of a probability function. 0 stands
	// for one segment per 50 training pairs, between 100 and 1000.
	Segments int
	// Pairs bounds T, the number of pairs that are trained on: of more, evenly
	// spaced ones are taken. 0 stands for 250,000.
	Pairs int
	// Lambda weighs the consistency loss against the constraint loss, Eq.
	// loss_all. 0 stands for 20.
	Lambda float64
	// Low is indi: how many of the lowest segments are drawn to 0, at most a quarter
	// of those that a view has. 0 stands for 10, -1 for none.
	Low int
	// High is indj+1: how many of the highest segments are drawn to 1, at most a
	// quarter. 0 stands for 4, -1 for none.
	High int
	// Epochs is the number of SGD steps. 0 stands for DefaultEpochs.
	Epochs int
	// Rate is the learning rate. 0 stands for 0.001.
	Rate float64
	// Momentum is SGD's momentum. 0 stands for 0.9, -1 for none.
	Momentum float64
	// Decay is SGD's weight decay. 0 stands for 0.00005, -1 for none.
	Decay float64
	// Loss is the form of the consistency loss.
	Loss Loss
	// WithoutSingle drops the term of Fsingle: L_consistency1 of Eq. loss_1, the
	// term of Fmulti in Eq. loss_fz.
	WithoutSingle bool
	// WithoutCross drops the term of Fcross, L_consistency2.
	WithoutCross bool
	// WithoutConstraint drops the constraint loss, Eq. loss_2.
	WithoutConstraint bool
	// Untrained leaves out the training: every function is the straight line, over the
	// ranks of the similarities, that training starts from.
	Untrained bool
}

// Defaults of Settings.
const (
	DefaultPairs    = 250_000
	DefaultLambda   = 20
	DefaultLow      = 10
	DefaultHigh     = 4
	DefaultEpochs   = 50
	DefaultRate     = 0.001
	DefaultMomentum = 0.9
	DefaultDecay    = 0.00005
)

// Parameters returns a description of every setting, with a pointer to its field in s.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Pairs", Name: "pairs", Value: option.Whole(&s.Pairs, DefaultPairs, 1, math.MaxInt32),
			Equation: "Eq. f_function",
			Meaning:  "T, the most pairs that are trained on",
		},
		{
			Field: "Segments", Name: "segments", Value: option.WholeOrAuto(&s.Segments, 0, 1, 100_000),
			Equation: "Eq. f_function",
			Meaning:  "I, the segments of a probability function; auto is one per 50 training pairs, 100 to 1000",
		},
		{
			Field: "Lambda", Name: "lambda", Value: option.Number(&s.Lambda, DefaultLambda, option.Above, 1e9), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "weight of the consistency loss against the constraint loss",
		},
		{
			Field: "Low", Name: "low", Value: option.Whole(&s.Low, DefaultLow, 0, 100_000), PaperOnly: true,
			Equation: "Eq. loss_2",
			Meaning:  "indi, how many of the lowest segments are drawn to 0, at most a quarter of a view's",
		},
		{
			Field: "High", Name: "high", Value: option.Whole(&s.High, DefaultHigh, 0, 100_000), PaperOnly: true,
			Equation: "Eq. loss_2",
			Meaning:  "indj+1, how many of the highest segments are drawn to 1, at most a quarter of a view's",
		},
		{
			Field: "Epochs", Name: "epochs", Value: option.Whole(&s.Epochs, DefaultEpochs, 1, 10_000_000), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "steps of gradient descent",
		},
		{
			Field: "Rate", Name: "rate", Value: option.Number(&s.Rate, DefaultRate, option.Above, 1e3), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "learning rate of gradient descent",
		},
		{
			Field: "Momentum", Name: "momentum", Value: option.Number(&s.Momentum, DefaultMomentum, 0, 1), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "momentum of gradient descent",
		},
		{
			Field: "Decay", Name: "decay", Value: option.Number(&s.Decay, DefaultDecay, 0, 1), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "weight decay of gradient descent",
		},
		{
			Field: "Loss", Name: "loss", Value: option.OneOf(&s.Loss), PaperOnly: true,
			Equation: "Eqs. loss_1, loss_fz",
			Meaning:  "form of the consistency loss: mixed is Eq. loss_1, direct Eq. loss_fz",
		},
		{
			Field: "WithoutSingle", Name: "single", Value: option.Off(&s.WithoutSingle), PaperOnly: true,
			Equation: "Eqs. loss_1, loss_fz",
			Meaning:  "the term of Fsingle in the consistency loss",
		},
		{
			Field: "WithoutCross", Name: "cross", Value: option.Off(&s.WithoutCross), PaperOnly: true,
			Equation: "Eqs. loss_1, loss_fz",
			Meaning:  "the term of Fcross in the consistency loss",
		},
		{
			Field: "WithoutConstraint", Name: "constraint", Value: option.Off(&s.WithoutConstraint), PaperOnly: true,
			Equation: "Eq. loss_2",
			Meaning:  "the constraint loss",
		},
		{
			Field: "Untrained", Name: "training", Value: option.Off(&s.Untrained), PaperOnly: true,
			Equation: "Eq. loss_all",
			Meaning:  "off keeps the straight lines from which learning starts",
		},
	}
}

// Resolve fills in the defaults and checks the ranges. It leaves Segments at 0,
// whose meaning depends on the number of pairs.
func (s *Settings) Resolve() error { return option.Resolve(s.Parameters()) }

// defaultSegments returns the number of segments for a training set of the given
// size.
func defaultSegments(pairs int) int { return max(100, min(pairs/50, 1000)) }

// ends returns how many of a view's lowest and highest segments are drawn to 0 and
// 1. A view with few distinct similarities has few segments, and the two ends must
// not meet.
func (s Settings) ends(segments int) (low, high int) {
	limit := min(segments/2, max(1, segments/4))
	return max(0, min(s.Low, limit)), max(0, min(s.High, limit))
}
