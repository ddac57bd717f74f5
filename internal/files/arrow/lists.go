package arrow

import (
	"fmt"
	"math"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

// lists hands over n lists, those of a batch.
func (s *scan) lists(b *batch, n, nulls int) error {
	valid, err := b.valid(n, nulls)
	if err != nil {
		return err
	}
	bounds, err := b.bounds(s.field, n)
	if err != nil {
		return err
	}
	l, err := s.openLists(b)
	if err != nil {
		return err
	}
	defer l.close()
	for i := range n {
		if !valid.has(i) {
			l.add(column.Null, 0)
			continue
		}
		from, to := bounds(i)
		if err := l.check(s.row+i, from, to); err != nil {
			return err
		}
		if err := l.row(from, to); err != nil {
			return err
		}
	}
	return l.flush()
}

// bounds returns what says where the values of each of n lists begin and end.
func (b *batch) bounds(f *node, n int) (func(i int) (from, to int64), error) {
	large := f.kind == largeListType || f.kind == largeListViewType
	switch f.kind {
	case fixedListType:
		size := int64(f.size)
		return func(i int) (int64, int64) { return int64(i) * size, int64(i+1) * size }, nil
	case listType, largeListType:
		places, err := b.offsets(n+1, large)
		return func(i int) (int64, int64) { return places(i), places(i + 1) }, err
	}
	places, err := b.offsets(n, large)
	if err != nil {
		return nil, err
	}
	sizes, err := b.offsets(n, large)
	return func(i int) (int64, int64) { return places(i), places(i) + sizes(i) }, err
}

// listReader reads the lists of a batch. They are handed over in pieces of rows whose values
// follow one another.
type listReader struct {
	s *scan
	b *batch
	// values are the n values of all lists; there says which of them are not null.
	values *buffer
	n      int
	there  bitmap
	// piece is the rows at hand. Their values are those from first to last.
	piece       column.Chunk
	first, last int64
}

// openLists opens the values of the lists.
func (s *scan) openLists(b *batch) (*listReader, error) {
	n, nulls, err := b.node()
	if err != nil {
		return nil, err
	}
	there, err := b.valid(n, nulls)
	if err != nil {
		return nil, err
	}
	values, err := b.open()
	if err != nil {
		return nil, err
	}
	return &listReader{s: s, b: b, values: values, n: n, there: there}, nil
}

func (l *listReader) close() { l.values.close() }

// check says what is wrong with the list [from, to) of a row.
func (l *listReader) check(row int, from, to int64) error {
	if from < 0 || to < from || to > int64(l.n) || to-from > math.MaxInt32 {
		return array.Damaged("the list in row %d (counted from 0) of the column %s goes beyond its values", row, words.Quote(l.s.field.name))
	}
	if l.there == nil {
		return nil
	}
	for k := from; k < to; k++ {
		if !l.there.has(int(k)) {
			return fmt.Errorf("row %d (counted from 0) of the column %s has a null among its values; give numbers, or null in place of the whole list", row, words.Quote(l.s.field.name))
		}
	}
	return nil
}

// row adds the list [from, to) to the piece at hand. If the list does not follow that
// piece, or makes it too large, it hands the piece over first.
func (l *listReader) row(from, to int64) error {
	back := from < l.last // in a view, lists stand in any order
	if back || to-l.first > piece && l.last > l.first {
		if err := l.flush(); err != nil {
			return err
		}
	}
	if back {
		if err := l.reopen(); err != nil {
			return err
		}
		l.first, l.last = from, from
	}
	if l.last == l.first {
		l.first = from
	}
	l.add(int32(to-from), int(from))
	l.last = to
	return nil
}

// add adds a row to the piece at hand.
func (l *listReader) add(length int32, start int) {
	l.piece.Lengths, l.piece.Starts = append(l.piece.Lengths, length), append(l.piece.Starts, start)
}

// flush hands over the piece at hand.
func (l *listReader) flush() error {
	if len(l.piece.Lengths) == 0 {
		return nil
	}
	var err error
	if l.piece.Values, err = l.s.numbers(l.values, &l.s.field.children[0], l.first, int(l.last-l.first)); err != nil {
		return err
	}
	for i := range l.piece.Starts {
		l.piece.Starts[i] -= int(l.first)
	}
	err = l.s.give(l.piece)
	l.piece = column.Chunk{Lengths: l.piece.Lengths[:0], Starts: l.piece.Starts[:0]}
	l.first = l.last
	return err
}

// reopen opens the values once more, to read them from their start.
func (l *listReader) reopen() error {
	l.values.close()
	l.b.nextBuffer--
	values, err := l.b.open()
	if err == nil {
		l.values = values
	}
	return err
}
