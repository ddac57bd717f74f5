package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/files/column/columntest"
)

var nan = float32(math.NaN())

// What DuckDB and Polars write is read, whatever its encodings and codecs.
func TestWriters(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tab := mustOpen(t, b)
			columntest.Check(t, tab)
			notes := strings.Join(tab.Notes(), "\n")
			if path != filepath.Join("testdata", "duckdb-array.parquet") {
				if notes != "" {
					t.Errorf("notes %s", notes)
				}
				return
			}
			// Its null arrays have elements.
			for _, want := range []string{`"image" has rows that are null and yet have elements, 3 in number`, `"text" has rows that are null and yet have elements, 2 in number`} {
				if !strings.Contains(notes, want) {
					t.Errorf("the notes %s do not say %s", notes, want)
				}
			}
			_, err = tab.Text(tab.Array("day"))
			columntest.WantError(t, err, `the column "day" holds values of the type date, which cannot be read; cast it`)
		})
	}
}

func mustOpen(t testing.TB, b []byte) *column.Table {
	t.Helper()
	tab, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// A leaf of each kind that can be read, in each encoding that it has.
func TestEncodings(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 700
	small := func(i int) int64 { return int64(i%7) - 3 }
	long := func(int) string { return strings.Repeat("é", r.IntN(4)) + strconv.Itoa(r.IntN(1000)) }
	type kind struct {
		name      string
		node      parquet.Node
		encodings []string
		value     func(i int) (v parquet.Value, text string)
	}
	kinds := []kind{
		{"boolean", parquet.Leaf(parquet.BooleanType), []string{"plain", "rle"}, func(i int) (parquet.Value, string) {
			return parquet.BooleanValue(i%3 == 0), map[bool]string{true: "1", false: "0"}[i%3 == 0]
		}},
		{"int32", parquet.Leaf(parquet.Int32Type), []string{"plain", "dictionary", "delta", "split"}, func(i int) (parquet.Value, string) {
			x := int32(r.Uint32()) >> r.IntN(32)
			return parquet.Int32Value(x), strconv.Itoa(int(x))
		}},
		{"int64", parquet.Leaf(parquet.Int64Type), []string{"plain", "dictionary", "delta", "split"}, func(i int) (parquet.Value, string) {
			x := int64(r.Uint64()) >> r.IntN(64)
			return parquet.Int64Value(x), strconv.FormatInt(x, 10)
		}},
		{"few", parquet.Int(64), []string{"plain", "dictionary", "delta"}, func(i int) (parquet.Value, string) {
			return parquet.Int64Value(small(i)), strconv.FormatInt(small(i), 10)
		}},
		{"uint32", parquet.Uint(32), []string{"plain", "dictionary", "delta"}, func(i int) (parquet.Value, string) {
			x := r.Uint32()
			return parquet.Int32Value(int32(x)), strconv.FormatUint(uint64(x), 10)
		}},
		{"uint64", parquet.Uint(64), []string{"plain", "dictionary", "delta"}, func(i int) (parquet.Value, string) {
			x := r.Uint64()
			return parquet.Int64Value(int64(x)), strconv.FormatUint(x, 10)
		}},
		{"int8", parquet.Int(8), []string{"plain", "dictionary", "delta"}, func(i int) (parquet.Value, string) {
			return parquet.Int32Value(int32(i%256 - 128)), strconv.Itoa(i%256 - 128)
		}},
		{"float", parquet.Leaf(parquet.FloatType), []string{"plain", "dictionary", "split"}, func(i int) (parquet.Value, string) {
			x := r.Float32()
			return parquet.FloatValue(x), strconv.FormatFloat(float64(x), 'g', -1, 32)
		}},
		{"double", parquet.Leaf(parquet.DoubleType), []string{"plain", "dictionary", "split"}, func(i int) (parquet.Value, string) {
			x := r.Float64()
			return parquet.DoubleValue(x), strconv.FormatFloat(x, 'g', -1, 64)
		}},
		{"string", parquet.String(), []string{"plain", "dictionary", "lengths", "strings"}, func(i int) (parquet.Value, string) {
			s := long(i)
			return parquet.ByteArrayValue([]byte(s)), s
		}},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), []string{"plain", "dictionary", "lengths", "strings"}, func(i int) (parquet.Value, string) {
			s := "s" + strconv.Itoa(i)
			return parquet.ByteArrayValue([]byte(s)), s
		}},
		{"enum", parquet.Enum(), []string{"plain", "dictionary"}, func(i int) (parquet.Value, string) {
			s := []string{"red", "green"}[i%2]
			return parquet.ByteArrayValue([]byte(s)), s
		}},
		{"uuid", parquet.UUID(), []string{"plain", "dictionary"}, func(i int) (parquet.Value, string) {
			var u [16]byte
			binary.BigEndian.PutUint64(u[:], r.Uint64())
			binary.BigEndian.PutUint64(u[8:], r.Uint64())
			return parquet.FixedLenByteArrayValue(u[:]), fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
		}},
	}
	encode := func(node parquet.Node, name string) parquet.Node {
		switch name {
		case "dictionary":
			return parquet.Encoded(node, &parquet.RLEDictionary)
		case "delta":
			return parquet.Encoded(node, &parquet.DeltaBinaryPacked)
		case "split":
			return parquet.Encoded(node, &parquet.ByteStreamSplit)
		case "lengths":
			return parquet.Encoded(node, &parquet.DeltaLengthByteArray)
		case "strings":
			return parquet.Encoded(node, &parquet.DeltaByteArray)
		case "rle":
			return parquet.Encoded(node, &parquet.RLE)
		}
		return parquet.Encoded(node, &parquet.Plain)
	}
	for _, k := range kinds {
		for _, encoding := range k.encodings {
			for version := 1; version <= 2; version++ {
				t.Run(fmt.Sprint(k.name, " ", encoding, " ", version), func(t *testing.T) {
					var rows []parquet.Row
					want := make([]string, n)
					for i := range n {
						v, s := k.value(i)
						want[i] = s
						row := parquet.Row{v.Level(0, 0, 0), v.Level(0, 1, 1)}
						if i%5 == 4 {
							row[1] = parquet.NullValue().Level(0, 0, 1)
						}
						rows = append(rows, row)
					}
					node := encode(k.node, encoding)
					b := written(t, parquet.Group{"a": node, "b": parquet.Optional(node)}, rows, parquet.DataPageVersion(version), parquet.PageBufferSize(512), parquet.MaxRowsPerRowGroup(300))
					tab := mustOpen(t, b)
					got, err := tab.Text(tab.Array("a"))
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%q, %v; want %q", first(got), err, first(want))
					}
					for i := range want {
						if i%5 == 4 {
							want[i] = ""
						}
					}
					got, err = tab.Text(tab.Array("b"))
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("with nulls: %q, %v; want %q", first(got), err, first(want))
					}
				})
			}
		}
	}
}

