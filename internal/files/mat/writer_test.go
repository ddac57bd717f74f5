package mat

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

// writer writes version 5 files.
type writer struct{ binary.AppendByteOrder }

// types lists the data types of numbers with their sizes and whether they are floating-point.
var types = []struct {
	typ, size int
	float     bool
}{{1, 1, false}, {2, 1, false}, {3, 2, false}, {4, 2, false}, {5, 4, false}, {6, 4, false}, {7, 4, true}, {9, 8, true}, {12, 8, false}, {13, 8, false}}

// numbers returns an element with values stored as a data type.
func (w writer) numbers(typ int, values ...float64) []byte {
	var p []byte
	for _, x := range values {
		switch typ {
		case 1:
			p = append(p, byte(int8(x)))
		case 2, 16:
			p = append(p, byte(x))
		case 3:
			p = w.AppendUint16(p, uint16(int16(x)))
		case 4, 17:
			p = w.AppendUint16(p, uint16(x))
		case 5:
			p = w.AppendUint32(p, uint32(int32(x)))
		case 6:
			p = w.AppendUint32(p, uint32(x))
		case 7:
			p = w.AppendUint32(p, math.Float32bits(float32(x)))
		case 9:
			p = w.AppendUint64(p, math.Float64bits(x))
		case 12:
			p = w.AppendUint64(p, uint64(int64(x)))
		default:
			p = w.AppendUint64(p, uint64(x))
		}
	}
	return w.element(typ, p)
}

// element returns p with its tag and padding, in the small form if possible.
func (w writer) element(typ int, p []byte) []byte {
	if len(p) > 0 && len(p) <= 4 {
		b := w.AppendUint32(nil, uint32(len(p)<<16|typ))
		return append(append(b, p...), make([]byte, 4-len(p))...)
	}
	b := w.AppendUint32(w.AppendUint32(nil, uint32(typ)), uint32(len(p)))
	return append(append(b, p...), make([]byte, -len(p)&7)...)
}

// matrix returns a matrix whose header is followed by parts.
func (w writer) matrix(name string, class, flags int, dims []int, parts ...[]byte) []byte {
	d := make([]float64, len(dims))
	for i, x := range dims {
		d[i] = float64(x)
	}
	p := slices.Concat(w.numbers(6, float64(flags<<8|class), 0), w.numbers(5, d...), w.element(1, []byte(name)), slices.Concat(parts...))
	return slices.Concat(w.AppendUint32(w.AppendUint32(nil, miMatrix), uint32(len(p))), p)
}

// double returns a matrix of doubles.
func (w writer) double(name string, rows, cols int, values ...float64) []byte {
	return w.matrix(name, mxDouble, 0, []int{rows, cols}, w.numbers(9, values...))
}

// char returns one row of characters.
func (w writer) char(name, s string) []byte {
	return w.matrix(name, mxChar, 0, []int{1, len(s)}, w.element(miUTF8, []byte(s)))
}

func (w writer) cell(name string, dims []int, cells ...[]byte) []byte {
	return w.matrix(name, mxCell, 0, dims, cells...)
}

// structs returns an array of structs; values has each one's fields in turn.
func (w writer) structs(name string, dims []int, names []string, values ...[]byte) []byte {
	const width = 8
	var p []byte
	for _, n := range names {
		p = append(p, n+strings.Repeat("\x00", width-len(n))...)
	}
	return w.matrix(name, mxStruct, 0, dims, append([][]byte{w.numbers(5, width), w.element(1, p)}, values...)...)
}

func (w writer) sparse(name string, flags int, dims []int, rows, starts, values []float64) []byte {
	return w.matrix(name, mxSparse, flags, dims, w.numbers(5, rows...), w.numbers(5, starts...), w.numbers(9, values...))
}

// deflated returns the variable m compressed.
func (w writer) deflated(m []byte) []byte {
	var z bytes.Buffer
	c := zlib.NewWriter(&z)
	c.Write(m)
	c.Close()
	return append(w.AppendUint32(w.AppendUint32(nil, miCompressed), uint32(z.Len())), z.Bytes()...)
}

// file returns a file of variables.
func (w writer) file(variables ...[]byte) []byte {
	b := []byte("MATLAB 5.0 MAT-file, synthetic" + strings.Repeat(" ", 94))
	b = w.AppendUint16(w.AppendUint16(b, 0x0100), 'M'<<8|'I')
	return append(b, slices.Concat(variables...)...)
}

var little, big = writer{binary.LittleEndian}, writer{binary.BigEndian}

// parse opens the file that b holds.
func parse(t testing.TB, b []byte) *file {
	t.Helper()
	f, err := read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readAll asks for everything in the file that b holds and returns the first error.
func readAll(b []byte) error {
	f, err := read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for i, a := range f.infos {
		if a.Kind != array.Text {
			if _, err := f.Float32(i); err != nil {
				return err
			}
		}
		if _, err := f.Text(i); err != nil {
			return err
		}
	}
	return nil
}

// listing describes the arrays of a file, with their values.
func listing(f *file) []string {
	var out []string
	for i, a := range f.Arrays() {
		line := a.Name
		if a.Group != "" {
			line += " of " + a.Group
		}
		line += " " + a.Kind.String() + strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Shape), "[]"), " ", "x") + ":"
		s, err := f.Text(i)
		if err != nil {
			line += " error"
		}
		for _, x := range s {
			line += " " + x
		}
		out = append(out, line)
	}
	return out
}
