package mvclust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// blocks is a matrix of values of 4 bytes that stays in the model file. It is read and checked in
// blocks of rows, each of which has a checksum, when a row is asked for.
type blocks struct {
	what        string // the rows of it, in words
	rows, width int
	block       int     // rows
	sums        []int64 // by block: the CRC-32C of its bytes
	values      *io.SectionReader
}

var blockTable = crc32.MakeTable(crc32.Castagnoli)

// blockSum returns the checksum of the bytes of a block of rows.
func blockSum(values []byte) int64 { return int64(crc32.Checksum(values, blockTable)) }

// stays reports whether a matrix of so many columns can stay in the file: it has values of a type of
// npy.Stored, and in sums checksums of blocks of rows, which are no larger than they are written. It cannot
// in files of older versions.
func (f *modelMembers) stays(name, code string, width, block int, sums string) bool {
	at, ok := f.place[name]
	_, checked := f.place[sums]
	return ok && checked && 0 < block && block <= npy.BlockRows(width) && npy.Stored(f.file, at, code) != nil
}

// blocks finds a matrix of rows x width values that stays in the file; nil where it cannot.
func (f *modelMembers) blocks(what, name, code string, rows, width, block int, sums string) *blocks {
	if f.err != nil || !f.stays(name, code, width, block, sums) {
		return nil
	}
	at := f.find(name, rows, width)
	b := &blocks{what: what, rows: rows, width: width, block: block}
	for _, x := range integers(f, sums, int((int64(rows)+int64(block)-1)/int64(block))) {
		b.sums = append(b.sums, int64(x))
	}
	if f.err != nil {
		return nil
	}
	b.values = npy.Stored(f.file, at, code)
	return b
}

// readRows returns the values of the rows, which must be in range, one after the other.
func readRows[T float32 | int32](b *blocks, rows []int) ([]T, error) {
	seen := map[int][]T{}
	out := make([]T, 0, len(rows)*b.width)
	for _, i := range rows {
		at := i / b.block
		values, ok := seen[at]
		if !ok {
			var err error
			if values, err = readBlock[T](b, at, nil); err != nil {
				return nil, err
			}
			seen[at] = values
		}
		out = append(out, values[(i-at*b.block)*b.width:][:b.width]...)
	}
	return out, nil
}

// readBlock returns the values of a block, in room where that is large enough.
func readBlock[T float32 | int32](b *blocks, at int, room []T) ([]T, error) {
	from := at * b.block
	to := min(from+b.block, b.rows)
	what := func() string { return fmt.Sprintf("rows %d to %d of %s", from, to-1, b.what) }
	size := b.width * (to - from)
	values, sum := slices.Grow(room[:0], size)[:size], int64(0)
	err := npy.Fill(b.values, int64(from)*4*int64(b.width), values, func(stored []byte) { sum = blockSum(stored) })
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, &FileError{fmt.Errorf("%s cannot be read: %w", what(), err)}
	case err != nil:
		return nil, damaged(fmt.Errorf("%s are not all there", what()))
	case sum != b.sums[at]:
		return nil, damaged(fmt.Errorf("%s do not have their checksum", what()))
	}
	return values, nil
}

// rowsOf returns the rows of some samples of a view that stays in the file.
func (v *ModelView) rowsOf(samples []int) (*View, error) {
	values, err := readRows[float32](v.stored, samples)
	if err != nil {
		return nil, err
	}
	return v.checked(values, func(row int) int { return samples[row] })
}

// checked returns rows of the file as a view, or the error that there is in them; sample tells the samples
// that they are of.
func (v *ModelView) checked(values []float32, sample func(row int) int) (*View, error) {
	rows, err := view.New(v.Rows.Name, len(values)/v.Rows.Dims, v.Rows.Dims, values)
	if bad, ok := errors.AsType[*InputError](err); ok && bad.Row >= 0 {
		err = &InputError{View: bad.View, Row: sample(bad.Row), Problem: bad.Problem}
	}
	if err != nil {
		return nil, damaged(err)
	}
	return rows, nil
}

// Source returns the rows, in memory or, for OpenModel and OpenCurrent, in the file, block by block; one
// that cannot be read where there are none. Its errors are blocks of the file that cannot be read or are
// damaged.
func (v *ModelView) Source() similarity.Source {
	if v.Rows == nil || v.Rows.Dims < 1 || v.stored == nil && v.Rows.Check() != nil {
		return similarity.Source{}
	}
	out := similarity.Source{Name: v.Rows.Name, Samples: v.Rows.Samples, Dims: v.Rows.Dims}
	if v.stored == nil {
		out.Block = npy.BlockRows(out.Dims)
		out.Read = func(block int, _ []float32) ([]float32, error) {
			lo := block * out.Block
			return v.Rows.Data[lo*out.Dims : min(lo+out.Block, v.Rows.Samples)*out.Dims], nil
		}
		out.Check = func(block int, _ []float32) (*View, error) {
			lo := block * out.Block
			return v.Rows.Part(lo, min(lo+out.Block, v.Rows.Samples)), nil
		}
		return out
	}
	out.Block = v.stored.block
	out.Read = func(block int, room []float32) ([]float32, error) { return readBlock(v.stored, block, room) }
	out.Check = func(block int, values []float32) (*View, error) {
		return v.checked(values, func(row int) int { return block*out.Block + row })
	}
	return out
}

