package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column to write. Data has one element per row: []int64, []float64,
// []string or Lists.
type Column struct {
	Name string
	Data any
}

// Lists are rows of Dims values each, one after another in Data. A row that is NaN
// throughout is written as null.
type Lists struct {
	Dims int
	Data []float32
}

const (
	// groupRows and groupValues bound the rows of a row group and their values.
	groupRows   = 1 << 17
	groupValues = 1 << 24
	// pageBytes is the size at which a page ends.
	pageBytes = 1 << 20
)

// Write writes columns of the same number of rows, compressed by ZSTD. The bytes
// depend on the columns alone.
//
// Values are in the encoding PLAIN, in data pages of version 1, which every reader of
// Parquet knows. Numbers and text are required; lists are optional, their elements
// required. There are no statistics.
func Write(w io.Writer, columns ...Column) error {
	rows, width, err := sides(columns)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(pageBytes), zstd.WithEncoderCRC(false)) // pages have a checksum
	if err != nil {
		return err
	}
	o := &output{w: w, zstd: z, meta: format.FileMetaData{Version: 1, Schema: schemaOf(columns), NumRows: int64(rows), CreatedBy: "mvclust"}}
	if err := o.write([]byte(magic)); err != nil {
		return err
	}
	size := max(1, min(groupRows, groupValues/max(1, width)))
	for from := 0; from < rows; from += size {
		if err := o.group(columns, from, min(from+size, rows)); err != nil {
			return err
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &o.meta)
	if err != nil {
		return err
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return o.write(append(footer, magic...))
}

// sides returns the number of rows and the number of values of one row.
func sides(columns []Column) (rows, width int, err error) {
	rows = -1
	for _, c := range columns {
		n, d := 0, 1
		switch data := c.Data.(type) {
		case []int64:
			n = len(data)
		case []float64:
			n = len(data)
		case []string:
			n = len(data)
		case Lists:
			n, d = len(data.Data)/data.Dims, data.Dims
		default:
			return 0, 0, fmt.Errorf("column %q: values of type %T cannot be written", c.Name, c.Data)
		}
		if rows >= 0 && n != rows {
			return 0, 0, fmt.Errorf("column %q has %d rows, and those before it %d", c.Name, n, rows)
		}
		rows, width = n, width+d
	}
	if rows < 0 {
		return 0, 0, errors.New("there is no column to write")
	}
	return rows, width, nil
}

// schemaOf returns the schema of columns: a root, then the elements of each column.
func schemaOf(columns []Column) []format.SchemaElement {
	element := func(name string, repetition format.FieldRepetitionType) format.SchemaElement {
		return format.SchemaElement{Name: name, RepetitionType: thrift.New(repetition)}
	}
	elements := []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(columns)))}}
	for _, c := range columns {
		kind := typeOf(c)
		if _, ok := c.Data.(Lists); !ok {
			e := element(c.Name, format.Required)
			e.Type = thrift.New(kind)
			if kind == format.ByteArray {
				e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.UTF8), &format.StringType{}
			}
			elements = append(elements, e)
			continue
		}
		outer, list, value := element(c.Name, format.Optional), element("list", format.Repeated), element("element", format.Required)
		outer.NumChildren, list.NumChildren = thrift.New(int32(1)), thrift.New(int32(1))
		outer.ConvertedType, outer.LogicalType.Value = thrift.New(deprecated.List), &format.ListType{}
		value.Type = thrift.New(kind)
		elements = append(elements, outer, list, value)
	}
	return elements
}

// typeOf returns the type in which the values of a column are stored.
func typeOf(c Column) format.Type {
	switch c.Data.(type) {
	case []int64:
		return format.Int64
	case []float64:
		return format.Double
	case []string:
		return format.ByteArray
	}
	return format.Float
}

// output is a file that is being written.
type output struct {
	w    io.Writer
	at   int64 // the bytes so far
	zstd *zstd.Encoder
	meta format.FileMetaData
	// page and packed are the page at hand, before and after compression.
	page, packed []byte
}

func (o *output) write(b []byte) error {
	n, err := o.w.Write(b)
	o.at += int64(n)
	return err
}

