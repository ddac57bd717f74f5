package parquet

import (
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// Column is a column to be written. Its Data have one element per row: []int64,
// []float64, []string, or Lists.
type Column struct {
	Name string
	Data any
}

// Lists are rows of Dims values each, one row after another, of which those that Has
// denies are null.
type Lists struct {
	Dims int
	Data []float32
	Has  func(row int) bool
}

const (
	// groupRows is how many rows are packed together, and held in memory before;
	// groupValues bounds the values of lists among them.
	groupRows   = 1 << 17
	groupValues = 1 << 24
	// batchRows is how many are handed to the library at a time.
	batchRows = 64
)

// Write writes columns of the same number of rows, packed by ZSTD. The bytes depend
// on nothing but the columns.
func Write(w io.Writer, columns ...Column) error {
	rows := -1
	width := 0 // values of a row
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		n, d := 0, 1
		tag := c.Name
		var of any
		switch data := c.Data.(type) {
		case []int64:
			n, of = len(data), int64(0)
		case []float64:
			n, of = len(data), float64(0)
		case []string:
			n, of = len(data), ""
		case Lists:
			n, d, of = len(data.Data)/data.Dims, data.Dims, []float32(nil)
			tag += ",optional,list"
		default:
			return fmt.Errorf("column %q: values of type %T cannot be written", c.Name, c.Data)
		}
		if rows >= 0 && n != rows {
			return fmt.Errorf("column %q has %d rows, and those before it %d", c.Name, n, rows)
		}
		rows, width = n, width+d
		fields[i] = reflect.StructField{
			Name: fmt.Sprint("F", i), Type: reflect.TypeOf(of),
			Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag)),
		}
	}
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	out := parquet.NewWriter(w, schema,
		parquet.Compression(&parquet.Zstd),
		parquet.DataPageVersion(1), // which every program reads
		parquet.MaxRowsPerRowGroup(int64(max(batchRows, min(groupRows, groupValues/max(1, width))))),
	)
	batch := make([]parquet.Row, 0, batchRows)
	for row := range rows {
		k := len(batch)
		batch = batch[:k+1]
		batch[k] = batch[k][:0]
		for i, c := range columns {
			batch[k] = c.append(batch[k], row, i)
		}
		if len(batch) == batchRows || row == rows-1 {
			if _, err := out.WriteRows(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return out.Close()
}

// append adds the values of a row to those of the columns before.
func (c Column) append(row parquet.Row, i, column int) parquet.Row {
	switch data := c.Data.(type) {
	case []int64:
		return append(row, parquet.Int64Value(data[i]).Level(0, 0, column))
	case []float64:
		return append(row, parquet.DoubleValue(data[i]).Level(0, 0, column))
	case []string:
		return append(row, parquet.ByteArrayValue([]byte(data[i])).Level(0, 0, column))
	}
	lists := c.Data.(Lists)
	if !lists.Has(i) {
		return append(row, parquet.NullValue().Level(0, 0, column))
	}
	for k, x := range lists.Data[i*lists.Dims:][:lists.Dims] {
		row = append(row, parquet.FloatValue(x).Level(min(k, 1), 2, column))
	}
	return row
}
