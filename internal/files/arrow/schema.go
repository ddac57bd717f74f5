package arrow

import (
	"encoding/binary"
	"errors"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
)

// table is a table of FlatBuffers at a place in b. It begins with the distance back to a
// list of 16-bit distances from the table to its fields. Methods panic where a distance
// leads beyond b; array.Recover makes damage of that.
type table struct {
	b  []byte
	at int
}

func rootTable(b []byte) table { return table{b, int(binary.LittleEndian.Uint32(b))} }

// field returns where field k begins, or 0 if it is not there.
func (t table) field(k int) int {
	list := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if 4+2*k+2 > int(binary.LittleEndian.Uint16(t.b[list:])) {
		return 0
	}
	if d := int(binary.LittleEndian.Uint16(t.b[list+4+2*k:])); d > 0 {
		return t.at + d
	}
	return 0
}

func (t table) uint8(k int) uint8 {
	if at := t.field(k); at > 0 {
		return t.b[at]
	}
	return 0
}

// int16 returns field 0. No other field that is read has 16 bits.
func (t table) int16() int {
	if at := t.field(0); at > 0 {
		return int(int16(binary.LittleEndian.Uint16(t.b[at:])))
	}
	return 0
}

func (t table) int32(k int) int {
	if at := t.field(k); at > 0 {
		return int(int32(binary.LittleEndian.Uint32(t.b[at:])))
	}
	return 0
}

func (t table) int64(k int) int64 {
	if at := t.field(k); at > 0 {
		return int64(binary.LittleEndian.Uint64(t.b[at:]))
	}
	return 0
}

// follow returns the place to which the distance at a place leads, always forward.
func (t table) follow(at int) int { return at + int(binary.LittleEndian.Uint32(t.b[at:])) }

func (t table) table(k int) (table, bool) {
	at := t.field(k)
	if at == 0 {
		return table{}, false
	}
	return table{t.b, t.follow(at)}, true
}

// vector returns where the elements of a list begin, and how many of size bytes there
// are.
func (t table) vector(k, size int) (at, n int) {
	if at = t.field(k); at == 0 {
		return 0, 0
	}
	at = t.follow(at)
	n = int(binary.LittleEndian.Uint32(t.b[at:]))
	at += 4
	_ = t.b[at:][:n*size]
	return at, n
}

func (t table) text(k int) string {
	at, n := t.vector(k, 1)
	return string(t.b[at:][:n])
}

// The types of fields.
const (
	nullType            = 1
	intType             = 2
	floatType           = 3
	binaryType          = 4
	textType            = 5
	boolType            = 6
	decimalType         = 7
	dateType            = 8
	timeType            = 9
	timestampType       = 10
	intervalType        = 11
	listType            = 12
	recordType          = 13
	unionType           = 14
	fixedBinaryType     = 15
	fixedListType       = 16
	mapType             = 17
	durationType        = 18
	largeBinaryType     = 19
	largeTextType       = 20
	largeListType       = 21
	runType             = 22
	binaryViewType      = 23
	textViewType        = 24
	listViewType        = 25
	largeListViewType   = 26
	unknownFromHereType = 27
)

// typeNames are the words for types of values that cannot be read.
var typeNames = map[int]string{
	nullType: "null", binaryType: "binary", decimalType: "decimal", dateType: "date", timeType: "time", timestampType: "timestamp",
	intervalType: "interval", unionType: "union", fixedBinaryType: "fixed-size binary", mapType: "map", durationType: "duration",
	largeBinaryType: "large binary", runType: "run-end encoded", binaryViewType: "binary view",
}

// node is a field of the schema.
type node struct {
	name string
	kind int
	// bits is the width of an integer or a floating-point number.
	bits     int
	unsigned bool
	// size is the length of lists of fixed length.
	size int
	// dense says so of a union.
	dense bool
	// encoded says that values are places in the dictionary id, of the width bits.
	encoded  bool
	id       int64
	children []node
}

const (
	// maxDepth and maxFields bound the fields. A hostile schema may name one field in
	// many places, so a small file could have any number.
	maxDepth  = 64
	maxFields = 1 << 16
)

