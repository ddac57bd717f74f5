// Package lab is what all experiments have in common: one kind of run (a Setup), one
// of result (a Record, kept in a Store) and one of page.
//
// An experiment is a list of cases. A Case has setups, which are run in turn so that their
// times may be compared, with several seeds. What the store has is not run again.
package lab

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/param"
	"github.com/mvclust/mvclust/method/similarity"
)

// Setup is all that decides a run but the seed.
type Setup struct {
	// File is the set's file in the folder, with slashes, and Index its array that lists the
	// samples of every view, or empty.
	File  string `json:"file,omitempty"`
	Index string `json:"index,omitempty"`
	// Synth makes a set in place of a file; nil for none.
	Synth *Synth `json:"synth,omitempty"`
	// Views are the views that are used, in order, counted from 0; nil for all.
	Views []int `json:"views,omitempty"`
	// Missing is the share of the samples that is made to lack each of these views, no
	// sample lacking two; nil for none. Spare gives a sample its view back that would be
	// left with nothing but zeros.
	Missing []float64 `json:"missing,omitempty"`
	Spare   bool      `json:"spare,omitempty"`
	// Noise is the number of dimensions of one more view of independent Gaussian values.
	Noise int `json:"noise,omitempty"`
	// Method says what is run.
	Method Method `json:"method,omitempty"`
	// Settings are settings NAME=VALUE in the words of "mvclust fit": neighbors and metric
	// are flags there, all others are given by --param.
	Settings []string `json:"settings,omitempty"`
}

// Synth is a synthetic set: classes of heavy-tailed sizes, whose number grows with that of
// the samples.
type Synth struct {
	Samples int `json:"samples"`
	Views   int `json:"views"`
	Dims    int `json:"dims"`
}

// How synthetic sets are made. The space that the views look at stays as it is at all sizes,
// and fills with classes: at 100,000 samples the 20 nearest neighbours in one view are of the
// sample's class in 84 of 100 cases.
const (
	PerClass  = 50 // mean size of a class
	Imbalance = 0.7
	Noise     = 0.5
)

// Classes returns the number of classes.
func (s *Synth) Classes() int { return max(2, s.Samples/PerClass) }

// With returns the setup with the given settings, which replace those of the same name.
func (s Setup) With(settings ...string) Setup {
	s.Settings = slices.Clone(s.Settings)
	for _, word := range settings {
		name, _, _ := strings.Cut(word, "=")
		at := slices.IndexFunc(s.Settings, func(w string) bool { return strings.HasPrefix(w, name+"=") })
		if at < 0 {
			s.Settings = append(s.Settings, word)
		} else {
			s.Settings[at] = word
		}
	}
	return s
}

// By returns the setup with another method.
func (s Setup) By(m Method) Setup {
	s.Method = m
	return s
}

// Lacking returns the setup with views missing.
func (s Setup) Lacking(missing ...float64) Setup {
	s.Missing = missing
	return s
}

// Key tells setups apart whose runs may differ. The order of the settings, of which no two
// have one name, does not matter.
func (s Setup) Key() string {
	s.Settings = slices.Sorted(slices.Values(s.Settings))
	text, _ := json.Marshal(s) // strings and finite numbers can always be written
	return string(text)
}

// data tells sets apart.
func (s Setup) data() string {
	return Setup{File: s.File, Index: s.Index, Synth: s.Synth}.Key()
}

// Options returns the options of mvclust.Fit: those of the default mode for the method
// Default, and else those of the paper's.
func (s Setup) Options(seed uint64) (mvclust.Options, error) {
	opt := mvclust.Options{Preset: mvclust.Paper, Seed: seed}
	if s.Method == Default {
		opt.Preset = mvclust.Auto
	}
	for _, word := range s.Settings {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "neighbors":
			k, err := strconv.Atoi(value)
			if err != nil {
				return opt, fmt.Errorf("--neighbors: %q is not a whole number", value)
			}
			opt.Neighbours = k
		case "metric":
			m, err := similarity.ParseMetric(value)
			if err != nil {
				return opt, fmt.Errorf("--metric: %w", err)
			}
			opt.Metrics = []similarity.Metric{m}
		default:
			if err := param.Apply(&opt, word); err != nil {
				return opt, err
			}
		}
	}
	return opt, nil
}

// Arguments returns the settings as arguments of "mvclust fit".
func (s Setup) Arguments() []string {
	var words []string
	if s.Views != nil {
		words = append(words, "--views", strings.ReplaceAll(Numbers(s.Views), " ", ""))
	}
	if s.Method != Default {
		words = append(words, "--preset", "paper")
	}
	for _, word := range s.Settings {
		if name, value, _ := strings.Cut(word, "="); name == "neighbors" || name == "metric" {
			words = append(words, "--"+name, value)
		} else {
			words = append(words, "--param", word)
		}
	}
	return words
}

// Name returns the name of the set: its file without the extension.
func (s Setup) Name() string { return strings.TrimSuffix(s.File, path.Ext(s.File)) }

// Numbers writes a list of numbers.
func Numbers(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

// Lacks says which shares of the samples lack which views.
func (s Setup) Lacks() string {
	var parts []string
	for m, share := range s.Missing {
		if share == 0 {
			continue
		}
		v := m
		if s.Views != nil {
			v = s.Views[m]
		}
		parts = append(parts, fmt.Sprintf("%g%% lack view %d", 100*share, v))
	}
	return strings.Join(parts, ", ")
}
