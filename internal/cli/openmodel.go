package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mvclust/mvclust"
)

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
