package dataset

import (
	"fmt"
	"io"
	"strconv"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/method/view"
)

// Write writes a .npz file that Load and Labels read: the views as view0, view1 and so
// on, and the labels. Where a sample lacks a view, its row must be NaN throughout.
func Write(w io.Writer, views []*view.View, labels []int) error {
	z := npy.NewWriter(w)
	for i, v := range views {
		if err := z.Add(fmt.Sprint("view", i), []int{v.Samples, v.Dims}, v.Data); err != nil {
			return err
		}
	}
	if err := z.Add("labels", []int{len(labels)}, int64s(labels)); err != nil {
		return err
	}
	return z.Close()
}

// WriteParquet writes the same as a Parquet file: the columns id, the row counted
// from 0; view0 and so on, lists of numbers, null where a sample lacks the view; and
// label. The row of such a sample must be NaN throughout, as for Write.
func WriteParquet(w io.Writer, views []*view.View, labels []int) error {
	columns := []parquet.Column{{Name: "id", Data: rowNumbers(len(labels))}}
	for i, v := range views {
		columns = append(columns, parquet.Column{Name: fmt.Sprint("view", i), Data: parquet.Lists{Dims: v.Dims, Data: v.Data}})
	}
	return parquet.Write(w, append(columns, parquet.Column{Name: "label", Data: int64s(labels)})...)
}

// WriteLabels writes a Parquet file with the columns id, label and confidence, and, where names
// holds the names of the clusters, name. If ids is
// nil, ids are the rows counted from 0. Ids are stored as whole numbers if all are written
// as such, and otherwise as text.
func WriteLabels(w io.Writer, ids []string, labels []int, confidence []float64, names []string) error {
	columns := []parquet.Column{idColumn(ids, len(labels)), {Name: "label", Data: int64s(labels)}, {Name: "confidence", Data: confidence}}
	if names != nil {
		own := make([]string, len(labels))
		for i, l := range labels {
			own[i] = names[l]
		}
		columns = append(columns, parquet.Column{Name: "name", Data: own})
	}
	return parquet.Write(w, columns...)
}

// WriteLevels writes a Parquet file with the column id and one for the labels of each level,
// level0 and so on.
func WriteLevels(w io.Writer, ids []string, samples int, levels [][]int) error {
	columns := []parquet.Column{idColumn(ids, samples)}
	for at, labels := range levels {
		columns = append(columns, parquet.Column{Name: fmt.Sprint("level", at), Data: int64s(labels)})
	}
	return parquet.Write(w, columns...)
}

// WritePredictions writes the same columns, and after them next and typicality.
func WritePredictions(w io.Writer, ids []string, labels []int, confidence []float64, next []int, typicality []float64) error {
	return parquet.Write(w, idColumn(ids, len(labels)), parquet.Column{Name: "label", Data: int64s(labels)}, parquet.Column{Name: "confidence", Data: confidence},
		parquet.Column{Name: "next", Data: int64s(next)}, parquet.Column{Name: "typicality", Data: typicality})
}

func idColumn(ids []string, samples int) parquet.Column {
	id := parquet.Column{Name: "id", Data: rowNumbers(samples)}
	if ids != nil {
		id.Data = ids
		if numbers, ok := wholeIDs(ids); ok {
			id.Data = numbers
		}
	}
	return id
}

func int64s(values []int) []int64 {
	wide := make([]int64, len(values))
	for i, v := range values {
		wide[i] = int64(v)
	}
	return wide
}

func rowNumbers(n int) []int64 {
	rows := make([]int64, n)
	for i := range rows {
		rows[i] = int64(i)
	}
	return rows
}

// wholeIDs returns the numbers that ids are written as, if all are: not 007, nor +7.
func wholeIDs(ids []string) ([]int64, bool) {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != id {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}
