package parquet

import (
	"encoding/binary"
	"errors"
)

// errShort says that a struct goes on after the bytes at hand.
var errShort = errors.New("it ends too early")

// structLength returns the length of the struct in Thrift's compact protocol at the start
// of b. It checks that every length in the struct is backed by bytes, for the decoder
// allocates by these lengths.
func structLength(b []byte) (int, error) {
	s := scanner{rest: b}
	err := s.record(0)
	return len(b) - len(s.rest), err
}

// The types of the compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftRecord
)

// leastRecord is the least number of bytes that a record in a list takes. Decoded, it may
// take hundreds.
const leastRecord = 3

// scanner walks over values.
type scanner struct{ rest []byte }

func (s *scanner) skip(n int) error {
	if n < 0 || n > len(s.rest) {
		return errShort
	}
	s.rest = s.rest[n:]
	return nil
}

func (s *scanner) byte() (byte, error) {
	if len(s.rest) == 0 {
		return 0, errShort
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

func (s *scanner) varint() (uint64, error) {
	v, n := binary.Uvarint(s.rest)
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errors.New("a number in it is too long")
	}
	s.rest = s.rest[n:]
	return v, nil
}

// length returns a length, of bytes or of items of at least one byte each.
func (s *scanner) length() (int, error) {
	v, err := s.varint()
	if err == nil && v > uint64(len(s.rest)) {
		err = errShort
	}
	return int(v), err
}

func (s *scanner) record(depth int) error {
	for {
		b, err := s.byte()
		if err != nil || b == thriftStop {
			return err
		}
		if b>>4 == 0 { // the number of the field follows
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		kind := b & 15
		if kind == thriftTrue || kind == thriftFalse {
			continue // which are values by themselves
		}
		if err := s.value(kind, depth); err != nil {
			return err
		}
	}
}

func (s *scanner) value(kind byte, depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deep")
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return s.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := s.varint()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftBinary:
		n, err := s.length()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		b, err := s.byte()
		if err != nil {
			return err
		}
		n := int(b >> 4)
		if n == 15 {
			if n, err = s.length(); err != nil {
				return err
			}
		}
		if b&15 == thriftRecord && n > len(s.rest)/leastRecord {
			return errShort
		}
		for range n {
			if err := s.value(b&15, depth+1); err != nil {
				return err
			}
		}
		return nil
	case thriftMap:
		n, err := s.length()
		if err != nil || n == 0 {
			return err
		}
		b, err := s.byte()
		if err != nil {
			return err
		}
		for range n {
			if err := errors.Join(s.value(b>>4, depth+1), s.value(b&15, depth+1)); err != nil {
				return err
			}
		}
		return nil
	case thriftRecord:
		return s.record(depth + 1)
	}
	return errors.New("a value in it is of no known type")
}
