package job

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// A record is a tag and fields, one after another. Keys have 8 bytes, other whole numbers are
// varints, and real numbers have 4 bytes. Records of one destination are strung together, each
// with its length before it, so that a shuffle has few elements of some size and not many small
// ones.

// appendKey appends a sample's or a node's key.
func appendKey(b []byte, key int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(key)) }

// appendInt appends a whole number, at least 0.
func appendInt(b []byte, x int) []byte { return binary.AppendUvarint(b, uint64(x)) }

func appendFloat(b []byte, x float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
}

// reader takes the fields of a record off its front. After the first that is cut short, all are 0.
type reader struct {
	b   []byte
	cut bool
}

var errCut = errors.New("a record ends too early; this is a fault of the program or of the runner")

func (r *reader) take(n int) []byte {
	if r.cut || n < 0 || n > len(r.b) {
		r.cut = true
		return make([]byte, 8)[:max(0, min(n, 8))]
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) tag() byte      { return r.take(1)[0] }
func (r *reader) key() int64     { return int64(binary.LittleEndian.Uint64(r.take(8))) }
func (r *reader) float() float32 { return math.Float32frombits(binary.LittleEndian.Uint32(r.take(4))) }

func (r *reader) int() int { return int(r.long()) }

func (r *reader) long() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.cut = true
		return 0
	}
	r.b = r.b[n:]
	return x
}

// floats reads n numbers.
func (r *reader) floats(n int) []float32 {
	if n < 0 || n > len(r.b)/4 {
		r.cut = true
		return nil
	}
	b := r.take(4 * n)
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// count reads how many of something follow, of at least a byte each.
func (r *reader) count() int {
	n := r.int()
	if n < 0 || n > len(r.b) {
		r.cut = true
		return 0
	}
	return n
}

// err returns an error if a field was cut short.
func (r *reader) err() error {
	if r.cut {
		return errCut
	}
	return nil
}

// each calls do with the records of a chunk.
func each(chunk []byte, do func(r *reader) error) error {
	all := reader{b: chunk}
	for len(all.b) > 0 && !all.cut {
		r := reader{b: all.take(all.int())}
		if err := do(&r); err != nil {
			return err
		}
		if err := r.err(); err != nil {
			return err
		}
	}
	return all.err()
}

// chunkBytes is about the most bytes of an element of a shuffle.
const chunkBytes = 128 << 10

// batch collects the records of one call by their destinations.
type batch struct {
	chunks map[int64][][]byte
	counts map[int64]int
}

// to adds a record.
func (b *batch) to(destination int64, record []byte) {
	if b.chunks == nil {
		b.chunks, b.counts = map[int64][][]byte{}, map[int64]int{}
	}
	chunks := b.chunks[destination]
	if len(chunks) == 0 || len(chunks[len(chunks)-1]) >= chunkBytes {
		chunks = append(chunks, nil)
	}
	last := &chunks[len(chunks)-1]
	*last = append(appendInt(*last, len(record)), record...)
	b.chunks[destination] = chunks
	b.counts[destination]++
}

// flush hands over all chunks, by rising destination, and returns the bytes with those of the
// keys and lengths as Beam's coders write them, and the numbers of chunks and records.
func (b *batch) flush(emit func(int64, []byte)) (bytes, chunks, records int64) {
	destinations := make([]int64, 0, len(b.chunks))
	for d := range b.chunks {
		destinations = append(destinations, d)
	}
	slices.Sort(destinations)
	for _, d := range destinations {
		for _, c := range b.chunks[d] {
			emit(d, c)
			bytes += int64(len(binary.AppendUvarint(nil, uint64(d))) + len(binary.AppendUvarint(nil, uint64(len(c)))) + len(c))
			chunks++
		}
		records += int64(b.counts[d])
	}
	b.chunks, b.counts = nil, nil
	return bytes, chunks, records
}
