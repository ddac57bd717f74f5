package npy

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Rows is a matrix that is written row by row.
type Rows[T float32 | int32] struct {
	Count, Dims int
	// Row returns row i, which may be shorter than Dims.
	Row func(i int) []T
	// Absent stands for the values that a row lacks.
	Absent T
	// Block, if not nil, is called with the bytes of every BlockRows(Dims) rows, in their order;
	// the last ones may be fewer.
	Block func(values []byte)
}

// BlockRows returns how many rows are written at a time.
func BlockRows(dims int) int { return (blockBytes + 4*dims - 1) / (4 * dims) }

// Write writes data, a []float32, []int32, []int64, Rows[float32] or Rows[int32], as a .npy file of the given
// shape, the values in the order of their indices with the last one running
// fastest. An empty shape is that of a single number.
func Write(w io.Writer, shape []int, data any) error {
	switch data := data.(type) {
	case []float32:
		return write(w, "<f4", shape, data)
	case []int32:
		return write(w, "<i4", shape, data)
	case []int64:
		return write(w, "<i8", shape, data)
	case Rows[float32]:
		return data.write(w, "<f4", shape)
	case Rows[int32]:
		return data.write(w, "<i4", shape)
	}
	return fmt.Errorf("values of type %T cannot be written; pass a []float32, []int32, []int64 or Rows", data)
}

func (r Rows[T]) write(w io.Writer, descr string, shape []int) error {
	if err := begin(w, descr, shape, r.Count*r.Dims); err != nil {
		return err
	}
	var buf []byte
	absent := slices.Repeat([]T{r.Absent}, r.Dims)
	for i := range r.Count {
		row := r.Row(i)
		buf = appendValues(appendValues(buf, row), absent[len(row):])
		if len(buf) >= blockBytes || i == r.Count-1 {
			if r.Block != nil {
				r.Block(buf)
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

func write[T float32 | int32 | int64](w io.Writer, descr string, shape []int, data []T) error {
	if err := begin(w, descr, shape, len(data)); err != nil {
		return err
	}
	var buf []byte
	for block := range slices.Chunk(data, blockBytes/8) {
		buf = appendValues(buf[:0], block)
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// appendValues adds the bytes of values to b, the least significant byte of each first.
func appendValues[T float32 | int32 | int64](b []byte, values []T) []byte {
	if len(values) == 0 {
		return b
	}
	size := int(unsafe.Sizeof(values[0]))
	from := len(b)
	b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*size)...)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // this processor has the most significant first
		for at := from; at < len(b); at += size {
			slices.Reverse(b[at : at+size])
		}
	}
	return b
}

// begin writes what stands before count values.
func begin(w io.Writer, descr string, shape []int, count int) error {
	if len(shape) > maxSides {
		return fmt.Errorf("an array cannot have %d sides; flatten it to at most %d", len(shape), maxSides)
	}
	n := 1
	sides := make([]string, len(shape))
	for k, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt/s {
			return fmt.Errorf("no array has the shape %v; pass sides of at least 0 whose product is %d", shape, count)
		}
		n *= s
		sides[k] = strconv.Itoa(s)
	}
	if n != count {
		return fmt.Errorf("data of length %d does not make an array of shape %v; pass sides whose product is that length", count, shape)
	}
	tuple := strings.Join(sides, ", ")
	if len(sides) == 1 {
		tuple += ","
	}
	head := append([]byte(magic), 1, 0, 0, 0)
	head = fmt.Appendf(head, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	// The values begin at a multiple of 64 bytes, and a line ends before them.
	for len(head)%64 != 63 {
		head = append(head, ' ')
	}
	head = append(head, '\n')
	binary.LittleEndian.PutUint16(head[8:], uint16(len(head)-10))
	if _, err := w.Write(head); err != nil {
		return err
	}
	return nil
}

// Writer writes a .npz file. Its bytes depend only on what is added.
type Writer struct {
	zip *zip.Writer
}

// NewWriter returns a Writer of a .npz file to w.
func NewWriter(w io.Writer) *Writer { return &Writer{zip.NewWriter(w)} }

// Add writes one array as Write does, uncompressed. Names must differ.
func (w *Writer) Add(name string, shape []int, data any) error {
	f, err := w.create(name + ".npy")
	if err == nil {
		err = Write(f, shape, data)
	}
	if err != nil {
		return fmt.Errorf("array %q: %w", name, err)
	}
	return nil
}

// AddFile adds a member that is no array, uncompressed. numpy.load returns it as bytes.
func (w *Writer) AddFile(name string, content []byte) error {
	f, err := w.create(name)
	if err == nil {
		_, err = f.Write(content)
	}
	return err
}

func (w *Writer) create(name string) (io.Writer, error) {
	return w.zip.CreateHeader(&zip.FileHeader{
		Name:     name,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the earliest that zip knows
	})
}

// Close writes the end of the file. It does not close the writer beneath.
func (w *Writer) Close() error { return w.zip.Close() }