func first(s []string) []string { return s[:min(10, len(s))] }

// written returns a file of rows, as the library for Go writes it.
func written(t testing.TB, schema parquet.Group, rows []parquet.Row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, append(options, parquet.NewSchema("table", schema))...)
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// embedding is a row of a column of lists, nil for null.
type embedding []float32

func embeddings(r *rand.Rand, rows, dims int) []embedding {
	out := make([]embedding, rows)
	for i := range out {
		if i > 0 && r.IntN(3) == 0 {
			continue
		}
		for range dims {
			out[i] = append(out[i], r.Float32())
		}
	}
	return out
}

func flat(rows []embedding, dims int) []float32 {
	var out []float32
	for _, row := range rows {
		if row == nil {
			row = slices.Repeat(embedding{nan}, dims)
		}
		out = append(out, row...)
	}
	return out
}

// listRows gives embeddings levels: def is that of an element, and null that of a row
// without a list.
func listRows(rows []embedding, def, null int) []parquet.Row {
	var out []parquet.Row
	for _, e := range rows {
		var row parquet.Row
		for k, x := range e {
			row = append(row, parquet.FloatValue(x).Level(min(k, 1), def, 0))
		}
		if e == nil {
			row = parquet.Row{parquet.NullValue().Level(0, null, 0)}
		}
		out = append(out, row)
	}
	return out
}

