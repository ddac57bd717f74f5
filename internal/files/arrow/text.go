package arrow

import (
	"encoding/binary"

	"github.com/mvclust/mvclust/internal/files/array"
)

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
		return nil, array.Damaged("a place in a dictionary %w", err)
	}
	texts := s.dictionary[f.id]
	return func(i int) (*string, error) {
		if k := index[i]; k >= 0 && k < int64(len(texts)) {
			return texts[k], nil
		}
		return nil, array.Damaged("a batch refers to value %d of a dictionary of %d", index[i], len(texts))
	}, nil
}

var errBeyond = array.Damaged("a text goes beyond what is there")

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
	if end < 0 || end > 8*int64(b.f.maxValues) {
		return nil, errBeyond
	}
	raw, err := b.bytes(end)
	if err != nil {
		return nil, err
	}
	return func(i int) (*string, error) {
		from, to := places(i), places(i+1)
		if from < 0 || to < from || to > end {
			return nil, errBeyond
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
				return nil, errBeyond
			}
			from = buffers[k][at:]
		}
		if length < 0 || length > int64(len(from)) {
			return nil, errBeyond
		}
		s := string(from[:length])
		return &s, nil
	}, nil
}
