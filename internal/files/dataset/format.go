package dataset

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/internal/files/anndata"
	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/arrow"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/files/mat"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/internal/files/table"
)

// format is a format of files: how it is told from others, and what reads it. One of
// arrays, columns, text and cells is set.
type format struct {
	// extensions are those of its files, in small letters.
	extensions []string
	// marks are what its files, and no others, hold. One of them is enough.
	marks []mark
	// arrays opens a file of named arrays.
	arrays func(r io.ReaderAt, size int64) (array.File, error)
	// columns opens a table that is stored column by column, and may hold lists.
	columns func(r io.ReaderAt, size int64) (*column.Table, error)
	// text opens a table of text.
	text func(r io.ReaderAt, size int64, path string) (*table.Table, error)
	// cells opens a file of single cells.
	cells func(r io.ReaderAt, size int64) (*anndata.File, error)
	// binary opens one column to read values of single rows; nil where that cannot be done.
	binary func(r io.ReaderAt, size int64, name string) (*parquet.Binary, error)
	// eitherSide says that samples may be the columns of a matrix as well as its rows.
	eitherSide bool
}

// mark is bytes at a place in a file.
type mark struct {
	at    int
	bytes string
}

// formats are all the formats, in the order in which files are asked for their marks.
var formats = []*format{
	{
		extensions: []string{".npy", ".npz"},
		marks:      []mark{{0, "\x93NUMPY"}, {0, "PK\x03\x04"}, {0, "PK\x05\x06"}},
		arrays:     npy.Open,
	},
	{
		extensions: []string{".parquet"},
		marks:      []mark{{0, "PAR1"}, {0, "PARE"}},
		columns:    parquet.Open,
		binary:     parquet.OpenBinary,
	},
	{
		extensions: []string{".arrow", ".feather"},
		marks:      []mark{{0, arrow.Magic}, {0, arrow.Feather1}, {0, arrow.Continuation}},
		columns:    arrow.Open,
	},
	{
		extensions: []string{".h5ad", ".h5mu"},
		marks:      []mark{{0, "MuData (format-version="}},
		cells:      anndata.Open,
	},
	{
		extensions: []string{".mat"},
		marks:      []mark{{0, hdf5.Signature}, {512, hdf5.Signature}, {124, "\x00\x01IM"}, {124, "\x01\x00MI"}},
		arrays:     mat.Open,
		eitherSide: true,
	},
	{
		extensions: []string{".csv", ".tsv", ".txt"},
		text:       table.Open,
	},
}

// headBytes is how much of a file must be read to see any mark.
const headBytes = 1024

// formatOf returns the format that the first bytes of a file tell, or else its extension,
// or nil. Of the formats that share the mark of HDF5, the extension tells which it is.
func formatOf(head []byte, path string) *format {
	extension := strings.ToLower(filepath.Ext(path))
	named := slices.IndexFunc(formats, func(f *format) bool { return slices.Contains(f.extensions, extension) })
	for _, f := range formats {
		for _, m := range f.marks {
			if len(head) >= m.at && strings.HasPrefix(string(head[m.at:]), m.bytes) {
				if m.bytes == hdf5.Signature && named >= 0 && formats[named].cells != nil {
					return formats[named]
				}
				return f
			}
		}
	}
	if named >= 0 {
		return formats[named]
	}
	return nil
}

// Extensions returns the extensions of the files that can be read, as in ".npy, .npz or
// .txt".
func Extensions() string {
	var all []string
	for _, f := range formats {
		all = append(all, f.extensions...)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
