package hdf5

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

// Messages of an object header that are refused by name.
func TestMessages(t *testing.T) {
	filter := func(id uint64, name ...byte) []byte {
		b := []byte{1, 1, 0, 0, 0, 0, 0, 0, byte(id), byte(id >> 8), byte(len(name)), 0, 0, 0, 0, 0}
		return append(b, name...)
	}
	for _, c := range []struct {
		name       string
		typ, flags uint64
		b          []byte
		want       string
	}{
		{"shared type", msgType, 2, nil, "uses shared HDF5 messages"},
		{"layout 2", msgLayout, 0, []byte{2, 2}, "uses HDF5 data layout version 2"},
		{"layout 5", msgLayout, 0, []byte{5, 2}, "uses HDF5 data layout version 5"},
		{"virtual", msgLayout, 0, []byte{4, 3}, "uses HDF5 data layout class 3"},
		{"index", msgLayout, 0, []byte{4, 2, 0, 1, 1, 9, 6}, "uses HDF5 chunk index 6"},
		{"filters 3", msgFilters, 0, []byte{3, 0}, "uses HDF5 filter pipeline version 3"},
		{"szip", msgFilters, 0, filter(4), "uses HDF5 filter 4 (szip)"},
		{"Blosc", msgFilters, 0, filter(32001), "uses HDF5 filter 32001 (Blosc)"},
		{"Zstandard", msgFilters, 0, filter(32015), "uses HDF5 filter 32015 (Zstandard)"},
		{"unknown", msgFilters, 0, filter(999), "uses HDF5 filter 999,"},
		{"twice", msgFilters, 0, slices.Concat([]byte{1, 2, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 0, 0, 0, 0}), "uses HDF5 filter 1,"},
		{"link", msgLink, 0, []byte{2, 0}, "uses HDF5 links of version 2"},
		{"rank", msgSpace, 0, append([]byte{1, 33, 0, 0, 0, 0, 0, 0}, make([]byte, 8*33)...), "has 33 dimensions"},
		{"size", msgSpace, 0, append([]byte{1, 1, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)...), "has dimensions [9223372036854775807] out of range"},
		{"short", msgSpace, 0, []byte{1, 1, 0, 0, 0, 0, 0, 0}, "has 0 bytes and needs 8"},
	} {
		err := try(func() { new(Object).message(c.typ, c.flags, &cursor{c.b}) })
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s...", c.name, err, c.want)
		}
	}
}

func try(do func()) (err error) {
	defer catch(&err)
	do()
	return nil
}

// Types of numbers that are not those of the machine are not taken for such.
func TestTypes(t *testing.T) {
	float := func(size, exponentAt, exponent, fraction, bias uint32) []byte {
		b := []byte{0x11, 0x20, byte(8*size - 1), 0}
		b = binary.LittleEndian.AppendUint32(b, size)
		b = append(b, 0, 0, byte(8*size), 0, byte(exponentAt), byte(exponent), 0, byte(fraction))
		return binary.LittleEndian.AppendUint32(b, bias)
	}
	for name, c := range map[string]struct {
		b     []byte
		plain bool
	}{
		"half":        {float(2, 10, 5, 10, 15), true},
		"bfloat16":    {float(2, 7, 8, 7, 127), false},
		"single":      {float(4, 23, 8, 23, 127), true},
		"double":      {float(8, 52, 11, 52, 1023), true},
		"long double": {float(16, 64, 15, 64, 16383), false},
		"int32":       {[]byte{0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}, true},
		"int24 in 32": {[]byte{0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 24, 0}, false},
	} {
		if got := readType(&cursor{c.b}); got.plain != c.plain {
			t.Errorf("%s: plain is %v", name, got.plain)
		}
	}
}

// The checksum of Fletcher's paper in words of two bytes, by its definition.
func TestFletcher(t *testing.T) {
	for n := range 2000 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*i + n)
		}
		var low, high uint64
		for i := 0; i < n; i += 2 {
			word := uint64(b[i]) << 8
			if i+1 < n {
				word |= uint64(b[i+1])
			}
			low += word
			high += low
		}
		got := fletcher32(b)
		if uint64(got&0xffff)%65535 != low%65535 || uint64(got>>16)%65535 != high%65535 {
			t.Fatalf("%d bytes have the checksum %#x, want %#x and %#x mod 65535", n, got, high, low)
		}
		whole := binary.LittleEndian.AppendUint32(slices.Clone(b), got)
		if err := try(func() { verify(whole) }); err != nil {
			t.Fatal(err)
		}
		whole[len(whole)-1] ^= 1
		if try(func() { verify(whole) }) == nil {
			t.Fatalf("%d bytes with a wrong checksum are taken", n)
		}
	}
}

