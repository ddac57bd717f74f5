package parquet

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

var errFewValues = array.Damaged("its values are not all there")

// values decodes n values of a page, which are in s.plain.
func (s *scan) values(p *pageAt, n int) (any, error) {
	encoding := p.DataPageHeader.V.Encoding
	if p.Type == format.DataPageV2 {
		encoding = p.DataPageHeaderV2.V.Encoding
	}
	b, l := s.plain, s.leaf
	if n == 0 {
		return l.fixedOrText(nil, 0)
	}
	switch {
	case encoding == format.Plain:
		return l.fixedOrText(b, n)
	case encoding == format.PlainDictionary, encoding == format.RLEDictionary: //nolint:staticcheck // old files have the first
		return s.lookUp(b, n)
	case encoding == format.RLE && l.kind == format.Boolean:
		if len(b) < 4 {
			return nil, errFewValues
		}
		out := make([]uint8, n)
		if err := hybrid(out, b[4:], 1); err != nil {
			return nil, err
		}
		return out, nil
	case encoding == format.ByteStreamSplit && l.size() > 0:
		b, err := joined(b, n, l.size())
		if err != nil {
			return nil, err
		}
		return l.fixedOrText(b, n)
	case encoding == format.DeltaBinaryPacked && l.kind == format.Int32:
		out, _, err := deltas[int32](b, n)
		if err != nil {
			return nil, err
		}
		if l.unsigned {
			return unsigned[uint32](out), nil
		}
		return out, nil
	case encoding == format.DeltaBinaryPacked && l.kind == format.Int64:
		out, _, err := deltas[int64](b, n)
		if err != nil {
			return nil, err
		}
		if l.unsigned {
			return unsigned[uint64](out), nil
		}
		return out, nil
	case encoding == format.DeltaLengthByteArray && l.kind == format.ByteArray:
		return deltaLengths(b, n)
	case encoding == format.DeltaByteArray && l.kind == format.ByteArray:
		return deltaStrings(b, n)
	}
	return nil, fmt.Errorf("the column %s has values of the type %s in the encoding %s, which cannot be read; save it with the encoding PLAIN", words.Quote(l.Name), l.kind, encoding)
}

// size is the number of bytes of a value, or 0 where it is not fixed, or less than
// one byte.
func (l *leaf) size() int {
	switch l.kind {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray:
		return l.length
	}
	return 0
}

// fixedOrText reads n values in the encoding PLAIN. Numbers stay where they are.
func (l *leaf) fixedOrText(b []byte, n int) (any, error) {
	if size := l.size(); size > 0 && len(b)/size < n {
		return nil, errFewValues
	}
	switch {
	case l.kind == format.Boolean:
		if len(b) < (n+7)/8 {
			return nil, errFewValues
		}
		out := make([]uint8, n)
		for i := range out {
			out[i] = b[i/8] >> (i % 8) & 1
		}
		return out, nil
	case l.kind == format.Int32 && l.unsigned:
		return column.Numbers[uint32](b, n), nil
	case l.kind == format.Int32:
		return column.Numbers[int32](b, n), nil
	case l.kind == format.Int64 && l.unsigned:
		return column.Numbers[uint64](b, n), nil
	case l.kind == format.Int64:
		return column.Numbers[int64](b, n), nil
	case l.kind == format.Float:
		return column.Numbers[float32](b, n), nil
	case l.kind == format.Double:
		return column.Numbers[float64](b, n), nil
	case l.half:
		out := make([]float32, n)
		for i := range out {
			out[i] = array.Half(binary.LittleEndian.Uint16(b[2*i:]))
		}
		return out, nil
	case l.uuid:
		out := make([]string, n)
		for i := range out {
			u := b[16*i:]
			out[i] = fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
		}
		return out, nil
	}
	// A value has at least the four bytes of its length.
	if len(b)/4 < n {
		return nil, errFewValues
	}
	out := make([]string, n)
	for i := range out {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errFewValues
		}
		end := 4 + int(binary.LittleEndian.Uint32(b))
		out[i] = string(b[4:end])
		b = b[end:]
	}
	return out, nil
}

// unsigned returns the numbers as those of no sign that have the same bits.
func unsigned[U uint32 | uint64, T int32 | int64](v []T) []U {
	out := make([]U, len(v))
	for i, x := range v {
		out[i] = U(x)
	}
	return out
}

// cloned returns a copy of values of any type.
func cloned(values any) any {
	switch v := values.(type) {
	case []int32:
		return slices.Clone(v)
	case []uint32:
		return slices.Clone(v)
	case []int64:
		return slices.Clone(v)
	case []uint64:
		return slices.Clone(v)
	case []float32:
		return slices.Clone(v)
	case []float64:
		return slices.Clone(v)
	}
	return values // which was made for it
}

// lookUp decodes n values that are places in the dictionary.
func (s *scan) lookUp(b []byte, n int) (any, error) {
	if len(b) < 1 || b[0] > 32 {
		return nil, errFewValues
	}
	s.index = sized(s.index, n)
	if err := hybrid(s.index, b[1:], int(b[0])); err != nil {
		return nil, err
	}
	switch d := s.dictionary.(type) {
	case []uint8:
		return picked(d, s.index)
	case []int32:
		return picked(d, s.index)
	case []uint32:
		return picked(d, s.index)
	case []int64:
		return picked(d, s.index)
	case []uint64:
		return picked(d, s.index)
	case []float32:
		return picked(d, s.index)
	case []float64:
		return picked(d, s.index)
	case []string:
		return picked(d, s.index)
	}
	return nil, array.Damaged("a page refers to a dictionary that is not there")
}

