package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/mvclust/mvclust/internal/files/array"
)

// A page may be allocated at once if it has at most slack bytes, and inflation more for
// each compressed byte. For a larger one, memory grows with the bytes that come out.
const (
	inflation = 1032
	slack     = 1 << 20
)

// unpack returns the n bytes that raw decompresses to, in dst if there is room.
func unpack(codec format.CompressionCodec, dst, raw []byte, n int) (out []byte, err error) {
	defer array.Recover(&err)
	likely := n <= slack+inflation*len(raw)
	switch codec {
	case format.Snappy:
		size, err := snappy.DecodedLen(raw)
		if err == nil && (size != n || !likely) {
			err = fmt.Errorf("it stands for %d bytes, where %d are promised", size, n)
		}
		if err == nil {
			dst, err = snappy.Decode(sized(dst, n), raw)
		}
		return unpacked(codec, dst, err)
	case format.Lz4Raw:
		if !likely {
			return nil, array.Damaged("a page of %d bytes promises %d", len(raw), n)
		}
		dst = sized(dst, n)
		size, err := lz4.UncompressBlock(raw, dst)
		if err == nil && size != n {
			err = fmt.Errorf("it stands for %d bytes, where %d are promised", size, n)
		}
		return unpacked(codec, dst, err)
	case format.Zstd:
		options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1 << 27)}
		if likely { // at once, which is faster
			r, err := zstd.NewReader(nil, append(options, zstd.WithDecoderMaxMemory(uint64(max(n, 1))))...)
			if err == nil {
				defer r.Close()
				dst, err = r.DecodeAll(raw, sized(dst, n)[:0])
			}
			if err == nil && len(dst) != n {
				err = fmt.Errorf("it stands for %d bytes, where %d are promised", len(dst), n)
			}
			// The window of a short page may be made for long ones.
			if !errors.Is(err, zstd.ErrWindowSizeExceeded) && !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
				return unpacked(codec, dst, err)
			}
		}
		r, err := zstd.NewReader(bytes.NewReader(raw), options...)
		if err == nil {
			defer r.Close()
			dst, err = readAll(dst, r, n, likely)
		}
		return unpacked(codec, dst, err)
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			dst, err = readAll(dst, r, n, likely)
		}
		return unpacked(codec, dst, err)
	case format.Brotli:
		dst, err := readAll(dst, brotli.NewReader(bytes.NewReader(raw)), n, likely)
		return unpacked(codec, dst, err)
	}
	return nil, fmt.Errorf("has pages compressed by %s, which cannot be read; save it with ZSTD or SNAPPY", codec)
}

func unpacked(codec format.CompressionCodec, b []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, array.Damaged("a page compressed by %s cannot be unpacked: %w", codec, err)
	}
	return b, nil
}

// readAll returns the n bytes that r gives, in dst if there is room. Where they are
// not likely to come, memory grows as they do.
func readAll(dst []byte, r io.Reader, n int, likely bool) ([]byte, error) {
	if likely {
		dst = sized(dst, n)
		_, err := io.ReadFull(r, dst)
		if err == nil {
			err = atEnd(r)
		}
		return dst, err
	}
	var b bytes.Buffer
	size, err := io.Copy(&b, io.LimitReader(r, int64(n)+1))
	if err == nil && size != int64(n) {
		err = fmt.Errorf("it stands for %d bytes or more, where %d are promised", size, n)
	}
	return b.Bytes(), err
}

// atEnd returns an error if r has more bytes.
func atEnd(r io.Reader) error {
	var b [1]byte
	n, err := io.ReadFull(r, b[:])
	switch {
	case n > 0:
		return errors.New("it stands for more bytes than are promised")
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}
