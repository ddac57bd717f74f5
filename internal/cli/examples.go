package cli

import (
	"fmt"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
)

const examplesUsage = "`FILE[:COLUMN]` of the columns id and label: a few samples whose classes are known, which choose how fine the clusters are, and are then put together by label, and apart"

// readExamples reads --examples.
func readExamples(j *job, source string, ids []string, samples int) (*dataset.Examples, []mvclust.Example, error) {
	e, err := dataset.ReadExamples(j.ctx, source, ids, samples)
	if err != nil {
		return nil, nil, err
	}
	j.opened(e.File.Path)
	var list []mvclust.Example
	for at, i := range e.Samples {
		list = append(list, mvclust.Example{Sample: i, Label: e.Labels[at]})
	}
	return e, list, nil
}

// examplesReport says which examples were given, and how far the data agree with them.
type examplesReport struct {
	File    *dataset.File `json:"file,omitempty"`
	Samples int           `json:"samples"`
	Labels  int           `json:"labels"`
	// Agreement is the share of the examples that were in a cluster that their label rules
	// before they were put there.
	Agreement float64 `json:"agreement"`
	// Against holds the others.
	Against []contradiction `json:"against"`
}

// contradiction is an example that the data contradict.
type contradiction struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// newExamplesReport reports on examples, nil if there are none: those in against were elsewhere, and
// from, if it is not nil, says which file they are of.
func newExamplesReport(from *dataset.Examples, examples, against []mvclust.Example, ids []string) *examplesReport {
	if len(examples) == 0 {
		return nil
	}
	different := map[string]bool{}
	for _, x := range examples {
		different[x.Label] = true
	}
	e := &examplesReport{
		Samples: len(examples), Labels: len(different), Against: []contradiction{},
		Agreement: 1 - float64(len(against))/float64(len(examples)),
	}
	if from != nil {
		e.File = &from.File
	}
	for _, x := range against {
		e.Against = append(e.Against, contradiction{idOf(ids, x.Sample), x.Label})
	}
	return e
}

// summary is the line of the summary.
func (e *examplesReport) summary() string {
	if e == nil {
		return ""
	}
	line := fmt.Sprintf("%s of %s; the clusters agreed with %d of them", words.Count(e.Samples, "example"), words.Count(e.Labels, "label"), e.Samples-len(e.Against))
	if len(e.Against) > 0 {
		var list []string
		for _, x := range e.Against[:min(strongest, len(e.Against))] {
			list = append(list, fmt.Sprintf("%s (%s)", words.Name(x.ID), words.Printable(x.Label)))
		}
		if more := len(e.Against) - len(list); more > 0 {
			list = append(list, fmt.Sprintf("%d more", more))
		}
		line += ", and not with " + strings.Join(list, ", ") + ", which were moved"
	}
	return line + "\n"
}
