package parquet

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/mvclust/mvclust/internal/files/column/columntest"
)

// columnsOf returns columns of every type that Write takes. Text and lists fill
// several pages.
func columnsOf(rows int) []Column {
	numbers, shares, names := make([]int64, rows), make([]float64, rows), make([]string, rows)
	wide, narrow := Lists{Dims: 3}, Lists{Dims: 1}
	for i := range rows {
		numbers[i], shares[i], names[i] = int64(i)*1e12-5, 1/float64(i+1), strings.Repeat("é", i%7)+strconv.Itoa(i)
		x, y := float32(i), float32(i)
		if i%3 == 0 {
			y = nan
		}
		if i%5 == 2 {
			wide.Data = append(wide.Data, nan, nan, nan)
		} else {
			wide.Data = append(wide.Data, x, -x, x/3)
		}
		narrow.Data = append(narrow.Data, y)
	}
	return []Column{{"id", names}, {"label", numbers}, {"confidence", shares}, {"wide", wide}, {"narrow", narrow}}
}

// Parquet-go and this package read what Write writes: no row, several pages, and more
// than one row group.
func TestWrite(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 1000, groupRows + 3} {
		columns := columnsOf(rows)
		var b bytes.Buffer
		if err := Write(&b, columns...); err != nil {
			t.Fatal(err)
		}
		readByLibrary(t, b.Bytes(), columns, rows)
		if rows == 0 {
			_, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
			columntest.WantError(t, err, "holds no row")
			continue
		}
		tab := mustOpen(t, b.Bytes())
		for _, c := range columns {
			i := tab.Array(c.Name)
			ok, err := false, error(nil)
			switch data := c.Data.(type) {
			case []int64:
				var got []int64
				got, err = tab.Int64(i)
				ok = slices.Equal(got, data)
			case []float64:
				var got []float32
				got, err = tab.Float32(i)
				ok = slices.EqualFunc(got, data, func(x float32, y float64) bool { return x == float32(y) })
			case []string:
				var got []string
				got, err = tab.Text(i)
				ok = slices.Equal(got, data)
			case Lists:
				var got []float32
				if rows < 2 && c.Name == "narrow" {
					continue // null in every row
				}
				got, err = tab.Float32(i)
				ok = columntest.Same(got, data.Data)
			}
			if err != nil || !ok {
				t.Errorf("%d rows: the column %q comes back as another, %v", rows, c.Name, err)
			}
		}
	}
}

// readByLibrary compares a file, as parquet-go reads it, with its columns.
func readByLibrary(t *testing.T, b []byte, columns []Column, rows int) {
	t.Helper()
	type row struct {
		ID         string    `parquet:"id"`
		Label      int64     `parquet:"label"`
		Confidence float64   `parquet:"confidence"`
		Wide       []float32 `parquet:"wide,optional,list"`
		Narrow     []float32 `parquet:"narrow,optional,list"`
	}
	got, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil || len(got) != rows {
		t.Fatalf("parquet-go reads %d rows of %d: %v", len(got), rows, err)
	}
	list := func(c Column, i int) []float32 {
		l := c.Data.(Lists)
		if row := l.Data[i*l.Dims:][:l.Dims]; row[0] == row[0] {
			return row
		}
		return nil
	}
	for i, r := range got {
		if r.ID != columns[0].Data.([]string)[i] || r.Label != columns[1].Data.([]int64)[i] || r.Confidence != columns[2].Data.([]float64)[i] ||
			!slices.Equal(r.Wide, list(columns[3], i)) || !slices.Equal(r.Narrow, list(columns[4], i)) {
			t.Fatalf("parquet-go reads row %d of %d as %+v", i, rows, r)
		}
	}
}

// A page holds a row even where one row is larger than a page should be.
func TestWriteLongRows(t *testing.T) {
	const dims = pageBytes/4 + 7
	data := make([]float32, 2*dims)
	for i := range data {
		data[i] = float32(math.Sqrt(float64(i)))
	}
	text := []string{strings.Repeat("x", pageBytes+1), "y"}
	var b bytes.Buffer
	if err := Write(&b, Column{"emb", Lists{dims, data}}, Column{"text", text}); err != nil {
		t.Fatal(err)
	}
	tab := mustOpen(t, b.Bytes())
	if got, err := tab.Float32(tab.Array("emb")); err != nil || !columntest.Same(got, data) {
		t.Errorf("lists of %d values come back as others, %v", dims, err)
	}
	if got, err := tab.Text(tab.Array("text")); err != nil || !slices.Equal(got, text) {
		t.Errorf("long text comes back as another, %v", err)
	}
}

func TestWriteErrors(t *testing.T) {
	columntest.WantError(t, Write(io.Discard), "there is no column to write")
	columntest.WantError(t, Write(io.Discard, Column{"a", []int{1}}), `column "a": values of type []int cannot be written`)
	columntest.WantError(t, Write(io.Discard, Column{"a", []int64{1}}, Column{"b", []string{"x", "y"}}), `column "b" has 2 rows, and those before it 1`)
	full := errors.New("no space left")
	var b bytes.Buffer
	columns := columnsOf(1000)
	if err := Write(&b, columns...); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 3, 5, 500, b.Len() / 2, b.Len() - 1} {
		if err := Write(&limited{left: n, err: full}, columns...); !errors.Is(err, full) {
			t.Errorf("a writer that takes %d bytes: %v", n, err)
		}
	}
}

// limited takes some bytes and then fails.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if n < len(p) {
		return n, l.err
	}
	return n, nil
}

func BenchmarkWrite(b *testing.B) {
	columns := columnsOf(groupRows)
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, columns...); err != nil {
			b.Fatal(err)
		}
	}
}
