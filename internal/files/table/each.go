package table

import (
	"io"
	"path/filepath"
	"strings"
)

// Each calls do with every row of the table r of size bytes, and with the line that the row
// begins on, counted from 1. A header is a row like any other. The slice is reused for
// the next row. The separator is found as by Open.
func Each(r io.ReaderAt, size int64, name string, do func(line int, row []string) error) error {
	comma, err := comma(r, name)
	if err != nil {
		return err
	}
	return rows{io.NewSectionReader(r, 0, size), comma}.each(do)
}

// comma returns what separates the cells of a table.
func comma(r io.ReaderAt, name string) (rune, error) {
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		return '\t', nil
	}
	return separator(r)
}
