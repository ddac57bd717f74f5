package mat

import (
	"bytes"
	"compress/zlib"
	"slices"

	"github.com/mvclust/mvclust/internal/words"
)

// Filters of a chunk.
const deflate, shuffle = 1, 2

// across returns the number of chunks along dimension i.
func (o *object) across(i int) uint64 { return (uint64(o.dims[i]) + o.chunk[i] - 1) / o.chunk[i] }

// extent returns the number of chunks, and their size in bytes, at most 2^63.
func (o *object) extent() (chunks, size uint64) {
	if o.layout != inChunks {
		return 0, 0
	}
	chunks, size = 1, uint64(o.typ.size)
	for i := range o.dims {
		chunks *= o.across(i)
		side := o.across(i) * o.chunk[i]
		if size > 1<<63/max(1, side) {
			return chunks, 1 << 63
		}
		size *= side
	}
	return chunks, size
}

// chunks calls do with the values of a chunked dataset. A chunk is a box of values; the
// B-tree has the size in bytes, the filter mask and the place of each.
func (h *hdf5) chunks(o *object, do func(at int, run []byte)) {
	total, size := o.extent()
	size /= total
	var done, stored uint64
	lacking := func() {
		fail("lacks chunk %d of %d, perhaps because that part was never written; "+resave, done+1, total)
	}
	place := make([]uint64, len(o.dims))
	visit := func(key []byte, addr uint64) {
		c := cursor{b: key}
		n, mask := c.uint(4), c.uint(4)
		nth := uint64(0)
		for i := range place {
			place[i] = c.uint(8)
			if place[i] >= uint64(o.dims[i]) || place[i]%o.chunk[i] != 0 {
				damaged("has a chunk out of place at %d of %d", place[:i+1], o.dims)
			}
			nth = nth*o.across(i) + place[i]/o.chunk[i]
		}
		if nth != done {
			lacking()
		}
		done++
		if stored += n; stored > h.size {
			damaged("has chunks that overlap")
		}
		o.scatter(o.unfilter(h.at(addr, n), mask, size), place, do)
	}
	if o.addr != undefined {
		h.walk(o.addr, 1, 16+8*uint64(len(place)), -1, visit)
	}
	if done < total {
		lacking()
	}
}

// scatter calls do with the rows of the chunk b, without what lies beyond the dataset.
func (o *object) scatter(b []byte, place []uint64, do func(at int, run []byte)) {
	last, rows := len(place)-1, uint64(1)
	side := make([]uint64, len(place))
	for i := range place {
		side[i] = min(o.chunk[i], uint64(o.dims[i])-place[i])
		if i < last {
			rows *= side[i]
		}
	}
	for row := range rows {
		from, fromStep := uint64(0), o.chunk[last]
		to, toStep := place[last], uint64(o.dims[last])
		for i := last - 1; i >= 0; i-- {
			k := row % side[i]
			row /= side[i]
			from += k * fromStep
			to += (place[i] + k) * toStep
			fromStep *= o.chunk[i]
			toStep *= uint64(o.dims[i])
		}
		size := uint64(o.typ.size)
		do(int(to), b[from*size:(from+side[last])*size])
	}
}

// unfilter reverses the filters of a chunk, which then has size bytes. Bit i of mask is set
// if filter i was not applied.
func (o *object) unfilter(b []byte, mask, size uint64) []byte {
	for i, filter := range slices.Backward(o.filters) {
		switch {
		case mask>>i&1 != 0:
		case filter == deflate:
			b = inflate(b, size)
		default:
			b = unshuffle(b, o.typ.size)
		}
	}
	if uint64(len(b)) != size {
		damaged("has a chunk of %s instead of %d", words.Count(len(b), "byte"), size)
	}
	return b
}

// inflate returns the size bytes that b inflates to.
func inflate(b []byte, size uint64) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		damaged("cannot be inflated (%w)", err)
	}
	if size > uint64(maxRatio)*uint64(len(b)) {
		damaged("has a chunk of %s for %d", words.Count(len(b), "byte"), size)
	}
	out := fill(z, nil, int64(size), int64(len(b)))
	finish(z)
	return out
}

// unshuffle joins the bytes of each value: b has first all first bytes, then all second
// bytes, and so on.
func unshuffle(b []byte, width int) []byte {
	out, n := slices.Clone(b), len(b)/width
	for i := range width {
		for k, x := range b[i*n : (i+1)*n] {
			out[k*width+i] = x
		}
	}
	return out
}
