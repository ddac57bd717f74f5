// Package parquet reads and writes Parquet files.
//
//	PAR1   pages of column 0, pages of column 1, ... (a row group), ...   footer, its length, PAR1
//
// The footer says what the columns are, and for each row group where the pages of
// each column begin. A page holds, for each of its entries,
//
//	a repetition level   0 where a row begins, 1 where a list goes on
//	a definition level   how much of the entry is there: the row, its list, an element
//	a value              but only of entries that are there in full
//
// Rows are put together from the levels alone, so that no null can shift what comes
// after it.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

const (
	magic = "PAR1"
	// encrypted begins and ends files with an encrypted footer.
	encrypted = "PARE"
	// maxFooter bounds the footer. It grows with columns x row groups.
	maxFooter = 64 << 20
)

// Open returns the columns of the Parquet file r of size bytes. Values are read from
// r when they are asked for.
//
// The columns are those of the topmost level: single values, and lists of them, as
// LIST in its three levels or two, or repeated. Numbers are BOOLEAN, INT32, INT64,
// FLOAT, DOUBLE and FLOAT16; text is BYTE_ARRAY and UUID. All else is listed with a
// Problem.
func Open(r io.ReaderAt, size int64) (*column.Table, error) {
	f := &file{r: r, size: size, maxValues: column.MaxValues(size)}
	if err := f.open(); err != nil {
		return nil, err
	}
	return column.New(f, size)
}

// file is an open Parquet file, a column.Source.
type file struct {
	r    io.ReaderAt
	size int64
	// maxValues is how many values the file can hold.
	maxValues int
	leaves    []leaf
	groups    []format.RowGroup
	rows      int
	// malformed counts, by column, null lists that have elements.
	malformed map[int]int
}

// leaf is a column as it is stored.
type leaf struct {
	column.Info
	chunk  int // the place of its chunk in each row group
	kind   format.Type
	length int // of a value of fixed length
	half   bool
	uuid   bool
	// unsigned says that integers are.
	unsigned bool
	// maxRep and maxDef are the highest levels.
	maxRep, maxDef byte
	// element is the least definition level of an entry that is an element of a list,
	// null or not.
	element byte
	// fields are those of a record, as far as Binary can read them.
	fields []leaf
}

func (f *file) open() error {
	if f.size < int64(len(magic)) {
		return errors.New("is too short for a Parquet file; copy it again from where it came")
	}
	head := make([]byte, len(magic))
	if err := array.ReadFull(f.r, head, 0); err != nil {
		return err
	}
	if string(head) == encrypted {
		return errors.New("is encrypted; save it without encryption")
	}
	if string(head) != magic {
		return fmt.Errorf("begins with %q and not with %s, as a Parquet file does; save it as Parquet again", head, magic)
	}
	tail := make([]byte, 8)
	if f.size < 12 {
		return array.Damaged("it ends after its first bytes")
	}
	if err := array.ReadFull(f.r, tail, f.size-8); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	switch {
	case string(tail[4:]) == encrypted:
		return errors.New("is encrypted; save it without encryption")
	case string(tail[4:]) != magic:
		return array.Damaged("it ends without the mark %s, and so is truncated, or was not closed by its writer", magic)
	case length > f.size-12:
		return array.Damaged("its footer of %d bytes is longer than the file", length)
	case length > maxFooter:
		return fmt.Errorf("has a footer of %d bytes, of which at most %d can be read; save it with fewer columns or larger row groups", length, maxFooter)
	}
	footer := make([]byte, length)
	if err := array.ReadFull(f.r, footer, f.size-8-length); err != nil {
		return err
	}
	var meta format.FileMetaData
	if _, err := decode(footer, &meta); err != nil {
		return array.Damaged("its footer cannot be read: %w", err)
	}
	if err := f.schema(meta.Schema); err != nil {
		return err
	}
	return f.rowGroups(&meta)
}

// decode puts the struct at the start of b into v, and returns its length.
func decode(b []byte, v any) (n int, err error) {
	defer array.Recover(&err)
	if n, err = structLength(b); err != nil {
		return 0, err
	}
	return n, thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], v)
}

// rowGroups keeps the row groups that have rows. Each must hold every column once.
func (f *file) rowGroups(meta *format.FileMetaData) error {
	leaves := 0
	for _, s := range meta.Schema {
		if !s.NumChildren.Valid || s.NumChildren.V == 0 {
			leaves++
		}
	}
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if len(g.Columns) != leaves {
			return array.Damaged("its row group %d has %d columns of %d", i, len(g.Columns), leaves)
		}
		if g.NumRows < 0 || g.NumRows > math.MaxInt32 || f.rows > math.MaxInt-int(g.NumRows) {
			return array.Damaged("its row group %d promises %d rows", i, g.NumRows)
		}
		if g.NumRows > 0 { // an empty one need not even have pages
			f.rows += int(g.NumRows)
			f.groups = append(f.groups, *g)
		}
	}
	if int64(f.rows) != meta.NumRows {
		return array.Damaged("its row groups have %d rows, where it promises %d", f.rows, meta.NumRows)
	}
	return nil
}