// group writes the rows [from, to) as a row group.
func (o *output) group(columns []Column, from, to int) error {
	g := format.RowGroup{NumRows: int64(to - from), FileOffset: o.at, Ordinal: int16(len(o.meta.RowGroups))}
	for _, c := range columns {
		chunk, err := o.chunk(c, from, to)
		if err != nil {
			return err
		}
		g.Columns = append(g.Columns, chunk)
		g.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		g.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
	}
	o.meta.RowGroups = append(o.meta.RowGroups, g)
	return nil
}

// chunk writes the rows [from, to) of a column, in pages of about pageBytes.
func (o *output) chunk(c Column, from, to int) (format.ColumnChunk, error) {
	m := format.ColumnMetaData{
		Type: typeOf(c), Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{c.Name},
		Codec: format.Zstd, DataPageOffset: o.at,
	}
	if _, ok := c.Data.(Lists); ok {
		m.Encoding, m.PathInSchema = append(m.Encoding, format.RLE), append(m.PathInSchema, "list", "element")
	}
	for from < to {
		n, entries := o.fill(c, from, to)
		o.packed = o.zstd.EncodeAll(o.page, o.packed[:0])
		header, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{
			Type: format.DataPage, UncompressedPageSize: int32(len(o.page)), CompressedPageSize: int32(len(o.packed)),
			CRC: int32(crc32.ChecksumIEEE(o.packed)),
			DataPageHeader: thrift.New(format.DataPageHeader{
				NumValues: int32(entries), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			}),
		})
		if err != nil {
			return format.ColumnChunk{}, err
		}
		m.NumValues += int64(entries)
		m.TotalUncompressedSize += int64(len(header) + len(o.page))
		m.TotalCompressedSize += int64(len(header) + len(o.packed))
		if err := o.write(append(header, o.packed...)); err != nil {
			return format.ColumnChunk{}, err
		}
		from += n
	}
	return format.ColumnChunk{FileOffset: m.DataPageOffset, MetaData: m}, nil
}

// fill makes o.page of rows from the row from on, and returns how many rows and
// entries it holds.
func (o *output) fill(c Column, from, to int) (rows, entries int) {
	o.page = o.page[:0]
	n := min(to-from, pageBytes/8)
	switch data := c.Data.(type) {
	case []int64:
		for _, x := range data[from : from+n] {
			o.page = binary.LittleEndian.AppendUint64(o.page, uint64(x))
		}
	case []float64:
		for _, x := range data[from : from+n] {
			o.page = binary.LittleEndian.AppendUint64(o.page, math.Float64bits(x))
		}
	case []string:
		for rows < to-from && len(o.page) < pageBytes {
			s := data[from+rows]
			o.page = append(binary.LittleEndian.AppendUint32(o.page, uint32(len(s))), s...)
			rows++
		}
		return rows, rows
	case Lists:
		rows = min(to-from, max(1, pageBytes/4/data.Dims))
		return rows, o.fillLists(data, from, from+rows)
	}
	return n, n
}

// fillLists makes o.page of the rows [from, to), and returns how many entries it holds.
func (o *output) fillLists(l Lists, from, to int) (entries int) {
	var repetition, definition runs
	values := make([]byte, 0, 4*l.Dims*(to-from))
	for i := from; i < to; i++ {
		row := l.Data[i*l.Dims:][:l.Dims]
		repetition.add(0, 1) // the row begins
		if !slices.ContainsFunc(row, func(x float32) bool { return x == x }) {
			definition.add(0, 1) // and is null
			continue
		}
		repetition.add(1, l.Dims-1)
		definition.add(2, l.Dims)
		for _, x := range row {
			values = binary.LittleEndian.AppendUint32(values, math.Float32bits(x))
		}
	}
	o.page = repetition.appendTo(o.page)
	o.page = definition.appendTo(o.page)
	o.page = append(o.page, values...)
	return repetition.total
}

// runs encodes levels below 256, each as often as it stands in a row.
type runs struct {
	b        []byte
	level    byte
	n, total int
}

// add adds a level n times.
func (r *runs) add(level byte, n int) {
	if n == 0 {
		return
	}
	if level != r.level {
		r.flush()
		r.level = level
	}
	r.n += n
	r.total += n
}

func (r *runs) flush() {
	if r.n > 0 {
		r.b = append(binary.AppendUvarint(r.b, uint64(r.n)<<1), r.level)
	}
	r.n = 0
}

// appendTo appends the levels to b, with their length in bytes before them.
func (r *runs) appendTo(b []byte) []byte {
	r.flush()
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.b)))
	return append(b, r.b...)
}
