package mat

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// Classes of HDF5 data types.
const typeInteger, typeFloat, typeString, typeCompound, typeReference = 0, 1, 3, 6, 7

// Layouts of a dataset.
const inHeader, inOnePiece, inChunks = 0, 1, 2

// undefined is the address of what was never written.
const undefined = math.MaxUint64

// hdf5 reads the part of HDF5 that MATLAB writes: superblock 0, groups with
// symbol tables, object headers of version 1, datasets in one piece or in
// chunks, and object references for cells. Addresses count from the superblock.
type hdf5 struct {
	r      io.ReaderAt
	size   uint64
	budget int64 // bytes that may yet be read
	census census
}

func readHDF5(r *io.SectionReader) (vars []variable) {
	// To list the arrays, each part of the file is read once, except the few objects
	// that several cells share. The surplus of the budget is for those.
	h := &hdf5{r: r, size: uint64(r.Size()), budget: 4*r.Size() + 64<<20}
	c := cursor{b: h.at(8, 88)} // the superblock after its signature
	version := c.uint(1)
	c.take(4)
	if offsets, lengths := c.uint(1), c.uint(1); version != 0 || offsets != 8 || lengths != 8 {
		unsupported("HDF5 superblock version %d with addresses of %s", version, words.Count(offsets, "byte"))
	}
	c.take(9)
	base := c.uint(8)
	c.take(8)
	if end := c.uint(8) - base; end > h.size {
		damaged("is %s shorter than its HDF5 superblock says", words.Count(end-h.size, "byte"))
	}
	c.take(16)
	for _, l := range h.links(h.object(c.uint(8))) {
		if !strings.HasPrefix(l.name, "#") { // what cells and objects refer to
			within("the variable "+words.Quote(l.name), func() {
				vars = append(vars, variable{l.name, h.value(h.object(l.addr), 0)})
			})
		}
	}
	h.budget = math.MaxInt64
	return vars
}

// at returns n bytes of the file from an address on.
func (h *hdf5) at(addr, n uint64) []byte {
	if addr > h.size || n > h.size-addr {
		damaged("refers to %s at address %d, beyond the end of the file", words.Count(n, "byte"), addr)
	}
	h.spend(n)
	b := make([]byte, n)
	if _, err := h.r.ReadAt(b, int64(addr)); err != nil && err != io.EOF {
		fail("cannot be read (%w)", err)
	}
	return b
}

// spend takes n bytes, and the effort of asking for them, from the budget.
func (h *hdf5) spend(n uint64) {
	if h.budget -= int64(n) + 64; h.budget < 0 {
		damaged("refers to the same parts of the file again and again")
	}
}

// object is a group or a dataset.
type object struct {
	// Of a group: the addresses of its B-tree and of the heap with its names.
	group      bool
	tree, heap uint64
	// Of a dataset.
	dims    []int // the slowest first, so MATLAB's in reverse
	typ     datatype
	layout  uint64
	compact []byte   // values in the header
	addr    uint64   // of values elsewhere, or of the B-tree of chunks
	length  uint64   // in bytes
	chunk   []uint64 // the sides of a chunk, as dims, and the size of a value
	filters []uint64 // in the order they were applied
	// MATLAB's attributes.
	class         string
	empty, sparse bool
	rows          uint64 // of a sparse matrix
}

// object reads the header of the object at addr: messages in a block that
// follows and in those where they continue.
func (h *hdf5) object(addr uint64) *object {
	b := h.at(addr, 16)
	c := cursor{b: b}
	switch version := c.uint(1); {
	case string(b[:4]) == "OHDR":
		unsupported("HDF5 object headers of version 2")
	case version != 1:
		damaged("has no HDF5 object at address %d", addr)
	}
	c.take(1)
	left := c.uint(2)
	c.take(4)
	o := &object{}
	for blocks := [][2]uint64{{addr + 16, c.uint(4)}}; left > 0; blocks = blocks[1:] {
		if len(blocks) == 0 {
			damaged("lacks %s of the object at HDF5 address %d", words.Count(left, "message"), addr)
		}
		for c := (cursor{b: h.at(blocks[0][0], blocks[0][1])}); len(c.b) >= 8 && left > 0; left-- {
			typ, n, flags := c.uint(2), c.uint(2), c.uint(1)
			c.take(3)
			m := &cursor{b: c.take(n)}
			if typ == 0x10 { // continuation
				blocks = append(blocks, [2]uint64{m.uint(8), m.uint(8)})
			} else {
				o.message(typ, flags, m)
			}
		}
	}
	return o
}