// storedNearest are the most probable neighbours of all samples, which stay in the file.
type storedNearest struct{ index, probability *blocks }

// nearest finds the neighbours in the file, k of each sample, if they can stay there.
func (f *modelMembers) nearest(h *modelHeader, k int) *storedNearest {
	const what = "the neighbours"
	index := f.blocks(what, "neighbors/index", "i4", h.Samples, k, h.Block, indexSums)
	probability := f.blocks(what, "neighbors/probability", "f4", h.Samples, k, h.Block, probabilitySums)
	return &storedNearest{index, probability}
}

// nearestStay reports whether the neighbours can stay in the file, k of each sample.
func (f *modelMembers) nearestStay(h *modelHeader, k int) bool {
	return 0 < k && k < h.Samples && f.stays("neighbors/index", "i4", k, h.Block, indexSums) && f.stays("neighbors/probability", "f4", k, h.Block, probabilitySums)
}

// rowsStay reports whether the rows of view k can stay in the file.
func (f *modelMembers) rowsStay(v *modelViewHeader, k int) bool {
	return f.stays(fmt.Sprintf("view%d/rows", k), "f4", v.Dims, v.Block, fmt.Sprintf("view%d/sums", k))
}

// first reads the first k neighbours of each of n samples.
func (s *storedNearest) first(n, k int) (*refine.Neighbourhoods, error) {
	index, probability := make([]int32, n*k), make([]float32, n*k)
	blocks := len(s.index.sums)
	failed := make([]error, blocks)
	err := parallel.Blocks(context.Background(), 0, blocks, 1, func(_, at, _ int) {
		numbers, err := readBlock[int32](s.index, at, nil)
		if err != nil {
			failed[at] = err
			return
		}
		values, err := readBlock[float32](s.probability, at, nil)
		if err != nil {
			failed[at] = err
			return
		}
		size := s.index.width
		for i := at * s.index.block; len(numbers) > 0; i++ {
			copy(index[i*k:(i+1)*k], numbers)
			copy(probability[i*k:(i+1)*k], values)
			numbers, values = numbers[size:], values[size:]
		}
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	return refine.NewNeighbourhoods(k, index, probability)
}

// HasNearest reports whether the model has the most probable neighbours of its samples, in memory or,
// for OpenModel, in the file.
func (m *Model) HasNearest() bool { return m.Neighbourhoods != nil || m.nearest != nil }

// Nearest returns the neighbours of sample i that the graph was made of, most probable first, and their
// probabilities; none where the model has none. Neither may be changed. It is an error if there is no
// such sample, or if they are in the file of OpenModel and cannot be read or are damaged.
func (m *Model) Nearest(i int) (index []int32, probability []float32, err error) {
	n := m.Samples()
	if i < 0 || i >= n {
		return nil, nil, fmt.Errorf("there is no sample %d; the model has %d, counted from 0", i, n)
	}
	switch {
	case m.Neighbourhoods != nil && i < m.Neighbourhoods.Samples():
		index, probability = m.Neighbourhoods.Of(i)
	case m.nearest != nil:
		index, probability, err = m.nearest.of(i, n)
	}
	k := max(0, min(m.Settings.Neighbours, len(index)))
	return index[:k:k], probability[:k:k], err
}

// of returns the neighbours of sample i of n.
func (s *storedNearest) of(i, n int) (index []int32, probability []float32, err error) {
	numbers, err := readRows[int32](s.index, []int{i})
	if err != nil {
		return nil, nil, err
	}
	values, err := readRows[float32](s.probability, []int{i})
	if err != nil {
		return nil, nil, err
	}
	last := float32(1)
	for t, j := range numbers {
		p := values[t]
		if j == -1 {
			break
		}
		if j < 0 || int(j) >= n || int(j) == i || slices.Contains(index, j) || !(p > 0 && p <= last) {
			return nil, nil, damaged(fmt.Errorf("sample %d has neighbour %d with probability %v, which cannot be", i, j, p))
		}
		last = p
		index, probability = append(index, j), append(probability, p)
	}
	return index, probability, nil
}

// FileError says that the file of a model is damaged, or cannot be read any more: of what OpenModel
// left in it, that is found out when it is needed.
type FileError struct{ Problem error }

// Error returns one sentence, without the name of the file, which is not known here.
func (e *FileError) Error() string { return fmt.Sprint(e.Problem) }

// Unwrap returns the problem.
func (e *FileError) Unwrap() error { return e.Problem }

// damaged is the error of a model file that cannot be what was written.
func damaged(err error) error {
	if _, said := errors.AsType[*FileError](err); said {
		return err
	}
	return &FileError{fmt.Errorf("the model is damaged: %w; run \"mvclust fit\" again, or copy the file again from where it came", err)}
}

// ofView names the rows of a view.
func ofView(name string) string { return "view " + words.Name(name) }
