package hdf5

import (
	"cmp"
	"slices"
)

// maxInflated is how many bytes a dataset may inflate to.
const maxInflated = 16 << 30

// across returns the number of chunks along dimension i.
func (o *Object) across(i int) uint64 {
	return (uint64(o.Dims[i]) + o.layout.chunk[i] - 1) / o.layout.chunk[i]
}

// extent returns the number of chunks, and their size in bytes, at most 2^63.
func (o *Object) extent() (chunks, size uint64) {
	if o.layout.class != inChunks || len(o.layout.chunk) <= len(o.Dims) || slices.Contains(o.layout.chunk, 0) {
		return 0, 0
	}
	chunks, size = 1, uint64(o.Type.Size)
	for i := range o.Dims {
		n := o.across(i)
		if n > 0 && o.layout.chunk[i] > 1<<62/n || size > 1<<63/max(1, n*o.layout.chunk[i]) {
			return max(chunks, 1), 1 << 63
		}
		chunks *= n
		size *= n * o.layout.chunk[i]
	}
	return chunks, size
}

// chunk is a box of values as it is stored.
type chunk struct {
	nth              uint64 // in the order of the places
	addr, size, mask uint64 // bit i of mask is set if filter i was not applied
}

// chunks calls do with the values of a chunked dataset.
func (f *File) chunks(o *Object, do func(at int, run []byte) error) (err error) {
	defer catch(&err)
	old := f.budget
	defer func() { f.budget = old }()
	f.budget = f.whole()
	total, size := o.extent()
	size /= total
	place := make([]uint64, len(o.Dims))
	for i, c := range f.index(o, total, size) {
		if c.nth != uint64(i) {
			lacking(i, total)
		}
		mask := c.mask
		nth := c.nth
		for k := len(place) - 1; k >= 0; k-- {
			place[k] = nth % o.across(k) * o.layout.chunk[k]
			nth /= o.across(k)
			if o.layout.wholeOnly && place[k]+o.layout.chunk[k] > uint64(o.Dims[k]) {
				mask = ^uint64(0)
			}
		}
		check(o.scatter(o.unfilter(f.at(c.addr, c.size), mask, size), place, do))
	}
	return nil
}

// lacking gives up on a dataset whose first chunks alone are there.
func lacking(there int, total uint64) {
	fail("lacks chunk %d of %d, perhaps because that part was never written; save the file again in full", there+1, total)
}

// index lists the chunks in the order of their places, each of size bytes without filters.
func (f *File) index(o *Object, total, size uint64) []chunk {
	var all []chunk
	stored := uint64(0)
	add := func(c chunk) {
		// A chunk has at least one byte of its own, so that their number is bounded too.
		if stored += max(1, c.size); c.size > f.size || stored > f.size {
			damaged("has chunks that overlap")
		}
		all = append(all, c)
	}
	l := &o.layout
	switch {
	case l.addr == undefined:
	case l.index == byTree1:
		f.treeChunks(o, add)
	case l.index == byTree2:
		f.tree2Chunks(o, size, add)
	case l.index == bySingle:
		c := chunk{addr: l.addr, size: size, mask: l.singleMask}
		if l.single > 0 {
			c.size = l.single
		}
		add(c)
	case l.index == byPlace:
		f.placeChunks(o, total, size, add)
	case l.index == byFixed:
		f.fixedChunks(o, size, add)
	default:
		f.extensibleChunks(o, size, add)
	}
	slices.SortFunc(all, func(a, b chunk) int { return cmp.Compare(a.nth, b.nth) })
	if uint64(len(all)) < total {
		i := 0
		for i < len(all) && all[i].nth == uint64(i) {
			i++
		}
		lacking(i, total)
	}
	if uint64(len(all)) > total {
		damaged("has %d chunks of %d", len(all), total)
	}
	return all
}

// nth returns the number of the chunk at a place, in chunks along each dimension, and whether
// the dataset reaches there.
func (o *Object) nth(place []uint64) (nth uint64, within bool) {
	for i, p := range place {
		if p >= o.across(i) {
			return 0, false
		}
		nth = nth*o.across(i) + p
	}
	return nth, true
}

// treeChunks lists the chunks in a B-tree of version 1, which has the size in bytes, the
// filter mask and the place of each.
func (f *File) treeChunks(o *Object, add func(chunk)) {
	place := make([]uint64, len(o.Dims))
	last, first := uint64(0), true
	f.walk(o.layout.addr, 1, 16+8*uint64(len(place)), -1, func(key []byte, addr uint64) {
		c := cursor{key}
		n, mask := c.uint(4), c.uint(4)
		for i := range place {
			at := c.uint(8)
			if at >= uint64(o.Dims[i]) || at%o.layout.chunk[i] != 0 {
				place[i] = at
				damaged("has a chunk out of place at %d of %d", place[:i+1], o.Dims)
			}
			place[i] = at / o.layout.chunk[i]
		}
		nth, _ := o.nth(place)
		if !first && nth <= last {
			damaged("has chunks out of order")
		}
		last, first = nth, false
		add(chunk{nth, addr, n, mask})
	})
}