// message keeps what a message of the header says of the object.
func (o *object) message(typ, flags uint64, m *cursor) {
	const shared = 2
	if slices.Contains([]uint64{0x01, 0x03, 0x08, 0x0b, 0x0c}, typ) && flags&shared != 0 {
		unsupported("shared HDF5 messages")
	}
	switch typ {
	case 0x01:
		o.dims = dataspace(m)
	case 0x02, 0x06: // link info, link
		unsupported("HDF5 groups of the newer kind")
	case 0x03:
		o.typ = readDatatype(m)
	case 0x08:
		o.readLayout(m)
	case 0x0b:
		o.readFilters(m)
	case 0x0c:
		o.readAttribute(m)
	case 0x11: // symbol table
		o.group, o.tree, o.heap = true, m.uint(8), m.uint(8)
	}
}

func dataspace(m *cursor) []int {
	version, rank := m.uint(1), m.uint(1)
	m.take(1) // whether maximal dimensions follow
	if kind := m.uint(1); version != 1 && kind == 2 {
		return []int{0} // no values at all
	}
	if version == 1 {
		m.take(4)
	}
	var dims []int
	for range min(rank, maxDims+1) {
		dims = append(dims, int(min(m.uint(8), math.MaxInt)))
	}
	if rank > maxDims {
		damaged("has %d dimensions", rank)
	}
	product(dims)
	return dims
}

// datatype is the type of a dataset's values.
type datatype struct {
	class uint64
	encoding
	plain bool // numbers, or references, that the encoding describes fully
}

func readDatatype(m *cursor) datatype {
	class, flags := m.uint(1), m.uint(1)
	m.take(2)
	t := datatype{class: class & 15}
	t.encoding = encoding{int(m.uint(4)), t.class == typeFloat, flags&8 != 0, flags&1 != 0}
	switch t.class {
	case typeInteger:
		offset, precision := m.uint(2), int(m.uint(2))
		t.plain = offset == 0 && precision == 8*t.size && slices.Contains([]int{1, 2, 4, 8}, t.size)
	case typeFloat:
		const vax = 1 << 6
		t.plain = flags&vax == 0 && (t.size == 4 || t.size == 8)
	case typeReference:
		t.plain = flags&15 == 0 && t.size == 8
	}
	return t
}

func (o *object) readLayout(m *cursor) {
	if version := m.uint(1); version != 3 {
		unsupported("HDF5 data layout version %d", version)
	}
	o.layout = m.uint(1)
	switch o.layout {
	case inHeader:
		o.compact = m.take(m.uint(2))
	case inOnePiece:
		o.addr, o.length = m.uint(8), m.uint(8)
	case inChunks:
		rank := m.uint(1)
		o.addr = m.uint(8)
		for range rank {
			o.chunk = append(o.chunk, m.uint(4))
		}
	default:
		unsupported("HDF5 data layout class %d", o.layout)
	}
}

func (o *object) readFilters(m *cursor) {
	if version := m.uint(1); version != 1 {
		unsupported("HDF5 filter pipeline version %d", version)
	}
	n := m.uint(1)
	m.take(6)
	for range n {
		id, name := m.uint(2), m.uint(2)
		m.take(2)
		params := m.uint(2)
		m.take((name + 7) &^ 7)
		m.take(4 * (params + params&1))
		if id != deflate && id != shuffle || slices.Contains(o.filters, id) {
			unsupported("HDF5 filter %d", id)
		}
		o.filters = append(o.filters, id)
	}
}

// readAttribute keeps what MATLAB says of the object.
func (o *object) readAttribute(m *cursor) {
	version := m.uint(1)
	m.take(1)
	name, typ, space := m.uint(2), m.uint(2), m.uint(2)
	pad := uint64(0)
	switch version {
	case 1: // its parts are padded to multiples of 8 bytes
		pad = 7
	case 3:
		m.take(1) // character set of the name
	}
	key, _, _ := bytes.Cut(m.take((name+pad)&^pad), []byte{0})
	t := readDatatype(&cursor{b: m.take((typ + pad) &^ pad)})
	m.take((space + pad) &^ pad)
	number := func() uint64 {
		if t.class != typeInteger || !t.plain {
			damaged("has an HDF5 attribute %s that is no number", key)
		}
		return t.bits(m.take(uint64(t.size)))
	}
	switch string(key) {
	case "MATLAB_class":
		if t.class == typeString {
			o.class = string(bytes.TrimRight(m.take(uint64(t.size)), "\x00 "))
		}
	case "MATLAB_empty":
		o.empty = number() != 0
	case "MATLAB_sparse":
		o.sparse, o.rows = true, number()
	}
}

