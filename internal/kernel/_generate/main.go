// Command generate writes the assembly of package kernel.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The sums in the order of kernel.Sum.
const (
	dot = iota
	absolute
	cube
	square
	sums
)

// GE_OQ: greater or equal, false for NaN.
const greaterEqual = 0x1d

// processor says what differs between the two instruction sets.
type processor struct {
	name          string
	lanes         int // Values in a vector.
	rows, vectors int // A tile in rows and vectors.
}

var (
	avx512 = processor{"AVX512", 16, 12, 2}
	avx2   = processor{"AVX2", 8, 6, 2}
)

func (p processor) wide() bool { return p.lanes == 16 }

func (p processor) bytes() int { return 4 * p.lanes }

func (p processor) vector() VecVirtual {
	if p.wide() {
		return ZMM()
	}
	return YMM()
}

func (p processor) vectorsOf(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = p.vector()
	}
	return v
}

func (p processor) zero(v VecVirtual) {
	if p.wide() {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// bits returns a vector of 32 ones per lane.
func (p processor) bits() VecVirtual {
	v := p.vector()
	if p.wide() {
		VPTERNLOGD(U8(0xff), v, v, v)
	} else {
		VPCMPEQD(v, v, v)
	}
	return v
}

// constants are the vectors that a sum needs beside its operands.
type constants struct{ magnitude, one VecVirtual }

func (p processor) constants(sum int) (c constants) {
	if sum == absolute || sum == cube {
		c.magnitude = p.bits()
		VPSRLD(U8(1), c.magnitude, c.magnitude)
	}
	if sum == absolute {
		c.one = p.bits()
		VPSRLD(U8(25), c.one, c.one)
		VPSLLD(U8(23), c.one, c.one)
	}
	return c
}

// difference takes from acc what the difference d adds to the sum. It overwrites d.
// The last step is always a fused multiply-add, even where it multiplies by one:
// many processors add and multiply in different units.
func (p processor) difference(sum int, k constants, d, acc VecVirtual) {
	if sum != square {
		if p.wide() {
			VPANDD(k.magnitude, d, d)
		} else {
			VANDPS(k.magnitude, d, d)
		}
	}
	switch sum {
	case absolute:
		VFNMADD231PS(k.one, d, acc)
	case square:
		VFNMADD231PS(d, d, acc)
	case cube:
		e := p.vector()
		VMULPS(d, d, e)
		VFNMADD231PS(d, e, acc)
	}
}

// choose jumps to the label of the sum that s holds.
func choose(s Register, prefix string) {
	for sum := 1; sum < sums; sum++ {
		CMPQ(s, U8(sum))
		JEQ(LabelRef(fmt.Sprintf("%s%d", prefix, sum)))
	}
}

// tile: every accumulator holds a vector of columns of one row of the tile and
// stays in its register over all dimensions.
func (p processor) tile() {
	TEXT("tile"+p.name, NOSPLIT, "func(sum, dims int, a, b, c *float32, add bool)")
	Doc(fmt.Sprintf("tile%s sums over dims dimensions of panels of %d and %d rows.", p.name, p.rows, p.vectors*p.lanes))
	Pragma("noescape")
	sum := Load(Param("sum"), GP64())
	dims := Load(Param("dims"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	add := Load(Param("add"), GP8())
	acc := p.vectorsOf(p.rows * p.vectors)
	at := func(i int) Mem { return Mem{Base: c, Disp: i * p.bytes()} }

	TESTB(add, add)
	JNE(LabelRef("continue"))
	for i := range acc {
		p.zero(acc[i])
	}
	JMP(LabelRef("choose"))
	Label("continue")
	for i := range acc {
		VMOVUPS(at(i), acc[i])
	}
	Label("choose")
	choose(sum, "sum")
	for sum := range sums {
		Label(fmt.Sprintf("sum%d", sum))
		k := p.constants(sum)
		loop := fmt.Sprintf("loop%d", sum)
		Label(loop)
		p.tileStep(sum, k, a, b, acc)
		ADDQ(U32(4*p.rows), a)
		ADDQ(U32(p.vectors*p.bytes()), b)
		DECQ(dims)
		JNZ(LabelRef(loop))
		if sum != sums-1 {
			JMP(LabelRef("store"))
		}
	}
	Label("store")
	for i := range acc {
		VMOVUPS(acc[i], at(i))
	}
	VZEROUPPER()
	RET()
}

// tileStep adds one dimension. AVX2 has too few registers to keep the columns in
// some of them where a sum needs constants.
func (p processor) tileStep(sum int, k constants, a, b Register, acc []VecVirtual) {
	column := func(v int) Mem { return Mem{Base: b, Disp: v * p.bytes()} }
	columns := make([]Op, p.vectors)
	for v := range columns {
		columns[v] = column(v)
		if p.wide() || sum == dot || sum == square {
			r := p.vector()
			VMOVUPS(column(v), r)
			columns[v] = r
		}
	}
	for i := range p.rows {
		row := Mem{Base: a, Disp: 4 * i}
		var spread VecVirtual
		if !p.wide() {
			spread = p.vector()
			VBROADCASTSS(row, spread)
		}
		for v := range p.vectors {
			to := acc[i*p.vectors+v]
			switch {
			case sum == dot && p.wide():
				VFMADD231PS_BCST(row, columns[v], to)
			case sum == dot:
				VFMADD231PS(columns[v], spread, to)
			default:
				d := p.vector()
				if p.wide() {
					VSUBPS_BCST(row, columns[v], d)
				} else {
					VSUBPS(columns[v], spread, d)
				}
				p.difference(sum, k, d, to)
			}
		}
	}
}

func (p processor) above() {
	TEXT("above"+p.name, NOSPLIT, "func(c, rows, columns *float32, byRow, byColumn *uint32) bool")
	Doc(fmt.Sprintf("above%s compares a tile of %d x %d with the bars of its rows and columns.", p.name, p.rows, p.vectors*p.lanes))
	Pragma("noescape")
	c := Load(Param("c"), GP64())
	rows := Load(Param("rows"), GP64())
	columns := Load(Param("columns"), GP64())
	byRow := Load(Param("byRow"), GP64())
	byColumn := Load(Param("byColumn"), GP64())
	bars := p.vectorsOf(p.vectors)
	for v := range bars {
		VMOVUPS(Mem{Base: columns, Disp: v * p.bytes()}, bars[v])
	}
	reached := GP32()
	XORL(reached, reached)
	if p.wide() {
		p.aboveWide(c, rows, byRow, byColumn, bars, reached)
	} else {
		p.aboveNarrow(c, rows, byRow, byColumn, bars, reached)
	}
	result := GP8()
	TESTL(reached, reached)
	SETNE(result)
	VZEROUPPER()
	Store(result, ReturnIndex(0))
	RET()
}

func (p processor) aboveWide(c, rows, byRow, byColumn Register, bars []VecVirtual, reached Register) {
	all := K()
	KXORD(all, all, all)
	for i := range p.rows {
		low, high := p.vector(), p.vector()
		VMOVUPS(Mem{Base: c, Disp: (2*i + 0) * p.bytes()}, low)
		VMOVUPS(Mem{Base: c, Disp: (2*i + 1) * p.bytes()}, high)
		for _, to := range []Register{byRow, byColumn} {
			l, h := K(), K()
			if to == byRow {
				VCMPPS_BCST(U8(greaterEqual), Mem{Base: rows, Disp: 4 * i}, low, l)
				VCMPPS_BCST(U8(greaterEqual), Mem{Base: rows, Disp: 4 * i}, high, h)
			} else {
				VCMPPS(U8(greaterEqual), bars[0], low, l)
				VCMPPS(U8(greaterEqual), bars[1], high, h)
			}
			KUNPCKWD(l, h, h)
			KMOVD(h, Mem{Base: to, Disp: 4 * i})
			KORD(h, all, all)
		}
	}
	KMOVD(all, reached)
}

func (p processor) aboveNarrow(c, rows, byRow, byColumn Register, bars []VecVirtual, reached Register) {
	for i := range p.rows {
		bar := p.vector()
		VBROADCASTSS(Mem{Base: rows, Disp: 4 * i}, bar)
		byRowBits, byColumnBits := GP32(), GP32()
		for v := p.vectors - 1; v >= 0; v-- {
			value, mask, bits := p.vector(), p.vector(), GP32()
			VMOVUPS(Mem{Base: c, Disp: (p.vectors*i + v) * p.bytes()}, value)
			for _, m := range []struct {
				bar VecVirtual
				to  Register
			}{{bar, byRowBits}, {bars[v], byColumnBits}} {
				VCMPPS(U8(greaterEqual), m.bar, value, mask)
				if v == p.vectors-1 {
					VMOVMSKPS(mask, m.to)
					continue
				}
				VMOVMSKPS(mask, bits)
				SHLL(U8(p.lanes), m.to)
				ORL(bits, m.to)
			}
		}
		MOVL(byRowBits, Mem{Base: byRow, Disp: 4 * i})
		MOVL(byColumnBits, Mem{Base: byColumn, Disp: 4 * i})
		ORL(byRowBits, reached)
		ORL(byColumnBits, reached)
	}
}

// against: 64 lanes in several accumulators, lane l for the dimensions that leave l
// when divided by 64; what remains at the end goes to the first 16 lanes. Both
// instruction sets add the lanes up as the same tree, so they agree to the last bit.
func (p processor) against() {
	TEXT("against"+p.name, NOSPLIT, "func(sum, dims int, q, data *float32, index *int32, n, ahead int, dst *float32)")
	Doc(fmt.Sprintf("against%s sums over the dimensions of q and n rows of data, fetching the row that is ahead places on.", p.name))
	Pragma("noescape")
	sum := Load(Param("sum"), GP64())
	dims := Load(Param("dims"), GP64())
	q := Load(Param("q"), GP64())
	data := Load(Param("data"), GP64())
	index := Load(Param("index"), GP64())
	n := Load(Param("n"), GP64())
	ahead := Load(Param("ahead"), GP64())
	dst := Load(Param("dst"), GP64())
	stride := GP64()
	LEAQ(Mem{Base: dims, Index: dims, Scale: 1}, stride)
	ADDQ(stride, stride)

	last, tail := p.tailOf(dims)

	// The first rows have to be fetched at once.
	count := GP64()
	MOVQ(n, count)
	CMPQ(ahead, count)
	CMOVQLT(ahead, count)
	fetchRows(data, index, count, stride)

	choose(sum, "sum")
	for sum := range sums {
		name := func(s string) string { return fmt.Sprintf("%s%d", s, sum) }
		Label(name("sum"))
		k := p.constants(sum)
		Label(name("row"))
		x, next, left, y := GP64(), GP64(), GP64(), GP64()
		// Near the end of the list the last row is fetched again and again, which
		// costs nothing.
		place := GP64()
		LEAQ(Mem{Base: n, Disp: -1}, place)
		CMPQ(ahead, place)
		CMOVQLT(ahead, place)
		MOVLQSX(Mem{Base: index, Index: place, Scale: 4}, next)
		IMULQ(stride, next)
		ADDQ(data, next)
		MOVLQSX(Mem{Base: index}, x)
		IMULQ(stride, x)
		ADDQ(data, x)
		MOVQ(q, y)
		MOVQ(dims, left)
		acc := p.vectorsOf(64 / p.lanes)
		for _, v := range acc {
			p.zero(v)
		}
		SUBQ(U8(64), left)
		JLT(LabelRef(name("rest")))
		Label(name("most"))
		for line := range 4 {
			PREFETCHT0(Mem{Base: next, Disp: 64 * line})
		}
		p.step(sum, k, x, y, acc, tail, false)
		advance(256, x, y, next)
		SUBQ(U8(64), left)
		JGE(LabelRef(name("most")))
		Label(name("rest"))
		ADDQ(U8(64-16), left)
		JLT(LabelRef(name("last")))
		Label(name("sixteen"))
		PREFETCHT0(Mem{Base: next})
		p.step(sum, k, x, y, acc[:16/p.lanes], tail, false)
		advance(64, x, y, next)
		SUBQ(U8(16), left)
		JGE(LabelRef(name("sixteen")))
		Label(name("last"))
		// A row need not begin where a cache line does: its end lies in one more.
		PREFETCHT0(Mem{Base: next, Index: left, Scale: 4, Disp: 4*16 - 1})
		TESTQ(last, last)
		JEQ(LabelRef(name("reduce")))
		PREFETCHT0(Mem{Base: next})
		p.step(sum, k, x, y, acc[:16/p.lanes], tail, true)
		Label(name("reduce"))
		p.reduce(acc, dst)
		ADDQ(U8(4), index)
		ADDQ(U8(4), dst)
		DECQ(n)
		JNZ(LabelRef(name("row")))
		if sum != sums-1 {
			JMP(LabelRef("end"))
		}
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// fetchRows fetches count rows, one at least, whose numbers are in index.
func fetchRows(data, index, count, stride Register) {
	place, line, end := GP64(), GP64(), GP64()
	XORQ(place, place)
	Label("first")
	MOVLQSX(Mem{Base: index, Index: place, Scale: 4}, line)
	IMULQ(stride, line)
	ADDQ(data, line)
	LEAQ(Mem{Base: line, Index: stride, Scale: 1}, end)
	Label("line")
	PREFETCHT0(Mem{Base: line})
	ADDQ(U8(64), line)
	CMPQ(line, end)
	JLT(LabelRef("line"))
	INCQ(place)
	CMPQ(place, count)
	JLT(LabelRef("first"))
}

func fetch() {
	TEXT("fetchAMD64", NOSPLIT, "func(data *float32, dims int, index *int32, n int)")
	Doc("fetchAMD64 fetches n rows of data into the cache.")
	Pragma("noescape")
	data, stride := Load(Param("data"), GP64()), Load(Param("dims"), GP64())
	index, n := Load(Param("index"), GP64()), Load(Param("n"), GP64())
	SHLQ(U8(2), stride)
	fetchRows(data, index, n, stride)
	RET()
}

func advance(bytes int, pointers ...Register) {
	for _, p := range pointers {
		ADDQ(U32(bytes), p)
	}
}

// tail masks the dimensions that do not fill 16 lanes.
type tail struct {
	k     Register
	masks []VecVirtual
}

// tailOf returns the number of the last dimensions, and their mask.
func (p processor) tailOf(dims Register) (last Register, t tail) {
	count := GP64()
	MOVQ(dims, count)
	ANDQ(U8(15), count)
	if p.wide() {
		one := GP64()
		shift := GP64()
		MOVQ(count, shift)
		MOVL(U32(1), one.As32())
		SHLXQ(shift, one, one)
		DECQ(one)
		t.k = K()
		KMOVW(one.As32(), t.k)
		return count, t
	}
	lanes := p.vector()
	VMOVD(count.As32(), lanes.AsX())
	VPBROADCASTD(lanes.AsX(), lanes)
	t.masks = p.vectorsOf(2)
	for v, m := range t.masks {
		VPCMPGTD(NewDataAddr(NewStaticSymbol("lane"), 32*v), lanes, m)
	}
	return count, t
}

// load returns a vector of values, zeros beyond those that the i-th mask of t has.
func (p processor) load(from Mem, t tail, i int, masked bool) VecVirtual {
	v := p.vector()
	switch {
	case !masked:
		VMOVUPS(from, v)
	case p.wide():
		VMOVUPS_Z(from, t.k, v)
	default:
		VMASKMOVPS(from, t.masks[i], v)
	}
	return v
}

// store is the reverse of load.
func (p processor) store(v VecVirtual, to Mem, t tail, i int, masked bool) {
	switch {
	case !masked:
		VMOVUPS(v, to)
	case p.wide():
		VMOVUPS(v, t.k, to)
	default:
		VMASKMOVPS(v, t.masks[i], to)
	}
}

// dimensions calls step for 16 dimensions at a time, and for the rest with the mask of these. step gets, for
// each vector of the 16, its number and its place in memory from a pointer.
func (p processor) dimensions(dims Register, pointers []Register, step func(i int, at func(pointer Register) Mem, t tail, masked bool)) {
	last, t := p.tailOf(dims)
	each := func(masked bool) {
		for i := range 16 / p.lanes {
			step(i, func(pointer Register) Mem { return Mem{Base: pointer, Disp: i * p.bytes()} }, t, masked)
		}
	}
	SUBQ(U8(16), dims)
	JLT(LabelRef("last"))
	Label("sixteen")
	each(false)
	advance(64, pointers...)
	SUBQ(U8(16), dims)
	JGE(LabelRef("sixteen"))
	Label("last")
	TESTQ(last, last)
	JEQ(LabelRef("end"))
	each(true)
	Label("end")
}

func (p processor) standardise() {
	TEXT("standardise"+p.name, NOSPLIT, "func(to, row, high, low, inverse *float32, dims int)")
	Doc(fmt.Sprintf("standardise%s subtracts high and low and multiplies by inverse.", p.name))
	Pragma("noescape")
	to, row := Load(Param("to"), GP64()), Load(Param("row"), GP64())
	high, low, inverse := Load(Param("high"), GP64()), Load(Param("low"), GP64()), Load(Param("inverse"), GP64())
	dims := Load(Param("dims"), GP64())
	p.dimensions(dims, []Register{to, row, high, low, inverse}, func(i int, at func(Register) Mem, t tail, masked bool) {
		x := p.load(at(row), t, i, masked)
		VSUBPS(p.load(at(high), t, i, masked), x, x)
		VSUBPS(p.load(at(low), t, i, masked), x, x)
		VMULPS(p.load(at(inverse), t, i, masked), x, x)
		p.store(x, at(to), t, i, masked)
	})
	VZEROUPPER()
	RET()
}

// affine: 16 lanes for each of the two sums, lane l for the dimensions that leave l when divided by 16.
func (p processor) affine() {
	TEXT("affine"+p.name, NOSPLIT, "func(to, x, slope, at *float32, dims int, sums *float32)")
	Doc(fmt.Sprintf("affine%s multiplies lines by their slopes, and sums their squares and their products with at.", p.name))
	Pragma("noescape")
	to, x := Load(Param("to"), GP64()), Load(Param("x"), GP64())
	slope, shift := Load(Param("slope"), GP64()), Load(Param("at"), GP64())
	dims, sums := Load(Param("dims"), GP64()), Load(Param("sums"), GP64())
	squares, along := p.vectorsOf(16/p.lanes), p.vectorsOf(16/p.lanes)
	for i := range squares {
		p.zero(squares[i])
		p.zero(along[i])
	}
	p.dimensions(dims, []Register{to, x, slope, shift}, func(i int, at func(Register) Mem, t tail, masked bool) {
		s, a := p.load(at(slope), t, i, masked), p.load(at(shift), t, i, masked)
		u := p.load(at(x), t, i, masked)
		VFMADD213PS(a, s, u)
		VFMADD231PS(u, u, squares[i])
		VFMADD231PS(u, a, along[i])
		VMULPS(s, u, u)
		p.store(u, at(to), t, i, masked)
	})
	p.reduce(squares, sums)
	ADDQ(U8(4), sums)
	p.reduce(along, sums)
	VZEROUPPER()
	RET()
}

// step adds as many dimensions as acc has lanes.
func (p processor) step(sum int, k constants, x, y Register, acc []VecVirtual, t tail, masked bool) {
	for i := range acc {
		from, with := Mem{Base: x, Disp: i * p.bytes()}, Mem{Base: y, Disp: i * p.bytes()}
		u := p.load(with, t, i, masked)
		var v Op = from
		if masked {
			v = p.load(from, t, i, masked)
		}
		if sum == dot {
			VFMADD231PS(v, u, acc[i])
			continue
		}
		VSUBPS(v, u, u)
		p.difference(sum, k, u, acc[i])
	}
}

// reduce adds up the lanes.
func (p processor) reduce(acc []VecVirtual, dst Register) {
	// Groups of 16 lanes, (0 + 1) + (2 + 3).
	group := 16 / p.lanes
	for step := group; step < len(acc); step *= 2 {
		for i := 0; i < len(acc); i += 2 * step {
			for j := range group {
				VADDPS(acc[i+j+step], acc[i+j], acc[i+j])
			}
		}
	}
	low, high := acc[0].(Vec), YMM()
	if p.wide() {
		VEXTRACTF64X4(U8(1), acc[0], high)
		VADDPS(high, low.AsY(), low.AsY())
	} else {
		VADDPS(acc[1], low.AsY(), low.AsY())
	}
	half := XMM()
	VEXTRACTF128(U8(1), low.AsY(), half)
	VADDPS(half, low.AsX(), low.AsX())
	VMOVHLPS(low.AsX(), low.AsX(), half)
	VADDPS(half, low.AsX(), low.AsX())
	VMOVSHDUP(low.AsX(), half)
	VADDSS(half, low.AsX(), low.AsX())
	VMOVSS(low.AsX(), Mem{Base: dst})
}

// pack transposes blocks of four rows by eight dimensions.
func pack() {
	TEXT("packAVX2", NOSPLIT, "func(dst *float32, width int, a, b, c, d *float32, blocks int)")
	Doc("packAVX2 writes four rows of blocks times eight values into a panel that is width rows wide.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	width := Load(Param("width"), GP64())
	rows := make([]Register, 4)
	for i, name := range []string{"a", "b", "c", "d"} {
		rows[i] = Load(Param(name), GP64())
	}
	blocks := Load(Param("blocks"), GP64())
	SHLQ(U8(2), width)
	three, high, offset := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, three)
	XORQ(offset, offset)
	Label("loop")
	var v, u, w [4]VecVirtual
	for i := range v {
		v[i], u[i], w[i] = YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: rows[i], Index: offset, Scale: 1}, v[i])
	}
	VUNPCKLPS(v[1], v[0], u[0])
	VUNPCKHPS(v[1], v[0], u[1])
	VUNPCKLPS(v[3], v[2], u[2])
	VUNPCKHPS(v[3], v[2], u[3])
	VUNPCKLPD(u[2], u[0], w[0])
	VUNPCKHPD(u[2], u[0], w[1])
	VUNPCKLPD(u[3], u[1], w[2])
	VUNPCKHPD(u[3], u[1], w[3])
	LEAQ(Mem{Base: dst, Index: width, Scale: 4}, high)
	for i := range w {
		to := func(base Register) Mem {
			return []Mem{{Base: base}, {Base: base, Index: width, Scale: 1},
				{Base: base, Index: width, Scale: 2}, {Base: base, Index: three, Scale: 1}}[i]
		}
		VMOVUPS(w[i].(Vec).AsX(), to(dst))
		VEXTRACTF128(U8(1), w[i], to(high))
	}
	LEAQ(Mem{Base: high, Index: width, Scale: 4}, dst)
	ADDQ(U8(32), offset)
	DECQ(blocks)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("amd64,!purego,!noasm")
	GLOBL("lane", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	for _, p := range []processor{avx512, avx2} {
		p.tile()
		p.above()
		p.against()
		p.standardise()
		p.affine()
	}
	pack()
	fetch()
	Generate()
}