// tree2Chunks lists the chunks in a B-tree of version 2.
func (f *File) tree2Chunks(o *Object, size uint64, add func(chunk)) {
	kind, place := uint64(btreeChunks), make([]uint64, len(o.Dims))
	if len(o.filters) > 0 {
		kind = btreeFilteredChunks
	}
	f.walk2(o.layout.addr, kind, func(record []byte) {
		places := 8 * len(place)
		if len(record) < places {
			damaged("has an HDF5 B-tree of chunks with records of %d bytes", len(record))
		}
		c := o.element(record[:len(record)-places], size)
		from := cursor{record[len(record)-places:]}
		for i := range place {
			place[i] = from.uint(8)
		}
		nth, within := o.nth(place)
		if !within {
			damaged("has a chunk out of place at %d of %d", place, o.Dims)
		}
		c.nth = nth
		add(c)
	})
}

// element reads what an index says of a chunk: its address, and with filters the size that is
// stored, in as many bytes as remain, and the filter mask.
func (o *Object) element(b []byte, size uint64) chunk {
	c := cursor{b}
	out := chunk{addr: c.uint(8), size: size}
	if len(o.filters) > 0 {
		width := uint64(len(c.b)) - 4
		if width < 1 || width > 8 {
			damaged("has an HDF5 index of chunks with entries of %d bytes", len(b))
		}
		out.size, out.mask = c.uint(width), c.uint(4)
	}
	return out
}

// placeChunks lists chunks that lie one after another.
func (f *File) placeChunks(o *Object, total, size uint64, add func(chunk)) {
	if total > f.size {
		damaged("has chunks that overlap")
	}
	place := make([]uint64, len(o.Dims))
	for i := range total {
		rest := i
		for k := len(place) - 1; k >= 0; k-- {
			place[k] = rest % o.across(k)
			rest /= o.across(k)
		}
		at := uint64(0)
		for k, p := range place {
			at = at*o.acrossMost(k) + p
		}
		if at > f.size {
			damaged("has chunks beyond the end of the file")
		}
		add(chunk{nth: i, addr: o.layout.addr + at*size, size: size})
	}
}

// acrossMost returns the number of chunks along dimension i when the dataset is as large as
// it may become.
func (o *Object) acrossMost(i int) uint64 {
	n := o.maxDims[i]
	if n == unlimited {
		n = uint64(o.Dims[i])
	}
	if n > uint64(maxLen) {
		damaged("may become %d long", n)
	}
	return max(1, (n+o.layout.chunk[i]-1)/o.layout.chunk[i])
}

// numbered returns the number, among the chunks of the dataset as it is, of chunk nth of the
// dataset as large as it may become, and whether it is one of them. The dimension that may
// grow without an end, if growing is one, counts first.
func (o *Object) numbered(nth uint64, growing int) (uint64, bool) {
	place := make([]uint64, len(o.Dims))
	for k := len(place) - 1; k >= 0; k-- {
		if k != growing {
			place[k] = nth % o.acrossMost(k)
			nth /= o.acrossMost(k)
		}
	}
	if growing >= 0 {
		place[growing] = nth
	} else if nth > 0 {
		return 0, false
	}
	return o.nth(place)
}

// scatter calls do with the rows of the chunk b, without what lies beyond the dataset.
func (o *Object) scatter(b []byte, place []uint64, do func(at int, run []byte) error) error {
	last, rows := len(place)-1, uint64(1)
	side := make([]uint64, len(place))
	for i := range place {
		side[i] = min(o.layout.chunk[i], uint64(o.Dims[i])-place[i])
		if i < last {
			rows *= side[i]
		}
	}
	for row := range rows {
		from, fromStep := uint64(0), o.layout.chunk[last]
		to, toStep := place[last], uint64(o.Dims[last])
		for i := last - 1; i >= 0; i-- {
			k := row % side[i]
			row /= side[i]
			from += k * fromStep
			to += (place[i] + k) * toStep
			fromStep *= o.layout.chunk[i]
			toStep *= uint64(o.Dims[i])
		}
		size := uint64(o.Type.Size)
		if err := do(int(to), b[from*size:(from+side[last])*size]); err != nil {
			return err
		}
	}
	return nil
}