// link is a named member of a group.
type link struct {
	name string
	addr uint64
}

// links lists a group in the order of the names: a B-tree over nodes of
// symbols, whose names are in a heap.
func (h *hdf5) links(o *object) (out []link) {
	c := cursor{b: h.at(o.heap, 32)}
	if !o.group || string(c.take(4)) != "HEAP" {
		damaged("has no HDF5 group with a heap at address %d", o.heap)
	}
	c.take(4)
	n := c.uint(8)
	c.take(8)
	heap := h.at(c.uint(8), n)
	h.walk(o.tree, 0, 8, -1, func(_ []byte, addr uint64) {
		c := cursor{b: h.at(addr, 8)}
		if string(c.take(4)) != "SNOD" {
			damaged("has no HDF5 symbols at address %d", addr)
		}
		c.take(2)
		n := c.uint(2)
		for c := (cursor{b: h.at(addr+8, 40*n)}); len(c.b) > 0; {
			from, to := c.uint(8), c.uint(8)
			c.take(24)
			name, _, ok := bytes.Cut(heap[min(from, uint64(len(heap))):], []byte{0})
			if !ok || len(name) > maxNameBytes || len(out) > 0 && string(name) <= out[len(out)-1].name {
				damaged("has names out of order or beyond the end of the HDF5 heap at address %d", o.heap)
			}
			if to != undefined { // as for a symbolic link
				out = append(out, link{string(name), to})
			}
		}
	})
	return out
}

// walk calls visit with the references in the leaves of a B-tree, in order, each with the
// key before it. Kind is 0 for groups and 1 for chunks. Level is that of the node at addr,
// or -1 for the root. Levels must fall, nodes must not be empty, and visit checks the
// order of keys: so a damaged tree with circles ends too.
func (h *hdf5) walk(addr, kind, keySize uint64, level int, visit func(key []byte, addr uint64)) {
	c := cursor{b: h.at(addr, 24)}
	sig, k, l, n := string(c.take(4)), c.uint(1), int(c.uint(1)), c.uint(2)
	if sig != "TREE" || k != kind || level >= 0 && (l != level || n == 0) {
		damaged("has no HDF5 B-tree node of kind %d at address %d", kind, addr)
	}
	for c := (cursor{b: h.at(addr+24, n*(keySize+8))}); len(c.b) > 0; {
		key, child := c.take(keySize), c.uint(8)
		if l > 0 {
			h.walk(child, kind, keySize, l-1, visit)
		} else {
			visit(key, child)
		}
	}
}

// value returns the MATLAB value that o stands for.
func (h *hdf5) value(o *object, depth int) *value {
	h.census.enter(depth)
	v := o.typed()
	switch {
	case v.class == opaque:
	case o.empty:
		v.dims = h.emptyDims(o)
	case o.sparse && o.group && v.class == numbers:
		h.sparse(o, v)
	case o.group:
		v.class = fields
		h.fields(o, v, depth)
	case o.typ.class == typeReference && (v.class == cells || o.class == ""):
		v.class, v.children = cells, h.cells(o, depth)
	default:
		return h.matrix(o, v)
	}
	return v
}

// typed returns a value of the class and kind that MATLAB, or else HDF5, gives o.
func (o *object) typed() *value {
	switch o.class {
	case "double", "single", "canonical empty": // the last is a cell that was never filled
		return &value{class: numbers}
	case "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical":
		return &value{class: numbers, kind: array.Int}
	case "char":
		return &value{class: text}
	case "cell":
		return &value{class: cells}
	case "struct":
		return &value{class: fields}
	case "": // not written by MATLAB
		if o.typ.class == typeInteger {
			return &value{class: numbers, kind: array.Int}
		}
		return &value{class: numbers}
	}
	return &value{class: opaque}
}

// emptyDims returns the dimensions of an empty array, which has them for values.
func (h *hdf5) emptyDims(o *object) []int {
	var dims []int
	for _, d := range h.listed(o) {
		dims = append(dims, int(d))
	}
	if len(dims) < 2 || len(dims) > maxDims || product(dims) != 0 {
		damaged("is empty but has dimensions %d", dims)
	}
	return dims
}