// Lists come in three levels, in two, or repeated, their elements required or
// optional, in pages and row groups of any size.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	float := parquet.Leaf(parquet.FloatType)
	legacy := func(of parquet.Node) parquet.Node { return tagged{parquet.Group{"array": parquet.Repeated(of)}} }
	shapes := []struct {
		name      string
		node      parquet.Node
		def, null int
	}{
		{"of three levels", parquet.Optional(parquet.List(float)), 2, 0},
		{"of three levels, as pyarrow writes them", parquet.Optional(parquet.List(parquet.Optional(float))), 3, 0},
		{"of three levels, not null", parquet.List(parquet.Optional(float)), 2, -1},
		{"of two levels", parquet.Optional(legacy(float)), 2, 0},
		{"repeated", parquet.Repeated(float), 1, 0},
	}
	for _, shape := range shapes {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Lz4Raw, &parquet.Brotli} {
			for version := 1; version <= 2; version++ {
				t.Run(fmt.Sprintf("%s %v %d", shape.name, codec, version), func(t *testing.T) {
					dims := 1 + r.IntN(9)
					rows := embeddings(r, 1+r.IntN(300), dims)
					for i := range rows {
						if rows[i] == nil && shape.null < 0 {
							rows[i] = make(embedding, dims)
						}
					}
					b := written(t, parquet.Group{"emb": shape.node}, listRows(rows, shape.def, shape.null), parquet.Compression(codec),
						parquet.DataPageVersion(version), parquet.PageBufferSize(64+r.IntN(2000)), parquet.MaxRowsPerRowGroup(int64(1+r.IntN(200))))
					tab := mustOpen(t, b)
					if !slices.Equal(tab.Embeddings(), []string{"emb"}) {
						t.Fatalf("lists %q of %v", tab.Embeddings(), tab.Columns())
					}
					if d, err := tab.Dims(0); d != dims || err != nil {
						t.Fatalf("%d dimensions, %v; want %d", d, err, dims)
					}
					if got, err := tab.Float32(0); err != nil || !columntest.Same(got, flat(rows, dims)) {
						t.Errorf("%v, %v", got, err)
					}
					if n, err := tab.Scratch(0); err != nil || n < 10 || n > 1<<20 {
						t.Errorf("scratch %d, %v", n, err)
					}
				})
			}
		}
	}
}

// tagged is a group that is marked as a list, whatever is in it.
type tagged struct{ parquet.Group }

func (tagged) Type() parquet.Type { return parquet.List(parquet.Leaf(parquet.FloatType)).Type() }

// All types of numbers make embeddings.
func TestListTypes(t *testing.T) {
	half := func(bits uint16) parquet.Value {
		return parquet.FixedLenByteArrayValue(binary.LittleEndian.AppendUint16(nil, bits))
	}
	for name, c := range map[string]struct {
		node   parquet.Node
		values []parquet.Value
		kind   array.Kind
	}{
		"float":   {parquet.Leaf(parquet.FloatType), []parquet.Value{parquet.FloatValue(1), parquet.FloatValue(-0.5)}, array.Float},
		"double":  {parquet.Leaf(parquet.DoubleType), []parquet.Value{parquet.DoubleValue(1), parquet.DoubleValue(-0.5)}, array.Float},
		"float16": {float16(), []parquet.Value{half(0x3c00), half(0xb800)}, array.Float},
		"int8":    {parquet.Int(8), []parquet.Value{parquet.Int32Value(1), parquet.Int32Value(-2)}, array.Int},
		"boolean": {parquet.Leaf(parquet.BooleanType), []parquet.Value{parquet.BooleanValue(true), parquet.BooleanValue(false)}, array.Int},
	} {
		for _, encoding := range []parquet.Node{parquet.Encoded(c.node, &parquet.Plain), c.node} {
			b := written(t, parquet.Group{"emb": parquet.Optional(parquet.List(encoding))}, []parquet.Row{
				{c.values[0].Level(0, 2, 0), c.values[1].Level(1, 2, 0)},
				{parquet.NullValue().Level(0, 0, 0)},
				{c.values[1].Level(0, 2, 0), c.values[0].Level(1, 2, 0)},
			})
			tab := mustOpen(t, b)
			low := map[string]float32{"int8": -2, "boolean": 0}
			x, ok := low[name]
			if !ok {
				x = -0.5
			}
			if got, err := tab.Float32(tab.Array("emb")); err != nil || !columntest.Same(got, []float32{1, x, nan, nan, x, 1}) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			// Lists of whole numbers are often something else.
			if got := len(tab.Embeddings()) == 1; got != (c.kind == array.Float) {
				t.Errorf("%s: lists %q", name, tab.Embeddings())
			}
		}
	}
}

func float16() parquet.Node { return half{parquet.Leaf(parquet.FixedLenByteArrayType(2))} }

type half struct{ parquet.Node }

func (half) Type() parquet.Type { return halfType{parquet.FixedLenByteArrayType(2)} }

