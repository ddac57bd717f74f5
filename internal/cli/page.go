package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/report"
)

// pageName is the file that shows the result.
const pageName = "report.html"

// newPage makes report.html, and adds to r what belongs in run.json too.
func newPage(j *job, r *runReport, in *fitInput, result *mvclust.Result) (*report.Report, error) {
	const drawing = "drawing the map"
	j.lapped = time.Now()
	j.progress.update(drawing, "steps", 0, 1, 1)
	opt := report.Options{
		Title: title(in.set), Views: in.set.Views, IDs: in.set.IDs, Notes: r.Notes, Threads: result.Options.Threads,
		Facts:    []report.Fact{{Name: "preset", Value: r.Preset}, {Name: "seed", Value: fmt.Sprint(r.Seed)}, {Name: "made on", Value: r.Started.Format("2006-01-02 15:04 UTC")}},
		Progress: func(done, total int) { j.progress.update(drawing, "steps", done, total+1, 1) },
	}
	for _, path := range paths(in.set.Files) {
		opt.Facts = append(opt.Facts, report.Fact{Name: "file", Value: path})
	}
	if in.truth != nil {
		opt.Truth, opt.Classes = in.truth.Labels, in.truth.Names
	}
	if in.pictures != nil {
		opt.Pictures, opt.PictureMemory = in.pictures.Each, in.pictureMemory
	}
	page, err := report.New(j.ctx, result, opt)
	if err != nil {
		return nil, err
	}
	if in.pictures != nil {
		j.opened(in.pictures.Opened()...)
		if err := j.reserve(modelFile); err != nil { // the other files come after the pictures
			return nil, err
		}
	}
	for _, note := range page.Notes[len(r.Notes):] {
		j.progress.note(note)
	}
	r.Profile, r.Notes = page.Clusters, page.Notes
	j.lap("report")
	r.Stages = append(r.Stages, j.stages[len(j.stages)-1])
	j.progress.update(drawing, "steps", 1, 1, 1)
	return page, nil
}

// title returns the heading of the page, after the views.
func title(set *dataset.Set) string {
	name := set.Views[0].Name
	for _, v := range set.Views[1:] {
		if base, _, _ := strings.Cut(v.Name, ":"); !strings.HasPrefix(name, base) {
			return fmt.Sprintf("%s and %s", name, words.Count(len(set.Views)-1, "other view"))
		}
	}
	if len(set.Views) > 1 {
		name, _, _ = strings.Cut(name, ":")
	}
	return name
}
