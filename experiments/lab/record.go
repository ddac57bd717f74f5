package lab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/score"
)

// Record is one run of a setup with a seed, and what came of it.
type Record struct {
	Setup Setup  `json:"setup"`
	Seed  uint64 `json:"seed"`
	// Version is that of mvclust, SHA256 that of the set's file, and Machine, where times are
	// what is measured, what was measured on: a record of others counts for nothing. Date is
	// the day.
	Version string `json:"version"`
	SHA256  string `json:"sha256,omitempty"`
	Machine string `json:"machine,omitempty"`
	Date    string `json:"date"`

	// Reason says why it could not be run; then there is nothing else. Lasting says that it is
	// not tried again.
	Reason  string `json:"reason,omitempty"`
	Lasting bool   `json:"lasting,omitempty"`
	// Seconds are the times that the run took, in order.
	Seconds []float64 `json:"seconds,omitempty"`
	// Peak is the most memory in bytes: of a process, or that the Go heap grew by in the
	// first run; 0 where unknown.
	Peak   int64         `json:"peak,omitempty"`
	Scores *score.Scores `json:"scores,omitempty"`
	// Large counts the clusters of at least LargeCluster samples, and Incomplete the samples
	// that lack a view.
	Large      int `json:"large,omitempty"`
	Incomplete int `json:"incomplete,omitempty"`
	// Labels are the clusters that were found; nil where nobody asks for them.
	Labels Labels `json:"labels,omitempty"`
	// Values are other numbers, by name, one for each of Seconds; Words what else is told.
	Values map[string][]float64 `json:"values,omitempty"`
	Words  map[string]string    `json:"words,omitempty"`
	// Loss is the loss of the functions that the run used, nil where none was lowered, and
	// Epoch the one that it is of.
	Loss  *probability.Losses `json:"loss,omitempty"`
	Epoch int                 `json:"epoch,omitempty"`
	// Detail is what figures need; nil where none needs it.
	Detail *Detail `json:"detail,omitempty"`
}

// Detail holds a part of the points of the curves of a run, enough to draw them.
type Detail struct {
	// Epochs and Losses are the curve of the whole loss.
	Epochs []float64 `json:"epochs,omitempty"`
	Losses []float64 `json:"losses,omitempty"`
	// Functions are the views' probability functions.
	Functions []probability.Function `json:"functions,omitempty"`
}

// LargeCluster is the number of samples from which a cluster counts in Record.Large.
const LargeCluster = 3

// Set keeps a number of the present run.
func (r *Record) Set(name string, x float64) {
	if r.Values == nil {
		r.Values = make(map[string][]float64)
	}
	r.Values[name] = append(r.Values[name], Round(x))
}

// Value returns a number of the run whose time is the median; 0 where there is none.
func (r *Record) Value(name string) float64 {
	list := r.Values[name]
	if at := r.middle(); at < len(list) {
		return list[at]
	}
	return 0
}

// middle returns which run's time is the median: the lower of two.
func (r *Record) middle() int {
	return slices.Index(r.Seconds, r.Median())
}

// Median returns the time in the middle, the lower of the two of an even number; 0 where
// there is none.
func (r *Record) Median() float64 {
	if r == nil || len(r.Seconds) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.Seconds))[(len(r.Seconds)-1)/2]
}

// Best returns the least of the times, 0 where there is none.
func (r *Record) Best() float64 {
	if r == nil || len(r.Seconds) == 0 {
		return 0
	}
	return slices.Min(r.Seconds)
}

// Records are those of a setup's seeds, at least one.
type Records []*Record

// Number is a mean over seeds with the standard deviation, 0 for a single one.
type Number struct {
	Mean, Deviation float64
	Count           int
}

// Of returns the mean of a metric.
func (list Records) Of(of Metric) Number {
	n := Number{Count: len(list)}
	for _, r := range list {
		n.Mean += of.Of(r) / float64(len(list))
	}
	if len(list) > 1 {
		for _, r := range list {
			d := of.Of(r) - n.Mean
			n.Deviation += d * d
		}
		n.Deviation = math.Sqrt(n.Deviation / float64(len(list)-1))
	}
	return n
}

// Write writes the mean, with the deviation where it is of several seeds.
func (n Number) Write(decimals int) string {
	s := strconv.FormatFloat(n.Mean, 'f', decimals, 64)
	if n.Count > 1 {
		s += " ± " + strconv.FormatFloat(n.Deviation, 'f', decimals, 64)
	}
	return s
}

// format marks what a Store writes.
const format = "mvclust experiments 1"

// Store keeps records in a file, so that nothing is run twice.
type Store struct {
	path    string
	records map[string]*Record
}

// OpenStore reads the records at path, none where there is no file or fresh is true.
func OpenStore(path string, fresh bool) (*Store, error) {
	s := &Store{path, make(map[string]*Record)}
	if fresh {
		return s, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Format  string    `json:"format"`
		Records []*Record `json:"records"`
	}
	if err = json.Unmarshal(text, &file); err == nil && file.Format != format {
		err = fmt.Errorf("its format is %q in place of %q", file.Format, format)
	}
	for i, r := range file.Records {
		if err == nil && !r.sound() {
			err = fmt.Errorf("record %d (counted from 0) is no result of a run", i)
		}
		if err == nil {
			s.Add(r)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s has no records of experiments: %w; move it away, or replace it with --fresh", path, err)
	}
	return s, nil
}

// sound reports whether a record that was read can be one that was written.
func (r *Record) sound() bool {
	if r == nil || r.Setup.File != "" && r.Setup.Synth != nil || (r.Reason == "") == (len(r.Seconds) == 0) || r.Best() < 0 {
		return false
	}
	if s := r.Scores; s != nil {
		for _, x := range []float64{s.PairwisePrecision, s.PairwiseRecall, s.PairwiseF, s.BCubedPrecision, s.BCubedRecall, s.BCubedF, s.NMI, s.ACC} {
			if x < 0 || x > 1 {
				return false
			}
		}
		if s.Samples < 1 || s.Clusters < 1 || s.ARI < -1 || s.ARI > 1 {
			return false
		}
	}
	if d := r.Detail; d != nil {
		return len(d.Epochs) == len(d.Losses) && !slices.ContainsFunc(d.Functions, func(f probability.Function) bool { return len(f.X) != len(f.P) })
	}
	return true
}

func (r *Record) key() string { return recordKey(r.Setup, r.Seed) }

func recordKey(s Setup, seed uint64) string { return fmt.Sprint(seed, " ", s.Key()) }

// Add adds a record, in the place of one of the same setup and seed.
func (s *Store) Add(r *Record) { s.records[r.key()] = r }

// find returns the record of a setup, nil where there is none that counts. With any, all count.
func (s *Store) find(setup Setup, seed uint64, sha256, machine string, detailed, all bool) *Record {
	r := s.records[recordKey(setup, seed)]
	if r == nil || !all && (r.Version != mvclust.Version || r.SHA256 != sha256 || r.Machine != machine || detailed && r.Detail == nil) {
		return nil
	}
	return r
}

// save writes the records, one to a line.
func (s *Store) save() error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	fmt.Fprintf(&b, "{\"format\": %q, \"records\": [", format)
	sorted := slices.SortedFunc(maps.Values(s.records), func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Setup.Key(), b.Setup.Key()), cmp.Compare(a.Seed, b.Seed))
	})
	for i, r := range sorted {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := e.Encode(r); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line break that Encode adds
	}
	b.WriteString("\n]}\n")
	return WriteFile(s.path, b.Bytes())
}

// Round keeps five digits, more than any clock here is good for.
func Round(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return rounded
}
