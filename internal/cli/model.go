package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
)

// modelFile is the name of the model in a folder of results.
const modelFile = "model.mvclust"

// openModel reads the model of a folder that fit has written, or the file itself, and
// returns the path of the file too.
func openModel(path string) (*mvclust.Model, string, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, modelFile)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, fmt.Errorf("%s: there is no such file; name a folder that \"mvclust fit\" has written, or the model.mvclust in it", path)
	}
	if err != nil {
		return nil, path, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, path, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	m, err := mvclust.ReadModel(file, info.Size())
	if err != nil {
		return nil, path, fmt.Errorf("%s: %w", path, err)
	}
	return m, path, nil
}

// fit clusters and stages the model. Its rows are written before the fit, which drops
// them.
func (j *job) fit(set *dataset.Set, opt mvclust.Options) (*mvclust.Result, error) {
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
