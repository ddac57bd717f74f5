// Package mat reads the arrays of MATLAB files: those of version 5 to 7 ("Level
// 5", compressed or not) and those of version 7.3 (HDF5).
//
// What a file holds, and what it is listed as:
//
//	matrix, any class     one array of numbers, dense or sparse, in column-major
//	                      order; its kind follows the MATLAB class and not the
//	                      narrower type that a file may use to store it
//	character matrix      text: its rows
//	cell array of strings text: its cells, column after column
//	other cell array c    one array per cell, c{1}, c{2}, ..., of group "c"; the
//	                      cells of a cell are c{1}{1}, ... of group "c{1}"
//	struct s              one array per field, s.field; s(2).field for the second
//	                      of several
//	function, object      left out
//
// Arrays come in the order of the file, which for version 7.3 is that of names.
//
// Opening a file reads headers only. Values are read each time they are asked for. Only
// the cells, structs and sparse matrices of a version 5 file are kept in memory, as stored.
package mat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/words"
)

const (
	maxArrays = 1 << 16 // that a file may list
	maxPath   = 1 << 10 // bytes of an array's name with its braces and dots
)

// file is an open MATLAB file.
type file struct {
	infos   []array.Info
	values  []*value
	skipped string // name of some function or object
}

// Open lists the arrays of the MATLAB file r of size bytes. Values are read from r when
// they are asked for. Errors are files of version 4, files that use newer parts of HDF5
// than MATLAB does, damaged files, and files without any array. A fault of a single array,
// such as complex numbers, is an error when its values are asked for.
func Open(r io.ReaderAt, size int64) (array.File, error) {
	f, err := read(r, size)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// variable is a value with its name.
type variable struct {
	name string
	*value
}

// read lists the arrays of r.
func read(r io.ReaderAt, size int64) (f *file, err error) {
	defer catch(&err)
	m := &file{}
	for _, v := range variables(r, size) {
		m.list(v.name, "", v.value)
	}
	if len(m.infos) == 0 && m.skipped != "" {
		fail("holds only functions or objects, such as %s, and no array; save matrices or cell arrays of matrices", m.skipped)
	}
	if len(m.infos) == 0 {
		fail("holds no array; save at least one variable into it")
	}
	return m, nil
}

// variables finds the version of the format, and returns the variables.
func variables(r io.ReaderAt, size int64) []variable {
	if size == 0 {
		fail("is empty (0 bytes); fetch or save it again")
	}
	if at := hdf5.Find(r, size); at >= 0 {
		return readVersion73(r, at, size)
	}
	head := make([]byte, headerBytes)
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		fail("cannot be read (%w)", err)
	}
	mark, version := string(head[126:]), binary.LittleEndian.Uint16(head[124:])
	if mark == "MI" {
		version = binary.BigEndian.Uint16(head[124:])
	}
	switch {
	case isLevel4(head):
		unsupported("version 4 of the MATLAB format")
	case mark != "IM" && mark != "MI":
		fail("is no MATLAB file, for byte 126 does not hold the mark IM or MI; save it with MATLAB, Octave or scipy.io.savemat")
	case version == 0x0200:
		damaged("is a MATLAB file of version 7.3 without its HDF5 part")
	case version != 0x0100:
		unsupported("version %#x of the MATLAB format", version)
	}
	return readLevel5(r, size, mark == "MI")
}

// isLevel4 reports whether the file that starts with head is of version 4: it
// starts with the number MOPT, four decimal digits for machine, zero, precision
// and type, and has the length of the first variable's name at byte 16.
func isLevel4(head []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		mopt, name := order.Uint32(head), order.Uint32(head[16:])
		if mopt/1000 <= 4 && mopt/100%10 == 0 && mopt/10%10 <= 5 && mopt%10 <= 2 && name > 1 && name <= maxNameBytes {
			return true
		}
	}
	return false
}

