// Package npy reads and writes the files of NumPy: one array in a .npy file,
// several under their names in a .npz file, which is a zip archive of .npy files.
//
//	mark        version  length  header                                                            values
//	\x93NUMPY   1 0      118     {'descr': '<f4', 'fortran_order': False, 'shape': (1600, 64), }   ...
//
// The values follow in the order of their indices, the last one running
// fastest, or, where fortran_order is True, the first one.
package npy

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// maxDeflate is the number of bytes that one deflated byte can stand for at
// most: four times two bits, each a copy of 258 bytes.
const maxDeflate = 4 * 258

// Open lists the arrays of a .npy or .npz file of size bytes. Its first bytes say which of
// the two it is. Values are read from r when they are asked for. The array of a .npy file
// has no name. The arrays of a .npz file have the names of their members without ".npy",
// and come in the order of the archive.
//
// An array of values that cannot be read, such as Python objects, is listed as text in a
// .npz file; reading it is an error. A file that holds nothing else is an error of Open.
func Open(r io.ReaderAt, size int64) (array.File, error) {
	members, err := list(r, size)
	if err != nil {
		return nil, err
	}
	return &file{members}, nil
}

// file is the arrays of a file.
type file struct{ members []member }

// member is one array of a file.
type member struct {
	header
	// values opens the bytes of the values.
	values func() (io.ReadCloser, error)
	// stored holds the bytes of the values where they are not compressed, else nil.
	stored *io.SectionReader
}

// fail says what is wrong with the array.
func (m *member) fail(err error) error { return fail(m.Name, err) }

func fail(name string, err error) error {
	if name == "" {
		return fmt.Errorf("the array %w", err)
	}
	return fmt.Errorf("array %s %w", words.Quote(name), err)
}

// list returns the arrays of the file r of size bytes.
func list(r io.ReaderAt, size int64) ([]member, error) {
	mark := make([]byte, len(magic))
	n, err := r.ReadAt(mark, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch mark := string(mark[:n]); {
	case mark == magic:
		h, err := readHeader(io.NewSectionReader(r, 0, size), size)
		if err == nil {
			err = h.unreadable
		}
		if err != nil {
			return nil, fail("", err)
		}
		return []member{{h, func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(r, h.size, size-h.size)), nil
		}, io.NewSectionReader(r, h.size, size-h.size)}}, nil
	case strings.HasPrefix(mark, "PK\x03\x04"), strings.HasPrefix(mark, "PK\x05\x06"):
		return listZip(r, size)
	case mark == "":
		return nil, errors.New("the file is empty; save it again with numpy.save or numpy.savez")
	default:
		return nil, fmt.Errorf("the file begins with %q, as neither a .npy nor a .npz file does; save it with numpy.save or numpy.savez", mark)
	}
}

// listZip returns the arrays of the .npz file r of size bytes.
func listZip(r io.ReaderAt, size int64) ([]member, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("the .npz file is damaged or truncated: %w; copy it again from where it came", err)
	}
	var members []member
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		m, err := open(r, f, size)
		if err != nil {
			return nil, fail(name, err)
		}
		m.Name = name
		members = append(members, m)
	}
	if len(members) == 0 {
		return nil, errors.New("the .npz file holds no array: none of its members is a .npy file; save it with numpy.savez")
	}
	if !slices.ContainsFunc(members, func(m member) bool { return m.unreadable == nil }) {
		return nil, members[0].fail(members[0].unreadable)
	}
	return members, nil
}

// CheckStored reports a member of the .npz file r of size bytes that is compressed, and
// members that are longer together than the file, since they share its bytes. Without such
// members, reading all arrays asks for no more memory than the file has bytes, beside the
// conversion of their types. The members that Writer writes are stored as they are.
func CheckStored(r io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	left := uint64(size)
	for _, f := range archive.File {
		if f.Method != zip.Store {
			return fmt.Errorf("its member %s is compressed", words.Name(f.Name))
		}
		if f.UncompressedSize64 > left {
			return fmt.Errorf("its members are longer than its %d bytes", size)
		}
		left -= f.UncompressedSize64
	}
	return nil
}

// ReadFile returns the content of the member with a name of the .npz file r of size bytes.
// The member must not be compressed; AddFile writes such members.
func ReadFile(r io.ReaderAt, size int64, name string) ([]byte, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		if f.Name != name {
			continue
		}
		if f.Method != zip.Store || f.UncompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("%s is not stored as it is", name)
		}
		content, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(content)
	}
	return nil, fmt.Errorf("it holds no %s", name)
}

// Members returns a digest of what the .npz file r of size bytes lists at its end: the names,
// lengths and checksums of its members. Files of the same digest hold the same, unless the one
// was made to deceive. It reads the list alone.
func Members(r io.ReaderAt, size int64) (string, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return "", err
	}
	list := sha256.New()
	for _, f := range archive.File {
		list.Write(fmt.Appendf(nil, "%q %d %08x\n", f.Name, f.UncompressedSize64, f.CRC32))
	}
	return hex.EncodeToString(list.Sum(nil)), nil
}

