package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

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
	// nodes and buffers are where their lists are, counts are of what is in them,
	// variadic that of numbers of further buffers; next are the next of each.
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
	defer unsound(&err)
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
		return 0, 0, damagedf("a batch has fewer fields than the schema")
	}
	at := b.nodes + 16*b.nextNode
	b.nextNode++
	length, null := int64(binary.LittleEndian.Uint64(b.m.meta[at:])), int64(binary.LittleEndian.Uint64(b.m.meta[at+8:]))
	if length < 0 || length > int64(b.f.most) || null < 0 || null > length {
		return 0, 0, damagedf("a batch has %d values, %d of them null, which a file of %d bytes cannot hold", length, null, b.f.size)
	}
	return int(length), int(null), nil
}

// further returns the number of further buffers of the next view.
func (b *batch) further() (int, error) {
	if b.nextVar >= b.variadicN {
		return 0, damagedf("a batch has fewer buffers than its views")
	}
	n := binary.LittleEndian.Uint64(b.m.meta[b.variadic+8*b.nextVar:])
	b.nextVar++
	if n > uint64(b.bufferN) {
		return 0, damagedf("a batch has %d buffers in a view of %d", n, b.bufferN)
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
		return nil, damagedf("a batch has fewer buffers than the schema")
	}
	at := b.buffers + 16*b.nextBuffer
	b.nextBuffer++
	from, size := int64(binary.LittleEndian.Uint64(b.m.meta[at:])), int64(binary.LittleEndian.Uint64(b.m.meta[at+8:]))
	if from < 0 || size < 0 || from > b.m.size || size > b.m.size-from {
		return nil, damagedf("a buffer goes from byte %d on over %d in a body of %d", from, size, b.m.size)
	}
	from += b.m.body
	out := &buffer{close: func() {}, whole: size}
	if b.codec == noCodec || size == 0 {
		out.r = io.NewSectionReader(b.f.r, from, size)
		return out, nil
	}
	var head [8]byte
	if size < int64(len(head)) {
		return nil, damagedf("a packed buffer has %d bytes", size)
	}
	if err := b.f.readAt(head[:], from); err != nil {
		return nil, err
	}
	raw := io.NewSectionReader(b.f.r, from+8, size-8)
	switch n := int64(binary.LittleEndian.Uint64(head[:])); {
	case n == -1:
		out.r, out.whole = raw, size-8
	case n < 0 || n > 8*int64(b.f.most):
		return nil, damagedf("a packed buffer promises %d bytes, which a file of %d cannot hold", n, b.f.size)
	case b.codec == lz4Codec:
		out.r, out.whole = lz4.NewReader(raw), n
	default:
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, damagedf("a buffer cannot be unpacked: %w", err)
		}
		out.r, out.whole, out.close = z, n, z.Close
	}
	return out, nil
}

// read fills p. The libraries that unpack may panic on what is damaged.
func (u *buffer) read(p []byte) (err error) {
	defer unsound(&err)
	if int64(len(p)) > u.whole-u.at {
		return damagedf("a buffer of %d bytes has none at byte %d", u.whole, u.at+int64(len(p)))
	}
	n, err := io.ReadFull(u.r, p)
	u.at += int64(n)
	if err != nil {
		return damagedf("a buffer cannot be read to its end: %w", err)
	}
	return nil
}

// skipTo passes over the bytes before a place.
func (u *buffer) skipTo(at int64) (err error) {
	defer unsound(&err)
	if at < u.at {
		return damagedf("a buffer is gone back in, from byte %d to %d", u.at, at)
	}
	if at > u.whole {
		return damagedf("a buffer of %d bytes has none at byte %d", u.whole, at)
	}
	if s, ok := u.r.(io.Seeker); ok {
		u.at = at
		_, err := s.Seek(at, io.SeekStart)
		return err
	}
	n, err := io.CopyN(io.Discard, u.r, at-u.at)
	u.at += n
	if err != nil {
		return damagedf("a buffer cannot be read to its end: %w", err)
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
		return nil, damagedf("a buffer has %d bytes, where %d are needed", u.whole, n)
	}
	out := make([]byte, max(n, 64)) // aligned for any number
	return out[:n], u.read(out[:n])
}

// bitmap is which of some values are there; nil is all.
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

