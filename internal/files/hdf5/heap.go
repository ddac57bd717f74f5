package hdf5

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// fractal is a heap of the links of a large group, or of the attributes of an object that
// has many.
type fractal struct {
	f                      *File
	idBytes                uint64 // of a place in the heap
	offsetBytes, sizeBytes uint64 // of its parts
	checked                bool   // whether blocks have checksums
	width, first, largest  uint64 // blocks in a row; bytes of the first and of the largest
	root, rows             uint64
	huge                   uint64 // the B-tree of large objects
}

// fractal reads the header of a heap.
func (f *File) fractal(addr uint64) *fractal {
	c := cursor{f.at(addr, 142)}
	c.sign("FRHP", "heap", addr)
	c.take(1)
	h := &fractal{f: f, idBytes: c.uint(2)}
	if filters := c.uint(2); filters != 0 {
		unsupported("filtered HDF5 heaps")
	}
	h.checked = c.uint(1)&2 != 0
	most := c.uint(4)
	c.take(8)
	h.huge = c.uint(8)
	c.take(10 * 8)
	h.width, h.first, h.largest = c.uint(2), c.uint(8), c.uint(8)
	h.offsetBytes = (c.uint(2) + 7) / 8
	c.take(2)
	h.root, h.rows = c.uint(8), c.uint(2)
	power := func(n uint64) bool { return bits.OnesCount64(n) == 1 && n < 1<<40 }
	if !power(h.width) || !power(h.first) || !power(h.largest) || h.largest < h.first || h.rows > 64 || h.offsetBytes > 8 {
		damaged("has an HDF5 heap out of shape at address %d", addr)
	}
	h.sizeBytes = min((uint64(bits.Len64(h.largest))+6)/8, bytesFor(most))
	return h
}

// object returns the object with an id: its place in the blocks of the heap, its key in the
// B-tree of large objects, or itself.
func (h *fractal) object(id []byte) []byte {
	c := cursor{id}
	switch kind := c.uint(1); kind >> 4 & 3 {
	case 0:
		offset := c.uint(h.offsetBytes)
		size := c.uint(h.sizeBytes)
		return h.managed(offset, size)
	case 1:
		return h.large(c.b)
	default:
		if h.idBytes > 18 {
			unsupported("HDF5 heaps with ids of %d bytes", h.idBytes)
		}
		return c.take(kind&15 + 1)
	}
}

// managed returns size bytes from an offset on in the blocks of the heap. In a row of blocks
// all are of one size: in rows 0 and 1 the first, and then twice that of the row before.
func (h *fractal) managed(offset, size uint64) []byte {
	addr, within, block := h.root, offset, h.first
	for rows, level := h.rows, 0; rows > 0; level++ {
		row, start := uint64(0), uint64(0)
		block = h.first
		if span := h.width * h.first; within >= span {
			row = uint64(bits.Len64(within / span))
			start, block = span<<(row-1), h.first<<(row-1)
		}
		if row >= rows || level > maxLevels {
			damaged("refers to byte %d of an HDF5 heap that ends before", offset)
		}
		nth := row*h.width + (within-start)/block
		within = (within - start) % block
		c := cursor{h.f.at(addr, 4)}
		c.sign("FHIB", "block of a heap", addr)
		addr = binary.LittleEndian.Uint64(h.f.at(addr+13+h.offsetBytes+8*nth, 8))
		rows = 0
		if block > h.largest {
			rows = uint64(bits.Len64(block)) - uint64(bits.Len64(h.width*h.first)) + 1
		}
	}
	c := cursor{h.f.at(addr, 4)}
	c.sign("FHDB", "block of a heap", addr)
	if within > block || size > block-within {
		damaged("refers to %d bytes at %d of an HDF5 heap whose block ends before", size, offset)
	}
	return h.f.at(addr+within, size)
}

// large returns the object whose key in the B-tree of large objects is id.
func (h *fractal) large(id []byte) []byte {
	if h.idBytes >= 17 {
		unsupported("HDF5 heaps with ids of %d bytes", h.idBytes)
	}
	var key [8]byte
	copy(key[:], id)
	var found []byte
	h.f.walk2(h.huge, btreeHuge, func(record []byte) {
		c := cursor{record}
		at, size := c.uint(8), c.uint(8)
		if c.uint(8) == binary.LittleEndian.Uint64(key[:]) {
			found = h.f.at(at, size)
		}
	})
	if found == nil {
		damaged("lacks a large object of an HDF5 heap")
	}
	return found
}

// texts are the strings of variable length of a file. They lie in collections.
type texts struct {
	f           *File
	collections map[uint64]map[uint64]string
}

// at returns the text that an element refers to: its length, and its collection and number.
func (t *texts) at(element []byte) string {
	c := cursor{element}
	n, addr, nth := c.uint(4), c.uint(8), c.uint(4)
	if n == 0 || addr == undefined || addr == 0 && nth == 0 {
		return ""
	}
	all, known := t.collections[addr]
	if !known {
		all = t.collection(addr)
		t.collections[addr] = all
	}
	text, ok := all[nth]
	if !ok || n > uint64(len(text)) {
		damaged("refers to %d bytes of text that the HDF5 heap at address %d does not have", n, addr)
	}
	text = text[:n]
	if end := bytes.IndexByte([]byte(text), 0); end >= 0 {
		text = text[:end]
	}
	return text
}

// collection reads the texts of a collection.
func (t *texts) collection(addr uint64) map[uint64]string {
	c := cursor{t.f.at(addr, 16)}
	c.sign("GCOL", "heap of text", addr)
	c.take(4)
	size := c.uint(8)
	c = cursor{t.f.at(addr, size)}
	c.take(16)
	all := make(map[uint64]string)
	for len(c.b) >= 16 {
		nth := c.uint(2)
		c.take(6)
		n := c.uint(8)
		if nth == 0 { // free from here on
			break
		}
		all[nth] = string(c.take(n))
		c.take(min(-n&7, uint64(len(c.b))))
	}
	return all
}
