package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// outputOptions say where a command leaves its files and what it prints.
type outputOptions struct {
	output string // the folder; empty for a command that leaves no files
	json   bool
	quiet  bool
	// progressJSON says that progress is reported as lines of JSON.
	progressJSON bool
	// csvSafe says that no id in a file of comma-separated rows is a formula.
	csvSafe bool
}

// folderFlag defines --output.
func (o *outputOptions) folderFlag(f *pflag.FlagSet, standard, files string) {
	f.StringVarP(&o.output, "output", "o", standard, "folder `DIR` for "+files+", made where it is missing")
}

// csvSafeFlag defines --csv-safe.
func (o *outputOptions) csvSafeFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.csvSafe, "csv-safe", false, "write ' before ids that a spreadsheet would take for formulas, which begin with =, +, -, @, tab or a line break; --format csv alone")
}

// progressFlag defines --progress-json.
func (o *outputOptions) progressFlag(f *pflag.FlagSet) {
	f.BoolVar(&o.progressJSON, "progress-json", false, "report progress to standard error as lines of JSON, for other programs to show")
}

// notFormula returns an id with ' before it if a spreadsheet would take it for a formula.
func notFormula(id string) string {
	if id != "" && strings.ContainsRune("=+-@\t\r\n", rune(id[0])) {
		return "'" + id
	}
	return id
}

// job is one run of a command. It reads, works, stages its files, and commits them together.
type job struct {
	outputOptions
	ctx      context.Context
	out      io.Writer
	progress *progress // nil under --quiet
	dir      *folder   // nil where no file is written
	opening  sync.Mutex
	inputs   []string // the files that were opened, which no output may replace
	model    string   // the model that was opened, which only a model may replace
	started  time.Time
	lapped   time.Time
	stages   []stageReport
	ends     []func()
}

// begin makes the output folder and starts to report progress. The caller must close the job.
func begin(ctx context.Context, out, stderr io.Writer, o outputOptions) (*job, error) {
	now := time.Now()
	j := &job{outputOptions: o, ctx: ctx, out: out, started: now, lapped: now}
	if !o.quiet {
		j.progress = newProgress(stderr, o.progressJSON)
		j.atEnd(j.progress.close)
		j.atEnd(onAbandon(ctx, func() error { j.progress.close(); return nil }))
	}
	if o.output != "" {
		dir, err := openFolder(ctx, o.output)
		if err != nil {
			j.close()
			return nil, err
		}
		j.dir = dir
		j.atEnd(dir.close)
	}
	return j, nil
}

// atEnd has end called when the job is closed, the latest first.
func (j *job) atEnd(end func()) { j.ends = append(j.ends, end) }

// close removes what was not committed.
func (j *job) close() {
	for _, end := range slices.Backward(j.ends) {
		end()
	}
}

// lap ends a stage, which began where the one before ended.
func (j *job) lap(stage string) {
	now := time.Now()
	j.stages = append(j.stages, stageReport{stage, now.Sub(j.lapped).Seconds()})
	j.lapped = now
}

// seconds returns how long the job has taken so far.
func (j *job) seconds() float64 { return time.Since(j.started).Seconds() }

// during runs a step that cannot tell how far it is.
func (j *job) during(doing, unit string, do func() error) error {
	j.progress.update(doing, unit, 0, 1, 0)
	err := do()
	if err == nil {
		j.progress.update(doing, unit, 1, 1, 0)
	}
	return err
}

// path returns the path of an output file.
func (j *job) path(name string) string { return filepath.Join(j.output, name) }

// opened adds files to the inputs.
func (j *job) opened(paths ...string) {
	j.opening.Lock()
	defer j.opening.Unlock()
	j.inputs = append(j.inputs, paths...)
}

// reserve reports an error where an output file would replace an input, or something that is
// no file.
func (j *job) reserve(names ...string) error {
	j.opening.Lock()
	defer j.opening.Unlock()
	for _, name := range names {
		inputs := j.inputs
		if j.model != "" && name != modelFile {
			inputs = append(slices.Clone(inputs), j.model)
		}
		if err := j.dir.spare(name, inputs); err != nil {
			return err
		}
	}
	return nil
}

// noteOld notes which of the named files are left from an earlier run.
func (j *job) noteOld(names ...string) {
	for _, name := range names {
		if j.dir.has(name) && j.reserve(name) == nil {
			j.progress.note(fmt.Sprintf("%s is from an earlier run and is left unchanged", j.path(name)))
		}
	}
}

// stage writes a file, which gets its name in finish.
func (j *job) stage(name string, content func(io.Writer) error) error {
	if err := j.reserve(name); err != nil {
		return err
	}
	return j.dir.stage(j.ctx, name, content)
}

// beside does something while the job goes on to other things. The job must receive the error before it
// ends.
func (j *job) beside(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// stageCSV writes a file of comma-separated rows, the first of which is the header, if any; ids come first.
func (j *job) stageCSV(name string, header []string, rows int, row func(i int) []string) error {
	return j.stage(name, func(w io.Writer) error {
		c := csv.NewWriter(w)
		if header != nil {
			if err := c.Write(header); err != nil {
				return err
			}
		}
		for i := range rows {
			cells := row(i)
			for k := range cells {
				if j.csvSafe && (k == 0 || header == nil) { // an id, as all are where there is no header
					cells[k] = notFormula(cells[k])
				}
			}
			if err := c.Write(cells); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}

// idOf returns the id of a sample: its own, or its row where samples have none.
func idOf(ids []string, i int) string {
	if ids == nil {
		return strconv.Itoa(i)
	}
	return ids[i]
}

// share writes a number from 0 to 1 for a table.
func share(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// finish writes the report to the named file, if any, commits all files, and prints the
// report as JSON or the summary.
func (j *job) finish(name string, report any, summary string) error {
	text, err := encode(report)
	if err != nil {
		return err
	}
	if name != "" {
		err := j.stage(name, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
	}
	if j.dir != nil {
		if err := j.dir.commit(); err != nil {
			return err
		}
	}
	j.progress.close()
	switch {
	case j.json:
		_, err = j.out.Write(text)
	case !j.quiet:
		_, err = io.WriteString(j.out, summary)
	}
	return printing(err)
}

// printing wraps an error of standard output.
func printing(err error) error {
	if err != nil {
		return fmt.Errorf("the output cannot be printed: %w", cause(err))
	}
	return nil
}

// show prints the figures as JSON, or the text.
func show(out io.Writer, asJSON bool, figures any, text string) error {
	j := &job{outputOptions: outputOptions{json: asJSON}, out: out}
	return j.finish("", figures, text)
}
