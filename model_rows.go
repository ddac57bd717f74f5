package mvclust

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/refine"
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

// blocks finds a matrix of rows x width values of a type of npy.Stored, which has checksums of blocks
// of so many rows in sums. It is nil where there are no sums, or the values have another type, as in
// files of older versions.
func (f *modelMembers) blocks(what, name, code string, rows, width, block int, sums string) *blocks {
	if _, ok := f.place[sums]; !ok || block == 0 || f.err != nil {
		return nil
	}
	if block < 1 || block > math.MaxInt32 {
		f.err = fmt.Errorf("%s has blocks of %d rows", name, block)
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
	if b.values = npy.Stored(f.file, at, code); b.values == nil {
		return nil
	}
	return b
}

// read returns the bytes of the rows, which must be in range, one after the other.
func (b *blocks) read(rows []int) ([]byte, error) {
	seen := map[int][]byte{}
	size := 4 * b.width
	out := make([]byte, 0, len(rows)*size)
	for _, i := range rows {
		at := i / b.block
		values, ok := seen[at]
		if !ok {
			var err error
			if values, err = b.readBlock(at); err != nil {
				return nil, err
			}
			seen[at] = values
		}
		out = append(out, values[(i-at*b.block)*size:][:size]...)
	}
	return out, nil
}

// readBlock returns the bytes of a block.
func (b *blocks) readBlock(at int) ([]byte, error) {
	from := at * b.block
	to := min(from+b.block, b.rows)
	what := fmt.Sprintf("rows %d to %d of %s", from, to-1, b.what)
	values := make([]byte, 4*b.width*(to-from))
	switch _, err := b.values.ReadAt(values, int64(from)*4*int64(b.width)); {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, &FileError{fmt.Errorf("%s cannot be read: %w", what, err)}
	case err != nil:
		return nil, damaged(fmt.Errorf("%s are not all there", what))
	case blockSum(values) != b.sums[at]:
		return nil, damaged(fmt.Errorf("%s do not have their checksum", what))
	}
	return values, nil
}

// rowsOf returns the rows of some samples of a view that stays in the file.
func (v *ModelView) rowsOf(samples []int) (*View, error) {
	values, err := v.stored.read(samples)
	if err != nil {
		return nil, err
	}
	data := make([]float32, len(values)/4)
	for k := range data {
		data[k] = math.Float32frombits(binary.LittleEndian.Uint32(values[4*k:]))
	}
	rows, err := view.New(v.Rows.Name, len(samples), v.Rows.Dims, data)
	if bad, ok := errors.AsType[*InputError](err); ok && bad.Row >= 0 {
		err = &InputError{View: bad.View, Row: samples[bad.Row], Problem: bad.Problem}
	}
	if err != nil {
		return nil, damaged(err)
	}
	return rows, nil
}

// storedNearest are the most probable neighbours of all samples, which stay in the file.
type storedNearest struct{ index, probability *blocks }

// nearest finds the neighbours in the file, k of each sample; nil where they have no checksums.
func (f *modelMembers) nearest(h *modelHeader, k int) *storedNearest {
	const what = "the neighbours"
	index := f.blocks(what, "neighbors/index", "i4", h.Samples, k, h.Block, indexSums)
	probability := f.blocks(what, "neighbors/probability", "f4", h.Samples, k, h.Block, probabilitySums)
	if index == nil || probability == nil {
		return nil
	}
	return &storedNearest{index, probability}
}

// first reads the first k neighbours of each of n samples.
func (s *storedNearest) first(n, k int) (*refine.Neighbourhoods, error) {
	index, probability := make([]int32, n*k), make([]float32, n*k)
	blocks := len(s.index.sums)
	failed := make([]error, blocks)
	err := parallel.Blocks(context.Background(), 0, blocks, 1, func(_, at, _ int) {
		numbers, err := s.index.readBlock(at)
		if err != nil {
			failed[at] = err
			return
		}
		values, err := s.probability.readBlock(at)
		if err != nil {
			failed[at] = err
			return
		}
		size := 4 * s.index.width
		for i := at * s.index.block; len(numbers) > 0; i++ {
			for t := range k {
				index[i*k+t] = int32(binary.LittleEndian.Uint32(numbers[4*t:]))
				probability[i*k+t] = math.Float32frombits(binary.LittleEndian.Uint32(values[4*t:]))
			}
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
	numbers, err := s.index.read([]int{i})
	if err != nil {
		return nil, nil, err
	}
	values, err := s.probability.read([]int{i})
	if err != nil {
		return nil, nil, err
	}
	last := float32(1)
	for t := range s.index.width {
		j, p := int32(binary.LittleEndian.Uint32(numbers[4*t:])), math.Float32frombits(binary.LittleEndian.Uint32(values[4*t:]))
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