// schema takes the fields from a schema.
func (f *file) schema(t table) error {
	const fields = 1 // after the order of bytes
	if t.int16() != 0 {
		return errors.New("is stored with the highest byte first; save it with the lowest byte first")
	}
	left := maxFields
	var err error
	if f.fields, err = nodes(t, fields, 0, &left); err != nil {
		return err
	}
	if f.fields == nil {
		f.fields = []node{} // which is a schema, too
	}
	return nil
}

// nodes returns the fields that list k of a table holds.
func nodes(t table, k, depth int, left *int) ([]node, error) {
	const name, kind, of, dictionary, children = 0, 2, 3, 4, 5
	at, n := t.vector(k, 4)
	if *left -= n; *left < 0 || depth > maxDepth {
		return nil, array.Damaged("its schema has more than %d fields, or is nested more than %d deep", maxFields, maxDepth)
	}
	var out []node
	for i := range n {
		field := table{t.b, t.follow(at + 4*i)}
		f := node{name: field.text(name), kind: int(field.uint8(kind))}
		if f.kind == 0 || f.kind >= unknownFromHereType {
			return nil, array.Damaged("the type %d of the field %.40q is not known", f.kind, f.name)
		}
		var err error
		if f.children, err = nodes(field, children, depth+1, left); err != nil {
			return nil, err
		}
		if t, ok := field.table(of); ok {
			switch f.kind {
			case intType:
				f.setInt(t)
			case floatType:
				if precision := t.int16(); precision >= 0 && precision <= 2 {
					f.bits = 16 << precision
				}
			case fixedListType:
				f.size = t.int32(0)
			case unionType:
				f.dense = t.int16() == 1
			}
		}
		if d, ok := field.table(dictionary); ok {
			f.encoded, f.id, f.bits, f.unsigned = true, d.int64(0), 32, false
			if t, ok := d.table(1); ok {
				f.setInt(t)
			}
		}
		switch lists := f.kind == listType || f.kind == largeListType || f.kind == fixedListType || f.kind == listViewType || f.kind == largeListViewType; {
		case lists && len(f.children) != 1:
			return nil, array.Damaged("the lists of the field %.40q hold %d types of values", f.name, len(f.children))
		case f.size < 0:
			return nil, array.Damaged("the lists of the field %.40q are of length %d", f.name, f.size)
		case (f.kind == intType || f.encoded) && f.bits != 8 && f.bits != 16 && f.bits != 32 && f.bits != 64:
			return nil, array.Damaged("the integers of the field %.40q have %d bits", f.name, f.bits)
		case f.kind == floatType && f.bits == 0:
			return nil, array.Damaged("the floating-point numbers of the field %.40q have no width", f.name)
		}
		out = append(out, f)
	}
	return out, nil
}

func (f *node) setInt(t table) {
	f.bits, f.unsigned = t.int32(0), t.uint8(1) == 0
}

// isList reports whether a field is a list of values.
func (f *node) isList() bool {
	switch f.kind {
	case listType, largeListType, fixedListType, listViewType, largeListViewType:
		return !f.encoded
	}
	return false
}

func (f *node) isText() bool {
	return f.kind == textType || f.kind == largeTextType || f.kind == textViewType
}

// info describes a field as a column.
func (f *node) info() column.Info {
	c := column.Info{Name: f.name, Kind: array.Text, List: f.isList()}
	of := f
	if c.List {
		of = &f.children[0]
	}
	switch {
	case of.isText():
	case of.encoded:
		c.Problem = column.Unreadable("values of the type dictionary, though not of text", "")
	case of.kind == floatType:
		c.Kind = array.Float
	case of.kind == intType, of.kind == boolType:
		c.Kind = array.Int
	case of.kind == recordType:
		c.Problem = column.Unreadable("records of several fields", "make each field a column of its own")
	case of.isList():
		c.Problem = column.Unreadable("lists of lists", "make them lists of numbers, one per row")
	default:
		c.Problem = column.Unreadable("values of the type "+typeNames[of.kind], "")
	}
	return c
}
