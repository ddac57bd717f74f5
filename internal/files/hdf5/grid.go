package hdf5

import "math/bits"

// fixedChunks lists the chunks in a fixed array: one element for each chunk that the dataset
// may ever have, in pages if there are many.
func (f *File) fixedChunks(o *Object, size uint64, add func(chunk)) {
	c := cursor{f.at(o.layout.addr, 28)}
	c.sign("FAHD", "fixed array", o.layout.addr)
	c.take(2)
	width, pageBits, n, at := c.uint(1), c.uint(1), c.uint(8), c.uint(8)
	if at == undefined {
		return
	}
	if width < 8 || pageBits > 40 || n > f.size/width {
		damaged("has an HDF5 fixed array of %d elements of %d bytes", n, width)
	}
	const frame = 14 // signature, version, kind and the address of the header
	head := cursor{f.at(at, frame)}
	head.sign("FADB", "fixed array", at)
	visit := o.visitor(size, -1, add)
	page := uint64(1) << pageBits
	if n <= page {
		visit(0, f.at(at+frame, n*width), width)
		return
	}
	pages := (n + page - 1) / page
	written := f.at(at+frame, (pages+7)/8)
	at += frame + uint64(len(written)) + 4
	for i := range pages {
		count := min(page, n-i*page)
		if written[i/8]<<(i%8)&0x80 != 0 {
			visit(i*page, f.at(at, count*width), width)
		}
		at += count*width + 4
	}
}

// visitor returns a function that adds the chunks that some elements of an array stand for,
// the first of which is number nth.
func (o *Object) visitor(size uint64, growing int, add func(chunk)) func(nth uint64, elements []byte, width uint64) {
	return func(nth uint64, elements []byte, width uint64) {
		for c := (cursor{elements}); len(c.b) > 0; nth++ {
			at := o.element(c.take(width), size)
			if at.addr == undefined {
				continue
			}
			if k, within := o.numbered(nth, growing); within {
				at.nth = k
				add(at)
			}
		}
	}
}

// extensible is an extensible array: a list of elements in blocks that become larger.
type extensible struct {
	f       *File
	width   uint64 // of an element
	offset  uint64 // bytes of a block's place
	least   uint64 // elements of the smallest block
	page    uint64 // elements of a page
	visit   func(nth uint64, elements []byte, width uint64)
	visited uint64 // elements before the block at hand
}

// extensibleChunks lists the chunks in an extensible array. The first elements are in its
// index block, then there are the addresses of small blocks, and of lists of blocks.
func (f *File) extensibleChunks(o *Object, size uint64, add func(chunk)) {
	c := cursor{f.at(o.layout.addr, 72)}
	c.sign("EAHD", "extensible array", o.layout.addr)
	c.take(2)
	a := &extensible{f: f, width: c.uint(1)}
	mostBits, first, least, pointers, pageBits := c.uint(1), c.uint(1), c.uint(1), c.uint(1), c.uint(1)
	c.take(48)
	at := c.uint(8)
	power := func(n uint64) bool { return bits.OnesCount64(n) == 1 }
	if a.width < 8 || mostBits > 64 || !power(least) || !power(pointers) || pageBits > 40 || uint64(bits.Len64(least)-1) > mostBits {
		damaged("has an HDF5 extensible array out of shape at address %d", o.layout.addr)
	}
	if at == undefined {
		return
	}
	growing := -1
	for i, n := range o.maxDims {
		if n == unlimited && growing < 0 {
			growing = i
		}
	}
	a.offset, a.least, a.page = (mostBits+7)/8, least, 1<<pageBits
	a.visit = o.visitor(size, growing, add)
	lists := 1 + mostBits - uint64(bits.Len64(least)-1)
	direct := min(lists, 2*uint64(bits.Len64(pointers)-1))
	const frame = 14
	b := cursor{f.at(at, frame+first*a.width+8*(2*(pointers-1)+lists-direct))}
	b.sign("EAIB", "extensible array", at)
	b.take(10)
	a.visit(0, b.take(first*a.width), a.width)
	a.visited = first
	for level := range direct {
		for range uint64(1) << (level / 2) {
			a.block(b.uint(8), level, nil)
		}
	}
	for level := direct; level < lists; level++ {
		a.list(b.uint(8), level)
	}
}

// count returns the number of elements in the blocks of a level.
func (a *extensible) count(level uint64) uint64 { return a.least << ((level + 1) / 2) }

// pages returns the number of pages of a block of a level, or 0 if it has none.
func (a *extensible) pages(level uint64) uint64 {
	if n := a.count(level); n > a.page {
		return n / a.page
	}
	return 0
}

// list visits the blocks whose addresses are in the list at addr.
func (a *extensible) list(addr, level uint64) {
	blocks := uint64(1) << (level / 2)
	if addr == undefined {
		a.visited += blocks * a.count(level)
		return
	}
	marks := (a.pages(level) + 7) / 8
	if blocks > a.f.size || marks > a.f.size {
		damaged("has an HDF5 extensible array beyond the end of the file")
	}
	c := cursor{a.f.at(addr, 14+a.offset+blocks*(marks+8))}
	c.sign("EASB", "extensible array", addr)
	c.take(10 + a.offset)
	written := c.take(blocks * marks)
	for i := range blocks {
		a.block(c.uint(8), level, written[i*marks:(i+1)*marks])
	}
}

// block visits the elements in the block at addr. written has a bit for each of its pages.
func (a *extensible) block(addr, level uint64, written []byte) {
	first, n := a.visited, a.count(level)
	a.visited += n
	if addr == undefined {
		return
	}
	if n > a.f.size/a.width {
		damaged("has an HDF5 extensible array beyond the end of the file")
	}
	frame := 14 + a.offset
	c := cursor{a.f.at(addr, frame)}
	c.sign("EADB", "extensible array", addr)
	pages := a.pages(level)
	if pages == 0 {
		a.visit(first, a.f.at(addr+frame, n*a.width), a.width)
		return
	}
	at := addr + frame + 4
	for i := range pages {
		if i/8 < uint64(len(written)) && written[i/8]<<(i%8)&0x80 != 0 {
			a.visit(first+i*a.page, a.f.at(at, a.page*a.width), a.width)
		}
		at += a.page*a.width + 4
	}
}
