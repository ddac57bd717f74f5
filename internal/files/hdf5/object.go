package hdf5

import (
	"bytes"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/words"
)

const (
	maxDims      = 32             // of a dataset
	maxLen       = int64(1) << 48 // product of a dataset's dimensions
	maxNameBytes = 1 << 10        // of a link
	unlimited    = math.MaxUint64 // a maximal dimension
	sharedFlag   = 2              // of a message that stands elsewhere
	headerV2     = "OHDR"         // what an object header of version 2 begins with
	moreV2       = "OCHK"         // and a block where it continues
)

// Types of the messages of an object header.
const (
	msgSpace, msgLinkInfo, msgType, msgLink        = 0x01, 0x02, 0x03, 0x06
	msgExternal, msgLayout, msgFilters             = 0x07, 0x08, 0x0b
	msgAttribute, msgContinue, msgTable, msgManyAt = 0x0c, 0x10, 0x11, 0x15
)

// Object is a group or a dataset.
type Object struct {
	// Group says that it is a group.
	Group bool
	// Dims and Type are those of a dataset. The first dimension varies slowest.
	Dims []int
	Type Type

	maxDims []uint64
	layout  layout
	filters []uint64 // in the order they were applied
	outside bool     // whether the values are in other files

	table, heap uint64 // of a group with a symbol table: its B-tree and its names
	links       []Link // of a group with links in the header
	manyLinks   many   // of a group with links elsewhere

	attributes     []attribute
	manyAttributes many
}

// many is where a large group or a large set of attributes is.
type many struct {
	there      bool
	heap, tree uint64
}

// Link is a named member of a group.
type Link struct {
	Name    string
	Address uint64 // for File.Object
}

// Root returns the group that holds all others.
func (f *File) Root() (*Object, error) { return f.Object(f.root) }

// Object reads the header of the object at addr.
func (f *File) Object(addr uint64) (o *Object, err error) {
	defer catch(&err)
	o = &Object{}
	head := f.at(addr, 16)
	if string(head[:4]) == headerV2 {
		f.header2(o, addr)
	} else {
		f.header1(o, addr, head)
	}
	return o, nil
}

// block is a part of an object header.
type block struct{ addr, size uint64 }

// header1 reads a header of version 1: messages in a block that follows and in those where
// they continue.
func (f *File) header1(o *Object, addr uint64, head []byte) {
	c := cursor{head}
	if c.uint(1) != 1 {
		damaged("has no HDF5 object at address %d", addr)
	}
	c.take(1)
	left := c.uint(2)
	c.take(4)
	for blocks := []block{{addr + 16, c.uint(4)}}; left > 0; blocks = blocks[1:] {
		if len(blocks) == 0 {
			damaged("lacks %s of the object at HDF5 address %d", words.Count(left, "message"), addr)
		}
		for c := (cursor{f.at(blocks[0].addr, blocks[0].size)}); len(c.b) >= 8 && left > 0; left-- {
			typ, n, flags := c.uint(2), c.uint(2), c.uint(1)
			c.take(3)
			if m := (cursor{c.take(n)}); typ == msgContinue {
				blocks = append(blocks, block{m.uint(8), m.uint(8)})
			} else {
				o.message(typ, flags, &m)
			}
		}
	}
}

// header2 reads a header of version 2. Its blocks end in a checksum.
func (f *File) header2(o *Object, addr uint64) {
	head := cursor{f.at(addr, min(40, f.size-addr))}
	whole := uint64(len(head.b))
	head.take(4)
	if version := head.uint(1); version != 2 {
		unsupported("HDF5 object headers of version %d", version)
	}
	flags := head.uint(1)
	if flags&32 != 0 {
		head.take(16) // times
	}
	if flags&16 != 0 {
		head.take(4)
	}
	size := head.uint(1 << (flags & 3))
	blocks := []block{{addr + whole - uint64(len(head.b)), size}}
	for i := 0; i < len(blocks); i++ {
		c := cursor{f.at(blocks[i].addr, blocks[i].size)}
		if i > 0 {
			c.sign(moreV2, "object header", blocks[i].addr)
			c.b = c.b[:max(4, len(c.b))-4]
		}
		for least := 4 + int(flags&4)/2; len(c.b) >= least; {
			typ, n, messageFlags := c.uint(1), c.uint(2), c.uint(1)
			c.take(uint64(least - 4)) // the place in the order of creation
			if m := (cursor{c.take(n)}); typ == msgContinue {
				blocks = append(blocks, block{m.uint(8), m.uint(8)})
			} else {
				o.message(typ, messageFlags, &m)
			}
		}
	}
}

