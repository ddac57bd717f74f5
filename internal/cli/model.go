package cli

import (
	"context"

	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/model"
)

// modelFile is the name of the model in a folder of results.
const modelFile = "model.mvclust"

// savedModel is a model file whose rows are written before the fit, which lets go of them.
type savedModel struct {
	file   *output
	writer *model.Writer
}

func beginModel(ctx context.Context, dir *folder, views []*view.View) (*savedModel, error) {
	file, err := dir.create(ctx, modelFile)
	if err != nil {
		return nil, err
	}
	s := &savedModel{file, model.NewWriter(file)}
	for _, v := range views {
		if err := s.writer.Rows(v); err != nil {
			return nil, file.close(err)
		}
	}
	return s, nil
}

func (s *savedModel) finish(m *model.Model) error { return s.file.close(s.writer.Finish(m)) }

// abandon closes the file where finish did not; the folder removes it.
func (s *savedModel) abandon() { _ = s.file.file.Close() }
