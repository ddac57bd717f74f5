// Package paper runs the experiments of the paper of SLS-MPC on the sets of data
// that are there, and writes a page that holds the paper's figures against ours.
//
// An Experiment is a table or a figure of the paper: cells, each of which is a Setup
// that is run with several seeds. The same setup serves several experiments and is
// run once. What was run is kept in Results, so that a later call does not run it
// again.
package paper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/param"
	"github.com/mvclust/mvclust/method/similarity"
)

// Method says how a run comes by the probability of a pair.
type Method string

const (
	// SelfLearning is the method of the paper.
	SelfLearning Method = ""
	// PseudoLabels fits every view's function, by isotonic regression, on the
	// clusters that k-means finds in the view, given the true number of classes: how
	// MPC, the predecessor of SLS-MPC, does it.
	PseudoLabels Method = "pseudo labels"
	// Oracle fits every view's function on the true classes: a bound for all
	// learning of functions.
	Oracle Method = "oracle"
	// TrueNeighbours gives the candidate pairs the probability 1 where they are of
	// one class and 0 elsewhere, and refines and partitions as usual: a bound for all
	// estimates of probabilities.
	TrueNeighbours Method = "true neighbours"
)

// sentence says what the method does, for the page.
func (m Method) sentence() string {
	switch m {
	case PseudoLabels:
		return "functions fitted on the clusters of k-means in each view, which is told the number of classes"
	case Oracle:
		return "functions fitted on the true classes"
	case TrueNeighbours:
		return "candidate pairs weighted 1 or 0 by the true classes"
	default:
		return ""
	}
}

// Setup is all that decides a run but the seed.
type Setup struct {
	// File is the set's file in the folder.
	File string `json:"file"`
	// Views are the views that are used, in order, counted from 0; nil for all.
	Views []int `json:"views,omitempty"`
	// Missing is the share of the samples that is made to lack each of these views,
	// no sample lacking two; nil for none.
	Missing []float64 `json:"missing,omitempty"`
	// Method says how the run comes by its probabilities.
	Method Method `json:"method,omitempty"`
	// Settings are settings NAME=VALUE in the words of "mvclust fit": neighbors and
	// metric are flags there, all others are given by --param.
	Settings []string `json:"settings,omitempty"`
}

// With returns the setup with the given settings, which replace those of the same
// name.
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

// key tells setups apart whose runs may differ. The order of the settings, of which
// no two have one name, does not matter.
func (s Setup) key() string {
	s.Settings = slices.Sorted(slices.Values(s.Settings))
	text, _ := json.Marshal(s) // strings and finite numbers can always be written
	return string(text)
}

// options returns the options of mvclust.Fit.
func (s Setup) options(seed uint64) (mvclust.Options, error) {
	opt := mvclust.Options{Preset: mvclust.Paper, Seed: seed}
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

// command returns the command line that runs the setup, but for the views that are
// taken away and the method, which lacking and Method.sentence tell.
func (s Setup) command() string {
	words := []string{"mvclust fit", s.File}
	if s.Views != nil {
		words = append(words, "--views", numbers(s.Views))
	}
	for _, word := range s.Settings {
		name, value, _ := strings.Cut(word, "=")
		if name == "neighbors" || name == "metric" {
			words = append(words, "--"+name, value)
		} else {
			words = append(words, "--param", word)
		}
	}
	return strings.Join(words, " ")
}

// lacking says which shares of the samples lack which views.
func (s Setup) lacking() string {
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

func numbers(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}

// Figures are figures of the paper, in percent.
type Figures map[Metric]float64

// Cell is a row of an experiment's table: a setup, and what it is held against.
type Cell struct {
	// Group is the set of data with the choice of its views, and Label what the cell
	// is about within the group.
	Group, Label string
	Setup        Setup
	// Seeds is how often the setup is run, with the seeds 0, 1 and so on, which draw
	// the samples that lack a view and all that the method draws. 0 stands for
	// DefaultSeeds.
	Seeds int
	// Reason says why the cell cannot be run; it is empty where it can.
	Reason string
	// Paper holds the paper's figures for the cell, nil where it has none.
	Paper Figures
	// Beside marks a cell that the paper's figures stand beside for comparison,
	// though they are of other data or another method; it is not counted.
	Beside bool
	// Against, if not nil, is the setup that the cell is held against in place of
	// the paper.
	Against *Setup
	// X is the cell's place on the horizontal axis of a figure.
	X float64
}

// DefaultSeeds is the number of seeds of a cell.
const DefaultSeeds = 5

func (c *Cell) seeds() int {
	if c.Seeds == 0 {
		return DefaultSeeds
	}
	return c.Seeds
}

// Plot is a kind of figure.
type Plot int

const (
	// NoPlot is no figure.
	NoPlot Plot = iota
	// ScorePlot draws the scores over Cell.X, a panel for each group.
	ScorePlot
	// LossPlot draws beside these panels the loss by epoch.
	LossPlot
	// FunctionPlot draws the views' probability functions, a panel for each view.
	FunctionPlot
)

// Experiment is a table or a figure of the paper.
type Experiment struct {
	// ID names the experiment, and the file of its figure.
	ID string
	// Title is the heading, Source what in the paper it stands for, empty where there
	// is nothing, and Text says what to see.
	Title, Source, Text string
	// Columns are the columns of the table.
	Columns []Metric
	// Reading says what the numbers of an entry are where cells are held against
	// another setup; it is empty where it is the paper.
	Reading string
	// Tolerance, where it is above 0, is how much ARI, in percent, a cell may lose
	// against the other setup.
	Tolerance float64
	Cells     []Cell
	// Plot is the kind of the figure, and XLabel names its horizontal axis.
	Plot   Plot
	XLabel string
}

// detailed reports whether the figure needs more of a run than its scores.
func (e *Experiment) detailed() bool { return e.Plot == LossPlot || e.Plot == FunctionPlot }