// Stored returns the bytes of the values of array i as they lie in the file: of the type f4 or i4,
// whichever is asked for, the least significant byte first. Nobody checks them against a checksum. It
// is nil where the values are of another type, or compressed.
func Stored(from array.File, i int, code string) *io.SectionReader {
	f, ok := from.(*file)
	if !ok || f.members[i].dtype.code != code || f.members[i].dtype.big {
		return nil
	}
	return f.members[i].stored
}

// Fill fills dst with the values from byte off of what Stored returns, and calls check, before it, with
// their bytes. The errors are those of r.
func Fill[T float32 | int32](r io.ReaderAt, off int64, dst []T, check func(stored []byte)) error {
	if len(dst) == 0 {
		return nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst))
	if n, err := r.ReadAt(b, off); n < len(b) {
		return err
	}
	check(b)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // this processor has the most significant first
		for ; len(b) > 0; b = b[4:] {
			slices.Reverse(b[:4])
		}
	}
	return nil
}

// open reads the header of f, a member of the archive r of size bytes.
func open(r io.ReaderAt, f *zip.File, size int64) (member, error) {
	limit := min(f.CompressedSize64, uint64(size))
	switch {
	case f.Flags&1 != 0:
		return member{}, errors.New("is encrypted; save it again with numpy.savez")
	case f.Method == zip.Deflate:
		limit *= maxDeflate
	case f.Method != zip.Store:
		return member{}, fmt.Errorf("is compressed by the zip method %d, which cannot be read; save it again with numpy.savez or numpy.savez_compressed", f.Method)
	}
	if f.UncompressedSize64 > limit {
		return member{}, array.Damaged("its stored size, %d, cannot hold its full size, %d", min(f.CompressedSize64, uint64(size)), f.UncompressedSize64)
	}
	content, err := f.Open()
	if err != nil {
		return member{}, array.Damaged("%w", err)
	}
	defer content.Close()
	h, err := readHeader(content, int64(f.UncompressedSize64))
	if err != nil {
		return member{}, err
	}
	var stored *io.SectionReader
	if f.Method == zip.Store {
		at, err := f.DataOffset()
		if err != nil {
			return member{}, array.Damaged("%w", err)
		}
		stored = io.NewSectionReader(r, at+h.size, int64(f.UncompressedSize64)-h.size)
	}
	return member{h, func() (io.ReadCloser, error) {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, h.size); err != nil {
			r.Close()
			return nil, err
		}
		return r, nil
	}, stored}, nil
}

// Arrays lists the arrays of the file.
func (f *file) Arrays() []array.Info {
	infos := make([]array.Info, len(f.members))
	for i, m := range f.members {
		infos[i] = m.Info
	}
	return infos
}

// Float32 returns the values of array i in storage order.
func (f *file) Float32(i int) ([]float32, error) { return read(&f.members[i], decode[float32]) }

// Turned returns the values of matrix i in the other order.
func (f *file) Turned(i int) ([]float32, error) {
	m := &f.members[i]
	return read(m, func(r io.Reader, d dtype, dst []float32) error { return turn(r, d, m.Info, dst) })
}

// Int64 returns the values of array i in storage order.
func (f *file) Int64(i int) ([]int64, error) { return read(&f.members[i], decode[int64]) }

// Int32 is Int64 for numbers that fit 32 bits, in half the memory.
func Int32(from array.File, i int) ([]int32, error) {
	f, ok := from.(*file)
	if !ok {
		return nil, errors.New("the file is not one of NumPy")
	}
	return read(&f.members[i], decode[int32])
}

// Text returns the values of array i in storage order.
func (f *file) Text(i int) ([]string, error) { return read(&f.members[i], decode[string]) }

// read returns the values of m as decode reads them.
func read[U float32 | int32 | int64 | string](m *member, decode func(io.Reader, dtype, []U) error) ([]U, error) {
	if m.unreadable != nil {
		return nil, m.fail(m.unreadable)
	}
	var zero U
	if _, ok := any(zero).(string); m.Kind == array.Text && !ok {
		return nil, m.fail(errors.New("holds text where numbers are wanted; choose another array"))
	}
	r, err := m.values()
	if err != nil {
		return nil, m.fail(array.Damaged("%w", err))
	}
	defer r.Close()
	dst := make([]U, m.Len())
	err = decode(r, m.dtype, dst)
	if err == nil {
		// Only at its end does a zip member show that its checksum is right.
		_, err = io.Copy(io.Discard, r)
	}
	if err == nil {
		return dst, nil
	}
	if bad, ok := errors.AsType[*array.ValueError](err); ok {
		return nil, m.fail(fmt.Errorf("at %v %w", place(m.Info, bad.At), bad))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("its values are not all there")
	}
	return nil, m.fail(array.Damaged("%w", err))
}

// place returns the indices, counted from 0, of the value that is stored at
// position at.
func place(info array.Info, at int) []int {
	index := make([]int, len(info.Shape))
	for k := range index {
		side := k
		if !info.ColumnMajor {
			side = len(index) - 1 - k
		}
		index[side] = at % info.Shape[side]
		at /= info.Shape[side]
	}
	return index
}
