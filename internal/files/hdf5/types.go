package hdf5

import (
	"bytes"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
)

// Class is a class of HDF5 data types.
type Class uint8

// The classes that are told apart.
const (
	Integer   Class = 0
	Float     Class = 1
	String    Class = 3 // of fixed length
	Compound  Class = 6
	Reference Class = 7
	Enum      Class = 8
	Variable  Class = 9 // text of variable length, or lists
)

// Type is the type of a dataset's values.
type Type struct {
	Class Class
	// Encoding has the size of any value, and how it is stored if it is a number, a
	// reference or an enumerated number.
	array.Encoding
	// Bool says that it enumerates FALSE as 0 and TRUE as 1.
	Bool bool

	plain  bool // numbers that the encoding describes fully
	text   bool
	padded byte // how text of fixed length ends
}

// IsText reports whether the values are text.
func (t Type) IsText() bool { return t.text }

// How text of fixed length ends, if it is shorter.
const endsInZero, paddedByZeros, paddedBySpaces = 0, 1, 2

func readType(m *cursor) Type {
	class, flags := m.uint(1), m.uint(3)
	t := Type{Class: Class(class & 15)}
	t.Encoding = array.Encoding{Size: int(m.uint(4)), Float: t.Class == Float, Signed: flags&8 != 0, Big: flags&1 != 0}
	switch t.Class {
	case Integer:
		offset, precision := m.uint(2), int(m.uint(2))
		t.plain = offset == 0 && precision == 8*t.Size && slices.Contains([]int{1, 2, 4, 8}, t.Size)
	case Float:
		const vax = 1 << 6
		t.plain = flags&vax == 0 && isIEEE(t.Size, m.take(12))
	case Reference:
		t.plain = flags&15 == 0 && t.Size == 8
	case String:
		t.text, t.padded = t.Size > 0, byte(flags&15)
	case Variable:
		t.text = flags&15 == 1 && t.Size == 16
	case Enum:
		size := t.Size
		base := readType(m)
		t.Encoding, t.plain = base.Encoding, base.Class == Integer && base.plain && base.Size == size
		t.Bool = t.plain && isBool(m, class>>4, flags, base)
	}
	return t
}

// isIEEE reports whether properties are those of the IEEE 754 numbers of that size.
func isIEEE(size int, properties []byte) bool {
	c := cursor{properties}
	offset, precision := c.uint(2), int(c.uint(2))
	exponentAt, exponent, fractionAt, fraction := c.uint(1), c.uint(1), c.uint(1), c.uint(1)
	if offset != 0 || precision != 8*size || fractionAt != 0 {
		return false
	}
	switch size {
	case 2:
		return exponentAt == 10 && exponent == 5 && fraction == 10
	case 4:
		return exponentAt == 23 && exponent == 8 && fraction == 23
	case 8:
		return exponentAt == 52 && exponent == 11 && fraction == 52
	}
	return false
}

// isBool reports whether an enumeration is that of h5py for logical values.
func isBool(m *cursor, version, members uint64, base Type) bool {
	if members != 2 || base.Size != 1 {
		return false
	}
	var names []string
	for range 2 {
		name, _, ok := bytes.Cut(m.b, []byte{0})
		if !ok {
			return false
		}
		n := uint64(len(name) + 1)
		if version < 3 {
			n = (n + 7) &^ 7
		}
		m.take(n)
		names = append(names, string(name))
	}
	return slices.Equal(names, []string{"FALSE", "TRUE"}) && slices.Equal(m.take(2), []byte{0, 1})
}
