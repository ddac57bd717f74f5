package arrow

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
)

// piece is how many values are handed over at a time, if a row has no more.
const piece = 1 << 17

// Scratch is what a piece of column k takes, and what says for a batch where its rows
// and nulls are.
func (f *file) Scratch(k int) (int64, error) {
	const perRow = 8 + 8 + 1 // two places, one of them of views, and two bits
	n := perRow * int64(f.batch)
	if kind := f.fields[k].kind; kind == listViewType || kind == largeListViewType {
		n += f.size // which may be read as one
	}
	const packed = 16 << 20 // what unpacking takes
	return n + packed + 16*piece, nil
}

// batch reads a column of a message.
type batch struct {
	f *file
	m *message
	// nodes, buffers and variadic are where these lists are in the metadata, the
	// second row their lengths, the third the next element of each. variadic has the
	// numbers of further buffers of views.
	nodes, buffers, variadic      int
	nodeN, bufferN, variadicN     int
	nextNode, nextBuffer, nextVar int
	codec                         int
}

// The codecs.
const (
	noCodec = iota - 1
	lz4Codec
	zstdCodec
)

func (f *file) newBatch(m *message) (b *batch, err error) {
	defer array.Recover(&err)
	b = &batch{f: f, m: m, codec: noCodec}
	b.nodes, b.nodeN = m.data.vector(1, 16)
	b.buffers, b.bufferN = m.data.vector(2, 16)
	b.variadic, b.variadicN = m.data.vector(4, 8)
	if c, ok := m.data.table(3); ok {
		b.codec = int(int8(c.uint8(0)))
		if b.codec != lz4Codec && b.codec != zstdCodec {
			return nil, fmt.Errorf("is compressed by the codec %d, of which 0 (LZ4) and 1 (ZSTD) can be read; save it with one of them", b.codec)
		}
	}
	return b, nil
}

// node returns the length and the number of nulls of the next field.
func (b *batch) node() (n, nulls int, err error) {
	if b.nextNode >= b.nodeN {
		return 0, 0, array.Damaged("a batch has fewer fields than the schema")
	}
	at := b.nodes + 16*b.nextNode
	b.nextNode++
	length, null := int64(binary.LittleEndian.Uint64(b.m.meta[at:])), int64(binary.LittleEndian.Uint64(b.m.meta[at+8:]))
	if length < 0 || length > int64(b.f.maxValues) || null < 0 || null > length {
		return 0, 0, array.Damaged("a batch has %d values, %d of them null, which a file of %d bytes cannot hold", length, null, b.f.size)
	}
	return int(length), int(null), nil
}

// further returns the number of further buffers of the next view.
func (b *batch) further() (int, error) {
	if b.nextVar >= b.variadicN {
		return 0, array.Damaged("a batch has fewer buffers than its views")
	}
	n := binary.LittleEndian.Uint64(b.m.meta[b.variadic+8*b.nextVar:])
	b.nextVar++
	if n > uint64(b.bufferN) {
		return 0, array.Damaged("a batch has %d buffers in a view of %d", n, b.bufferN)
	}
	return int(n), nil
}

// skip passes over a field.
func (b *batch) skip(f *node) error {
	b.nextNode++
	if f.encoded {
		b.nextBuffer += 2
		return nil
	}
	switch f.kind {
	case nullType, runType:
	case fixedListType, recordType:
		b.nextBuffer++
	case unionType:
		b.nextBuffer++
		if f.dense {
			b.nextBuffer++
		}
	case binaryType, textType, largeBinaryType, largeTextType, listViewType, largeListViewType:
		b.nextBuffer += 3
	case binaryViewType, textViewType:
		n, err := b.further()
		if err != nil {
			return err
		}
		b.nextBuffer += 2 + n
	default:
		b.nextBuffer += 2
	}
	for i := range f.children {
		if err := b.skip(&f.children[i]); err != nil {
			return err
		}
	}
	return nil
}

// buffer is the bytes of a buffer, to be read from the first to the last.
type buffer struct {
	r     io.Reader
	close func()
	at    int64
	// whole is how many bytes there are, packed or not.
	whole int64
}

