package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/mvclust/mvclust/internal/files/dataset"
)

// checkFormat reports a format that labels cannot be written in.
func checkFormat(format string) error {
	if format != "csv" && format != "parquet" {
		return fmt.Errorf("--format: there is no format %q of labels; choose csv or parquet", format)
	}
	return nil
}

// labelsFiles returns the name of the file of labels in a format, and in the other one.
func labelsFiles(format string) (name, other string) {
	if format == "parquet" {
		return "labels.parquet", "labels.csv"
	}
	return "labels.csv", "labels.parquet"
}

// noteOld tells of files of the given names that are in the folder and will not be replaced.
func noteOld(p *progress, dir *folder, inputs []string, names ...string) {
	for _, name := range names {
		if dir.has(name) && dir.spare(name, inputs) == nil {
			p.note(fmt.Sprintf("%s is of an earlier run, and stays as it is", filepath.Join(dir.path, name)))
		}
	}
}

// stageLabels stages the file of labels.
func stageLabels(ctx context.Context, dir *folder, format string, ids []string, labels []int, confidence []float64) error {
	name, _ := labelsFiles(format)
	return dir.stage(ctx, name, func(w io.Writer) error {
		if format == "parquet" {
			return dataset.WriteLabels(w, ids, labels, confidence)
		}
		return writeLabels(w, ids, labels, confidence)
	})
}

// writeLabels writes labels.csv.
func writeLabels(w io.Writer, ids []string, labels []int, confidence []float64) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"id", "label", "confidence"}); err != nil {
		return err
	}
	for i, label := range labels {
		id := strconv.Itoa(i)
		if ids != nil {
			id = ids[i]
		}
		if err := c.Write([]string{id, strconv.Itoa(label), strconv.FormatFloat(confidence[i], 'f', 6, 64)}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
