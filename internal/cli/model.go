package cli

import (
	"context"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
)

// modelFile is the name of the model in a folder of results.
const modelFile = "model.mvclust"

// savedModel is a model file whose rows are written before the fit, which lets go of them.
type savedModel struct {
	file   *output
	writer *mvclust.ModelWriter
}

func beginModel(ctx context.Context, dir *folder, views []*view.View) (*savedModel, error) {
	file, err := dir.create(ctx, modelFile)
	if err != nil {
		return nil, err
	}
	s := &savedModel{file, mvclust.NewModelWriter(file)}
	for _, v := range views {
		if err := s.writer.Rows(v); err != nil {
			return nil, file.close(err)
		}
	}
	return s, nil
}

func (s *savedModel) finish(m *mvclust.Model) error { return s.file.close(s.writer.Finish(m)) }

// abandon closes the file where finish did not; the folder removes it.
func (s *savedModel) abandon() { _ = s.file.file.Close() }
