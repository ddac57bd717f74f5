package main

import "encoding/binary"

// kind is the type of a value.
type kind byte

const (
	i32  kind = 0x7f
	f32  kind = 0x7d
	v128 kind = 0x7b
)

// operation is an instruction without operands of its own.
type operation uint16

const (
	addInts        operation = 0x6a
	multiplyInts   operation = 0x6c
	and            operation = 0x71
	or             operation = 0x72
	shiftLeft      operation = 0x74
	equal          operation = 0x46
	notEqual       operation = 0x47
	lessOrEqual    operation = 0x4c
	addFloats      operation = 0x92
	addVectors     operation = vector | 0xe4
	subtract       operation = vector | 0xe5
	multiply       operation = vector | 0xe6
	magnitude      operation = vector | 0xe0
	greaterOrEqual operation = vector | 0x46
	signs          operation = vector | 0xa4 // of the four lanes, as bits

	vector = 0x100 // of the instructions for 128 bits
)

// access is an instruction that reads or writes memory.
type access struct {
	operation operation
	align     byte // log2 of the bytes of a value
}

var (
	loadInt    = access{0x28, 2}
	storeInt   = access{0x36, 2}
	loadFloat  = access{0x2a, 2}
	storeFloat = access{0x38, 2}
	load       = access{vector | 0x00, 2}
	loadSpread = access{vector | 0x09, 2} // one value in all lanes
	loadOne    = access{vector | 0x5c, 2} // one value and three zeros
	store      = access{vector | 0x0b, 2}
)

// local is a variable of a function.
type local uint32

// function is a function in the making. Instructions take their operands from a stack.
type function struct {
	name      string
	arguments int // all i32
	result    bool
	locals    []kind // beyond the arguments
	body      []byte
}

func (f *function) variable(k kind) local {
	f.locals = append(f.locals, k)
	return local(f.arguments + len(f.locals) - 1)
}

func (f *function) variables(k kind, n int) []local {
	v := make([]local, n)
	for i := range v {
		v[i] = f.variable(k)
	}
	return v
}

func (f *function) get(v ...local) {
	for _, v := range v {
		f.body = binary.AppendUvarint(append(f.body, 0x20), uint64(v))
	}
}

func (f *function) set(v local) { f.body = binary.AppendUvarint(append(f.body, 0x21), uint64(v)) }

func (f *function) number(n int32) { f.body = appendSigned(append(f.body, 0x41), int64(n)) }

// zero pushes a vector of zeros.
func (f *function) zero() { f.do(vector | 0x0c); f.body = append(f.body, make([]byte, 16)...) }

// lane pushes a lane of the vector on the stack.
func (f *function) lane(n byte) { f.do(vector | 0x1f); f.body = append(f.body, n) }

func (f *function) do(operations ...operation) {
	for _, o := range operations {
		if o >= vector {
			f.body = binary.AppendUvarint(append(f.body, 0xfd), uint64(o-vector))
		} else {
			f.body = append(f.body, byte(o))
		}
	}
}

// at reads or writes memory at the address on the stack and some bytes on.
func (f *function) at(a access, bytes int) {
	f.do(a.operation)
	f.body = binary.AppendUvarint(append(f.body, a.align), uint64(bytes))
}

// add sets to to itself plus n.
func (f *function) add(to local, n int32) {
	f.get(to)
	f.number(n)
	f.do(addInts)
	f.set(to)
}

// repeat runs body again as long as it leaves anything but 0 on the stack.
func (f *function) repeat(body func()) {
	f.body = append(f.body, 0x03, 0x40)
	body()
	f.body = append(f.body, 0x0d, 0, 0x0b)
}

// when runs body where the stack holds anything but 0, otherwise the other one, if there is one.
func (f *function) when(body, other func()) {
	f.body = append(f.body, 0x04, 0x40)
	body()
	if other != nil {
		f.body = append(f.body, 0x05)
		other()
	}
	f.body = append(f.body, 0x0b)
}

// module returns a module of these functions, by their names, on the memory that it imports as
// go.mem.
func module(functions []*function) []byte {
	var types, indices, exports, codes [][]byte
	for i, f := range functions {
		t := binary.AppendUvarint([]byte{0x60}, uint64(f.arguments))
		for range f.arguments {
			t = append(t, byte(i32))
		}
		if f.result {
			t = append(t, 1, byte(i32))
		} else {
			t = append(t, 0)
		}
		types = append(types, t)
		index := binary.AppendUvarint(nil, uint64(i))
		indices = append(indices, index)
		exports = append(exports, append(append(name(f.name), 0), index...))
		code := binary.AppendUvarint(nil, uint64(len(f.locals)))
		for _, k := range f.locals {
			code = append(code, 1, byte(k))
		}
		code = append(append(code, f.body...), 0x0b)
		codes = append(codes, append(binary.AppendUvarint(nil, uint64(len(code))), code...))
	}
	memory := append(append(name("go"), name("mem")...), 2, 0, 0)
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id    byte
		parts [][]byte
	}{{1, types}, {2, [][]byte{memory}}, {3, indices}, {7, exports}, {10, codes}} {
		content := binary.AppendUvarint(nil, uint64(len(s.parts)))
		for _, part := range s.parts {
			content = append(content, part...)
		}
		out = append(binary.AppendUvarint(append(out, s.id), uint64(len(content))), content...)
	}
	return out
}

func name(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// appendSigned appends n as signed LEB128.
func appendSigned(b []byte, n int64) []byte {
	for n < -64 || n > 63 {
		b = append(b, byte(n&0x7f|0x80))
		n >>= 7
	}
	return append(b, byte(n&0x7f))
}
