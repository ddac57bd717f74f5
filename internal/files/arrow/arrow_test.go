package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	values "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/files/column/columntest"
)

var nan = float32(math.NaN())

// What Polars and Arrow for JavaScript write is read, packed or not.
func TestWriters(t *testing.T) {
	files, err := filepath.Glob("testdata/*.arrow*")
	if err != nil || len(files) != 5 {
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
			if notes := tab.Notes(); len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
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

// written returns an Arrow file, or a stream, of batches of a column.
func written(t testing.TB, file bool, fields []arrow.Field, batches [][]arrow.Array, options ...ipc.Option) []byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	options = append(options, ipc.WithSchema(schema))
	var b bytes.Buffer
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&b, options...)
	if file {
		var err error
		if w, err = ipc.NewFileWriter(&b, options...); err != nil {
			t.Fatal(err)
		}
	}
	for _, columns := range batches {
		if err := w.Write(values.NewRecordBatch(schema, columns, int64(columns[0].Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// made builds an array with the calls that append makes.
func made(of arrow.DataType, add func(values.Builder)) arrow.Array {
	b := values.NewBuilder(memory.DefaultAllocator, of)
	add(b)
	return b.NewArray()
}

// lists makes an array of lists of rows, nil for null.
func lists(of arrow.DataType, rows [][]float64) arrow.Array {
	return made(of, func(b values.Builder) {
		l := b.(values.ListLikeBuilder)
		fixed, _ := of.(*arrow.FixedSizeListType)
		for _, row := range rows {
			if v, ok := b.(values.VarLenListLikeBuilder); ok && fixed == nil {
				v.AppendWithSize(row != nil, len(row))
			} else {
				l.Append(row != nil)
			}
			if row == nil && fixed != nil {
				row = make([]float64, fixed.Len()) // what stands under a null
			}
			for _, x := range row {
				add(l.ValueBuilder(), x)
			}
		}
	})
}

func add(b values.Builder, x float64) {
	switch b := b.(type) {
	case *values.Float16Builder:
		b.Append(float16.New(float32(x)))
	case *values.Float32Builder:
		b.Append(float32(x))
	case *values.Float64Builder:
		b.Append(x)
	case *values.Int8Builder:
		b.Append(int8(x))
	case *values.Int16Builder:
		b.Append(int16(x))
	case *values.Int32Builder:
		b.Append(int32(x))
	case *values.Int64Builder:
		b.Append(int64(x))
	case *values.Uint8Builder:
		b.Append(uint8(x))
	case *values.Uint16Builder:
		b.Append(uint16(x))
	case *values.Uint32Builder:
		b.Append(uint32(x))
	case *values.Uint64Builder:
		b.Append(uint64(x))
	case *values.BooleanBuilder:
		b.Append(x != 0)
	}
}

// Lists of every kind and of every type of number, in files and streams, packed or
// not, in batches of any size, are matrices.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	floats := []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	ints := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Boolean,
	}
	for _, of := range slices.Concat(floats, ints) {
		for _, list := range []arrow.DataType{arrow.FixedSizeListOf(3, of), arrow.ListOf(of), arrow.LargeListOf(of), arrow.ListViewOf(of), arrow.LargeListViewOf(of)} {
			for way := range 4 {
				packing := [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}, nil}[way]
				t.Run(fmt.Sprintf("%v %d", list, way), func(t *testing.T) {
					var batches [][]arrow.Array
					var want []float32
					for range 1 + r.IntN(3) {
						var rows [][]float64
						for range 1 + r.IntN(40) {
							if len(want) > 0 && r.IntN(3) == 0 {
								rows = append(rows, nil)
								want = append(want, nan, nan, nan)
								continue
							}
							row := []float64{float64(r.IntN(2)), float64(r.IntN(2)), float64(r.IntN(2))}
							rows = append(rows, row)
							want = append(want, float32(row[0]), float32(row[1]), float32(row[2]))
						}
						batches = append(batches, []arrow.Array{lists(list, rows)})
					}
					b := written(t, way%2 == 0, []arrow.Field{{Name: "emb", Type: list, Nullable: true}}, batches, packing...)
					tab := mustOpen(t, b)
					if float := slices.Contains(floats, of); (len(tab.Embeddings()) == 1) != float {
						t.Errorf("lists %q", tab.Embeddings())
					}
					if got, err := tab.Float32(0); err != nil || !columntest.Same(got, want) {
						t.Errorf("%v, %v; want %v", got, err, want)
					}
					if n, err := tab.Scratch(0); err != nil || n < piece || n > 1<<25 {
						t.Errorf("scratch %d, %v", n, err)
					}
				})
			}
		}
	}
}

// Single values: numbers of every type, text of every kind, and null.
func TestSingles(t *testing.T) {
	text := func(b values.Builder, s string) {
		switch b := b.(type) {
		case *values.StringBuilder:
			b.Append(s)
		case *values.LargeStringBuilder:
			b.Append(s)
		case *values.StringViewBuilder:
			b.Append(s)
		case *values.BinaryDictionaryBuilder:
			if err := b.AppendString(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	long := strings.Repeat("é", 20) // beyond what a view holds by itself
	for _, of := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String},
	} {
		for _, file := range []bool{true, false} {
			batch := func(s ...string) []arrow.Array {
				return []arrow.Array{made(of, func(b values.Builder) {
					for _, s := range s {
						text(b, s)
					}
					b.AppendNull()
				})}
			}
			batches := [][]arrow.Array{batch("u", "v", long)}
			if !file || of.ID() != arrow.DICTIONARY { // files cannot replace dictionaries
				batches = append(batches, batch("w", "u"))
			}
			tab := mustOpen(t, written(t, file, []arrow.Field{{Name: "id", Type: of, Nullable: true}}, batches))
			want := []string{"u", "v", long, ""}
			if len(batches) > 1 {
				want = append(want, "w", "u", "")
			}
			if got, err := tab.Text(0); err != nil || !slices.Equal(got, want) || tab.ID() != "id" {
				t.Errorf("%v: %q, %v", of, got, err)
			}
			_, err := tab.Float32(0)
			columntest.WantError(t, err, `row 0 (counted from 0) of the column "id" is text where a number is wanted`)
		}
	}
	for _, of := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16} {
		column := made(of, func(b values.Builder) {
			add(b, 1)
			b.AppendNull()
			add(b, 0)
		})
		tab := mustOpen(t, written(t, true, []arrow.Field{{Name: "x", Type: of, Nullable: true}}, [][]arrow.Array{{column}}))
		if got, cols, err := tab.Matrix(); err != nil || cols != 1 || !columntest.Same(got, []float32{1, nan, 0}) {
			t.Errorf("%v: %v, %v", of, got, err)
		}
		if kind := tab.Arrays()[0].Kind; kind != array.Float {
			t.Errorf("%v: kind %v", of, kind)
		}
	}
}

// What Hugging Face datasets and others mark as their own type is what it is stored as.
func TestExtension(t *testing.T) {
	storage := lists(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), [][]float64{{1, 2}, nil, {3, 4}})
	of := &tensor{arrow.ExtensionBase{Storage: storage.DataType()}}
	column := values.NewExtensionArrayWithStorage(of, storage)
	b := written(t, false, []arrow.Field{{Name: "emb", Type: of, Nullable: true}}, [][]arrow.Array{{column}})
	if got, err := mustOpen(t, b).Float32(0); err != nil || !columntest.Same(got, []float32{1, 2, nan, nan, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
}

// tensor is a type of somebody's own.
type tensor struct{ arrow.ExtensionBase }

func (*tensor) ArrayType() reflect.Type                  { return reflect.TypeFor[tensorArray]() }
func (*tensor) ExtensionName() string                    { return "somebody.tensor" }
func (*tensor) Serialize() string                        { return "" } //nolint:misspell // the name is the library's
func (*tensor) ExtensionEquals(arrow.ExtensionType) bool { return true }
func (*tensor) Deserialize(of arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return &tensor{arrow.ExtensionBase{Storage: of}}, nil
}

type tensorArray struct{ values.ExtensionArrayBase }

func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		of   arrow.DataType
		want string
	}{
		{arrow.FixedWidthTypes.Date32, "holds values of the type date"},
		{arrow.FixedWidthTypes.Timestamp_ms, "holds values of the type timestamp"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, "holds values of the type decimal"},
		{arrow.BinaryTypes.Binary, "holds values of the type binary"},
		{arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float32}), "holds records of several fields"},
		{arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Float32)), "holds lists of lists, which cannot be read; make them lists of numbers"},
		{arrow.ListOf(arrow.FixedWidthTypes.Date32), "holds values of the type date"},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float32), "holds values of the type map"},
		{arrow.Null, "holds values of the type null"},
	} {
		fields := []arrow.Field{{Name: "a", Type: c.of, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float32}}
		columns := []arrow.Array{
			made(c.of, func(b values.Builder) { b.AppendNull(); b.AppendNull() }),
			made(arrow.PrimitiveTypes.Float32, func(b values.Builder) { add(b, 1); add(b, 2) }),
		}
		tab := mustOpen(t, written(t, true, fields, [][]arrow.Array{columns}))
		_, err := tab.Float32(tab.Array("a"))
		columntest.WantError(t, err, `the column "a" `+c.want)
		if got, err := tab.Float32(tab.Array("b")); err != nil || !columntest.Same(got, []float32{1, 2}) {
			t.Errorf("%v: the column beside it is %v, %v", c.of, got, err)
		}
	}
}

