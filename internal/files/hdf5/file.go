// Package hdf5 reads groups, datasets and attributes of HDF5 files: what MATLAB, h5py and
// anndata write.
//
//	superblock      versions 0 to 3
//	object header   versions 1 and 2
//	group           a symbol table; links in the header; links in a fractal heap
//	layout          in the header; in one piece; in chunks found by a B-tree of version
//	                1 or 2, a fixed or an extensible array, implicitly, or one alone
//	filter          deflate, shuffle, Fletcher-32, LZF
//	type            integers, IEEE numbers of 2 to 8 bytes, enumerations of integers,
//	                references to objects, text of fixed and of variable length
//
// Soft and external links are passed over. All else is an *Unsupported error where it is
// asked for, and does not keep other objects from being read.
//
// Nothing is believed that the file's bytes do not bear out: lengths are checked against the
// file before memory is asked for, and a budget ends the reading of a file whose parts refer
// to each other in circles.
package hdf5

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/mvclust/mvclust/internal/words"
)

// Signature is the first bytes of an HDF5 file, or of its HDF5 part.
const Signature = "\x89HDF\r\n\x1a\n"

// undefined is the address of what was never written.
const undefined = math.MaxUint64

// File is an open file. Its methods are not safe for concurrent use. Addresses count from
// the superblock.
type File struct {
	r      io.ReaderAt
	size   uint64
	budget int64 // bytes that may yet be read
	root   uint64
}

// Find returns where the HDF5 part of r begins: at byte 0, or 512, 1024 and so on after a
// part for others; or -1 if there is none.
func Find(r io.ReaderAt, size int64) int64 {
	for at := int64(0); at < size; at = max(512, 2*at) {
		var head [len(Signature)]byte
		if n, _ := r.ReadAt(head[:], at); n == len(head) && string(head[:]) == Signature {
			return at
		}
	}
	return -1
}

// Open reads the superblock of the HDF5 part of r, which begins at byte at.
func Open(r io.ReaderAt, at, size int64) (f *File, err error) {
	defer catch(&err)
	h := &File{r: io.NewSectionReader(r, at, size-at), size: uint64(size - at)}
	h.Renew()
	c := cursor{h.at(8, min(88, h.size-8))}
	version, base, end := c.uint(1), uint64(0), uint64(0)
	switch {
	case version <= 1:
		c.take(4)
		offsets, lengths := c.uint(1), c.uint(1)
		checkWidths(version, offsets, lengths)
		c.take(9 + 4*version)
		base = c.uint(8)
		c.take(8)
		end = c.uint(8)
		c.take(16)
	case version <= 3:
		offsets, lengths := c.uint(1), c.uint(1)
		checkWidths(version, offsets, lengths)
		c.take(1)
		base = c.uint(8)
		c.take(8)
		end = c.uint(8)
	default:
		unsupported("HDF5 superblock version %d", version)
	}
	if end -= base; end > h.size {
		damaged("is %s shorter than its HDF5 superblock says", words.Count(end-h.size, "byte"))
	}
	h.root = c.uint(8)
	return h, nil
}

func checkWidths(version, offsets, lengths uint64) {
	if offsets != 8 || lengths != 8 {
		unsupported("HDF5 superblock version %d with addresses of %s", version, words.Count(offsets, "byte"))
	}
}

// Renew lets the calls that follow read the parts of the file four times over, and a surplus.
// Values that are read one array at a time have a budget of their own.
func (f *File) Renew() { f.budget = f.whole() }

// whole is the budget for reading everything.
func (f *File) whole() int64 { return 4*int64(min(f.size, math.MaxInt64/8)) + 64<<20 }

// at returns n bytes of the file from an address on.
func (f *File) at(addr, n uint64) []byte {
	if addr > f.size || n > f.size-addr {
		damaged("refers to %s at address %d, beyond the end of the file", words.Count(n, "byte"), addr)
	}
	f.spend(n)
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(addr)); err != nil && err != io.EOF {
		fail("cannot be read (%w)", err)
	}
	return b
}

// spend takes n bytes, and the effort of asking for them, from the budget.
func (f *File) spend(n uint64) {
	if n > math.MaxInt64/2 {
		n = math.MaxInt64 / 2
	}
	if f.budget -= int64(n) + 64; f.budget < 0 {
		damaged("refers to the same parts of the file again and again")
	}
}

// cursor reads fields off the front of b, all of them little-endian.
type cursor struct{ b []byte }

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		damaged("has %s and needs %d", words.Count(len(c.b), "byte"), n)
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// uint returns the next field, of at most 8 bytes.
func (c *cursor) uint(size uint64) uint64 {
	var b [8]byte
	copy(b[:], c.take(size))
	return binary.LittleEndian.Uint64(b[:])
}

// sign takes the four bytes that a structure begins with.
func (c *cursor) sign(want, what string, addr uint64) {
	if string(c.take(4)) != want {
		damaged("has no HDF5 %s at address %d", what, addr)
	}
}

// Unsupported is the error of a feature that is not read.
type Unsupported struct{ What string }

func (u *Unsupported) Error() string { return "uses " + u.What + ", which cannot be read" }

// failure is what the functions of this package panic with when they cannot go on. It never
// leaves the package: catch turns it into an error.
type failure struct{ error }

// fail gives up with an error.
func fail(format string, a ...any) { panic(failure{fmt.Errorf(format, a...)}) }

// damaged gives up on bytes that break the rules of the format.
func damaged(format string, a ...any) {
	fail(format+"; the file is damaged or cut short, so fetch or save it again", a...)
}

// unsupported gives up on a feature of the format that is not read.
func unsupported(format string, a ...any) {
	panic(failure{&Unsupported{fmt.Sprintf(format, a...)}})
}

// check gives up with err unless it is nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// catch, when deferred, turns a failure into an error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}