// message keeps what a message of the header says of the object.
func (o *Object) message(typ, flags uint64, m *cursor) {
	if slices.Contains([]uint64{msgSpace, msgType, msgLayout, msgFilters, msgAttribute}, typ) && flags&sharedFlag != 0 {
		unsupported("shared HDF5 messages")
	}
	switch typ {
	case msgSpace:
		o.Dims, o.maxDims = dataspace(m)
	case msgType:
		o.Type = readType(m)
	case msgLayout:
		o.layout.read(m)
	case msgFilters:
		o.filters = readFilters(m)
	case msgExternal:
		o.outside = true
	case msgAttribute:
		o.attributes = append(o.attributes, readAttribute(m))
	case msgTable:
		o.Group, o.table, o.heap = true, m.uint(8), m.uint(8)
	case msgLink:
		o.Group = true
		if l, hard := readLink(m); hard {
			o.links = append(o.links, l)
		}
	case msgLinkInfo, msgManyAt:
		m.take(1)
		index := m.uint(1) & 1
		if typ == msgLinkInfo {
			m.take(8 * index)
			o.Group, o.manyLinks = true, many{true, m.uint(8), m.uint(8)}
		} else {
			m.take(2 * index)
			o.manyAttributes = many{true, m.uint(8), m.uint(8)}
		}
	}
}

func dataspace(m *cursor) (dims []int, largest []uint64) {
	version, rank, flags := m.uint(1), m.uint(1), m.uint(1)
	if kind := m.uint(1); version != 1 && kind == 2 {
		return []int{0}, []uint64{0} // no values at all
	}
	if version == 1 {
		m.take(4)
	}
	for range min(rank, maxDims+1) {
		n := m.uint(8)
		dims, largest = append(dims, int(min(n, math.MaxInt))), append(largest, n)
	}
	if rank > maxDims {
		damaged("has %d dimensions", rank)
	}
	if flags&1 != 0 {
		for i := range largest {
			largest[i] = max(largest[i], m.uint(8))
		}
	}
	product(dims)
	return dims, largest
}

// product returns the number of values that dims stand for.
func product(dims []int) int {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || int64(d) > maxLen || d > 0 && n > min(maxLen, math.MaxInt)/int64(d) {
			damaged("has dimensions %d out of range", dims)
		}
		n *= int64(d)
	}
	return int(n)
}

// attribute is a small dataset in the header of an object. Its parts are read when it is
// asked for.
type attribute struct {
	name             string
	shared           bool
	typ, space, data []byte
}

func readAttribute(m *cursor) attribute {
	version, flags := m.uint(1), m.uint(1)
	name, typ, space := m.uint(2), m.uint(2), m.uint(2)
	pad := uint64(0)
	switch version {
	case 1: // its parts are padded to multiples of 8 bytes
		pad = 7
	case 3:
		m.take(1) // character set of the name
	}
	key, _, _ := bytes.Cut(m.take((name+pad)&^pad), []byte{0})
	a := attribute{name: string(key), shared: version > 1 && flags&3 != 0}
	a.typ, a.space = m.take((typ+pad)&^pad), m.take((space+pad)&^pad)
	a.data = m.b
	return a
}

// attribute returns the values of an attribute as a dataset, or nil if there is none.
func (f *File) attribute(o *Object, name string) *Object {
	all := o.attributes
	if o.manyAttributes.there {
		f.each(o.manyAttributes, btreeAttributes, 0, func(m *cursor, flags uint64) {
			if flags&sharedFlag == 0 {
				all = append(all, readAttribute(m))
			}
		})
		o.attributes, o.manyAttributes = all, many{}
	}
	i := slices.IndexFunc(all, func(a attribute) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	if all[i].shared {
		unsupported("shared HDF5 messages")
	}
	a := &Object{Type: readType(&cursor{all[i].typ})}
	a.Dims, a.maxDims = dataspace(&cursor{all[i].space})
	a.layout = layout{class: inHeader, compact: all[i].data}
	return a
}

// Text returns the strings of the attribute of o with a name; nil if there is none, or if it
// does not hold text.
func (f *File) Text(o *Object, name string) (values []string, err error) {
	defer catch(&err)
	a := f.attribute(o, name)
	if a == nil || !a.Type.IsText() {
		return nil, nil
	}
	return f.Strings(a)
}

// Attribute returns the attribute of o with a name as a dataset without a place, or nil.
func (f *File) Attribute(o *Object, name string) (a *Object, err error) {
	defer catch(&err)
	return f.attribute(o, name), nil
}
