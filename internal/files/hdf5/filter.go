package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// Filters of a chunk.
const deflate, shuffle, fletcher, lzf = 1, 2, 3, 32000

// filterNames are the names of filters that are not read.
var filterNames = map[uint64]string{
	4: "szip", 5: "nbit", 6: "scale-offset", 305: "LZO", 307: "bzip2", 32001: "Blosc", 32004: "LZ4",
	32008: "bitshuffle", 32013: "ZFP", 32015: "Zstandard", 32026: "Blosc2",
}

// The least bytes that the filters can make of one.
const maxDeflate, maxLZF = 1032, 88

func readFilters(m *cursor) (filters []uint64) {
	version, n := m.uint(1), m.uint(1)
	if version != 1 && version != 2 {
		unsupported("HDF5 filter pipeline version %d", version)
	}
	if version == 1 {
		m.take(6)
	}
	for range n {
		id, name := m.uint(2), uint64(0)
		if version == 1 || id >= 256 {
			name = m.uint(2)
		}
		m.take(2)
		values := m.uint(2)
		if version == 1 {
			name, values = (name+7)&^7, values+values&1
		}
		m.take(name + 4*values)
		if !slices.Contains([]uint64{deflate, shuffle, fletcher, lzf}, id) || slices.Contains(filters, id) {
			what := fmt.Sprintf("HDF5 filter %d", id)
			if name := filterNames[id]; name != "" {
				what += " (" + name + ")"
			}
			unsupported("%s", what)
		}
		filters = append(filters, id)
	}
	return filters
}

// unfilter reverses the filters of a chunk, which then has size bytes. Bit i of mask is set
// if filter i was not applied.
func (o *Object) unfilter(b []byte, mask, size uint64) []byte {
	want := size // of what a filter was given
	for i, filter := range o.filters {
		if filter == fletcher && mask>>i&1 == 0 {
			want += 4
		}
	}
	for i, filter := range slices.Backward(o.filters) {
		if mask>>i&1 != 0 {
			continue
		}
		switch filter {
		case deflate:
			b = inflate(b, want)
		case lzf:
			b = unLZF(b, want)
		case fletcher:
			want -= 4
			b = verify(b)
		default:
			b = unshuffle(b, o.Type.Size)
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
	if size > maxDeflate*uint64(len(b)) {
		damaged("has a chunk of %s for %d", words.Count(len(b), "byte"), size)
	}
	out, err := array.Fill(z, nil, int64(size), int64(len(b)), 0)
	if err != nil {
		damaged("%w", err)
	}
	if _, err := io.Copy(io.Discard, z); err != nil { // to the checksum
		damaged("cannot be inflated (%w)", err)
	}
	return out
}

// unLZF returns the size bytes that b expands to. A byte below 32 begins a run of bytes that
// stand there; any other begins a copy of what was written before.
func unLZF(b []byte, size uint64) []byte {
	if size > maxLZF*uint64(len(b)) {
		damaged("has a chunk of %s for %d", words.Count(len(b), "byte"), size)
	}
	out := make([]byte, 0, size)
	for c := (cursor{b}); len(c.b) > 0; {
		head := c.uint(1)
		if head < 32 {
			out = append(out, c.take(min(head+1, size+1-uint64(len(out))))...)
		} else {
			n := head >> 5
			if n == 7 {
				n += c.uint(1)
			}
			n += 2
			back := (head&31)<<8 + c.uint(1) + 1
			if back > uint64(len(out)) || n > size-uint64(len(out)) {
				damaged("cannot be expanded")
			}
			for range n {
				out = append(out, out[uint64(len(out))-back])
			}
		}
		if uint64(len(out)) > size {
			damaged("cannot be expanded")
		}
	}
	return out
}

// verify returns b without the checksum in its last four bytes, which must be right.
func verify(b []byte) []byte {
	if len(b) < 4 {
		damaged("has a chunk without its checksum")
	}
	b, end := b[:len(b)-4], b[len(b)-4:]
	sum, want := fletcher32(b), binary.LittleEndian.Uint32(end)
	// Old versions of HDF5 wrote the bytes of each half the other way round.
	if swapped := sum&0xff00ff<<8 | sum>>8&0xff00ff; want != sum && want != swapped {
		damaged("has a chunk with a wrong checksum")
	}
	return b
}

// fletcher32 returns the checksum of b by words of two bytes, the first of them higher.
func fletcher32(b []byte) uint32 {
	var low, high uint32
	fold := func() { low, high = low&0xffff+low>>16, high&0xffff+high>>16 }
	for len(b) > 0 {
		for range 180 { // that many words do not overflow
			if len(b) < 2 {
				break
			}
			low += uint32(b[0])<<8 | uint32(b[1])
			high += low
			b = b[2:]
		}
		if len(b) == 1 {
			low += uint32(b[0]) << 8
			high += low
			b = nil
		}
		fold()
	}
	fold()
	return high<<16 | low
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
