package hdf5

import "math/bits"

// Kinds of B-trees of version 2.
const (
	btreeHuge, btreeLinks, btreeAttributes = 1, 5, 8
	btreeChunks, btreeFilteredChunks       = 10, 11
)

// maxLevels bounds the height of B-trees and of heaps.
const maxLevels = 48

// walk calls visit with the references in the leaves of a B-tree of version 1, in order,
// each with the key before it. Kind is 0 for groups and 1 for chunks. Level is that of the
// node at addr, or -1 for the root. Levels must fall, nodes must not be empty, and visit
// checks the order of keys: so a damaged tree with circles ends too.
func (f *File) walk(addr, kind, keySize uint64, level int, visit func(key []byte, addr uint64)) {
	c := cursor{f.at(addr, 24)}
	sig, k, l, n := string(c.take(4)), c.uint(1), int(c.uint(1)), c.uint(2)
	if sig != "TREE" || k != kind || level >= 0 && (l != level || n == 0) {
		damaged("has no HDF5 B-tree node of kind %d at address %d", kind, addr)
	}
	for c := (cursor{f.at(addr+24, n*(keySize+8))}); len(c.b) > 0; {
		key, child := c.take(keySize), c.uint(8)
		if l > 0 {
			f.walk(child, kind, keySize, l-1, visit)
		} else {
			visit(key, child)
		}
	}
}

// tree2 is a B-tree of version 2.
type tree2 struct {
	f                *File
	kind             uint64
	nodeSize, record uint64
	// countBytes is how long the number of a node's records is, and by level, how long
	// that of the records below it is.
	countBytes uint64
	belowBytes []uint64
	visit      func(record []byte)
}

// walk2 calls visit with the records of a B-tree of version 2, in order.
func (f *File) walk2(addr, kind uint64, visit func(record []byte)) {
	c := cursor{f.at(addr, 38)}
	c.sign("BTHD", "B-tree", addr)
	if version := c.uint(1); version != 0 {
		unsupported("HDF5 B-trees of version %d beyond 2", version)
	}
	t := &tree2{f: f, kind: c.uint(1), nodeSize: c.uint(4), record: c.uint(2), visit: visit}
	depth := c.uint(2)
	c.take(2)
	root, records := c.uint(8), c.uint(2)
	const frame = 10 // signature, version, kind and checksum of a node
	if t.kind != kind || t.record == 0 || t.nodeSize < frame+t.record || depth > maxLevels {
		damaged("has no HDF5 B-tree of kind %d at address %d", kind, addr)
	}
	most := (t.nodeSize - frame) / t.record // of a leaf
	t.countBytes, t.belowBytes = bytesFor(most), []uint64{0}
	below := most
	for level := range depth {
		child := 8 + t.countBytes + t.belowBytes[level]
		if t.nodeSize < frame+child {
			damaged("has no HDF5 B-tree of kind %d at address %d", kind, addr)
		}
		most = (t.nodeSize - frame - child) / (t.record + child)
		hi, lo := bits.Mul64(most+1, below)
		if hi != 0 || lo+most < lo {
			damaged("has an HDF5 B-tree that is too high at address %d", addr)
		}
		below = lo + most
		t.belowBytes = append(t.belowBytes, bytesFor(below))
	}
	if records > 0 || depth > 0 {
		t.node(root, records, depth)
	}
}

// bytesFor returns how many bytes numbers up to n take.
func bytesFor(n uint64) uint64 { return uint64(max(bits.Len64(n), 1)-1)/8 + 1 }

// node visits the records in and below a node.
func (t *tree2) node(addr, records, level uint64) {
	sign, child := "BTLF", uint64(0)
	if level > 0 {
		sign, child = "BTIN", 8+t.countBytes+t.belowBytes[level-1]
	}
	size := 6 + records*t.record + (records+1)*child
	if size > t.nodeSize {
		damaged("has %d records in an HDF5 B-tree node at address %d", records, addr)
	}
	c := cursor{t.f.at(addr, size)}
	c.sign(sign, "B-tree node", addr)
	if c.take(1); c.uint(1) != t.kind {
		damaged("has no HDF5 B-tree node of kind %d at address %d", t.kind, addr)
	}
	own := cursor{c.take(records * t.record)}
	for i := uint64(0); i <= records; i++ {
		if level > 0 {
			at, n := c.uint(8), c.uint(t.countBytes)
			c.take(t.belowBytes[level-1])
			t.node(at, n, level-1)
		}
		if i < records {
			t.visit(own.take(t.record))
		}
	}
}
