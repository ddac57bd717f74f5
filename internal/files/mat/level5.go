package mat

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/words"
)

const (
	headerBytes = 128
	peekBytes   = 64 << 10 // read of a variable to learn what it is
)

// Data types of the elements of a file.
const miMatrix, miCompressed, miUTF8 = 14, 15, 16

// Classes of matrices; from mxDouble to mxUint64 they are numeric.
const (
	mxCell, mxStruct, mxObject, mxChar, mxSparse = 1, 2, 3, 4, 5
	mxDouble, mxSingle, mxUint64                 = 6, 7, 15
	mxFunction, mxOpaque                         = 16, 17
)

// level5 reads a file of version 5 to 7. After its header it is a row of
// elements, one per variable: each a tag of 8 bytes (type and size) and a
// matrix, or a tag and such an element compressed with zlib. A matrix is a row
// of elements in turn: flags, dimensions, name and values, or further matrices.
type level5 struct {
	r      io.ReaderAt
	big    bool
	kept   int64 // bytes held in memory so far
	hand   memory.Limit
	census census
}

func readLevel5(r io.ReaderAt, size int64, big bool) (vars []variable) {
	l := &level5{r: r, big: big, hand: memory.AtHand()}
	for at := int64(headerBytes); at < size; {
		tag := make([]byte, min(8, size-at))
		if _, err := r.ReadAt(tag, at); err != nil && err != io.EOF {
			fail("cannot be read (%w)", err)
		}
		c := cursor{tag, big}
		typ, n := c.uint32(), int64(c.uint32())
		if typ != miMatrix && typ != miCompressed || n > size-at-8 {
			damaged("has %s of type %d after byte %d, and not a variable within the %d bytes of the file", words.Count(n, "byte"), typ, at, size)
		}
		within(fmt.Sprintf("the variable at byte %d", at), func() {
			v := l.variable(element{at + 8, n, typ == miCompressed})
			if v.name != "" { // the nameless one holds MATLAB's own notes on objects
				vars = append(vars, v)
			}
		})
		at += 8 + n
	}
	return vars
}

// element is where the file stores a variable.
type element struct {
	at, size   int64
	compressed bool
}

// open returns a reader of the matrix in e, and the size that is given for it.
func (l *level5) open(e element) (io.Reader, int64) {
	r := io.NewSectionReader(l.r, e.at, e.size)
	if !e.compressed {
		return r, e.size
	}
	z, err := zlib.NewReader(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		damaged("cannot be inflated (%w)", err)
	}
	c := cursor{fill(z, nil, 8, 8), l.big}
	typ, size := c.uint32(), int64(c.uint32())
	if typ != miMatrix || size > maxRatio*e.size {
		damaged("inflates to %s of type %d, which is no matrix", words.Count(size, "byte"), typ)
	}
	return z, size
}

// finish reads r to its end, where a compressed element has its checksum.
func finish(r io.Reader) {
	if _, err := io.Copy(io.Discard, r); err != nil {
		damaged("cannot be inflated (%w)", err)
	}
}

// fill appends bytes of r to b until it has size bytes, which the file stores in stored bytes.
func fill(r io.Reader, b []byte, size, stored int64) []byte {
	b, err := array.Fill(r, b, size, stored, peekBytes)
	if err != nil {
		damaged("%w", err)
	}
	return b
}

