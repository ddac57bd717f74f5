package npy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/mvclust/mvclust/internal/files/array"
)

// blockBytes is how much is converted at a time: little enough to stay in the
// cache, enough to make the calls to the reader cheap.
const blockBytes = 64 << 10

// turnBlock is how many values of a matrix are read at a time to be put in the
// other order: enough to make what decode sets up for each call cheap.
const turnBlock = 1 << 20

// decode reads len(dst) values of type d from r. Text goes into strings only.
func decode[U float32 | int32 | int64 | string](r io.Reader, d dtype, dst []U) error {
	swap := d.big != (binary.NativeEndian.Uint16([]byte{0, 1}) == 1)
	switch d.code {
	case "f2":
		halves := make([]uint16, min(blockBytes/2, len(dst)))
		read := raw[uint16](r, swap)
		return convert(dst, func(vals []float32) error {
			for len(vals) > 0 {
				block := halves[:min(len(halves), len(vals))]
				if err := read(block); err != nil {
					return err
				}
				for i, h := range block {
					vals[i] = array.Half(h)
				}
				vals = vals[len(block):]
			}
			return nil
		})
	case "f4":
		return convert(dst, raw[float32](r, swap))
	case "f8":
		return convert(dst, raw[float64](r, swap))
	case "b1":
		read := raw[uint8](r, false)
		return convert(dst, func(vals []uint8) error {
			if err := read(vals); err != nil {
				return err
			}
			for i, v := range vals {
				vals[i] = min(v, 1)
			}
			return nil
		})
	case "i1":
		return convert(dst, raw[int8](r, false))
	case "i2":
		return convert(dst, raw[int16](r, swap))
	case "i4":
		return convert(dst, raw[int32](r, swap))
	case "i8":
		return convert(dst, raw[int64](r, swap))
	case "u1":
		return convert(dst, raw[uint8](r, false))
	case "u2":
		return convert(dst, raw[uint16](r, swap))
	case "u4":
		return convert(dst, raw[uint32](r, swap))
	case "u8":
		return convert(dst, raw[uint64](r, swap))
	}
	return decodeText(r, d, any(dst).([]string))
}

// turn reads the values of a matrix of type d from r, and puts them into dst in
// the other order.
func turn(r io.Reader, d dtype, info array.Info, dst []float32) error {
	block := make([]float32, min(turnBlock, len(dst)))
	for at := 0; at < len(dst); at += len(block) {
		block = block[:min(len(block), len(dst)-at)]
		err := decode(r, d, block)
		if bad, ok := errors.AsType[*array.ValueError](err); ok {
			bad.At += at
		}
		if err != nil {
			return err
		}
		info.Turn(dst, at, block)
	}
	return nil
}

// raw returns a function that fills a slice with the next values of r. If swap is set,
// their bytes are in the opposite of the machine's order.
func raw[T array.Number](r io.Reader, swap bool) func([]T) error {
	return func(vals []T) error {
		if len(vals) == 0 {
			return nil
		}
		size := int(unsafe.Sizeof(vals[0]))
		b := unsafe.Slice((*byte)(unsafe.Pointer(&vals[0])), len(vals)*size)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if !swap {
			return nil
		}
		switch ne := binary.NativeEndian; size {
		case 2:
			for ; len(b) > 0; b = b[2:] {
				ne.PutUint16(b, bits.ReverseBytes16(ne.Uint16(b)))
			}
		case 4:
			for ; len(b) > 0; b = b[4:] {
				ne.PutUint32(b, bits.ReverseBytes32(ne.Uint32(b)))
			}
		case 8:
			for ; len(b) > 0; b = b[8:] {
				ne.PutUint64(b, bits.ReverseBytes64(ne.Uint64(b)))
			}
		}
		return nil
	}
}

// convert fills dst with values that read hands over as they are stored.
// Values of the type that is wanted go straight to their place.
func convert[T array.Number, U float32 | int32 | int64 | string](dst []U, read func([]T) error) error {
	if same, ok := any(dst).([]T); ok {
		return read(same)
	}
	var zero T
	vals := make([]T, min(blockBytes/int(unsafe.Sizeof(zero)), len(dst)))
	for at := 0; at < len(dst); at += len(vals) {
		vals = vals[:min(len(vals), len(dst)-at)]
		if err := read(vals); err != nil {
			return err
		}
		err := array.Convert(dst[at:at+len(vals)], vals)
		if bad, ok := errors.AsType[*array.ValueError](err); ok {
			bad.At += at
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeText reads len(dst) strings of type d from r. It removes the zeros with which NumPy
// pads short ones.
func decodeText(r io.Reader, d dtype, dst []string) error {
	if len(dst) == 0 {
		return nil
	}
	in := bufio.NewReaderSize(r, blockBytes)
	item := make([]byte, d.size)
	var order binary.ByteOrder = binary.LittleEndian
	if d.big {
		order = binary.BigEndian
	}
	var text []byte
	for i := range dst {
		if _, err := io.ReadFull(in, item); err != nil {
			return err
		}
		text = append(text[:0], item...)
		if d.code == "U" {
			text = text[:0]
			for b := item; len(b) > 0; b = b[4:] {
				c := order.Uint32(b)
				if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
					return &array.ValueError{At: i, Problem: fmt.Sprintf("has the character %#x, which Unicode does not have; correct the text", c)}
				}
				text = utf8.AppendRune(text, rune(c))
			}
		}
		dst[i] = string(bytes.TrimRight(text, "\x00"))
	}
	return nil
}
