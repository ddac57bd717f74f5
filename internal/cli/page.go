package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/report"
)

// pageName is the file that shows the result.
const pageName = "report.html"

// thumbsHelp is the help of --thumbs.
const thumbsHelp = "`PICTURES` to show in report.html in place of ids: a folder of files called ID.jpg, .png, .webp or .gif, or FILE:COLUMN of a table with the pictures or their paths"

// openThumbs opens the pictures of --thumbs, or returns nil where there are none.
func openThumbs(ctx context.Context, arg string, set *dataset.Set) (*dataset.Pictures, error) {
	if arg == "" {
		return nil, nil
	}
	pictures, err := dataset.OpenPictures(ctx, arg, set.IDs, set.Views[0].Samples)
	if err != nil {
		return nil, fmt.Errorf("--thumbs %w", err)
	}
	return pictures, nil
}

// newPage works out report.html, and adds to r what of it belongs into run.json.
func newPage(ctx context.Context, p *progress, r *runReport, set *dataset.Set, truth *dataset.Truth, pictures *dataset.Pictures, result *mvclust.Result) (*report.Report, error) {
	const drawing = "drawing the map"
	started := time.Now()
	p.update(drawing, "steps", 0, 1, 1)
	opt := report.Options{
		Title: title(set), Views: set.Views, IDs: set.IDs, Notes: r.Notes, Threads: result.Options.Threads,
		Facts:    []report.Fact{{Name: "preset", Value: r.Preset}, {Name: "seed", Value: fmt.Sprint(r.Seed)}, {Name: "made on", Value: r.Started.Format("2006-01-02 15:04 UTC")}},
		Progress: func(done, total int) { p.update(drawing, "steps", done, total+1, 1) },
	}
	for _, f := range set.Files {
		opt.Facts = append(opt.Facts, report.Fact{Name: "file", Value: f.Path})
	}
	if truth != nil {
		opt.Truth, opt.Classes = truth.Labels, truth.Names
	}
	if pictures != nil {
		opt.Pictures = pictures.Each
	}
	page, err := report.New(ctx, result, opt)
	if err != nil {
		return nil, err
	}
	r.Profile = page.Clusters
	for _, note := range page.Notes[len(r.Notes):] {
		p.note(note)
	}
	r.Notes = page.Notes
	r.Stages = append(r.Stages, stageReport{"report", time.Since(started).Seconds()})
	p.update(drawing, "steps", 1, 1, 1)
	return page, nil
}

// title names what was clustered.
func title(set *dataset.Set) string {
	name := set.Views[0].Name
	for _, v := range set.Views[1:] {
		if base, _, _ := strings.Cut(v.Name, ":"); !strings.HasPrefix(name, base) {
			return fmt.Sprintf("%s and %s", name, count(len(set.Views)-1, "other view"))
		}
	}
	if len(set.Views) > 1 {
		name, _, _ = strings.Cut(name, ":")
	}
	return name
}