// matrix makes v the numbers or characters in the dataset o.
func (h *hdf5) matrix(o *object, v *value) *value {
	switch isNumber := v.class == numbers; {
	case o.typ.class == typeCompound && isNumber: // real and imaginary parts
		v.complex = true
	case o.typ.class == typeFloat && isNumber, o.typ.class == typeInteger && isNumber,
		o.typ.class == typeInteger && v.class == text && o.typ.size <= 2:
		v.data = h.data(o)
	default:
		return &value{class: opaque}
	}
	v.dims = slices.Clone(o.dims)
	slices.Reverse(v.dims)
	if v.class == text && len(v.dims) < 2 {
		v.dims = []int{1, product(v.dims)}
	}
	return v
}

// sparse makes v the sparse matrix in the group o.
func (h *hdf5) sparse(o *object, v *value) {
	v.index = &index{}
	for _, l := range h.links(o) { // "data" and "ir" are absent where all is zero
		part := h.object(l.addr)
		switch {
		case l.name == "ir":
			v.index.rows = h.data(part)
		case l.name == "jc":
			v.index.starts = h.data(part)
		case l.name == "data" && part.typ.class == typeCompound:
			v.complex = true
		case l.name == "data":
			v.data = h.data(part)
		}
	}
	v.dims = []int{int(min(o.rows, math.MaxInt)), v.index.starts.n - 1}
	product(v.dims)
}

// fields makes v the struct, or the structs, in the group o.
func (h *hdf5) fields(o *object, v *value, depth int) {
	var columns [][]*value // one per field
	for _, l := range h.links(o) {
		f := h.object(l.addr)
		if f.class == "" && f.typ.class == typeReference { // to the field of each struct
			columns = append(columns, h.cells(f, depth))
		} else {
			columns = append(columns, []*value{h.value(f, depth+1)})
		}
		v.names = append(v.names, l.name)
		if len(columns[len(columns)-1]) != len(columns[0]) {
			damaged("has structs without a field %s", l.name)
		}
	}
	for i := 0; len(columns) > 0 && i < len(columns[0]); i++ {
		for _, column := range columns {
			v.children = append(v.children, column[i])
		}
	}
}

// cells returns the values that the dataset o refers to.
func (h *hdf5) cells(o *object, depth int) (out []*value) {
	for _, ref := range h.listed(o) {
		out = append(out, h.value(h.object(uint64(ref)), depth+1))
	}
	return out
}

// listed returns the values of the dataset o, such as references to others.
func (h *hdf5) listed(o *object) []int64 {
	d := h.data(o)
	if d.n > 0 {
		_, inflated := o.extent()
		h.spend(uint64(d.n)*8 + inflated)
	}
	return convert(d, toInt64)
}

// data returns the values of the dataset o, to be read when they are asked for.
func (h *hdf5) data(o *object) dense {
	if !o.typ.plain {
		unsupported("an HDF5 data type of class %d and %s", o.typ.class, words.Count(o.typ.size, "byte"))
	}
	d := dense{encoding: o.typ.encoding, n: product(o.dims)}
	want := uint64(d.n) * uint64(d.size)
	switch {
	case d.n == 0:
	case o.layout == inHeader:
		if uint64(len(o.compact)) < want {
			damaged("has %s for %s", words.Count(len(o.compact), "byte"), words.Count(d.n, "value"))
		}
		d = held(o.compact[:want], d.encoding)
	case o.layout == inOnePiece:
		if o.addr > h.size || o.length > h.size-o.addr || o.length < want {
			damaged("has %s at address %d for %s", words.Count(o.length, "byte"), o.addr, words.Count(d.n, "value"))
		}
		d.stored = int64(want)
		d.each = func(do func(int, []byte)) {
			stream(io.NewSectionReader(h.r, int64(o.addr), int64(want)), d.encoding, d.n, do)
		}
	default:
		if len(o.dims) == 0 || len(o.chunk) != len(o.dims)+1 || o.chunk[len(o.dims)] != uint64(d.size) || slices.Contains(o.chunk, 0) {
			damaged("has chunks of %d for dimensions %d", o.chunk, o.dims)
		}
		if _, bytes := o.extent(); bytes > uint64(maxInflated) {
			fail("takes more than %d GiB when inflated; save it in single precision, or in parts", maxInflated>>30)
		}
		d.stored = int64(min(want, h.size))
		d.each = func(do func(int, []byte)) { h.chunks(o, do) }
	}
	return d
}