// schema makes columns of the elements of a schema. These stand in depth-first order.
func (f *file) schema(elements []format.SchemaElement) error {
	if len(elements) == 0 {
		return array.Damaged("it has no schema")
	}
	at, chunk := 1, 0
	for range elements[0].NumChildren.V {
		n, leaves, err := extent(elements, at, 0)
		if err != nil {
			return err
		}
		l := newLeaf(elements[at : at+n])
		l.chunk = chunk
		if n > 1 {
			l.fields = fieldsOf(elements[at:at+n], chunk)
		}
		f.leaves = append(f.leaves, l)
		at += n
		chunk += leaves
	}
	if at != len(elements) {
		return array.Damaged("its schema does not add up")
	}
	return nil
}

// maxDepth bounds how deep columns are nested.
const maxDepth = 64

// extent returns how many elements a column has, itself included, and how many of
// them hold values.
func extent(elements []format.SchemaElement, at, depth int) (n, leaves int, err error) {
	if at >= len(elements) || depth > maxDepth || elements[at].NumChildren.V < 0 {
		return 0, 0, array.Damaged("its schema does not add up")
	}
	n = 1
	for range elements[at].NumChildren.V {
		m, l, err := extent(elements, at+n, depth+1)
		if err != nil {
			return 0, 0, err
		}
		n += m
		leaves += l
	}
	if n == 1 {
		leaves = 1
	}
	return n, leaves, nil
}

// newLeaf makes the column of its elements.
func newLeaf(e []format.SchemaElement) leaf {
	l := leaf{Info: column.Info{Name: e[0].Name, Kind: array.Text}}
	for i := range e {
		switch e[i].RepetitionType.V {
		case format.Optional:
			l.maxDef++
		case format.Repeated:
			l.maxDef++
			l.maxRep++
			l.element = l.maxDef
		}
		if one := e[i].NumChildren.V == 1; i < len(e)-1 && !one {
			l.Problem = column.Unreadable("records of several fields", "make each field a column of its own")
			return l
		}
	}
	value := &e[len(e)-1]
	l.List = l.maxRep == 1
	switch {
	case l.maxRep > 1:
		l.Problem = column.Unreadable("lists of lists", "make them lists of numbers, one per row")
	case len(e) > 1 && !isList(e):
		l.Problem = column.Unreadable("records", "make each field a column of its own")
	default:
		l.setType(value)
	}
	return l
}

// isList reports whether the elements of a column are a list: a group, in it the repeated
// group or value, and in that the value.
func isList(e []format.SchemaElement) bool {
	_, logical := e[0].LogicalType.Value.(*format.ListType)
	converted := e[0].ConvertedType.Valid && e[0].ConvertedType.V == deprecated.List
	return (logical || converted) && len(e) <= 3 && e[1].RepetitionType.V == format.Repeated
}

// setType says how the values of the column are stored.
func (l *leaf) setType(e *format.SchemaElement) {
	l.kind, l.length = e.Type.V, int(e.TypeLength.V)
	name := e.Type.V.String()
	number, text := false, false
	switch logical := e.LogicalType.Value.(type) {
	case nil:
		number = true
		text = true
		if c := e.ConvertedType; c.Valid {
			name = convertedName(c.V)
			number = c.V >= deprecated.Uint8 && c.V <= deprecated.Int64
			text = c.V == deprecated.UTF8 || c.V == deprecated.Enum || c.V == deprecated.Json
			l.unsigned = c.V <= deprecated.Uint64
		}
	case *format.IntType:
		number, l.unsigned = true, !logical.IsSigned
	case *format.StringType, *format.EnumType, *format.JsonType:
		text = true
	case *format.UUIDType:
		text, l.uuid = l.length == 16, true
	case *format.Float16Type:
		number, l.half = l.length == 2, true
	default:
		name = logical.String()
	}
	switch l.kind {
	case format.Boolean, format.Int32, format.Int64:
		l.Kind = array.Int
	case format.Float, format.Double:
		l.Kind = array.Float
	case format.ByteArray:
		number = false
	case format.FixedLenByteArray:
		if l.half && number {
			l.Kind = array.Float
		}
		number, text = number && l.half, text && l.uuid
	default:
		number, text = false, false
	}
	if !e.Type.Valid || l.Kind != array.Text && !number || l.Kind == array.Text && !text {
		l.Kind = array.Text
		l.Problem = column.Unreadable("values of the type "+strings.ToLower(name), "")
	}
}

// convertedName returns the name of a converted type.
func convertedName(c deprecated.ConvertedType) string {
	switch c {
	case deprecated.Decimal:
		return "decimal"
	case deprecated.Date:
		return "date"
	case deprecated.TimeMillis, deprecated.TimeMicros:
		return "time"
	case deprecated.TimestampMillis, deprecated.TimestampMicros:
		return "timestamp"
	default:
		return fmt.Sprint("number ", int(c))
	}
}

// Rows is the number of rows.
func (f *file) Rows() int { return f.rows }

// Columns are the columns of the topmost level.
func (f *file) Columns() []column.Info {
	infos := make([]column.Info, len(f.leaves))
	for i, l := range f.leaves {
		infos[i] = l.Info
	}
	return infos
}

// Notes has a sentence for each column with malformed lists.
func (f *file) Notes() []string {
	var notes []string
	for k, l := range f.leaves {
		if n := f.malformed[k]; n > 0 {
			notes = append(notes, fmt.Sprintf("the column %s has rows that are null and yet have elements, %d in number, and they are read as null; some versions of DuckDB write null arrays so (duckdb/duckdb#24731), and other programs may read this file wrongly", words.Quote(l.Name), n))
		}
	}
	return notes
}
