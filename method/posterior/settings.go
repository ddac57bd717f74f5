package posterior

import "github.com/mvclust/mvclust/internal/option"

// Settings steer the fusion. The zero value fuses as the paper does.
type Settings struct {
	// Fusion is the way to make one probability of several.
	Fusion Fusion `json:"fusion"`
	// Completion estimates a view that one of the samples lacks from two or more
	// others, Eqs. f_joint_com1 to f_joint_com3.
	Completion bool `json:"completion"`
	// Clip keeps a view's probability within [Clip, 1-Clip], so that no view
	// decides alone. 0 stands for DefaultClip.
	Clip float64 `json:"clip"`
}

// DefaultClip is the default of Settings.Clip. It bounds the log-odds of one view to 3.9;
// docs/method.md has the figures behind it.
const DefaultClip = 0.02

// Parameters returns a description of every setting, with a pointer to its field in s.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Fusion", Name: "fusion", Value: option.OneOf(&s.Fusion),
			Equation: "Eq. p_bayesian_new",
			Meaning:  "how a pair's views become one probability; asymmetric is Eq. p_bayesian; the automatic preset takes pooled for symmetric",
		},
		{
			Field: "Completion", Name: "completion", Value: option.On(&s.Completion), PaperOnly: true,
			Equation: "Eqs. f_joint_com1-3",
			Meaning:  "estimates a view that a sample lacks from two or more others",
		},
		{
			Field: "Clip", Name: "function-clip", Value: option.Number(&s.Clip, DefaultClip, 1e-12, 0.49),
			Equation: "Eq. p_bayesian_new",
			Meaning:  "keeps a view's probability within [c, 1-c]",
		},
	}
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error { return option.Resolve(s.Parameters()) }
