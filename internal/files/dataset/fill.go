package dataset

import (
	"fmt"
	"strings"

	"github.com/mvclust/mvclust/method/view"
)

// filler makes a view of values.
type filler func(name string, samples, dims int, data []float32) (*view.View, error)

// fills returns, by view, what makes the view of its values: view.New, or what fills in or leaves
// the values that are missing.
func fills(chosen []*candidate, opt Options) ([]filler, error) {
	out := make([]filler, len(chosen))
	for i := range out {
		if out[i] = view.New; opt.Gaps {
			out[i] = view.WithGaps
		}
	}
	for _, asked := range opt.Fill {
		name, word := "", asked
		if at := strings.LastIndexByte(asked, '='); at >= 0 {
			name, word = asked[:at], asked[at+1:]
		}
		how, err := view.ParseFill(word)
		if err != nil {
			return nil, fmt.Errorf("--fill: %w", err)
		}
		do := func(name string, samples, dims int, data []float32) (*view.View, error) {
			return view.NewFilled(name, samples, dims, data, how)
		}
		if name != "" {
			k, err := matches(chosen, name, "--fill")
			if err != nil {
				return nil, err
			}
			out[k] = do
			continue
		}
		for k := range out {
			out[k] = do
		}
	}
	return out, nil
}