// open returns the next buffer.
func (b *batch) open() (*buffer, error) {
	if b.nextBuffer >= b.bufferN {
		return nil, array.Damaged("a batch has fewer buffers than the schema")
	}
	at := b.buffers + 16*b.nextBuffer
	b.nextBuffer++
	from, size := int64(binary.LittleEndian.Uint64(b.m.meta[at:])), int64(binary.LittleEndian.Uint64(b.m.meta[at+8:]))
	if from < 0 || size < 0 || from > b.m.size || size > b.m.size-from {
		return nil, array.Damaged("a buffer goes from byte %d on over %d in a body of %d", from, size, b.m.size)
	}
	from += b.m.body
	out := &buffer{close: func() {}, whole: size}
	if b.codec == noCodec || size == 0 {
		out.r = io.NewSectionReader(b.f.r, from, size)
		return out, nil
	}
	var head [8]byte
	if size < int64(len(head)) {
		return nil, array.Damaged("a packed buffer has %d bytes", size)
	}
	if err := array.ReadFull(b.f.r, head[:], from); err != nil {
		return nil, err
	}
	raw := io.NewSectionReader(b.f.r, from+8, size-8)
	switch n := int64(binary.LittleEndian.Uint64(head[:])); {
	case n == -1:
		out.r, out.whole = raw, size-8
	case n < 0 || n > 8*int64(b.f.maxValues):
		return nil, array.Damaged("a packed buffer promises %d bytes, which a file of %d cannot hold", n, b.f.size)
	case b.codec == lz4Codec:
		out.r, out.whole = lz4.NewReader(raw), n
	default:
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, array.Damaged("a buffer cannot be unpacked: %w", err)
		}
		out.r, out.whole, out.close = z, n, z.Close
	}
	return out, nil
}

// read fills p. Decompressors may panic on damaged bytes.
func (u *buffer) read(p []byte) (err error) {
	defer array.Recover(&err)
	if int64(len(p)) > u.whole-u.at {
		return array.Damaged("a buffer of %d bytes has none at byte %d", u.whole, u.at+int64(len(p)))
	}
	n, err := io.ReadFull(u.r, p)
	u.at += int64(n)
	if err != nil {
		return array.Damaged("a buffer cannot be read to its end: %w", err)
	}
	return nil
}

// skipTo passes over the bytes before a place.
func (u *buffer) skipTo(at int64) (err error) {
	defer array.Recover(&err)
	if at < u.at {
		return array.Damaged("a buffer would be read backwards, from byte %d to %d", u.at, at)
	}
	if at > u.whole {
		return array.Damaged("a buffer of %d bytes has none at byte %d", u.whole, at)
	}
	if s, ok := u.r.(io.Seeker); ok {
		u.at = at
		_, err := s.Seek(at, io.SeekStart)
		return err
	}
	n, err := io.CopyN(io.Discard, u.r, at-u.at)
	u.at += n
	if err != nil {
		return array.Damaged("a buffer cannot be read to its end: %w", err)
	}
	return nil
}

// bytes returns the first n bytes of the next buffer.
func (b *batch) bytes(n int64) ([]byte, error) {
	u, err := b.open()
	if err != nil {
		return nil, err
	}
	defer u.close()
	if n > u.whole {
		return nil, array.Damaged("a buffer has %d bytes, where %d are needed", u.whole, n)
	}
	out := make([]byte, max(n, 64)) // aligned for any number
	return out[:n], u.read(out[:n])
}

// bitmap has a bit for each value that is not null; nil stands for all.
type bitmap []byte

func (m bitmap) has(i int) bool { return m == nil || m[i/8]>>(i%8)&1 == 1 }

// valid returns the next buffer as the bitmap of n values, some of them null.
func (b *batch) valid(n, nulls int) (bitmap, error) {
	if nulls == 0 {
		b.nextBuffer++
		return nil, nil
	}
	return b.bytes((int64(n) + 7) / 8)
}

// offsets returns the next buffer as n places, of 32 bits or of 64.
func (b *batch) offsets(n int, large bool) (func(i int) int64, error) {
	size := int64(4)
	if large {
		size = 8
	}
	raw, err := b.bytes(size * int64(n))
	if err != nil {
		return nil, err
	}
	if large {
		places := column.Numbers[int64](raw, n)
		return func(i int) int64 { return places[i] }, nil
	}
	places := column.Numbers[int32](raw, n)
	return func(i int) int64 { return int64(places[i]) }, nil
}