func picked[T any](dictionary []T, index []uint32) ([]T, error) {
	out := make([]T, len(index))
	for i, k := range index {
		if int64(k) >= int64(len(dictionary)) {
			return nil, array.Damaged("a page refers to value %d of a dictionary of %d", k, len(dictionary))
		}
		out[i] = dictionary[k]
	}
	return out, nil
}

// joined returns n values of size bytes, of which b has first all first bytes, then all
// second bytes, and so on.
func joined(b []byte, n, size int) ([]byte, error) {
	if len(b)/size < n {
		return nil, errFewValues
	}
	out := make([]byte, max(n*size, 64)) // aligned for any number
	for k := range size {
		part := b[k*n:][:n]
		for i, x := range part {
			out[i*size+k] = x
		}
	}
	return out[:n*size], nil
}

// hybrid fills dst with numbers of width bits. They are stored as runs of one number, and
// as groups of eight packed numbers.
func hybrid[T uint8 | uint32](dst []T, b []byte, width int) error {
	short := array.Damaged("its levels or places are not all there")
	size := (width + 7) / 8
	for len(dst) > 0 {
		header, n := binary.Uvarint(b)
		if n <= 0 {
			return short
		}
		b = b[n:]
		if header&1 == 0 {
			if len(b) < size {
				return short
			}
			var word [8]byte
			copy(word[:], b[:size])
			b = b[size:]
			run := dst[:min(uint64(len(dst)), header>>1)]
			x := T(binary.LittleEndian.Uint64(word[:]))
			for i := range run {
				run[i] = x
			}
			dst = dst[len(run):]
			continue
		}
		groups := min(header>>1, uint64(len(dst)+7)/8)
		if uint64(len(b)) < groups*uint64(width) {
			return short
		}
		run := dst[:min(len(dst), 8*int(groups))]
		b = unpackBits(run, b, width)
		dst = dst[len(run):]
	}
	return nil
}

// unpackBits fills dst with numbers of width bits, the lowest bits first, and returns
// what follows the last group of eight.
func unpackBits[T uint8 | uint32 | uint64](dst []T, b []byte, width int) []byte {
	for len(dst) > 0 {
		group := dst[:min(8, len(dst))]
		for i := range group {
			var x uint64
			for k := i * width; k < (i+1)*width; {
				take := min(8-k%8, (i+1)*width-k)
				x |= uint64(b[k/8]) >> (k % 8) & (1<<take - 1) << (k - i*width)
				k += take
			}
			group[i] = T(x)
		}
		dst = dst[len(group):]
		b = b[width:]
	}
	return b
}

// deltas decodes n numbers, and returns the bytes that follow them. Their differences are
// stored in blocks: the least difference, and by how much each other one exceeds it.
func deltas[T int32 | int64](b []byte, n int) ([]T, []byte, error) {
	number := func() uint64 {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			b = nil
			return 0
		}
		b = b[k:]
		return v
	}
	signed := func() int64 {
		v := number()
		return int64(v>>1) ^ -int64(v&1)
	}
	block, minis, total, first := number(), number(), number(), signed()
	if b == nil || minis == 0 || block > 1<<20 || block%minis != 0 || block/minis%8 != 0 || block == 0 || total != uint64(n) {
		return nil, nil, array.Damaged("the differences in a page have an impossible header")
	}
	out := make([]T, n)
	if n == 0 {
		return out, b, nil
	}
	out[0] = T(first)
	size := int(block / minis)
	mini := make([]uint64, size)
	for at := 1; at < n; {
		least := signed()
		if b == nil || uint64(len(b)) < minis {
			return nil, nil, errFewValues
		}
		widths := b[:minis]
		b = b[minis:]
		for _, width := range widths {
			if at >= n {
				break // widths of what is not there say nothing
			}
			if width > 64 || len(b) < size/8*int(width) {
				return nil, nil, errFewValues
			}
			b = unpackBits(mini, b, int(width))
			for _, x := range mini[:min(size, n-at)] {
				out[at] = out[at-1] + T(least) + T(x)
				at++
			}
		}
	}
	return out, b, nil
}

// deltaLengths decodes n strings. All lengths stand before the texts.
func deltaLengths(b []byte, n int) ([]string, error) {
	lengths, rest, err := deltas[int32](b, n)
	if err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i, length := range lengths {
		if length < 0 || int(length) > len(rest) {
			return nil, errFewValues
		}
		out[i] = string(rest[:length])
		rest = rest[length:]
	}
	return out, nil
}

// deltaStrings decodes n strings. Each is stored as how much of the one before it begins
// with, and the rest.
func deltaStrings(b []byte, n int) ([]string, error) {
	same, rest, err := deltas[int32](b, n)
	if err != nil {
		return nil, err
	}
	out, err := deltaLengths(rest, n)
	if err != nil {
		return nil, err
	}
	// Each may be almost as long as all before it together.
	total, limit := 0, len(b)*64+1<<20
	for i, k := range same {
		if k == 0 {
			continue
		}
		if i == 0 || k < 0 || int(k) > len(out[i-1]) {
			return nil, errFewValues
		}
		if total += int(k); total > limit {
			return nil, array.Damaged("the texts of a page are far longer than its bytes can make them")
		}
		out[i] = out[i-1][:k] + out[i]
	}
	return out, nil
}