type halfType struct{ parquet.Type }

func (halfType) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: new(format.Float16Type)}
}

// What cannot be a view is listed with the reason.
func TestUnreadable(t *testing.T) {
	list := func(n parquet.Node) parquet.Node { return parquet.Optional(parquet.List(n)) }
	float := parquet.Leaf(parquet.FloatType)
	for _, c := range []struct {
		name string
		node parquet.Node
		want string
	}{
		{"record", parquet.Group{"x": float, "y": float}, "holds records of several fields, which cannot be read; make each field a column of its own"},
		{"record of one", parquet.Group{"x": float}, "holds records"},
		{"list of records", list(parquet.Group{"x": float, "y": float}), "holds records of several fields"},
		{"list of lists", list(list(float)), "holds lists of lists, which cannot be read; make them lists of numbers"},
		{"map", parquet.Map(parquet.String(), float), "holds records of several fields"},
		{"date", parquet.Date(), "holds values of the type date"},
		{"timestamp", parquet.Timestamp(parquet.Millisecond), "holds values of the type timestamp"},
		{"decimal", parquet.Decimal(2, 9, parquet.Int32Type), "holds values of the type decimal(9,2)"},
		{"bytes", parquet.Leaf(parquet.FixedLenByteArrayType(5)), "holds values of the type fixed_len_byte_array"},
		{"int96", parquet.Leaf(parquet.Int96Type), "holds values of the type int96"},
		{"list of dates", list(parquet.Date()), "holds values of the type date"},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema := parquet.NewSchema("table", parquet.Group{"a": c.node, "b": float})
			var b bytes.Buffer
			w := parquet.NewWriter(&b, schema)
			row := parquet.Row{}
			for _, leaf := range schema.Columns() {
				at, _ := schema.Lookup(leaf...)
				var v parquet.Value
				switch kind := at.Node.Type().Kind(); kind {
				case parquet.FixedLenByteArray:
					v = parquet.FixedLenByteArrayValue(make([]byte, at.Node.Type().Length()))
				case parquet.Int96:
					v = parquet.Int96Value(deprecated.Int96{})
				default:
					v = parquet.ZeroValue(kind)
				}
				row = append(row, v.Level(0, at.MaxDefinitionLevel, at.ColumnIndex))
			}
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			tab := mustOpen(t, b.Bytes())
			if got := strings.Join(tab.Columns(), " "); got != "a b" || len(tab.Embeddings()) > 0 {
				t.Errorf("columns %s, lists %q", got, tab.Embeddings())
			}
			if v, err := tab.Float32(tab.Array("b")); err != nil || !columntest.Same(v, []float32{0}) {
				t.Errorf("the column beside it: %v, %v", v, err)
			}
			_, err := tab.Float32(tab.Array("a"))
			columntest.WantError(t, err, `the column "a" `+c.want)
		})
	}
}

func TestNullElement(t *testing.T) {
	b := written(t, parquet.Group{"emb": parquet.Optional(parquet.List(parquet.Optional(parquet.Leaf(parquet.FloatType))))}, []parquet.Row{
		{parquet.FloatValue(1).Level(0, 3, 0), parquet.FloatValue(2).Level(1, 3, 0)},
		{parquet.FloatValue(1).Level(0, 3, 0), parquet.NullValue().Level(1, 2, 0)},
	})
	_, err := mustOpen(t, b).Float32(0)
	columntest.WantError(t, err, `row 1 (counted from 0) of the column "emb" has a null among its values; give numbers, or null in place of the whole list`)
}

// An empty list is no missing one, but where the column has no other way to say so.
func TestEmptyList(t *testing.T) {
	rows := []parquet.Row{{parquet.FloatValue(1).Level(0, 2, 0)}, {parquet.NullValue().Level(0, 1, 0)}}
	b := written(t, parquet.Group{"emb": parquet.Optional(parquet.List(parquet.Leaf(parquet.FloatType)))}, rows)
	_, err := mustOpen(t, b).Float32(0)
	columntest.WantError(t, err, `row 1 (counted from 0) of the column "emb" has an empty list; write null where the view is missing`)
	rows[0][0], rows[1][0] = rows[0][0].Level(0, 1, 0), rows[1][0].Level(0, 0, 0)
	b = written(t, parquet.Group{"emb": parquet.Repeated(parquet.Leaf(parquet.FloatType))}, rows)
	if got, err := mustOpen(t, b).Float32(0); err != nil || !columntest.Same(got, []float32{1, nan}) {
		t.Errorf("%v, %v", got, err)
	}
}

