package paper

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mvclust/mvclust"
)

// format marks what Results writes.
const format = "mvclust bench paper 1"

// Results are the runs that were done, so that none is done twice.
type Results struct {
	runs map[string]*Run
}

// NewResults returns no runs.
func NewResults() *Results { return &Results{make(map[string]*Run)} }

// ParseResults reads what Report.JSON or Plan.Save wrote.
func ParseResults(text []byte) (*Results, error) {
	var file struct {
		Format string `json:"format"`
		Runs   []*Run `json:"runs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if file.Format != format {
		return nil, fmt.Errorf("its format is %q in place of %q", file.Format, format)
	}
	r := NewResults()
	for i, run := range file.Runs {
		if run == nil || !run.sound() {
			return nil, fmt.Errorf("run %d (counted from 0) is no result of a run", i)
		}
		r.add(run)
	}
	return r, nil
}

// sound reports whether a run that was read can be one that was written.
func (r *Run) sound() bool {
	s := &r.Scores
	for _, x := range []float64{
		s.PairwisePrecision, s.PairwiseRecall, s.PairwiseF, s.BCubedPrecision, s.BCubedRecall, s.BCubedF, s.NMI, s.ACC,
	} {
		if x < 0 || x > 1 {
			return false
		}
	}
	if d := r.Detail; d != nil {
		if len(d.Epochs) != len(d.Losses) {
			return false
		}
		for _, f := range d.Functions {
			if len(f.X) != len(f.P) {
				return false
			}
		}
	}
	return r.Setup.File != "" && s.Samples > 0 && s.Clusters > 0 && s.ARI >= -1 && s.ARI <= 1 && r.Seconds >= 0
}

func runKey(s Setup, seed uint64) string { return fmt.Sprint(seed, " ", s.key()) }

func (r *Results) add(run *Run) { r.runs[runKey(run.Setup, run.Seed)] = run }

// find returns a run of this version on this data, or nil.
func (r *Results) find(s Setup, seed uint64, sha256 string, detailed bool) *Run {
	run := r.runs[runKey(s, seed)]
	if run == nil || run.Version != mvclust.Version || run.SHA256 != sha256 || detailed && run.Detail == nil {
		return nil
	}
	return run
}

// prune drops the runs on sets that are there which no report asked for.
func (r *Results) prune(there func(file string) bool, asked map[*Run]bool) {
	for key, run := range r.runs {
		if there(run.Setup.File) && !asked[run] {
			delete(r.runs, key)
		}
	}
}

// json returns the runs as JSON, one to a line, after what made them and the cells
// that they are for, both of which may be nil.
func (r *Results) json(made *Made, cells []any) ([]byte, error) {
	sorted := slices.SortedFunc(maps.Values(r.runs), func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Setup.key(), b.Setup.key()), cmp.Compare(a.Seed, b.Seed))
	})
	var runs []any
	for _, run := range sorted {
		runs = append(runs, run)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	put := func(x any) error {
		if err := e.Encode(x); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line break that Encode adds
		return nil
	}
	fmt.Fprintf(&b, "{\n\"format\": %q", format)
	if made != nil {
		b.WriteString(",\n\"made\": ")
		if err := put(made); err != nil {
			return nil, err
		}
	}
	for _, part := range []struct {
		name string
		list []any
	}{{"cells", cells}, {"runs", runs}} {
		fmt.Fprintf(&b, ",\n%q: [", part.name)
		for i, x := range part.list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
			if err := put(x); err != nil {
				return nil, err
			}
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}
