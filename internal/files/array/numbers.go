package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Encoding is how one stored number lies in bytes.
type Encoding struct {
	Size   int  // bytes: 1, 2, 4 or 8
	Float  bool // IEEE 754, of 2, 4 or 8 bytes
	Signed bool // two's complement
	Big    bool // most significant byte first
}

// Bits returns the first number of p, extended by zeros.
func (e Encoding) Bits(p []byte) uint64 {
	var u uint64
	switch e.Size {
	case 1:
		return uint64(p[0])
	case 2:
		u = uint64(binary.LittleEndian.Uint16(p))
	case 4:
		u = uint64(binary.LittleEndian.Uint32(p))
	default:
		u = binary.LittleEndian.Uint64(p)
	}
	if e.Big {
		u = bits.ReverseBytes64(u) >> (64 - 8*e.Size)
	}
	return u
}

// real returns the first number of p as a float64.
func (e Encoding) real(p []byte) float64 {
	u := e.Bits(p)
	switch {
	case e.Float && e.Size == 8:
		return math.Float64frombits(u)
	case e.Float && e.Size == 4:
		return float64(math.Float32frombits(uint32(u)))
	case e.Float:
		return float64(Half(uint16(u)))
	case e.Signed:
		return float64(e.extend(u))
	}
	return float64(u)
}

// extend gives an integer from Bits its sign.
func (e Encoding) extend(u uint64) int64 { return int64(u<<(64-8*e.Size)) >> (64 - 8*e.Size) }

// whole returns the first number of p if it is a whole number of 64 bits.
func (e Encoding) whole(p []byte) (int64, bool) {
	if e.Float {
		x := e.real(p)
		return int64(x), x == math.Trunc(x) && x >= -1<<63 && x < 1<<63
	}
	u := e.Bits(p)
	if e.Signed {
		return e.extend(u), true
	}
	return int64(u), u <= math.MaxInt64
}

// literal returns the first number of p in decimal notation.
func (e Encoding) literal(p []byte) string {
	if x, ok := e.whole(p); ok {
		return strconv.FormatInt(x, 10)
	}
	if e.Float {
		return strconv.FormatFloat(e.real(p), 'g', -1, max(32, 8*e.Size))
	}
	return strconv.FormatUint(e.Bits(p), 10)
}

// A Converter fills dst with the first numbers of src. Its error is a *ValueError.
type Converter[T any] func(e Encoding, dst []T, src []byte) error

// ToFloat32 is a Converter by the rules of File.Float32.
func ToFloat32(e Encoding, dst []float32, src []byte) error {
	for i := range dst {
		x := e.real(src[i*e.Size:])
		dst[i] = float32(x)
		if math.IsInf(float64(dst[i]), 0) && !math.IsInf(x, 0) {
			return &ValueError{i, fmt.Sprintf("is %g, beyond the largest single-precision number; scale the values down", x)}
		}
	}
	return nil
}

// ToInt64 is a Converter by the rules of File.Int64.
func ToInt64(e Encoding, dst []int64, src []byte) error {
	for i := range dst {
		var ok bool
		if dst[i], ok = e.whole(src[i*e.Size:]); !ok {
			return &ValueError{i, "is " + e.literal(src[i*e.Size:]) + " where a whole number of 64 bits is needed; round it, or name another array"}
		}
	}
	return nil
}

// ToString is a Converter by the rules of File.Text.
func ToString(e Encoding, dst []string, src []byte) error {
	for i := range dst {
		dst[i] = e.literal(src[i*e.Size:])
	}
	return nil
}

// Numbers is a row of numbers as a file stores them.
type Numbers struct {
	Encoding
	N      int   // how many numbers
	Stored int64 // bytes of the file that hold them, perhaps compressed
	// Each calls do with runs of numbers, none of them cut, and the index of the
	// first, until do returns an error, which Each returns. It passes on each number once.
	Each func(do func(at int, run []byte) error) error
}

// Held returns the numbers of p.
func Held(p []byte, e Encoding) Numbers {
	return Numbers{e, len(p) / e.Size, int64(len(p)), func(do func(int, []byte) error) error { return do(0, p) }}
}

// streamBytes is how much Stream reads at a time.
const streamBytes = 64 << 10

// Stream calls do for runs of the next n elements of r, each of size bytes.
func Stream(r io.Reader, size, n int, do func(at int, run []byte) error) error {
	most := max(1, streamBytes/size)
	buf := make([]byte, min(most, n)*size)
	for at := 0; at < n; {
		run := buf[:min(most, n-at)*size]
		if _, err := io.ReadFull(r, run); err != nil {
			return &Cut{at, n, err}
		}
		if err := do(at, run); err != nil {
			return err
		}
		at += len(run) / size
	}
	return nil
}

// Cut is the error of Stream for values that end too early.
type Cut struct {
	at, n int
	err   error
}

func (c *Cut) Error() string { return fmt.Sprintf("ends after %d of %d values (%v)", c.at, c.n, c.err) }

// Unwrap returns the error of the reader.
func (c *Cut) Unwrap() error { return c.err }

// UsualRatio is how many values are allocated for each stored byte on a header's word
// alone; more only as values arrive.
const UsualRatio = 64

// Read returns the first d.N numbers of d. Its error is a *ValueError where a value is at
// fault, or that of d.Each.
func Read[T any](d Numbers, conv Converter[T]) ([]T, error) {
	if d.N == 0 {
		return []T{}, nil
	}
	out := make([]T, 0, min(int64(d.N), UsualRatio*d.Stored))
	err := d.Each(func(at int, run []byte) error {
		if at >= d.N {
			return nil // a sparse matrix may have room for more
		}
		end := min(at+len(run)/d.Size, d.N)
		out = Extend(out, end, d.N)
		return Shift(conv(d.Encoding, out[at:end], run), at)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Extend makes out at least end values long, which becomes at most n in the end.
func Extend[T any](out []T, end, n int) []T {
	if end > cap(out) {
		out = slices.Grow(out, min(max(2*cap(out), end), n)-len(out))
	}
	return out[:max(end, len(out))]
}

// Shift adds at to the place of a *ValueError.
func Shift(err error, at int) error {
	if bad, ok := errors.AsType[*ValueError](err); ok {
		return &ValueError{bad.At + at, bad.Problem}
	}
	return err
}

// Fill appends bytes of r to b until it has size bytes. The file stores them in stored
// bytes, by which Fill judges how much to allocate at once, but at least least bytes.
func Fill(r io.Reader, b []byte, size, stored, least int64) ([]byte, error) {
	b = slices.Grow(b, max(0, int(min(size, max(UsualRatio*stored, least)))-len(b)))
	for len(b) < int(size) {
		if len(b) == cap(b) {
			b = slices.Grow(b, min(int(size), 2*len(b)+1)-len(b))
		}
		n, err := io.ReadFull(r, b[len(b):min(int(size), cap(b))])
		b = b[:len(b)+n]
		if err != nil {
			return nil, fmt.Errorf("ends after %d of %d bytes (%w)", len(b), size, err)
		}
	}
	return b, nil
}
