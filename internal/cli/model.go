package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
)

// modelFile is the name of the model in a folder of results.
const modelFile = "model.mvclust"

// openModel reads the model of a folder that fit has written, or the file itself, and
// returns the path of the file too. A folder that a killed run has left is put right first.
func openModel(ctx context.Context, path string) (*mvclust.Model, string, error) {
	info, err := os.Stat(path)
	whole := err == nil && info.IsDir()
	if whole {
		path = filepath.Join(path, modelFile)
		info, err = os.Stat(path)
	}
	if err == nil && !info.Mode().IsRegular() { // opening it may wait for ever
		return nil, path, fmt.Errorf("%s is not a regular file; name a folder that \"mvclust fit\" has written, or the model.mvclust in it", path)
	}
	const tries = 3 // the files may be replaced between two looks
	for try := 1; ; try++ {
		m, err := readModel(ctx, path, whole)
		if _, mixed := errors.AsType[*mixedError](err); !mixed || try == tries {
			return m, path, err
		}
	}
}

// readModel is openModel for a file; whole says that it must be of one run with the report
// beside it.
func readModel(ctx context.Context, path string, whole bool) (*mvclust.Model, error) {
	if err := recoverToRead(ctx, filepath.Dir(path)); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file; name a folder that \"mvclust fit\" has written, or the model.mvclust in it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	checked := make(chan error, 1)
	go func() { // beside the reading, which takes about as long
		if whole && info.Mode().IsRegular() {
			checked <- checkDigest(file, path)
		} else {
			checked <- nil
		}
	}()
	m, err := mvclust.ReadModel(file, info.Size())
	if mixed := <-checked; mixed != nil {
		return nil, mixed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// mixedError says that a model is not the one that the report beside it names.
type mixedError struct{ path, report string }

func (e *mixedError) Error() string {
	return fmt.Sprintf("%s is not the model that %s beside it names: files of several runs were mixed, or one was changed; run \"mvclust fit\" again, or name the file %s itself to use it as it is", e.path, e.report, e.path)
}

// checkDigest reports a *mixedError if reports beside the model have the digest of a model,
// and none has that of this one.
func checkDigest(file *os.File, path string) error {
	report := ""
	var named []string
	for _, name := range []string{updateFile, runFile} {
		if digest := namedModel(filepath.Join(filepath.Dir(path), name)); digest != "" {
			report, named = name, append(named, digest)
		}
	}
	if len(named) == 0 {
		return nil // written by an older version, or alone
	}
	own, err := digest(io.NewSectionReader(file, 0, math.MaxInt64))
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	if !slices.Contains(named, own) {
		return &mixedError{path, report}
	}
	return nil
}

// mostReport bounds the bytes of a report that is looked at.
const mostReport = 1 << 30

// namedModel returns the digest of the model that a report names; empty where it names none.
func namedModel(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostReport {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var report struct {
		Files map[string]string `json:"files"`
	}
	if json.Unmarshal(text, &report) != nil {
		return ""
	}
	return report.Files[modelFile]
}

// fit clusters and stages the model. Its rows are written before the fit, which drops
// them.
func (j *job) fit(set *dataset.Set, opt mvclust.Options) (*mvclust.Result, error) {
	if err := j.reserve(modelFile); err != nil {
		return nil, err
	}
	file, err := j.dir.create(j.ctx, modelFile)
	if err != nil {
		return nil, err
	}
	defer file.abandon()
	w := mvclust.NewModelWriter(file)
	for _, v := range set.Views {
		if err := w.Rows(v); err != nil {
			return nil, file.close(err)
		}
	}
	opt.Progress = func(s mvclust.Progress) {
		doing, unit := stageWords(s.Stage)
		j.progress.update(doing, unit, s.Done, s.Total, s.Share)
	}
	result, err := mvclust.Fit(j.ctx, set.Views, opt)
	if err != nil {
		return nil, err
	}
	return result, file.close(w.Finish(mvclust.NewModel(set.Views, result, set.IDs)))
}
