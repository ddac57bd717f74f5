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
	"github.com/mvclust/mvclust/internal/files/npy"
)

// modelFile is the name of the model in a folder of results.
const modelFile = "model.mvclust"

// openModel reads the model of a folder that fit has written, or the file itself, and
// returns the path of the file too. A folder that a killed run has left is put right first.
func openModel(ctx context.Context, path string) (*mvclust.Model, string, error) {
	m, file, path, err := openWith(ctx, path, mvclust.ReadModel)
	if err == nil {
		_ = file.Close()
	}
	return m, path, err
}

// openWith is openModel by a function such as mvclust.OpenModel, and leaves the file open.
func openWith(ctx context.Context, path string, read modelReader) (*mvclust.Model, *os.File, string, error) {
	info, err := os.Stat(path)
	whole := err == nil && info.IsDir()
	if whole {
		path = filepath.Join(path, modelFile)
		info, err = os.Stat(path)
	}
	if err == nil && !info.Mode().IsRegular() { // opening it may wait for ever
		return nil, nil, path, fmt.Errorf("%s is not a regular file; name a folder that \"mvclust fit\" has written, or the model.mvclust in it", path)
	}
	const tries = 3 // the files may be replaced between two looks
	for try := 1; ; try++ {
		m, file, err := readModel(ctx, path, whole, read)
		if _, mixed := errors.AsType[*mixedError](err); !mixed || try == tries {
			return m, file, path, err
		}
	}
}

// modelReader is mvclust.ReadModel, OpenCurrent or OpenModel.
type modelReader func(r io.ReaderAt, size int64) (*mvclust.Model, error)

// checked returns a reader that first passes what the file holds to check.
func checked(read modelReader, check func(*mvclust.ModelInfo) error) modelReader {
	return func(r io.ReaderAt, size int64) (*mvclust.Model, error) {
		info, err := mvclust.StatModel(r, size)
		if err == nil {
			err = check(info)
		}
		if err != nil {
			return nil, err
		}
		return read(r, size)
	}
}

// readModel is openWith for a file; whole says that it must be of one run with the report
// beside it.
func readModel(ctx context.Context, path string, whole bool, read modelReader) (m *mvclust.Model, file *os.File, err error) {
	if err := recoverToRead(ctx, filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	file, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: there is no such file; name a folder that \"mvclust fit\" has written, or the model.mvclust in it", path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	checked := make(chan error, 1)
	go func() { // beside the reading, which may take as long
		if whole && info.Mode().IsRegular() {
			checked <- checkDigest(file, info.Size(), path)
		} else {
			checked <- nil
		}
	}()
	m, err = read(file, info.Size())
	if mixed := <-checked; mixed != nil {
		return nil, nil, mixed
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, file, nil
}

// mixedError says that a model is not the one that the report beside it names.
type mixedError struct{ path, report string }

func (e *mixedError) Error() string {
	return fmt.Sprintf("%s is not the model that %s beside it names: files of several runs were mixed, or one was changed; run \"mvclust fit\" again, or name the file %s itself to use it as it is", e.path, e.report, e.path)
}

// checkDigest reports a *mixedError if reports beside the model have the digest of a model,
// and none has that of this one. That of its members is enough: all of it is read for reports of
// older versions alone, which do not have it.
func checkDigest(file *os.File, size int64, path string) error {
	report := ""
	var named, whole []string
	for _, name := range []string{updateFile, runFile} {
		switch r := namedModel(filepath.Join(filepath.Dir(path), name)); {
		case r.Members != "":
			report, named = name, append(named, r.Members)
		case r.Files[modelFile] != "":
			report, whole = name, append(whole, r.Files[modelFile])
		}
	}
	if len(named) > 0 {
		own, err := npy.Members(file, size)
		if err == nil && slices.Contains(named, own) {
			return nil
		}
	}
	if len(whole) > 0 {
		own, err := digest(io.NewSectionReader(file, 0, math.MaxInt64))
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", path, cause(err))
		}
		if slices.Contains(whole, own) {
			return nil
		}
	}
	if report != "" { // else written by an older version, or alone
		return &mixedError{path, report}
	}
	return nil
}

// membersOf is npy.Members of a file.
func membersOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	return npy.Members(file, info.Size())
}

// mostReport bounds the bytes of a report that is looked at.
const mostReport = 1 << 30

// modelName is what a report says of the model beside it.
type modelName struct {
	Files   map[string]string `json:"files"`
	Members string            `json:"model_members"`
}

// namedModel returns what a report says of the model; nothing where it names none.
func namedModel(path string) (name modelName) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostReport {
		return modelName{}
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &name) != nil {
		return modelName{}
	}
	return name
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
