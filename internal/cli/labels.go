package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
)

// tableFormat is the format of the tables that a command writes, csv or parquet.
type tableFormat string

func (t *tableFormat) flag(f *pflag.FlagSet, table string) {
	f.StringVar((*string)(t), "format", "csv", "`NAME` of the format of the "+table+", csv or parquet: "+table+".csv or "+table+".parquet")
}

func (t tableFormat) check() error {
	if t != "csv" && t != "parquet" {
		return fmt.Errorf("--format: there is no format %q of labels; choose csv or parquet", string(t))
	}
	return nil
}

// labelsFile returns the name of the file of labels.
func (t tableFormat) labelsFile() string { return "labels." + string(t) }

// levelsFile returns the name of the file of the labels of all levels.
func (t tableFormat) levelsFile() string { return "levels." + string(t) }

// other returns the format that was not chosen.
func (t tableFormat) other() tableFormat {
	if t == "csv" {
		return "parquet"
	}
	return "csv"
}

// stageLabels stages labels.csv or labels.parquet. names holds the names of the clusters, if any
// has one.
func (j *job) stageLabels(format tableFormat, ids []string, labels []int, confidence []float64, names []string) error {
	if format == "parquet" {
		return j.stage(format.labelsFile(), func(w io.Writer) error { return dataset.WriteLabels(w, ids, labels, confidence, names) })
	}
	header := []string{"id", "label", "confidence"}
	if names != nil {
		header = append(header, "name")
	}
	return j.stageCSV(format.labelsFile(), header, len(labels), func(i int) []string {
		row := []string{idOf(ids, i), strconv.Itoa(labels[i]), share(confidence[i])}
		if names != nil {
			name := names[labels[i]]
			if j.csvSafe {
				name = notFormula(name)
			}
			row = append(row, name)
		}
		return row
	})
}

// stageModel stages a model, its labels, and its levels if it has any.
func (j *job) stageModel(format tableFormat, m *mvclust.Model) error {
	if err := j.stageLabels(format, m.IDs, m.Labels, m.Confidence, mvclust.Names(m.Labels, m.Examples)); err != nil {
		return err
	}
	if len(m.Levels) > 0 {
		if err := j.stageLevels(format, m.IDs, m.Levels); err != nil {
			return err
		}
	}
	return j.stage(modelFile, m.Write)
}

// stageLevels stages levels.csv or levels.parquet.
func (j *job) stageLevels(format tableFormat, ids []string, levels []mvclust.Level) error {
	columns, header := make([][]int, len(levels)), []string{"id"}
	for at := range levels {
		columns[at] = levels[at].Labels
		header = append(header, fmt.Sprint("level", at))
	}
	samples := len(columns[0])
	if format == "parquet" {
		return j.stage(format.levelsFile(), func(w io.Writer) error { return dataset.WriteLevels(w, ids, samples, columns) })
	}
	return j.stageCSV(format.levelsFile(), header, samples, func(i int) []string {
		row := []string{idOf(ids, i)}
		for _, labels := range columns {
			row = append(row, strconv.Itoa(labels[i]))
		}
		return row
	})
}