// variable lists the variable in e. It reads the first bytes of a matrix, and all of
// anything else.
func (l *level5) variable(e element) variable {
	r, size := l.open(e)
	peek := fill(r, nil, min(size, peekBytes), e.size)
	c := &cursor{peek, l.big}
	h := c.header()
	if h.isOpaque() {
		return variable{h.name, &value{class: opaque}}
	}
	if size == int64(len(peek)) || !h.isArray() {
		if l.kept += size; l.kept > min(maxInflated, l.hand.Bytes) {
			fail("takes the cells, structs and sparse matrices of the file to %d bytes, beyond the %d that can be held (%s); save them as matrices, or in several files", l.kept, min(maxInflated, l.hand.Bytes), l.hand.By)
		}
		c.b = fill(r, peek, size, e.size)
		finish(r)
		return variable{h.name, l.matrix(c, 0)}
	}
	typ, n, _ := c.tag()
	skip := int64(len(peek) - len(c.b))
	if n > size-skip {
		damaged("claims %s of values, of which %d are there", words.Count(n, "byte"), size-skip)
	}
	l.census.enter(0)
	v, enc := h.array(typ, n, l.big)
	count := int(n) / enc.Size
	v.data = array.Numbers{Encoding: enc, N: count, Stored: e.size, Each: func(do func(int, []byte) error) (err error) {
		defer catch(&err)
		r, _ := l.open(e)
		if _, err := io.CopyN(io.Discard, r, skip); err != nil {
			damaged("cannot be inflated (%w)", err)
		}
		err = array.Stream(r, enc.Size, count, do)
		if _, cut := errors.AsType[*array.Cut](err); cut {
			damaged("%w", err)
		}
		if err == nil {
			finish(r)
		}
		return err
	}}
	return variable{h.name, v}
}

// matrix returns the value that c holds, from its header on.
func (l *level5) matrix(c *cursor, depth int) *value {
	l.census.enter(depth)
	if len(c.b) == 0 { // a cell that was never filled
		return &value{dims: []int{0, 0}}
	}
	h := c.header()
	v := &value{class: numbers, kind: h.kind(), complex: h.complex, dims: h.dims}
	switch {
	case h.isArray():
		typ, p := c.next()
		var enc array.Encoding
		v, enc = h.array(typ, int64(len(p)), l.big)
		v.data = array.Held(p, enc)
	case h.class == mxSparse:
		if len(v.dims) != 2 {
			damaged("is a sparse matrix of dimensions %d", v.dims)
		}
		v.index = &index{c.numbers(), c.numbers()}
		if typ, p := c.next(); h.logical && len(p) == v.index.rows.N {
			v.data = array.Held(p, array.Encoding{Size: 1}) // whatever the type says
		} else {
			v.data = numbersOf(typ, p, l.big)
		}
	case h.class == mxCell:
		v.class = cells
		for range product(h.dims) {
			v.children = append(v.children, l.child(c, depth))
		}
	case h.class == mxStruct:
		v.class, v.names = fields, c.fieldNames()
		if len(v.names) > 0 {
			for range product(h.dims) {
				for range v.names {
					v.children = append(v.children, l.child(c, depth))
				}
			}
		}
	default:
		v.class = opaque
	}
	return v
}

// child returns the next element of c, which is a matrix.
func (l *level5) child(c *cursor, depth int) *value {
	typ, p := c.next()
	if typ != miMatrix {
		damaged("has data of type %d in place of a matrix", typ)
	}
	return l.matrix(&cursor{p, l.big}, depth+1)
}