// A row may go on in the next page of version 1; null lists may have elements, there
// too; and levels that contradict each other are damage.
func TestAssemble(t *testing.T) {
	type page struct{ rep, def []uint8 }
	for _, c := range []struct {
		name   string
		pages  []page
		want   string // lengths, with + where a row goes on
		errors string
		faults int
	}{
		{"whole rows", []page{{[]uint8{0, 1, 0, 1}, []uint8{3, 3, 3, 3}}, {[]uint8{0, 0, 1}, []uint8{0, 3, 3}}}, "[2 2] [-1 2]", "", 0},
		{"a row over pages", []page{{[]uint8{0, 1, 0}, []uint8{3, 3, 3}}, {[]uint8{1, 1, 0}, []uint8{3, 3, 3}}}, "[2 1] +[2 1]", "", 0},
		{"a row over three pages", []page{{[]uint8{0}, []uint8{3}}, {[]uint8{1}, []uint8{3}}, {[]uint8{1}, []uint8{3}}}, "[1] +[1] +[1]", "", 0},
		{"null, empty", []page{{[]uint8{0, 0, 0}, []uint8{0, 1, 3}}}, "[-1 0 1]", "", 0},
		{"null with elements", []page{{[]uint8{0, 1, 1, 0, 1, 1, 0, 1, 1}, []uint8{3, 3, 3, 0, 0, 0, 3, 3, 3}}}, "[3 -1 3]", "", 1},
		{"null with elements over pages", []page{{[]uint8{0, 1}, []uint8{0, 0}}, {[]uint8{1, 0, 1, 1}, []uint8{0, 3, 3, 3}}}, "[-1] [3]", "", 1},
		{"two of them", []page{{[]uint8{0, 1, 0, 1}, []uint8{0, 0, 0, 0}}}, "[-1 -1]", "", 2},
		{"elements of null that are there", []page{{[]uint8{0, 1}, []uint8{0, 3}}}, "", "a list goes on after its end", 0},
		{"elements of an empty list", []page{{[]uint8{0, 1}, []uint8{1, 3}}}, "", "a list goes on after its end", 0},
		{"null within a list", []page{{[]uint8{0, 1}, []uint8{3, 0}}}, "", "a list goes on after its end", 0},
		{"a page within no row", []page{{[]uint8{1, 0}, []uint8{3, 3}}}, "", "a page begins within a row", 0},
		{"a null element", []page{{[]uint8{0, 1}, []uint8{3, 2}}}, "", "row 0 (counted from 0) of the column \"emb\" has a null", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &file{malformed: map[int]int{}, leaves: []leaf{{Info: column.Info{Name: "emb"}, maxRep: 1, maxDef: 3, element: 2}}}
			s := &scan{f: f, leaf: &f.leaves[0]}
			var got []string
			var err error
			for i, p := range c.pages {
				s.rep, s.def = p.rep, p.def
				var chunk column.Chunk
				if chunk, err = s.assemble(len(p.rep), i == 0); err != nil {
					break
				}
				got = append(got, map[bool]string{true: "+"}[chunk.More]+fmt.Sprint(chunk.Lengths))
			}
			if c.errors != "" {
				columntest.WantError(t, err, c.errors)
				return
			}
			if s := strings.Join(got, " "); s != c.want || err != nil || f.malformed[0] != c.faults {
				t.Errorf("%s with %d faults, %v; want %s", s, f.malformed[0], err, c.want)
			}
		})
	}
}