func TestNullElement(t *testing.T) {
	of := arrow.ListOf(arrow.PrimitiveTypes.Float32)
	column := made(of, func(b values.Builder) {
		l := b.(*values.ListBuilder)
		l.Append(true)
		add(l.ValueBuilder(), 1)
		l.Append(true)
		l.ValueBuilder().AppendNull()
	})
	fields := []arrow.Field{{Name: "emb", Type: of}}
	one := lists(of, [][]float64{{1}, {2}})
	_, err := mustOpen(t, written(t, true, fields, [][]arrow.Array{{one}, {column}})).Float32(0)
	columntest.WantError(t, err, `row 3 (counted from 0) of the column "emb" has a null among its values; give numbers, or null in place of the whole list`)
	ragged := lists(of, [][]float64{{1}, {2, 3}})
	_, err = mustOpen(t, written(t, true, fields, [][]arrow.Array{{one}, {ragged}})).Float32(0)
	columntest.WantError(t, err, `row 3 (counted from 0) of the column "emb" has 2 values, and the first list of the column has 1`)
}

// example is a small file or stream with an id and a list, in two batches.
func example(t testing.TB, file bool, options ...ipc.Option) []byte {
	of := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)
	text := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	ids := made(text, func(b values.Builder) {
		for _, s := range []string{"u", "v", "w"} {
			if err := b.(*values.BinaryDictionaryBuilder).AppendString(s); err != nil {
				t.Fatal(err)
			}
		}
	})
	fields := []arrow.Field{{Name: "id", Type: text}, {Name: "emb", Type: of, Nullable: true}}
	batch := []arrow.Array{ids, lists(of, [][]float64{{1, 2}, nil, {3, 4}})}
	return written(t, file, fields, [][]arrow.Array{batch, batch}, options...)
}

