package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/review"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/partition"
)

// rewriter writes the files of a fit anew with the clusters that a review has led to.
type rewriter struct {
	folder, model string
	before        os.FileInfo       // of the model that the clusters come from
	pictures      *dataset.Pictures // nil where there are none
}

// reviewReport is what run.json says of a review.
type reviewReport struct {
	Answers int       `json:"answers"` // in all
	Applied time.Time `json:"applied"`
}

// apply is review.Options.Apply.
func (w *rewriter) apply(ctx context.Context, r *review.Revision, told func(doing string, share float64)) (*mvclust.Model, error) {
	if now, err := os.Stat(w.model); err != nil || !os.SameFile(now, w.before) {
		return nil, fmt.Errorf("%s was replaced by another run since this review began; start the review again", w.model)
	}
	j, err := begin(ctx, io.Discard, io.Discard, outputOptions{output: w.folder, quiet: true})
	if err != nil {
		return nil, err
	}
	defer j.close()
	c := &cutting{model: r.Model, pictures: w.pictures}
	if err := c.readRun(j); err != nil {
		return nil, err
	}
	next := *r.Model
	next.Labels, next.Constraints, next.Retired, next.Level = r.Labels, r.Constraints, 0, r.Level
	if next.Confidence, err = partition.Confidence(next.Graph, next.Labels); err != nil {
		return nil, err
	}
	answers := r.Answers
	if c.run.Review != nil {
		answers += c.run.Review.Answers
	}
	const left = "the clusters are as a review has left them: "
	c.run.Notes = slices.DeleteFunc(c.run.Notes, func(s string) bool { return strings.HasPrefix(s, left) })
	if answers > 0 {
		c.run.Notes = append(c.run.Notes, left+words.Count(answers, "answer")+" were applied")
	}
	told("drawing the map", 0.2)
	run, page, err := c.report(j, &next)
	if err != nil {
		return nil, err
	}
	run.Review, run.Cut = &reviewReport{answers, time.Now().UTC().Truncate(time.Millisecond)}, nil
	if r.Names != nil {
		run.Names = r.Names
	}
	if run.Constraints, err = constraintsOf(&next, run.Constraints); err != nil {
		return nil, err
	}
	told("writing the model", 0.7)
	if err := errors.Join(
		j.stageLabels(c.format, next.IDs, next.Labels, next.Confidence, run.Names),
		j.stage(modelFile, next.Write), j.stage(pageName, page.WriteHTML),
	); err != nil {
		return nil, err
	}
	files, members := j.dir.digests()
	for name, digest := range run.Files { // that are as they were
		if _, written := files[name]; !written {
			files[name] = digest
		}
	}
	run.Files, run.Members = files, members
	if err := j.finish(runFile, run, ""); err != nil {
		return nil, err
	}
	if w.before, err = os.Stat(w.model); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", filepath.Clean(w.model), cause(err))
	}
	return &next, nil
}

// constraintsOf counts the constraints of a model; old says where those of the fit came from.
func constraintsOf(m *mvclust.Model, old *constraintReport) (*constraintReport, error) {
	known, err := m.Constraints.Resolve(m.Samples())
	if err != nil || known == nil {
		return old, err
	}
	c := &constraintReport{Count: known.Count(), Honoured: true}
	if old != nil {
		c.MustLink, c.CannotLink, c.Distinct = old.MustLink, old.CannotLink, old.Distinct
	}
	return c, nil
}