// remade returns the file with its footer changed.
func remade(t testing.TB, b []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	var meta format.FileMetaData
	if _, err := decode(b[len(b)-8-length:len(b)-8], &meta); err != nil {
		t.Fatal(err)
	}
	change(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(slices.Clone(b[:len(b)-8-length]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, magic...)
}

// example is a file of three rows in one row group: an id and a list.
func example(t testing.TB, options ...parquet.WriterOption) []byte {
	return written(t, parquet.Group{"emb": parquet.Optional(parquet.List(parquet.Leaf(parquet.FloatType))), "id": parquet.String()}, []parquet.Row{
		{parquet.FloatValue(1).Level(0, 2, 0), parquet.FloatValue(2).Level(1, 2, 0), parquet.ByteArrayValue([]byte("u")).Level(0, 0, 1)},
		{parquet.NullValue().Level(0, 0, 0), parquet.ByteArrayValue([]byte("v")).Level(0, 0, 1)},
		{parquet.FloatValue(3).Level(0, 2, 0), parquet.FloatValue(4).Level(1, 2, 0), parquet.ByteArrayValue([]byte("w")).Level(0, 0, 1)},
	}, options...)
}

// readAll reads all that a file holds.
func readAllOf(b []byte) error {
	tab, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	var errs []error
	for i, a := range tab.Arrays() {
		_, err := tab.Float32(i)
		errs = append(errs, err)
		if len(a.Shape) == 1 {
			_, err = tab.Text(i)
			errs = append(errs, err)
		}
		_, err = tab.Scratch(i)
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err != nil && !strings.Contains(err.Error(), "is text where a number is wanted") {
			return err
		}
	}
	return nil
}

// A footer that promises what is not there is an error, and what it promises is not
// allocated.
func TestHostileFooter(t *testing.T) {
	const huge = 1 << 50
	for _, c := range []struct {
		name   string
		change func(m *format.FileMetaData)
		want   string
	}{
		{"rows", func(m *format.FileMetaData) { m.NumRows = huge }, "its row groups have 3 rows, where it promises 1125899906842624"},
		{"rows of a group", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = huge, huge }, "its row group 0 promises 1125899906842624 rows"},
		{"more rows", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<30, 1<<30 }, "promises 1073741824 rows, which its"},
		{"a row more", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 4, 4 }, ""},
		{"a row less", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 2, 2 }, ""},
		{"rows below none", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = -1, -1 }, "promises -1 rows"},
		{"entries", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = huge }, "entries, which a file of"},
		{"more entries", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues++ }, "is damaged"},
		{"fewer entries", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues-- }, "a page has 5 entries, where 4 are left"},
		{"no entries", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 0 }, "it has 0 entries for 3 rows"},
		{"a place beyond", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = huge }, "its pages go from byte"},
		{"a place before", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -5 }, "its pages go from byte"},
		{"a size beyond", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = math.MaxInt64 }, "its pages go from byte"},
		{"another type", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Double }, "it holds values of the type DOUBLE, where FLOAT is promised"},
		{"another file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "other.parquet" }, `is in another file, "other.parquet"; save the table as one file`},
		{"a key", func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].CryptoMetadata.Value = new(format.EncryptionWithFooterKey)
		}, "is encrypted; save it without encryption"},
		{"LZO", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.LZO }, "pages compressed by LZO, which cannot be read; save it with ZSTD or SNAPPY"},
		{"LZ4", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.Lz4 }, "pages compressed by LZ4, which"},
		{"another codec", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.Zstd }, "a page compressed by ZSTD cannot be unpacked"},
		{"fewer columns", func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:1] }, "its row group 0 has 1 columns of 2"},
		{"children", func(m *format.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(7)) }, "its schema does not add up"},
		{"many children", func(m *format.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(math.MaxInt32)) }, "its schema does not add up"},
		{"children below none", func(m *format.FileMetaData) { m.Schema[1].NumChildren = thrift.New(int32(-1)) }, "its schema does not add up"},
		{"depth", func(m *format.FileMetaData) {
			group := format.SchemaElement{Name: "x", NumChildren: thrift.New(int32(1))}
			m.Schema = append(slices.Repeat([]format.SchemaElement{group}, 1000), m.Schema...)
		}, "its schema does not add up"},
		{"no schema", func(m *format.FileMetaData) { m.Schema = nil }, "it has no schema"},
		{"no column", func(m *format.FileMetaData) {
			m.Schema = m.Schema[:1]
			m.Schema[0].NumChildren = thrift.New(int32(0))
			m.RowGroups = nil
			m.NumRows = 0
		}, "holds no column"},
		{"no row", func(m *format.FileMetaData) { m.RowGroups, m.NumRows = nil, 0 }, "holds no row"},
		{"decimals of old", func(m *format.FileMetaData) {
			m.Schema[len(m.Schema)-1] = format.SchemaElement{Name: "id", Type: thrift.New(format.Int32), ConvertedType: thrift.New(deprecated.Decimal)}
		}, "holds values of the type decimal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := remade(t, example(t, parquet.DataPageVersion(1)), c.change)
			frugal(t, func() {
				if err := readAllOf(b); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error %v does not say %q", err, c.want)
				}
			})
		})
	}
}