func TestLZF(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		size uint64
		want string // or the beginning of an error
	}{
		"bytes":        {[]byte("\x02abc"), 3, "abc"},
		"copy":         {[]byte("\x02abc\x20\x02"), 6, "abcabc"},
		"overlap":      {[]byte("\x00a\xe0\x01\x00"), 11, "aaaaaaaaaaa"},
		"too far back": {[]byte("\x00a\x20\x05"), 4, "cannot be expanded"},
		"too long":     {[]byte("\x02abc\x20\x02"), 5, "cannot be expanded"},
		"cut":          {[]byte("\x05ab"), 6, "has 2 bytes and needs"},
		"bomb":         {[]byte("\x00a"), 1 << 40, "has a chunk of 2 bytes for 1099511627776"},
	} {
		var got []byte
		err := try(func() { got = unLZF(c.b, c.size) })
		if err != nil && !strings.HasPrefix(err.Error(), c.want) || err == nil && string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A dataset without dimensions cannot have chunks.
func TestScalarChunk(t *testing.T) {
	number := Type{Class: Float, Encoding: array.Encoding{Size: 8, Float: true}, plain: true}
	o := &Object{Type: number, layout: layout{class: inChunks, chunk: []uint64{8}}}
	if _, err := (&File{size: 100}).Numbers(o); err == nil || !strings.HasPrefix(err.Error(), "has chunks of [8] for dimensions []") {
		t.Errorf("error %v", err)
	}
}

// A file whose parts refer to each other without an end is given up.
func TestBudget(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "mat", "testdata", "v73.mat"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(b), Find(bytes.NewReader(b), int64(len(b))), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	f.budget = 1000
	for range 100 {
		if _, err = f.Root(); err != nil {
			break
		}
	}
	if err == nil || !strings.HasPrefix(err.Error(), "refers to the same parts") {
		t.Errorf("error %v, want one about the budget", err)
	}
	f.Renew()
	if _, err := f.Root(); err != nil {
		t.Errorf("error %v after a new budget", err)
	}
}

// A header of version 2 that continues in itself ends.
func TestCircle(t *testing.T) {
	b := make([]byte, 256)
	copy(b, headerV2)
	b[4], b[6] = 2, 40
	copy(b[64:], moreV2)
	more := func(at int) {
		b[at], b[at+1] = msgContinue, 16
		binary.LittleEndian.PutUint64(b[at+4:], 64)
		binary.LittleEndian.PutUint64(b[at+12:], 60)
	}
	more(7)
	more(68)
	more(88)
	f := &File{r: bytes.NewReader(b), size: uint64(len(b))}
	f.Renew()
	if _, err := f.Object(0); err == nil || !strings.HasPrefix(err.Error(), "refers to the same parts") {
		t.Errorf("error %v, want one about the same parts", err)
	}
}

// What an element of text refers to must be there.
func TestTexts(t *testing.T) {
	heap := append([]byte("GCOL\x01\x00\x00\x00"), make([]byte, 8+16+8+16)...)
	binary.LittleEndian.PutUint64(heap[8:], uint64(len(heap)))
	heap[16] = 3
	binary.LittleEndian.PutUint64(heap[24:], 5)
	copy(heap[32:], "cells")
	f := &File{r: bytes.NewReader(append(make([]byte, 8), heap...)), size: uint64(8 + len(heap))}
	f.Renew()
	for name, c := range map[string]struct {
		n    uint32
		addr uint64
		nth  uint32
		want string
	}{
		"all":     {5, 8, 3, "cells"},
		"part":    {4, 8, 3, "cell"},
		"empty":   {0, 77, 3, ""},
		"longer":  {6, 8, 3, "refers to 6 bytes of text"},
		"another": {1, 8, 4, "refers to 1 bytes of text"},
		"nowhere": {1, 9, 3, "has no HDF5 heap of text at address 9"},
		"beyond":  {1, 1 << 40, 3, "refers to 16 bytes at address"},
	} {
		element := binary.LittleEndian.AppendUint32(nil, c.n)
		element = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(element, c.addr), c.nth)
		var got string
		err := try(func() { got = (&texts{f, map[uint64]map[uint64]string{}}).at(element) })
		if err != nil && !strings.HasPrefix(err.Error(), c.want) || err == nil && got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
