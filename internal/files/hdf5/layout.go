package hdf5

// Layouts of a dataset.
const inHeader, inOnePiece, inChunks = 0, 1, 2

// index is how the chunks of a dataset are found.
type index uint8

const (
	byTree1 index = iota // a B-tree of version 1
	bySingle
	byPlace // one after another
	byFixed
	byExtensible
	byTree2
)

// layout is where the values of a dataset are.
type layout struct {
	class   uint64
	compact []byte   // values in the header
	addr    uint64   // of values elsewhere, or of the index of chunks
	length  uint64   // in bytes
	chunk   []uint64 // the sides of a chunk, as the dimensions, and the size of a value
	index   index
	// wholeOnly says that chunks that reach beyond the dataset are not filtered.
	wholeOnly bool
	// single is the stored size of the only chunk, if it is filtered, and its filter mask.
	single, singleMask uint64
}

func (l *layout) read(m *cursor) {
	version := m.uint(1)
	if version != 3 && version != 4 {
		unsupported("HDF5 data layout version %d", version)
	}
	l.class = m.uint(1)
	switch {
	case l.class == inHeader:
		l.compact = m.take(m.uint(2))
	case l.class == inOnePiece:
		l.addr, l.length = m.uint(8), m.uint(8)
	case l.class == inChunks && version == 3:
		rank := m.uint(1)
		l.addr = m.uint(8)
		for range rank {
			l.chunk = append(l.chunk, m.uint(4))
		}
	case l.class == inChunks:
		l.readChunks(m)
	default:
		unsupported("HDF5 data layout class %d", l.class)
	}
}

// readChunks reads what version 4 says of chunks.
func (l *layout) readChunks(m *cursor) {
	const filtered = 2
	flags, rank, width := m.uint(1), m.uint(1), m.uint(1)
	if width > 8 {
		damaged("has chunks whose sides have %d bytes", width)
	}
	for range rank {
		l.chunk = append(l.chunk, m.uint(width))
	}
	l.wholeOnly = flags&1 != 0
	l.index = index(m.uint(1))
	switch l.index {
	case bySingle:
		if flags&filtered != 0 {
			l.single, l.singleMask = m.uint(8), m.uint(4)
		}
	case byPlace:
	case byFixed:
		m.take(1)
	case byExtensible:
		m.take(5)
	case byTree2:
		m.take(6)
	default:
		unsupported("HDF5 chunk index %d", l.index)
	}
	l.addr = m.uint(8)
}