// list adds the arrays that v consists of.
func (f *file) list(name, group string, v *value) {
	if len(name) > maxPath || len(f.infos) == maxArrays {
		fail("holds more than %d arrays, or one with a name of more than %d bytes; save the views as one matrix each", maxArrays, maxPath)
	}
	info := array.Info{Name: name, Group: group, Shape: v.dims, Kind: v.kind, ColumnMajor: true}
	switch {
	case v.class == opaque:
		f.skipped = name
		return
	case v.class == fields:
		for i, c := range v.children {
			nth := ""
			if len(v.children) > len(v.names) {
				nth = fmt.Sprintf("(%d)", i/len(v.names)+1)
			}
			f.list(name+nth+"."+v.names[i%len(v.names)], "", c)
		}
		return
	case v.class == cells && !v.isStrings():
		for i, c := range v.children {
			f.list(fmt.Sprintf("%s{%d}", name, i+1), name, c)
		}
		return
	case v.class == cells:
		info.Kind, info.Shape = array.Text, []int{len(v.children)}
	case v.class == text:
		info.Kind, info.Shape = array.Text, []int{v.lines()}
	}
	f.infos, f.values = append(f.infos, info), append(f.values, v)
}

// isStrings reports whether every cell of v is a string, perhaps empty.
func (v *value) isStrings() bool {
	for _, c := range v.children {
		if c.class != text || c.lines() > 1 {
			return false
		}
	}
	return true
}

// Arrays lists the arrays of the file.
func (f *file) Arrays() []array.Info { return f.infos }

// Float32 returns the values of array i column after column.
func (f *file) Float32(i int) ([]float32, error) {
	return get(f, i, func(v *value) []float32 { return values(v, 0, array.ToFloat32) })
}

// Turned returns the values of matrix i row after row.
func (f *file) Turned(i int) ([]float32, error) {
	return get(f, i, func(v *value) []float32 { return v.turned(f.infos[i]) })
}

// Scratch returns how many bytes Turned takes at most for array i beside the values, where
// the file stores far fewer bytes than the values take.
func (f *file) Scratch(i int) int64 {
	v := f.values[i]
	n := int64(product(v.dims))
	switch {
	case v.class != numbers:
		return 0
	case v.index != nil: // the values in the other order, and where each that is stored belongs
		return 4*n + 8*int64(v.index.starts.N) + 16*int64(v.data.N)
	case n > array.UsualRatio*v.data.Stored:
		return 4*n + 4*n // in the other order, and a part of it while it grows
	}
	return 0
}

// Int64 returns the values of array i column after column.
func (f *file) Int64(i int) ([]int64, error) {
	return get(f, i, func(v *value) []int64 { return values(v, 0, array.ToInt64) })
}

// Text returns the strings of array i, or its numbers in decimal notation.
func (f *file) Text(i int) ([]string, error) { return get(f, i, (*value).strings) }

// get returns what extract makes of array i. Its errors start with the array's
// name and, where a value is at fault, its place as MATLAB counts: X(3,1) is in
// the third row of the first column.
func get[T any](f *file, i int, extract func(*value) []T) (out []T, err error) {
	if i < 0 || i >= len(f.infos) {
		return nil, fmt.Errorf("there is no array %d; the file holds %s", i, words.Count(len(f.infos), "array"))
	}
	defer func() {
		info := f.infos[i]
		if bad, ok := errors.AsType[*array.ValueError](err); ok {
			at, place := bad.At, make([]string, len(info.Shape))
			for k, d := range info.Shape {
				place[k] = fmt.Sprint(at%d + 1)
				at /= d
			}
			err = fmt.Errorf("%s(%s) %w", info.Name, strings.Join(place, ","), err)
		} else if err != nil {
			err = fmt.Errorf("%s %w", info.Name, err)
		}
	}()
	defer catch(&err)
	return extract(f.values[i]), nil
}
