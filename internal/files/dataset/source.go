package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/mvclust/mvclust/internal/files/anndata"
	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
)

// splitSource takes "FILE:NAME" apart. The longest part before a colon for
// which isFile holds is the file; it may be the whole.
func splitSource(source string, isFile func(path string) bool) (path, name string, ok bool) {
	path = source
	for {
		if isFile(path) {
			return path, strings.TrimPrefix(source[len(path):], ":"), true
		}
		colon := strings.LastIndexByte(path, ':')
		if colon < 1 {
			return "", "", false
		}
		path = path[:colon]
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tabular is a file whose rows are samples. Its arrays are the matrix of its
// numbers, without a name, if there are any, and then its columns.
type tabular interface {
	array.File
	// Columns returns the names of all columns.
	Columns() []string
	// ID returns the name of the column of identifiers, or "".
	ID() string
	// Matrix returns the numbers row after row without those of some columns.
	Matrix(exclude ...string) (data []float32, cols int, err error)
}

// source is an open file.
type source struct {
	array.File
	input
	path   string
	format *format
	stat   fs.FileInfo
	table  tabular // the File as a table, or nil
	// columns is the table as one that can hold lists, or nil.
	columns *column.Table
	// cells is the File as one of single cells, or nil.
	cells *anndata.File
	// lines says that a table of text is read line by line, not as samples.
	lines bool
	// keys are the ids in the column key of a table, if they were read.
	key    string
	keys   []string
	digest File
	err    error // of the digest
}

// fail puts the file's name before an error.
func (s *source) fail(err error) error { return fmt.Errorf("%s: %w", s.path, err) }

func (s *source) failf(format string, a ...any) error { return s.fail(fmt.Errorf(format, a...)) }

// input is a file that is read in pieces. Between two of them it looks at ctx.
type input struct {
	ctx  context.Context
	file *os.File
	// told, if not nil, is called with the size of every piece.
	told func(bytes int)
}

const pieceBytes = 1 << 20

// ReadAt reads as io.ReaderAt says, or until ctx is done.
func (in *input) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		if err = in.ctx.Err(); err != nil {
			break
		}
		var k int
		k, err = in.file.ReadAt(p[n:min(len(p), n+pieceBytes)], off+int64(n))
		n += k
		if in.told != nil {
			in.told(k)
		}
	}
	return n, err
}

// library holds the files that are open, each once however often it is named.
type library struct {
	ctx     context.Context
	cancel  context.CancelFunc
	sources []*source
	hashing sync.WaitGroup
	lines   bool // of the sources
}

func newLibrary(ctx context.Context) *library {
	ctx, cancel := context.WithCancel(ctx)
	return &library{ctx: ctx, cancel: cancel}
}

// close closes all files. What is still being hashed is given up.
func (l *library) close() {
	l.cancel()
	l.hashing.Wait()
	for _, s := range l.sources {
		_ = s.file.Close() // nothing was written
	}
}

// watch has progress called, from now on, with how many bytes of the views' files were
// read and how many there are. Not all are read where a file holds more than views.
func (l *library) watch(chosen []*candidate, progress func(done, total int64)) {
	var done, total int64
	for _, s := range l.sources {
		if slices.ContainsFunc(chosen, func(c *candidate) bool { return c.src == s }) {
			total += s.stat.Size()
			s.told = func(bytes int) {
				done += int64(bytes)
				progress(min(done, total), total)
			}
		}
	}
	progress(0, total)
}

// open returns the file and the name of the array that arg consists of.
func (l *library) open(arg string) (*source, string, error) {
	path, name, ok := splitSource(arg, exists)
	if !ok {
		_, err := os.Stat(arg)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", fmt.Errorf("%s: there is no such file; check the path", arg)
		}
		return nil, "", fmt.Errorf("%s cannot be read: %w; check the path", arg, err)
	}
	if name == "" && path != arg {
		return nil, "", fmt.Errorf("%s: no name follows the colon; write FILE:NAME, or FILE alone", arg)
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w; check the path", path, err)
	}
	for _, s := range l.sources {
		if os.SameFile(s.stat, stat) {
			return s, name, nil
		}
	}
	s := &source{path: path, stat: stat, lines: l.lines}
	if err := s.open(l.ctx); err != nil {
		return nil, "", s.fail(err)
	}
	l.sources = append(l.sources, s)
	l.hashing.Go(func() { s.digest, s.err = s.hash() })
	return s, name, nil
}

// files returns the digests of all files.
func (l *library) files() ([]File, error) {
	l.hashing.Wait()
	var files []File
	for _, s := range l.sources {
		if s.err != nil {
			return nil, s.fail(s.err)
		}
		files = append(files, s.digest)
	}
	return files, nil
}

// open opens the file in the format that its first bytes or, failing that, its
// name tell.
func (s *source) open(ctx context.Context) error {
	if s.stat.IsDir() {
		return errors.New("is a directory; name the files in it")
	}
	if !s.stat.Mode().IsRegular() {
		return errors.New("is not a regular file; save what it gives to a file and name that")
	}
	file, err := os.Open(s.path)
	if err != nil {
		return unreadable(err)
	}
	s.input = input{ctx: ctx, file: file}
	if err := s.list(); err != nil {
		return errors.Join(err, file.Close())
	}
	return nil
}

func unreadable(err error) error {
	return fmt.Errorf("cannot be read: %w; check that you may read it", err)
}

// list finds the format and the arrays of the file.
func (s *source) list() error {
	size := s.stat.Size()
	head := make([]byte, min(headBytes, size)) // a file of the system may wait for more than its size
	n, err := s.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadable(err)
	}
	s.format = formatOf(head[:n], s.path)
	switch f := s.format; {
	case f == nil:
		return fmt.Errorf("is in no known format; give a %s file", Extensions())
	case f.arrays != nil:
		s.File, err = f.arrays(&s.input, size)
		return err
	case f.columns != nil:
		s.columns, err = f.columns(&s.input, size)
		s.table = s.columns
	case f.cells != nil:
		s.cells, err = f.cells(&s.input, size)
		s.File = s.cells
		return err
	case s.lines:
		return nil
	default:
		s.table, err = f.text(&s.input, size, s.path)
	}
	s.File = s.table
	return err
}

// hash reads the file from end to end.
func (s *source) hash() (File, error) {
	h := sha256.New()
	in := &input{ctx: s.ctx, file: s.file} // whose pieces nobody counts
	n, err := io.Copy(h, io.NewSectionReader(in, 0, s.stat.Size()))
	return File{Path: s.path, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