// frugal fails the test where do allocates a lot.
func frugal(t *testing.T, do func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}

// pageFile is a file of one column of rows with one page of the given header and
// bytes.
func pageFile(t testing.TB, rows int, leaf format.SchemaElement, codec format.CompressionCodec, header format.PageHeader, body []byte) []byte {
	t.Helper()
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		t.Fatal(err)
	}
	entries := header.DataPageHeader.V.NumValues
	meta := format.FileMetaData{
		Version: 1, NumRows: int64(rows),
		Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(1))}, leaf},
		RowGroups: []format.RowGroup{{NumRows: int64(rows), Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: leaf.Type.V, Codec: codec, NumValues: int64(entries), DataPageOffset: 4,
			TotalCompressedSize: int64(len(head) + len(body)), PathInSchema: []string{leaf.Name},
		}}}}},
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Concat([]byte(magic), head, body, footer)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...)
}

// Pages that promise more than they hold are errors, at little cost.
func TestHostilePages(t *testing.T) {
	float := format.SchemaElement{Name: "x", Type: thrift.New(format.Float)}
	text := format.SchemaElement{Name: "x", Type: thrift.New(format.ByteArray)}
	list := format.SchemaElement{Name: "x", Type: thrift.New(format.Float), RepetitionType: thrift.New(format.Repeated)}
	optional := format.SchemaElement{Name: "x", Type: thrift.New(format.Float), RepetitionType: thrift.New(format.Optional)}
	header := func(entries, packed, unpacked int, encoding format.Encoding) format.PageHeader {
		return format.PageHeader{
			Type: format.DataPage, CompressedPageSize: int32(packed), UncompressedPageSize: int32(unpacked),
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(entries), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
		}
	}
	run := func(n uint64, value byte) []byte { // levels: one run
		b := append(binary.AppendUvarint(nil, n<<1), value)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	const many = 1_000_000
	zeros := func(n int) []byte {
		b, err := parquet.Zstd.Encode(nil, make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	bomb := zeros(300 << 20)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"values that lack", pageFile(t, many, float, format.Uncompressed, header(many, 8, 8, format.Plain), make([]byte, 8)), "its values are not all there"},
		{"texts that lack", pageFile(t, many, text, format.Uncompressed, header(many, 8, 8, format.Plain), make([]byte, 8)), "its values are not all there"},
		{"a text that lacks", pageFile(t, 1, text, format.Uncompressed, header(1, 8, 8, format.Plain), []byte{255, 255, 255, 127, 0, 0, 0, 0}), "its values are not all there"},
		{"a size of the page", pageFile(t, 1, float, format.Uncompressed, header(1, math.MaxInt32, 4, format.Plain), make([]byte, 4)), "has an impossible size"},
		{"a size below none", pageFile(t, 1, float, format.Uncompressed, header(1, -4, 4, format.Plain), make([]byte, 4)), "has an impossible size"},
		{"an unpacked size", pageFile(t, 1, float, format.Zstd, header(1, len(zeros(4)), math.MaxInt32, format.Plain), zeros(4)), "where 2147483647 are promised"},
		{"an unpacked size by snappy", pageFile(t, 1, float, format.Snappy, header(1, 5, math.MaxInt32, format.Plain), []byte{255, 255, 255, 255, 7}), "a page compressed by SNAPPY cannot be unpacked"},
		{"an unpacked size by lz4", pageFile(t, 1, float, format.Lz4Raw, header(1, 4, math.MaxInt32, format.Plain), make([]byte, 4)), "a page of 4 bytes promises 2147483647"},
		{"a bomb", pageFile(t, 1, float, format.Zstd, header(1, len(bomb), 4, format.Plain), bomb), "more bytes than are promised"},
		{"levels that lack", pageFile(t, 3, optional, format.Uncompressed, header(3, 6, 6, format.Plain), run(2, 1)), "its levels or places are not all there"},
		{"levels beyond", pageFile(t, 3, optional, format.Uncompressed, header(3, 6, 6, format.Plain), run(3, 3)), "a page has a level of 3, where 1 is the highest"},
		{"a length of levels", pageFile(t, 3, optional, format.Uncompressed, header(3, 4, 4, format.Plain), []byte{255, 255, 255, 255}), "the levels of a page are not all there"},
		{"null rows", pageFile(t, many, list, format.Uncompressed, header(many, 20, 20, format.Plain), append(run(1<<31, 0), run(1<<31, 0)...)), `the column "x" is null in every row`},
		{"a dictionary that lacks", pageFile(t, 1, float, format.Uncompressed, header(1, 3, 3, format.RLEDictionary), []byte{1, 2, 0}), "a page refers to a dictionary that is not there"},
		{"places of too many bits", pageFile(t, 1, float, format.Uncompressed, header(1, 3, 3, format.RLEDictionary), []byte{33, 2, 0}), "its values are not all there"},
		{"another encoding", pageFile(t, 1, float, format.Uncompressed, header(1, 4, 4, format.DeltaBinaryPacked), make([]byte, 4)), "in the encoding DELTA_BINARY_PACKED, which cannot be read; save it with the encoding PLAIN"},
		{"levels of old", pageFile(t, 1, optional, format.Uncompressed, func() format.PageHeader {
			h := header(1, 4, 4, format.Plain)
			h.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked
			return h
		}(), make([]byte, 4)), "has levels in the encoding BIT_PACKED"},
		{"a checksum", pageFile(t, 1, float, format.Uncompressed, func() format.PageHeader {
			h := header(1, 4, 4, format.Plain)
			h.CRC = 7
			return h
		}(), make([]byte, 4)), "does not have its checksum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frugal(t, func() {
				if err := readAllOf(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error %v does not say %q", err, c.want)
				}
			})
		})
	}
}

