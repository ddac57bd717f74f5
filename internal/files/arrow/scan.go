package arrow

import (
	"encoding/binary"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

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
	// take gets the rows; stop is its error.
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
		return array.Damaged("a batch of %d rows has %d in the column %s", b.m.rows, n, words.Quote(s.field.name))
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

// bits reads m logical values from a place on. Places need not begin a byte, and buffers
// cannot be read backwards, so the first call reads the whole buffer.
func (s *scan) bits(u *buffer, from int64, m int) (any, error) {
	if s.buf == nil || u.at == 0 {
		s.buf = make([]byte, u.whole)
		if err := u.read(s.buf); err != nil {
			return nil, err
		}
	}
	if (from+int64(m)+7)/8 > int64(len(s.buf)) {
		return nil, array.Damaged("a buffer of %d bytes has no bit %d", len(s.buf), from+int64(m))
	}
	out := make([]uint8, m)
	for i := range out {
		at := from + int64(i)
		out[i] = s.buf[at/8] >> (at % 8) & 1
	}
	return out, nil
}