// readAll reads all that a file holds.
func readAll(b []byte) error {
	tab, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for i, a := range tab.Arrays() {
		_, err := tab.Float32(i)
		if err != nil && strings.Contains(err.Error(), "is text where a number is wanted") {
			err = nil
		}
		if err == nil && len(a.Shape) == 1 {
			_, err = tab.Text(i)
		}
		if err == nil {
			_, err = tab.Scratch(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A file or stream that ends anywhere is an error.
func TestTruncated(t *testing.T) {
	for _, file := range []bool{true, false} {
		b := example(t, file)
		if err := readAll(b); err != nil {
			t.Fatal(err)
		}
		for n := range b {
			if err := readAll(b[:n]); err == nil {
				t.Errorf("cut to %d bytes of %d, it is read", n, len(b))
			}
		}
		columntest.WantError(t, readAll(b[:len(b)-5]), "truncated, or was not closed by its writer; copy it again from where it came")
	}
	columntest.WantError(t, readAll(nil), "is empty (0 bytes)")
	columntest.WantError(t, readAll([]byte("FEA1....FEA1")), "is a Feather file of version 1; save it as version 2, which is Arrow IPC")
	columntest.WantError(t, readAll([]byte(Magic)), "is damaged: it ends after 6 bytes")
	columntest.WantError(t, readAll([]byte(Magic+"\x00\x00\xff\xff\xff\x7f"+Magic)), "its footer of 2147483647 bytes is longer than the file")
	columntest.WantError(t, readAll([]byte("id,x\n1,2\n3,4\n")), "is damaged: ")
}

// No byte of a file, if it is another, brings more than an error or other values, nor
// much memory.
func TestChanged(t *testing.T) {
	for _, b := range [][]byte{example(t, true), example(t, false, ipc.WithZstd())} {
		for at := range b {
			for _, x := range []byte{0, 0x7f, 0xff} {
				c := slices.Clone(b)
				c[at] = x
				if _ = sparing(t, c); t.Failed() {
					t.Fatalf("byte %d was set to %d", at, x)
				}
			}
		}
	}
}

// A message that promises what is not there is an error, and what it promises is not
// allocated.
func TestHostile(t *testing.T) {
	b := example(t, false)
	f := &file{r: bytes.NewReader(b), size: int64(len(b)), maxValues: 1 << 30}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	with := func(at int, n uint64) []byte {
		c := slices.Clone(b)
		binary.LittleEndian.PutUint64(c[at:], n)
		return c
	}
	for _, m := range f.messages {
		from := int(m.body) - len(m.meta)
		for _, n := range []uint64{1 << 40, 1 << 63} {
			columntest.WantError(t, readAll(with(from+rootTable(m.meta).field(3), n)), "has a body of")
		}
		if m.dictionary {
			continue
		}
		rows := from + m.data.field(0)
		for _, n := range []uint64{1 << 40, 1 << 62, 1 << 63, 1<<64 - 1} {
			columntest.WantError(t, readAll(with(rows, n)), "rows, which its")
		}
		for _, n := range []uint64{2, 4} { // a row less, and one more
			columntest.WantError(t, readAll(with(rows, n)), "a batch of "+fmt.Sprint(n)+" rows has 3 in the column")
		}
		nodes, n := m.data.vector(1, 16)
		for k := range n {
			for _, x := range []uint64{1 << 40, 1<<64 - 1} {
				columntest.WantError(t, readAll(with(from+nodes+16*k, x)), "which a file of")
				columntest.WantError(t, readAll(with(from+nodes+16*k+8, x)), "null, which a file of")
			}
		}
		buffers, n := m.data.vector(2, 16)
		for k := range n {
			if length := binary.LittleEndian.Uint64(m.meta[buffers+16*k+8:]); length == 0 {
				continue // of a bitmap that is not there
			}
			for _, x := range []uint64{1 << 40, 1<<64 - 1} {
				columntest.WantError(t, readAll(with(from+buffers+16*k, x)), "a buffer goes from byte")
				columntest.WantError(t, readAll(with(from+buffers+16*k+8, x)), "a buffer goes from byte")
			}
		}
	}
}

// An error of the reader beneath comes through.
func TestReadError(t *testing.T) {
	for _, file := range []bool{true, false} {
		columntest.ReadErrors(t, example(t, file), Open)
	}
}

func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.arrow*")
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(example(f, true))
	f.Add(example(f, false, ipc.WithZstd()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readAll(b); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("the error says nothing")
		}
	})
}