// A file that ends anywhere, or of which a byte is another, is an error or another
// table, and never worse.
func TestTruncated(t *testing.T) {
	b := example(t)
	for n := range b {
		if err := readAllOf(b[:n]); err == nil {
			t.Errorf("cut to %d bytes of %d, it is read", n, len(b))
		}
	}
	columntest.WantError(t, readAllOf(nil), "is too short for a Parquet file; copy it again")
	columntest.WantError(t, readAllOf(b[:len(b)-1]), "it ends without the mark PAR1, and so is truncated, or was not closed by its writer")
	columntest.WantError(t, readAllOf([]byte("PARE")), "is encrypted; save it without encryption")
	columntest.WantError(t, readAllOf(append(slices.Clone(b[:len(b)-4]), "PARE"...)), "is encrypted")
	columntest.WantError(t, readAllOf([]byte("id,x\n1,2\n")), `begins with "id,x" and not with PAR1`)
	long := slices.Clone(b)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	columntest.WantError(t, readAllOf(long), "its footer of 2147483648 bytes is longer than the file")
}

// An error of the reader beneath comes through.
func TestReadError(t *testing.T) {
	columntest.ReadErrors(t, example(t), Open)
}

// A page by ZSTD may have been packed as part of something longer, of unknown length.
func TestUnpackStream(t *testing.T) {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithWindowSize(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("page"), 100)
	for part := range slices.Chunk(want, 7) { // none of which is the last
		w.Write(part)
		w.Flush()
	}
	w.Close()
	got, err := unpack(format.Zstd, nil, packed.Bytes(), len(want))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, n := range []int{len(want) - 1, len(want) + 1} {
		if _, err := unpack(format.Zstd, nil, packed.Bytes(), n); err == nil {
			t.Errorf("%d bytes are taken for %d", len(want), n)
		}
	}
}

func TestStructLength(t *testing.T) {
	b := example(t)
	footer := b[len(b)-8-int(binary.LittleEndian.Uint32(b[len(b)-8:])) : len(b)-8]
	if n, err := structLength(append(slices.Clone(footer), 1, 2, 3)); n != len(footer) || err != nil {
		t.Errorf("%d, %v; want %d", n, err, len(footer))
	}
	for n := range footer {
		if _, err := structLength(footer[:n]); !errors.Is(err, errShort) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	deep := bytes.Repeat([]byte{0x1c}, 100) // records in records
	if _, err := structLength(deep); err == nil || errors.Is(err, errShort) {
		t.Errorf("nested deep: %v", err)
	}
	deep = append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 100)...) // lists in lists
	if _, err := structLength(deep); err == nil || errors.Is(err, errShort) {
		t.Errorf("lists nested deep: %v", err)
	}
	if _, err := structLength([]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}); !errors.Is(err, errShort) {
		t.Errorf("a list of 2^31 records: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.parquet")
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(example(f))
	f.Add(example(f, parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readAllOf(b); err != nil && (strings.TrimSpace(err.Error()) == "" || strings.Contains(err.Error(), "runtime error")) {
			t.Errorf("the error says %q", err)
		}
	})
}