// Scan hands over the rows of column k.
func (f *file) Scan(k int, take func(column.Chunk) error) error {
	s := &scan{f: f, k: k, field: &f.fields[k], take: take, dictionary: map[int64][]*string{}}
	for i := range f.messages {
		m := &f.messages[i]
		b, err := f.newBatch(m)
		if err != nil {
			return err
		}
		if m.dictionary {
			err = s.addDictionary(b)
		} else {
			err = s.batch(b)
		}
		if s.stop != nil {
			return s.stop
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scan reads a column.
type scan struct {
	f     *file
	k     int
	field *node
	// take takes the rows, and stop is what it returned.
	take func(column.Chunk) error
	stop error
	row  int // the first of the batch
	// dictionary has the texts of the dictionaries that the column needs, nil for
	// null.
	dictionary map[int64][]*string
	buf        []byte
}

func (s *scan) give(c column.Chunk) error {
	if len(c.Lengths) > 0 {
		s.stop = s.take(c)
	}
	return s.stop
}

// batch hands over the rows of a record batch.
func (s *scan) batch(b *batch) error {
	for i := range s.k {
		if err := b.skip(&s.f.fields[i]); err != nil {
			return err
		}
	}
	n, nulls, err := b.node()
	if err != nil {
		return err
	}
	if n != b.m.rows {
		return damagedf("a batch of %d rows has %d in the column %q", b.m.rows, n, s.field.name)
	}
	if n == 0 {
		return nil
	}
	if s.field.isList() {
		err = s.lists(b, n, nulls)
	} else {
		err = s.singles(b, n, nulls)
	}
	s.row += n
	return err
}

// singles hands over n single values.
func (s *scan) singles(b *batch, n, nulls int) error {
	if s.field.encoded || s.field.isText() {
		texts, err := s.texts(b, s.field, n, nulls)
		if err != nil {
			return err
		}
		c := column.Chunk{Lengths: make([]int32, n)}
		values := make([]string, 0, n)
		for i, t := range texts {
			c.Lengths[i] = column.Null
			if t != nil {
				c.Lengths[i] = 1
				values = append(values, *t)
			}
		}
		c.Values = values
		return s.give(c)
	}
	valid, err := b.valid(n, nulls)
	if err != nil {
		return err
	}
	u, err := b.open()
	if err != nil {
		return err
	}
	defer u.close()
	for from := 0; from < n; from += piece {
		m := min(piece, n-from)
		c := column.Chunk{Lengths: make([]int32, m), Starts: make([]int, m)}
		for i := range m {
			c.Lengths[i], c.Starts[i] = 1, i
			if !valid.has(from + i) {
				c.Lengths[i] = column.Null // what stands under it is not looked at
			}
		}
		if c.Values, err = s.numbers(u, s.field, int64(from), m); err != nil {
			return err
		}
		if err := s.give(c); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads m numbers from a place on.
func (s *scan) numbers(u *buffer, f *node, from int64, m int) (any, error) {
	if f.kind == boolType {
		return s.bits(u, from, m)
	}
	size := int64(f.bits / 8)
	if err := u.skipTo(from * size); err != nil {
		return nil, err
	}
	if need := int(size) * m; cap(s.buf) < need {
		s.buf = make([]byte, max(need, 64)) // aligned for any number
	}
	raw := s.buf[:int(size)*m]
	if err := u.read(raw); err != nil {
		return nil, err
	}
	switch {
	case f.kind == floatType && size == 2:
		out := make([]float32, m)
		for i := range out {
			out[i] = array.Half(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		return out, nil
	case f.kind == floatType && size == 4:
		return column.Numbers[float32](raw, m), nil
	case f.kind == floatType:
		return column.Numbers[float64](raw, m), nil
	case size == 1 && f.unsigned:
		return raw, nil
	case size == 1:
		return column.Numbers[int8](raw, m), nil
	case size == 2 && f.unsigned:
		return column.Numbers[uint16](raw, m), nil
	case size == 2:
		return column.Numbers[int16](raw, m), nil
	case size == 4 && f.unsigned:
		return column.Numbers[uint32](raw, m), nil
	case size == 4:
		return column.Numbers[int32](raw, m), nil
	case f.unsigned:
		return column.Numbers[uint64](raw, m), nil
	}
	return column.Numbers[int64](raw, m), nil
}

// bits reads m logical values from a place on. A place within the byte that was read
// last cannot be gone back to, so all that begin in one are read at once.
func (s *scan) bits(u *buffer, from int64, m int) (any, error) {
	if s.buf == nil || u.at == 0 {
		s.buf = make([]byte, u.whole)
		if err := u.read(s.buf); err != nil {
			return nil, err
		}
	}
	if (from+int64(m)+7)/8 > int64(len(s.buf)) {
		return nil, damagedf("a buffer of %d bytes has no bit %d", len(s.buf), from+int64(m))
	}
	out := make([]uint8, m)
	for i := range out {
		at := from + int64(i)
		out[i] = s.buf[at/8] >> (at % 8) & 1
	}
	return out, nil
}

// lists hands over n lists.
func (s *scan) lists(b *batch, n, nulls int) error {
	f := s.field
	valid, err := b.valid(n, nulls)
	if err != nil {
		return err
	}
	// bounds says where the values of a row begin and end.
	var bounds func(i int) (from, to int64)
	switch large := f.kind == largeListType || f.kind == largeListViewType; f.kind {
	case fixedListType:
		bounds = func(i int) (int64, int64) { return int64(i) * int64(f.size), int64(i+1) * int64(f.size) }
	case listType, largeListType:
		places, err := b.offsets(n+1, large)
		if err != nil {
			return err
		}
		bounds = func(i int) (int64, int64) { return places(i), places(i + 1) }
	default:
		places, err := b.offsets(n, large)
		if err != nil {
			return err
		}
		sizes, err := b.offsets(n, large)
		if err != nil {
			return err
		}
		bounds = func(i int) (int64, int64) { return places(i), places(i) + sizes(i) }
	}
	of := &f.children[0]
	values, holes, err := b.node()
	if err != nil {
		return err
	}
	there, err := b.valid(values, holes)
	if err != nil {
		return err
	}
	u, err := b.open()
	if err != nil {
		return err
	}
	defer func() { u.close() }() // whichever it is by then

	// Pieces of rows whose values follow one another, if not always at once.
	var c column.Chunk
	first, last := int64(0), int64(0)
	flush := func() error {
		if len(c.Lengths) == 0 {
			return nil
		}
		var err error
		if c.Values, err = s.numbers(u, of, first, int(last-first)); err != nil {
			return err
		}
		for i := range c.Starts {
			c.Starts[i] -= int(first)
		}
		err = s.give(c)
		c = column.Chunk{Lengths: c.Lengths[:0], Starts: c.Starts[:0]}
		first = last
		return err
	}
	for i := range n {
		if !valid.has(i) {
			c.Lengths, c.Starts = append(c.Lengths, column.Null), append(c.Starts, int(first))
			continue
		}
		from, to := bounds(i)
		if from < 0 || to < from || to > int64(values) || to-from > math.MaxInt32 {
			return damagedf("the list in row %d (counted from 0) of the column %q goes beyond its values", s.row+i, f.name)
		}
		if there != nil {
			for k := from; k < to; k++ {
				if !there.has(int(k)) {
					return fmt.Errorf("row %d (counted from 0) of the column %q has a null among its values; give numbers, or null in place of the whole list", s.row+i, f.name)
				}
			}
		}
		if from < last { // a view, which may be of anything: begin with its bytes anew
			if err := flush(); err != nil {
				return err
			}
			u.close()
			b.nextBuffer--
			if u, err = b.open(); err != nil {
				return err
			}
			first, last = from, from
		}
		if to-first > piece && last > first {
			if err := flush(); err != nil {
				return err
			}
		}
		if last == first {
			first = from
		}
		c.Lengths, c.Starts = append(c.Lengths, int32(to-from)), append(c.Starts, int(from))
		last = to
	}
	return flush()
}

// addDictionary reads the texts of a dictionary that the column needs.
func (s *scan) addDictionary(b *batch) error {
	of := s.field
	if of.isList() {
		of = &of.children[0]
	}
	if !of.encoded || of.id != b.m.id || !of.isText() {
		return nil
	}
	plain := *of
	plain.encoded = false
	n, nulls, err := b.node()
	if err != nil {
		return err
	}
	texts, err := s.texts(b, &plain, n, nulls)
	if err != nil {
		return err
	}
	if b.m.delta {
		texts = append(s.dictionary[b.m.id], texts...)
	}
	s.dictionary[b.m.id] = texts
	return nil
}

// texts reads n texts, nil for null.
func (s *scan) texts(b *batch, f *node, n, nulls int) ([]*string, error) {
	valid, err := b.valid(n, nulls)
	if err != nil {
		return nil, err
	}
	// text returns text i.
	var text func(i int) (*string, error)
	switch {
	case f.encoded:
		text, err = s.looked(b, f, n)
	case f.kind == textViewType:
		text, err = viewed(b, n)
	default:
		text, err = stored(b, n, f.kind == largeTextType)
	}
	if err != nil {
		return nil, err
	}
	out := make([]*string, n)
	for i := range out {
		if valid.has(i) {
			if out[i], err = text(i); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// looked reads texts that are places in a dictionary.
func (s *scan) looked(b *batch, f *node, n int) (func(i int) (*string, error), error) {
	u, err := b.open()
	if err != nil {
		return nil, err
	}
	defer u.close()
	places := *f
	places.kind = intType
	raw, err := s.numbers(u, &places, 0, n)
	if err != nil {
		return nil, err
	}
	index := make([]int64, n)
	switch v := raw.(type) {
	case []int8:
		err = array.Convert(index, v)
	case []int16:
		err = array.Convert(index, v)
	case []int32:
		err = array.Convert(index, v)
	case []int64:
		err = array.Convert(index, v)
	case []uint8:
		err = array.Convert(index, v)
	case []uint16:
		err = array.Convert(index, v)
	case []uint32:
		err = array.Convert(index, v)
	case []uint64:
		err = array.Convert(index, v)
	}
	if err != nil {
		return nil, damagedf("a place in a dictionary %w", err)
	}
	texts := s.dictionary[f.id]
	return func(i int) (*string, error) {
		if k := index[i]; k >= 0 && k < int64(len(texts)) {
			return texts[k], nil
		}
		return nil, damagedf("a batch refers to value %d of a dictionary of %d", index[i], len(texts))
	}, nil
}

var errBeyond = errors.New("a text goes beyond what is there")

// stored reads texts that stand one after another.
func stored(b *batch, n int, large bool) (func(i int) (*string, error), error) {
	if n == 0 {
		b.nextBuffer += 2 // the places may be missing altogether
		return nil, nil
	}
	places, err := b.offsets(n+1, large)
	if err != nil {
		return nil, err
	}
	end := places(n)
	if end < 0 || end > 8*int64(b.f.most) {
		return nil, &damage{errBeyond}
	}
	raw, err := b.bytes(end)
	if err != nil {
		return nil, err
	}
	return func(i int) (*string, error) {
		from, to := places(i), places(i+1)
		if from < 0 || to < from || to > end {
			return nil, &damage{errBeyond}
		}
		s := string(raw[from:to])
		return &s, nil
	}, nil
}

// viewed reads texts that are short, or a place in one of several buffers.
func viewed(b *batch, n int) (func(i int) (*string, error), error) {
	const size, short = 16, 12
	views, err := b.bytes(size * int64(n))
	if err != nil {
		return nil, err
	}
	further, err := b.further()
	if err != nil {
		return nil, err
	}
	buffers := make([][]byte, further)
	for k := range buffers {
		u, err := b.open()
		if err != nil {
			return nil, err
		}
		u.close()
		b.nextBuffer--
		if buffers[k], err = b.bytes(u.whole); err != nil {
			return nil, err
		}
	}
	return func(i int) (*string, error) {
		view := views[size*i:][:size]
		length := int64(int32(binary.LittleEndian.Uint32(view)))
		from := view[4:]
		if length > short {
			k, at := binary.LittleEndian.Uint32(view[8:]), int64(int32(binary.LittleEndian.Uint32(view[12:])))
			if int64(k) >= int64(len(buffers)) || at < 0 || at > int64(len(buffers[k])) {
				return nil, &damage{errBeyond}
			}
			from = buffers[k][at:]
		}
		if length < 0 || length > int64(len(from)) {
			return nil, &damage{errBeyond}
		}
		s := string(from[:length])
		return &s, nil
	}, nil
}
