package hdf5

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// elements are the values of a dataset, to be read when they are asked for.
type elements struct {
	n      int
	stored int64 // bytes of the file that hold them
	each   func(do func(at int, run []byte) error) error
}

// Numbers returns the numbers, enumerated numbers or references of the dataset o, to be read
// when they are asked for.
func (f *File) Numbers(o *Object) (n array.Numbers, err error) {
	defer catch(&err)
	if !o.Type.plain {
		unsupported("an HDF5 data type of class %d and %s", o.Type.Class, words.Count(o.Type.Size, "byte"))
	}
	e := f.elements(o)
	return array.Numbers{Encoding: o.Type.Encoding, N: e.n, Stored: e.stored, Each: e.each}, nil
}

// Strings returns the text of the dataset o.
func (f *File) Strings(o *Object) (out []string, err error) {
	defer catch(&err)
	if !o.Type.text {
		unsupported("an HDF5 data type of class %d and %s where text is needed", o.Type.Class, words.Count(o.Type.Size, "byte"))
	}
	text := o.Type.fixed
	if o.Type.Class == Variable {
		text = (&texts{f, make(map[uint64]map[uint64]string)}).at
	}
	e := f.elements(o)
	out = make([]string, 0, min(int64(e.n), array.UsualRatio*e.stored))
	check(e.each(func(at int, run []byte) error {
		end := at + len(run)/o.Type.Size
		out = array.Extend(out, end, e.n)
		for i := range out[at:end] {
			out[at+i] = text(run[i*o.Type.Size:][:o.Type.Size])
		}
		return nil
	}))
	return out, nil
}

// fixed returns text of fixed length without what fills it up.
func (t Type) fixed(b []byte) string {
	switch t.padded {
	case paddedBySpaces:
		return string(bytes.TrimRight(b, " "))
	case paddedByZeros:
		return string(bytes.TrimRight(b, "\x00"))
	}
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// ChunkBytes is how many bytes a chunk of the dataset takes, or 0 if it has none.
func (o *Object) ChunkBytes() int64 {
	if chunks, size := o.extent(); chunks > 0 {
		return int64(min(size/chunks, 1<<62))
	}
	return 0
}

// Spend takes what reading the values of o costs from the budget for listing a file.
func (f *File) Spend(o *Object) (err error) {
	defer catch(&err)
	if n := product(o.Dims); n > 0 {
		_, inflated := o.extent()
		f.spend(uint64(n)*8 + inflated)
	}
	return nil
}

// elements returns the values of the dataset o.
func (f *File) elements(o *Object) elements {
	if o.Group || o.Type.Size <= 0 {
		damaged("has no HDF5 dataset where one is needed")
	}
	size, l := uint64(o.Type.Size), &o.layout
	e := elements{n: product(o.Dims), each: func(func(int, []byte) error) error { return nil }}
	if e.n == 0 {
		return e
	}
	if uint64(e.n) > (1<<63)/size {
		damaged("has %s of %d bytes", words.Count(e.n, "value"), size)
	}
	want := uint64(e.n) * size
	switch {
	case o.outside:
		unsupported("HDF5 values in other files")
	case l.class == inHeader:
		if uint64(len(l.compact)) < want {
			damaged("has %s for %s", words.Count(len(l.compact), "byte"), words.Count(e.n, "value"))
		}
		e.stored = int64(want)
		e.each = func(do func(int, []byte) error) error { return do(0, l.compact[:want]) }
	case l.class == inOnePiece && l.addr == undefined:
		fail("was never written; save the file again in full")
	case l.class == inOnePiece:
		if l.addr > f.size || l.length > f.size-l.addr || l.length < want {
			damaged("has %s at address %d for %s", words.Count(l.length, "byte"), l.addr, words.Count(e.n, "value"))
		}
		e.stored = int64(want)
		e.each = func(do func(int, []byte) error) error {
			return f.stream(io.NewSectionReader(f.r, int64(l.addr), int64(want)), o.Type.Size, e.n, do)
		}
	default:
		o.checkChunks()
		e.stored = int64(min(want, f.size))
		e.each = func(do func(int, []byte) error) error { return f.chunks(o, do) }
	}
	return e
}

// stream is array.Stream, whose values must be there in full.
func (f *File) stream(r io.Reader, size, n int, do func(int, []byte) error) (err error) {
	defer catch(&err)
	err = array.Stream(r, size, n, do)
	if _, cut := errors.AsType[*array.Cut](err); cut {
		damaged("%w", err)
	}
	return err
}

// checkChunks checks the sides of the chunks of o.
func (o *Object) checkChunks() {
	sides := o.layout.chunk
	if len(o.Dims) == 0 || len(sides) != len(o.Dims)+1 || sides[len(o.Dims)] != uint64(o.Type.Size) || slices.Contains(sides, 0) {
		damaged("has chunks of %d for dimensions %d", sides, o.Dims)
	}
	if _, bytes := o.extent(); bytes > maxInflated {
		fail("takes more than %d GiB when inflated; save it in single precision, or in parts", maxInflated>>30)
	}
}
