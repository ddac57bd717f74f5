package hdf5

import (
	"bytes"
	"slices"
	"strings"
)

// Members lists a group in the order of the names.
func (f *File) Members(o *Object) (all []Link, err error) {
	defer catch(&err)
	if !o.Group {
		damaged("is no HDF5 group")
	}
	all = slices.Clone(o.links)
	if o.table != 0 || o.heap != 0 {
		all = append(all, f.symbols(o)...)
	}
	if o.manyLinks.there {
		f.each(o.manyLinks, btreeLinks, 4, func(m *cursor, _ uint64) {
			if l, hard := readLink(m); hard {
				all = append(all, l)
			}
		})
	}
	slices.SortStableFunc(all, func(a, b Link) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(all); i++ {
		if all[i].Name == all[i-1].Name {
			damaged("has two members %q in an HDF5 group", all[i].Name)
		}
	}
	return all, nil
}

// readLink returns the link in a message, and whether it is one to an object of the file.
func readLink(m *cursor) (l Link, hard bool) {
	if version := m.uint(1); version != 1 {
		unsupported("HDF5 links of version %d", version)
	}
	flags, kind := m.uint(1), uint64(0)
	if flags&8 != 0 {
		kind = m.uint(1)
	}
	if flags&4 != 0 {
		m.take(8) // the place in the order of creation
	}
	if flags&16 != 0 {
		m.take(1) // character set
	}
	name := m.take(m.uint(1 << (flags & 3)))
	if kind != 0 {
		return l, false
	}
	if len(name) > maxNameBytes {
		damaged("has a name of %d bytes", len(name))
	}
	return Link{string(name), m.uint(8)}, true
}

// symbols lists a group of the older kind: a B-tree over nodes of symbols, whose names are
// in a heap.
func (f *File) symbols(o *Object) (out []Link) {
	c := cursor{f.at(o.heap, 32)}
	c.sign("HEAP", "group with a heap", o.heap)
	c.take(4)
	n := c.uint(8)
	c.take(8)
	heap := f.at(c.uint(8), n)
	f.walk(o.table, 0, 8, -1, func(_ []byte, addr uint64) {
		c := cursor{f.at(addr, 8)}
		c.sign("SNOD", "symbols", addr)
		c.take(2)
		n := c.uint(2)
		for c := (cursor{f.at(addr+8, 40*n)}); len(c.b) > 0; {
			from, to := c.uint(8), c.uint(8)
			c.take(24)
			name, _, ok := bytes.Cut(heap[min(from, uint64(len(heap))):], []byte{0})
			if !ok || len(name) > maxNameBytes || len(out) > 0 && string(name) <= out[len(out)-1].Name {
				damaged("has names out of order or beyond the end of the HDF5 heap at address %d", o.heap)
			}
			if to != undefined { // as for a symbolic link
				out = append(out, Link{string(name), to})
			}
		}
	})
	return out
}

// each calls visit with the messages of a large group or a large set of attributes, and
// their flags. The B-tree has one record for each, of kind, with the place in the heap at
// byte at.
func (f *File) each(m many, kind, at uint64, visit func(m *cursor, flags uint64)) {
	if m.heap == undefined {
		return
	}
	h := f.fractal(m.heap)
	f.walk2(m.tree, kind, func(record []byte) {
		c := cursor{record}
		c.take(at)
		id, flags := c.take(h.idBytes), uint64(0)
		if kind == btreeAttributes {
			flags = c.uint(1)
		}
		visit(&cursor{h.object(id)}, flags)
	})
}
