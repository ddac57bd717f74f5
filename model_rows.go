package mvclust

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// storedRows are the rows of a view that stay in the model file. They are read and checked in
// blocks of rows, each of which has a checksum, when one of them is asked for.
type storedRows struct {
	name          string
	samples, dims int
	block         int     // rows
	sums          []int64 // by block: the CRC-32C of its bytes
	values        *io.SectionReader
}

var blockTable = crc32.MakeTable(crc32.Castagnoli)

// blockSum returns the checksum of the bytes of a block of rows.
func blockSum(values []byte) int64 { return int64(crc32.Checksum(values, blockTable)) }

// openRows finds the rows of view i of the file. They are nil where the file has no checksums of
// blocks, or the rows in another type, as files of older versions may.
func openRows(f *modelMembers, h *modelHeader, i int) (*storedRows, error) {
	v := &h.Views[i]
	sums := fmt.Sprintf("view%d/sums", i)
	if _, ok := f.place[sums]; !ok || v.Block == 0 {
		return nil, nil
	}
	if v.Block < 1 || v.Block > math.MaxInt32 {
		return nil, fmt.Errorf("view %d has blocks of %d rows", i, v.Block)
	}
	at := f.find(fmt.Sprintf("view%d/rows", i), h.Samples, v.Dims)
	s := &storedRows{name: v.Name, samples: h.Samples, dims: v.Dims, block: v.Block}
	for _, x := range integers(f, sums, int((int64(h.Samples)+int64(v.Block)-1)/int64(v.Block))) {
		s.sums = append(s.sums, int64(x))
	}
	if f.err != nil {
		return nil, f.err
	}
	if s.values = npy.Stored(f.file, at); s.values == nil {
		return nil, nil
	}
	return s, nil
}

// read returns the rows of some samples, which must be in range.
func (s *storedRows) read(samples []int) (*View, error) {
	blocks := map[int][]byte{}
	data := make([]float32, 0, len(samples)*s.dims)
	for _, i := range samples {
		at := i / s.block
		values, ok := blocks[at]
		if !ok {
			var err error
			if values, err = s.readBlock(at); err != nil {
				return nil, err
			}
			blocks[at] = values
		}
		row := values[(i-at*s.block)*4*s.dims:]
		for k := range s.dims {
			data = append(data, math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:])))
		}
	}
	v, err := view.New(s.name, len(samples), s.dims, data)
	if bad, ok := errors.AsType[*InputError](err); ok && bad.Row >= 0 {
		err = &InputError{View: bad.View, Row: samples[bad.Row], Problem: bad.Problem}
	}
	if err != nil {
		return nil, damaged(err)
	}
	return v, nil
}

// readBlock returns the bytes of a block.
func (s *storedRows) readBlock(at int) ([]byte, error) {
	from := at * s.block
	to := min(from+s.block, s.samples)
	what := fmt.Sprintf("rows %d to %d of view %s", from, to-1, words.Name(s.name))
	values := make([]byte, 4*s.dims*(to-from))
	switch _, err := s.values.ReadAt(values, int64(from)*4*int64(s.dims)); {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, &FileError{fmt.Errorf("%s cannot be read: %w", what, err)}
	case err != nil:
		return nil, damaged(fmt.Errorf("%s are not all there", what))
	case blockSum(values) != s.sums[at]:
		return nil, damaged(fmt.Errorf("%s do not have their checksum", what))
	}
	return values, nil
}

// FileError says that the file of a model is damaged, or cannot be read any more: where OpenModel left
// the rows in it, it is found out when they are needed.
type FileError struct{ Problem error }

// Error returns one sentence, without the name of the file, which is not known here.
func (e *FileError) Error() string { return fmt.Sprint(e.Problem) }

// Unwrap returns the problem.
func (e *FileError) Unwrap() error { return e.Problem }

// damaged is the error of a model file that cannot be what was written.
func damaged(err error) error {
	return &FileError{fmt.Errorf("the model is damaged: %w; run \"mvclust fit\" again, or copy the file again from where it came", err)}
}