// cursor reads fields and elements off the front of b.
type cursor struct {
	b   []byte
	big bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		damaged("has %s and needs %d", words.Count(len(c.b), "byte"), n)
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// uint32 returns the next field, of 4 bytes.
func (c *cursor) uint32() uint64 {
	return array.Encoding{Size: 4, Big: c.big}.Bits(c.take(4))
}

// tag reads the tag of the next element: its type, its length n, and how many zeros pad it
// to a multiple of 8 bytes. An element of at most 4 bytes shares 8 bytes with its tag.
func (c *cursor) tag() (typ uint64, n, zeros int64) {
	typ = c.uint32()
	if typ>>16 == 0 {
		n = int64(c.uint32())
		return typ, n, -n & 7
	}
	n = int64(typ >> 16)
	if n > 4 {
		damaged("has a small element of %d bytes", n)
	}
	return typ & 0xffff, n, 4 - n
}

// next returns the next element.
func (c *cursor) next() (typ uint64, p []byte) {
	typ, n, zeros := c.tag()
	p = c.take(uint64(n))
	c.take(min(uint64(zeros), uint64(len(c.b))))
	return typ, p
}

// numbers returns the next element, which holds numbers.
func (c *cursor) numbers() array.Numbers {
	typ, p := c.next()
	return numbersOf(typ, p, c.big)
}

// numbersOf returns the numbers of type typ that p consists of.
func numbersOf(typ uint64, p []byte, big bool) array.Numbers {
	e := encodingOf(typ, big)
	if len(p)%e.Size != 0 {
		damaged("has %s of numbers of %d bytes", words.Count(len(p), "byte"), e.Size)
	}
	return array.Held(p, e)
}

// fieldNames reads the names of a struct's fields, which are equally long.
func (c *cursor) fieldNames() []string {
	width := convert(c.numbers(), array.ToInt64)
	_, p := c.next()
	if len(width) != 1 || width[0] < 1 || width[0] > maxNameBytes+1 || len(p)%int(width[0]) != 0 {
		damaged("has %s of field names, each %d long", words.Count(len(p), "byte"), width)
	}
	var names []string
	for name := range slices.Chunk(p, int(width[0])) {
		name, _, _ = bytes.Cut(name, []byte{0})
		names = append(names, string(name))
	}
	return names
}

// header is what a matrix says of itself before its values.
type header struct {
	class            uint64
	logical, complex bool
	dims             []int
	name             string
}

// header reads the header of a matrix.
func (c *cursor) header() header {
	_, p := c.next()
	flags := (&cursor{p, c.big}).uint32()
	h := header{class: flags & 0xff, logical: flags&0x200 != 0, complex: flags&0x800 != 0}
	if h.class == 0 || h.class > mxOpaque {
		damaged("is of class %d, which MATLAB does not have", h.class)
	}
	if h.class != mxOpaque {
		dims := convert(c.numbers(), array.ToInt64)
		if len(dims) < 2 || len(dims) > maxDims {
			damaged("has %s", words.Count(len(dims), "dimension"))
		}
		for _, d := range dims {
			h.dims = append(h.dims, int(d))
		}
		product(h.dims)
	}
	_, name := c.next()
	if len(name) > maxNameBytes {
		damaged("has a name of %d bytes", len(name))
	}
	h.name = string(name)
	return h
}

// isArray reports whether the header is followed by one element of values.
func (h header) isArray() bool {
	return h.class == mxChar || h.class >= mxDouble && h.class <= mxUint64
}

// isOpaque reports whether the matrix is an object or a function.
func (h header) isOpaque() bool { return h.class == mxObject || h.class >= mxFunction }

func (h header) kind() array.Kind {
	if h.class <= mxSingle && !h.logical {
		return array.Float
	}
	return array.Int
}

// array returns the matrix, still without values, that is stored in size bytes
// of type typ, and how its values are encoded.
func (h header) array(typ uint64, size int64, big bool) (*value, array.Encoding) {
	v := &value{class: numbers, kind: h.kind(), complex: h.complex, dims: h.dims}
	e, n := encodingOf(typ, big), int64(product(h.dims))
	exact := size == n*int64(e.Size)
	if h.class == mxChar {
		line := h.dims[0] == 1
		v.class, v.utf8 = text, line && typ == miUTF8
		exact = (exact || v.utf8 && size > n || line && size == 0) && !e.Float && e.Size <= 2
	}
	if !exact {
		damaged("has %s of type %d for %s", words.Count(size, "byte"), typ, words.Count(n, "value"))
	}
	return v, e
}

// encodingOf returns how numbers of a data type are stored.
func encodingOf(typ uint64, big bool) array.Encoding {
	types := [...]array.Encoding{
		1: {Size: 1, Signed: true}, 2: {Size: 1}, miUTF8: {Size: 1},
		3: {Size: 2, Signed: true}, 4: {Size: 2}, 17: {Size: 2}, // 17 is UTF-16
		5: {Size: 4, Signed: true}, 6: {Size: 4}, 7: {Size: 4, Float: true},
		12: {Size: 8, Signed: true}, 13: {Size: 8}, 9: {Size: 8, Float: true},
	}
	if typ >= uint64(len(types)) || types[typ].Size == 0 {
		damaged("has data of type %d where numbers should be", typ)
	}
	e := types[typ]
	e.Big = big
	return e
}
