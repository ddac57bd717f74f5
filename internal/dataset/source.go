package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mvclust/mvclust/internal/array"
	"github.com/mvclust/mvclust/internal/mat"
	"github.com/mvclust/mvclust/internal/npy"
	"github.com/mvclust/mvclust/internal/table"
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

// The formats of files.
const (
	numpy  = "numpy" // .npy and .npz
	matlab = "matlab"
	text   = "text" // .csv, .tsv and .txt
)

// source is an open file.
type source struct {
	array.File
	path   string
	format string
	stat   fs.FileInfo
	table  *table.Table // the File as a table, or nil
	digest File
	err    error // of the digest
}

// fail puts the file's name before an error.
func (s *source) fail(err error) error { return fmt.Errorf("%s: %w", s.path, err) }

func (s *source) failf(format string, a ...any) error { return s.fail(fmt.Errorf(format, a...)) }

// library holds the files that are open, each once however often it is named.
type library struct {
	ctx     context.Context
	cancel  context.CancelFunc
	sources []*source
	hashing sync.WaitGroup
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
		_ = s.Close() // nothing was written
	}
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
	s := &source{path: path, stat: stat}
	if err := s.open(); err != nil {
		return nil, "", s.fail(err)
	}
	l.sources = append(l.sources, s)
	l.hashing.Go(func() { s.digest, s.err = hash(l.ctx, path) })
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
func (s *source) open() error {
	if s.stat.IsDir() {
		return errors.New("is a directory; name the files in it")
	}
	if !s.stat.Mode().IsRegular() {
		return errors.New("is not a regular file; save what it gives to a file and name that")
	}
	head, err := firstBytes(s.path, 1024)
	if err != nil {
		return fmt.Errorf("cannot be read: %w; check that you may read it", err)
	}
	s.format = format(head, s.path)
	switch s.format {
	case numpy:
		s.File, err = npy.Open(s.path)
	case matlab:
		s.File, err = mat.Open(s.path)
	case text:
		s.File, err = table.Open(s.path)
		s.table, _ = s.File.(*table.Table)
	default:
		err = errors.New("is in no known format; give a .npy, .npz, .mat, .csv, .tsv or .txt file")
	}
	return err
}

// firstBytes returns the first n bytes of a file, or all if they are fewer.
func firstBytes(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// format returns the format that the first bytes of a file tell, or else its
// extension, or "".
func format(head []byte, path string) string {
	const hdf5 = "\x89HDF\r\n\x1a\n"
	at := func(offset int, mark string) bool {
		return len(head) >= offset && bytes.HasPrefix(head[offset:], []byte(mark))
	}
	switch {
	case at(0, "\x93NUMPY"), at(0, "PK\x03\x04"), at(0, "PK\x05\x06"):
		return numpy
	case at(0, hdf5), at(512, hdf5), at(124, "\x00\x01IM"), at(124, "\x01\x00MI"):
		return matlab
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy", ".npz":
		return numpy
	case ".mat":
		return matlab
	case ".csv", ".tsv", ".txt":
		return text
	}
	return ""
}

// hash reads a file from end to end.
func hash(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return f.Read(p)
	}))
	return File{Path: path, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// reader makes a function an io.Reader.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
