// Command webassembly writes the loops of package kernel for browsers, as a module of its own
// that works on the memory of the program: Go has no vectors there.
//
// Every value is the same sum, in the same order and with the same rounding, as that of the
// portable loops, so that the bits are the same, too.
package main

import (
	"flag"
	"fmt"
	"os"
)

// The sums in the order of kernel.Sum.
const (
	dot = iota
	absolute
	cube
	square
	sums
)

// A tile, and the part of it whose sums are in registers at a time.
const (
	rows, columns       = 8, 32
	blockRows, blockVec = 4, 2
	lanes, bytes        = 4, 16 // of a vector
)

func main() {
	out := flag.String("out", "loops.wasm", "the `FILE` to write")
	flag.Parse()
	if err := os.WriteFile(*out, module([]*function{tile(), above(), against(), pack()}), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bySum writes body once per sum, and code that goes to the one that the first argument names.
func (f *function) bySum(sum local, body func(sum int)) {
	for s := range sums {
		f.get(sum)
		f.number(int32(s))
		f.do(equal)
		f.when(func() { body(s) }, nil)
	}
}

// term adds to acc what two vectors on the stack add to a sum. Where it is of differences, d is
// overwritten.
func (f *function) term(sum int, acc, d local, x, y func()) {
	f.get(acc)
	x()
	y()
	switch sum {
	case dot:
		f.do(multiply, addVectors)
	case absolute:
		f.do(subtract, magnitude, subtract)
	case square:
		f.do(subtract)
		f.set(d)
		f.get(d, d)
		f.do(multiply, subtract)
	case cube:
		f.do(subtract, magnitude)
		f.set(d)
		f.get(d, d)
		f.do(multiply)
		f.get(d)
		f.do(multiply, subtract)
	}
	f.set(acc)
}

// tile sums over the dimensions of the rows of two panels, a block of sums after the other.
func tile() *function {
	f := &function{name: "tile", arguments: 6}
	sum, dims, a, b, c, add := local(0), local(1), local(2), local(3), local(4), local(5)
	i, j, row, column, to, end := f.variable(i32), f.variable(i32), f.variable(i32), f.variable(i32), f.variable(i32), f.variable(i32)
	acc, vectors, spread, d := f.variables(v128, blockRows*blockVec), f.variables(v128, blockVec), f.variable(v128), f.variable(v128)
	offset := func(at int) int { return at/blockVec*4*columns + at%blockVec*bytes }
	f.bySum(sum, func(sum int) {
		f.number(0)
		f.set(i)
		f.repeat(func() {
			f.number(0)
			f.set(j)
			f.repeat(func() {
				f.get(a, i)
				f.do(addInts)
				f.set(row)
				f.get(b, j)
				f.do(addInts)
				f.set(column)
				f.get(c, j)
				f.do(addInts)
				f.get(i)
				f.number(columns)
				f.do(multiplyInts, addInts)
				f.set(to)
				f.get(row, dims)
				f.number(4 * rows)
				f.do(multiplyInts, addInts)
				f.set(end)
				f.get(add)
				f.when(func() {
					for at, v := range acc {
						f.get(to)
						f.at(load, offset(at))
						f.set(v)
					}
				}, func() {
					for _, v := range acc {
						f.zero()
						f.set(v)
					}
				})
				f.repeat(func() {
					for at, v := range vectors {
						f.get(column)
						f.at(load, at*bytes)
						f.set(v)
					}
					for r := range blockRows {
						f.get(row)
						f.at(loadSpread, 4*r)
						f.set(spread)
						for at, v := range vectors {
							f.term(sum, acc[r*blockVec+at], d, func() { f.get(spread) }, func() { f.get(v) })
						}
					}
					f.add(column, 4*columns)
					f.add(row, 4*rows)
					f.get(row, end)
					f.do(notEqual)
				})
				for at, v := range acc {
					f.get(to, v)
					f.at(store, offset(at))
				}
				f.add(j, blockVec*bytes)
				f.get(j)
				f.number(4 * columns)
				f.do(notEqual)
			})
			f.add(i, 4*blockRows)
			f.get(i)
			f.number(4 * rows)
			f.do(notEqual)
		})
	})
	return f
}

// above compares a tile with the bars of its rows and columns, and returns all bits of both masks.
func above() *function {
	f := &function{name: "above", arguments: 5, result: true}
	c, rowBars, columnBars, byRow, byColumn := local(0), local(1), local(2), local(3), local(4)
	end, r, l, reached, bar, v := f.variable(i32), f.variable(i32), f.variable(i32), f.variable(i32), f.variable(v128), f.variable(v128)
	f.get(rowBars)
	f.number(4 * rows)
	f.do(addInts)
	f.set(end)
	f.repeat(func() {
		f.get(rowBars)
		f.at(loadSpread, 0)
		f.set(bar)
		for at := range columns / lanes {
			f.get(c)
			f.at(load, at*bytes)
			f.set(v)
			for _, side := range []struct {
				mask local
				bars func()
			}{{r, func() { f.get(bar) }}, {l, func() { f.get(columnBars); f.at(load, at*bytes) }}} {
				f.get(v)
				side.bars()
				f.do(greaterOrEqual, signs)
				if at > 0 {
					f.number(int32(at * lanes))
					f.do(shiftLeft)
					f.get(side.mask)
					f.do(or)
				}
				f.set(side.mask)
			}
		}
		f.get(byRow, r)
		f.at(storeInt, 0)
		f.get(byColumn, l)
		f.at(storeInt, 0)
		f.get(reached, r, l)
		f.do(or, or)
		f.set(reached)
		f.add(c, 4*columns)
		f.add(byRow, 4)
		f.add(byColumn, 4)
		f.add(rowBars, 4)
		f.get(rowBars, end)
		f.do(notEqual)
	})
	f.get(reached)
	return f
}

// against sums over the dimensions of q and n rows of data, some of them at a time.
func against() *function {
	f := &function{name: "against", arguments: 7}
	sum, dims, q, data, index, n, dst := local(0), local(1), local(2), local(3), local(4), local(5), local(6)
	at, end, whole := f.variable(i32), f.variable(i32), f.variable(i32)
	x, acc, v, d := f.variables(i32, 4), f.variables(v128, 4), f.variable(v128), f.variable(v128)
	f.get(q, dims)
	f.number(4)
	f.do(multiplyInts)
	f.do(addInts)
	f.set(end)
	f.get(dims)
	f.number(-lanes)
	f.do(and)
	f.number(4)
	f.do(multiplyInts)
	f.get(q)
	f.do(addInts)
	f.set(whole)
	f.bySum(sum, func(sum int) {
		for _, some := range []int{len(x), 1} {
			step := func(from access, bytes int) {
				f.get(at)
				f.at(from, 0)
				f.set(v)
				for t := range some {
					f.term(sum, acc[t], d, func() { f.get(v) }, func() { f.get(x[t]); f.at(from, 0) })
				}
				for t := range some {
					f.add(x[t], int32(bytes))
				}
				f.add(at, int32(bytes))
			}
			until := func(end local, body func()) {
				f.get(at, end)
				f.do(notEqual)
				f.when(func() {
					f.repeat(func() {
						body()
						f.get(at, end)
						f.do(notEqual)
					})
				}, nil)
			}
			rest := func() { f.number(int32(some)); f.get(n); f.do(lessOrEqual) }
			rest()
			f.when(func() {
				f.repeat(func() {
					for t := range some {
						f.get(index)
						f.at(loadInt, 4*t)
						f.get(dims)
						f.do(multiplyInts)
						f.number(4)
						f.do(multiplyInts)
						f.get(data)
						f.do(addInts)
						f.set(x[t])
						f.zero()
						f.set(acc[t])
					}
					f.get(q)
					f.set(at)
					until(whole, func() { step(load, bytes) })
					until(end, func() { step(loadOne, 4) })
					for t := range some {
						f.get(dst)
						for lane := range lanes {
							f.get(acc[t])
							f.lane(byte(lane))
							if lane%2 == 1 {
								f.do(addFloats)
							}
						}
						f.do(addFloats)
						f.at(storeFloat, 4*t)
					}
					f.add(index, int32(4*some))
					f.add(dst, int32(4*some))
					f.add(n, int32(-some))
					rest()
				})
			}, nil)
		}
	})
	return f
}

// pack writes n rows of data into a panel of width rows.
func pack() *function {
	f := &function{name: "pack", arguments: 6}
	dst, width, data, dims, index, n := local(0), local(1), local(2), local(3), local(4), local(5)
	from, to, end := f.variable(i32), f.variable(i32), f.variable(i32)
	for _, count := range []local{width, dims} {
		f.get(count)
		f.number(4)
		f.do(multiplyInts)
		f.set(count)
	}
	f.repeat(func() {
		f.get(data, index)
		f.at(loadInt, 0)
		f.get(dims)
		f.do(multiplyInts, addInts)
		f.set(from)
		f.get(from, dims)
		f.do(addInts)
		f.set(end)
		f.get(dst)
		f.set(to)
		f.repeat(func() {
			f.get(to, from)
			f.at(loadFloat, 0)
			f.at(storeFloat, 0)
			f.get(to, width)
			f.do(addInts)
			f.set(to)
			f.add(from, 4)
			f.get(from, end)
			f.do(notEqual)
		})
		f.add(index, 4)
		f.add(dst, 4)
		f.add(n, -1)
		f.get(n)
	})
	return f
}
