package kernel_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/kernel"
)

var (
	allSums  = []kernel.Sum{kernel.Dot, kernel.Absolute, kernel.Cube, kernel.Square}
	sumNames = []string{"dot", "absolute", "cube", "square"}
)

func random(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// upTo returns 0, 1, ... n-1.
func upTo(n int) []int32 {
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(i)
	}
	return index
}

// sizes are numbers of dimensions with every remainder of every loop.
func sizes() []int {
	var dims []int
	for d := range 70 {
		dims = append(dims, d+1)
	}
	return append(dims, 127, 128, 129, 255, 333, 1024)
}

// reference returns the sum in double precision, and how far the sum in single
// precision may be from it when its terms are added up in any order.
func reference(s kernel.Sum, x, y []float32) (sum, bound float64) {
	size := 0.0
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		d := math.Abs(a - b)
		term := []float64{a * b, -d, -d * d * d, -d * d}[s]
		sum += term
		size += math.Abs(term)
	}
	n := float64(len(x) + 8)
	return sum, n * (size*0x1p-24 + math.SmallestNonzeroFloat32)
}

// near reports whether got is within the bound of the reference. A sum beyond the
// range of single precision must be infinite.
func near(got float32, sum, bound float64) bool {
	if math.Abs(sum)-bound > math.MaxFloat32 {
		return math.IsInf(float64(got), int(math.Copysign(1, sum)))
	}
	return math.Abs(float64(got)-sum) <= bound || math.Abs(sum)+bound > math.MaxFloat32
}

// matrix returns the sums of every row of data with every row, from tiles whose
// dimensions are cut in two calls at split, unless that is 0. The rows are taken
// in the order of index.
func matrix(t *testing.T, k *kernel.Kernel, s kernel.Sum, data []float32, dims, split int, index []int32) []float32 {
	t.Helper()
	guard := &guard{t: t}
	defer guard.check()
	n := len(index)
	pack := func(width int) []float32 {
		dst := guard.floats(kernel.Panels(n, width) * width * dims)
		k.Pack(dst, data, dims, index, width)
		return dst
	}
	a, b, c := pack(k.Rows), pack(k.Columns), guard.floats(k.Rows*k.Columns)
	sums := make([]float32, n*n)
	for i := 0; i < n; i += k.Rows {
		for j := 0; j < n; j += k.Columns {
			a, b := a[i*dims:][:k.Rows*dims], b[j*dims:][:k.Columns*dims]
			if split == 0 {
				c[0] = float32(math.NaN()) // What c holds must not matter.
			} else {
				k.Tile(s, split, a, b, c, false)
			}
			k.Tile(s, dims-split, a[split*k.Rows:], b[split*k.Columns:], c, split > 0)
			for y := range min(k.Rows, n-i) {
				copy(sums[(i+y)*n+j:(i+y+1)*n], c[y*k.Columns:][:k.Columns])
			}
		}
	}
	return sums
}

// against returns the same sums, from Against.
func against(t *testing.T, k *kernel.Kernel, s kernel.Sum, data []float32, dims int, index []int32) []float32 {
	t.Helper()
	guard := &guard{t: t}
	defer guard.check()
	n := len(index)
	sums, dst, order := make([]float32, n*n), guard.floats(n), guard.index(index)
	q := guard.floats(dims)
	for i, r := range index {
		copy(q, data[int(r)*dims:])
		k.Against(s, q, data, order, dst)
		copy(sums[i*n:], dst)
	}
	return sums
}

func isNaN(x float32) bool { return math.IsNaN(float64(x)) }

// same fails the test unless both lists hold the same bits, all NaN being the same.
func same(t *testing.T, what string, a, b []float32) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%s: %d and %d values", what, len(a), len(b))
	}
	for i, x := range a {
		if y := b[i]; math.Float32bits(x) != math.Float32bits(y) && !(isNaN(x) && isNaN(y)) {
			t.Fatalf("%s: value %d: %g and %g", what, i, x, y)
		}
	}
}

// check compares what every kernel says about the rows of data with the sums in
// double precision, with one another, and with itself for another order of the
// rows and of the two sides. The two kinds of assembly agree to the last bit, and so do
// simd128 and the portable kernel.
func check(t *testing.T, data []float32, dims int) {
	t.Helper()
	g := &guard{t: t}
	defer g.check()
	data = g.copy(data)
	n := len(data) / dims
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dims)))
	shuffled := upTo(n)
	rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, s := range allSums {
		twins := map[string][]float32{}
		for _, k := range kernel.Available() {
			for way, sums := range map[string]func(index []int32) []float32{
				"Tile":    func(index []int32) []float32 { return matrix(t, k, s, data, dims, 0, index) },
				"Against": func(index []int32) []float32 { return against(t, k, s, data, dims, index) },
			} {
				what := fmt.Sprintf("%s %s, %s, %d rows of %d values", k.Name, way, sumNames[s], n, dims)
				got, other := sums(upTo(n)), sums(shuffled)
				for i := range n {
					for j := range n {
						sum, bound := reference(s, data[i*dims:(i+1)*dims], data[j*dims:(j+1)*dims])
						if !near(got[i*n+j], sum, bound) {
							t.Fatalf("%s: rows %d and %d: %g, want %g within %g", what, i, j, got[i*n+j], sum, bound)
						}
					}
				}
				transposed, restored := make([]float32, n*n), make([]float32, n*n)
				for i := range n {
					for j := range n {
						transposed[j*n+i] = got[i*n+j]
						restored[int(shuffled[i])*n+int(shuffled[j])] = other[i*n+j]
					}
				}
				same(t, what+", sides exchanged", got, transposed)
				same(t, what+", rows shuffled", got, restored)
				if way == "Tile" && dims > 1 {
					split := 1 + rng.IntN(dims-1)
					same(t, fmt.Sprintf("%s, split at %d", what, split), got, matrix(t, k, s, data, dims, split, upTo(n)))
				}
				kind := way
				if k.Name == "go" || k.Name == "simd128" {
					kind += " portable"
				}
				if first := twins[kind]; first != nil {
					same(t, what+", against its twin", got, first)
				}
				twins[kind] = got
			}
		}
	}
}

func TestSums(t *testing.T) {
	for _, dims := range sizes() {
		rows := 14
		if dims%8 == 3 {
			rows = 37 // Several panels on both sides.
		}
		check(t, random(rand.New(rand.NewPCG(uint64(dims), 1)), rows*dims), dims)
	}
}

func TestSpecialValues(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for name, values := range map[string][]float32{
		"zeros":    {0},
		"signs":    {0, negative},
		"equal":    {1.5},
		"integers": {0, 1, 2, 3, -4},
		"tiny":     {math.SmallestNonzeroFloat32, 1e-40, -1e-30, 0, 1e-20},
		"huge":     {1e18, 3e18, 1e10, 0},
		"infinite": {1e30, 2e38, 3e-5},
		"mixed":    {1e10, -1e-10, 1, -1e5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dims := range []int{1, 3, 16, 17, 80} {
				rng := rand.New(rand.NewPCG(uint64(dims), 2))
				data := make([]float32, 21*dims)
				for i := range data {
					data[i] = values[rng.IntN(len(values))]
				}
				check(t, data, dims)
			}
		})
	}
}

// Sums of whole numbers have no rounding, so every kernel and both ways agree.
func TestWholeNumbers(t *testing.T) {
	for _, dims := range sizes() {
		rng := rand.New(rand.NewPCG(uint64(dims), 3))
		data := make([]float32, 13*dims)
		for i := range data {
			data[i] = float32(rng.IntN(9) - 4)
		}
		for _, s := range allSums {
			var first []float32
			for _, k := range kernel.Available() {
				tile := matrix(t, k, s, data, dims, 0, upTo(13))
				if first == nil {
					first = tile
				}
				same(t, k.Name+" Tile, "+sumNames[s], tile, first)
				same(t, k.Name+" Against, "+sumNames[s], against(t, k, s, data, dims, upTo(13)), first)
			}
		}
	}
}

func TestAbove(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, k := range kernel.Available() {
		t.Run(k.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(4, 4))
			g := &guard{t: t}
			defer g.check()
			c, rows, columns := g.floats(k.Rows*k.Columns), g.floats(k.Rows), g.floats(k.Columns)
			byRow, byColumn := g.masks(k.Rows), g.masks(k.Rows)
			// Few values, so that many tie.
			special := []float32{-inf, -2, -1, 0, float32(math.Copysign(0, -1)), 1, 2, inf, nan}
			outcomes := map[bool]int{}
			for round := range 2000 {
				fill := func(v []float32, from []float32) {
					for i := range v {
						v[i] = from[rng.IntN(len(from))]
					}
				}
				fill(c, special)
				fill(rows, special)
				fill(columns, special)
				if round%2 == 0 {
					// One entry at most that reaches a bar, anywhere.
					fill(c, special[:4])
					fill(rows, special[5:])
					fill(columns, special[5:])
					c[rng.IntN(len(c))] = special[rng.IntN(len(special))]
				}
				reached := false
				wantRow, wantColumn := make([]uint32, k.Rows), make([]uint32, k.Rows)
				for i := range k.Rows {
					byRow[i], byColumn[i] = rng.Uint32(), rng.Uint32() // Overwritten.
					for j := range k.Columns {
						v := c[i*k.Columns+j]
						if v >= rows[i] {
							wantRow[i] |= 1 << j
							reached = true
						}
						if v >= columns[j] {
							wantColumn[i] |= 1 << j
							reached = true
						}
					}
				}
				got := k.Above(c, rows, columns, byRow, byColumn)
				if got != reached || !slices.Equal(byRow, wantRow) || !slices.Equal(byColumn, wantColumn) {
					t.Fatalf("%v\n%x\n%x, want %v\n%x\n%x", got, byRow, byColumn, reached, wantRow, wantColumn)
				}
				outcomes[reached]++
			}
			if outcomes[true] < 100 || outcomes[false] < 100 {
				t.Errorf("the cases are lopsided: %v", outcomes)
			}
		})
	}
}

func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, k := range kernel.Available() {
		for _, width := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32} {
			for _, dims := range []int{1, 3, 7, 8, 9, 16, 31, 100} {
				for _, n := range []int{0, 1, width, width + 1, 3*width - 1, 4 * width} {
					g := &guard{t: t}
					data := g.copy(random(rng, 50*dims))
					index := g.index(make([]int32, n))
					for i := range index {
						index[i] = rng.Int32N(50)
					}
					dst := g.floats(kernel.Panels(n, width) * dims * width)
					want := make([]float32, len(dst))
					for i := range dst {
						dst[i] = float32(math.NaN())
					}
					for i, r := range index {
						for d := range dims {
							want[(i/width*dims+d)*width+i%width] = data[int(r)*dims+d]
						}
					}
					k.Pack(dst, data, dims, index, width)
					same(t, fmt.Sprintf("%s: %d rows of %d values, width %d", k.Name, n, dims, width), dst, want)
					g.check()
				}
			}
		}
	}
}

func TestPanels(t *testing.T) {
	for _, c := range []struct{ n, width, want int }{{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}, {1, math.MaxInt, 1}} {
		if got := kernel.Panels(c.n, c.width); got != c.want {
			t.Errorf("Panels(%d, %d) = %d, want %d", c.n, c.width, got, c.want)
		}
	}
}

// Whatever does not fit together is found before the assembly runs.
func TestChecks(t *testing.T) {
	for _, k := range kernel.Available() {
		n := k.Rows * k.Columns
		f := func(n int) []float32 { return make([]float32, n) }
		m := func(n int) []uint32 { return make([]uint32, n) }
		for name, call := range map[string]func(){
			"no such sum":         func() { k.Tile(4, 1, f(n), f(n), f(n), false) },
			"negative sum":        func() { k.Against(-1, f(1), f(1), []int32{0}, f(1)) },
			"no dimensions":       func() { k.Tile(0, 0, f(n), f(n), f(n), false) },
			"endless dimensions":  func() { k.Tile(0, math.MaxInt/4+1, f(n), f(n), f(n), false) },
			"short a":             func() { k.Tile(0, 3, f(3*k.Rows-1), f(3*k.Columns), f(n), false) },
			"short b":             func() { k.Tile(0, 3, f(3*k.Rows), f(3*k.Columns-1), f(n), false) },
			"short c":             func() { k.Tile(0, 3, f(3*k.Rows), f(3*k.Columns), f(n-1), false) },
			"short tile":          func() { k.Above(f(n-1), f(k.Rows), f(k.Columns), m(k.Rows), m(k.Rows)) },
			"short rows":          func() { k.Above(f(n), f(k.Rows-1), f(k.Columns), m(k.Rows), m(k.Rows)) },
			"short columns":       func() { k.Above(f(n), f(k.Rows), f(k.Columns-1), m(k.Rows), m(k.Rows)) },
			"short row masks":     func() { k.Above(f(n), f(k.Rows), f(k.Columns), m(k.Rows-1), m(k.Rows)) },
			"short column masks":  func() { k.Above(f(n), f(k.Rows), f(k.Columns), m(k.Rows), m(k.Rows-1)) },
			"empty row":           func() { k.Against(0, nil, f(4), []int32{0}, f(1)) },
			"short dst":           func() { k.Against(0, f(2), f(4), []int32{0, 1}, f(1)) },
			"index too high":      func() { k.Against(0, f(2), f(5), []int32{0, 2}, f(2)) },
			"negative index":      func() { k.Against(0, f(2), f(4), []int32{1, -1}, f(2)) },
			"no data":             func() { k.Against(0, f(2), nil, []int32{0}, f(2)) },
			"pack dimensions":     func() { k.Pack(f(9), f(9), 0, []int32{0}, 1) },
			"pack width":          func() { k.Pack(f(9), f(9), 1, []int32{0}, 0) },
			"pack endless":        func() { k.Pack(f(9), f(9), 1, []int32{0}, math.MaxInt) },
			"pack short dst":      func() { k.Pack(f(2*3*4-1), f(99), 3, upTo(5), 4) },
			"pack index":          func() { k.Pack(f(2*3*4), f(3*5-1), 3, upTo(5), 4) },
			"standardise nothing": func() { k.Standardise(nil, nil, nil, nil, nil) },
			"standardise short":   func() { k.Standardise(f(3), f(3), f(3), f(2), f(3)) },
			"fetch nothing":       func() { k.Fetch(f(3), 0, []int32{0}) },
			"fetch beyond":        func() { k.Fetch(f(5), 2, []int32{0, 2}) },
			"no lines":            func() { k.Affine(nil, nil, nil, nil) },
			"short lines":         func() { k.Affine(f(3), f(3), f(2), f(3)) },
			"pack negative":       func() { k.Pack(f(2*3*4), f(3*5), 3, []int32{math.MinInt32}, 4) },
		} {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				defer func() {
					if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "kernel: ") {
						t.Errorf("panic: %v", message)
					}
				}()
				call()
			})
		}
		k.Against(kernel.Dot, nil, nil, nil, nil)
		k.Fetch(nil, 1, nil)
		k.Fetch(f(6), 3, []int32{1, 0, 1})
		k.Pack(nil, nil, 1, nil, 1)
	}
}

func TestBest(t *testing.T) {
	available := kernel.Available()
	if last := available[len(available)-1]; last.Name != "go" {
		t.Errorf("the last kernel is %q", last.Name)
	}
	for _, k := range available {
		if k.Columns > 32 {
			t.Errorf("%s: %d columns do not fit in a mask", k.Name, k.Columns)
		}
		t.Setenv("MVCLUST_KERNEL", k.Name)
		if best := kernel.Best(); best.Name != k.Name {
			t.Errorf("MVCLUST_KERNEL=%s gives %s", k.Name, best.Name)
		}
		if err := kernel.Check(); err != nil {
			t.Errorf("MVCLUST_KERNEL=%s: %v", k.Name, err)
		}
	}
	for _, name := range []string{"", "sse"} {
		t.Setenv("MVCLUST_KERNEL", name)
		if best := kernel.Best(); best.Name != available[0].Name {
			t.Errorf("MVCLUST_KERNEL=%q gives %s, not %s", name, best.Name, available[0].Name)
		}
		if err := kernel.Check(); (err != nil) != (name != "") {
			t.Errorf("MVCLUST_KERNEL=%q: the error is %v", name, err)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, k := range kernel.Available() {
		if n := testing.AllocsPerRun(10, func() {
			var q, dst [1]float32
			index := [1]int32{1}
			k.Against(kernel.Dot, q[:], []float32{1, 2}, index[:], dst[:])
			k.Standardise(dst[:], q[:], q[:], q[:], q[:])
			k.Affine(dst[:], q[:], q[:], q[:])
		}); n > 0 {
			t.Errorf("%s: %g allocations", k.Name, n)
		}
	}
}

func FuzzSums(f *testing.F) {
	f.Add([]byte("some values that make rows"), 2)
	f.Add(binary.LittleEndian.AppendUint32(nil, math.Float32bits(1e30)), 1)
	f.Fuzz(func(t *testing.T, bytes []byte, dims int) {
		var data []float32
		for len(bytes) >= 4 && len(data) < 2000 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(bytes))
			if math.Abs(float64(v)) < 1e12 { // So that sums are finite.
				data = append(data, v)
			}
			bytes = bytes[4:]
		}
		if dims < 1 || dims > len(data) {
			return
		}
		rows := min(len(data)/dims, 40)
		check(t, data[:rows*dims], dims)
	})
}

// Every kernel standardises rows to the same bits, and its lines, their squares and their products are those
// in double precision but for rounding. The two kinds of assembly agree to the last bit.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, dims := range sizes() {
		row, high, low, inverse, slope, at := random(rng, dims), random(rng, dims), random(rng, dims), random(rng, dims), random(rng, dims), random(rng, dims)
		var standard, bent, sums []float32 // of the kernel before
		assembly := false                  // whether that was one
		for _, k := range kernel.Available() {
			g := &guard{t: t}
			to, out := g.floats(dims), g.floats(dims)
			k.Standardise(to, g.copy(row), g.copy(high), g.copy(low), g.copy(inverse))
			squares, along := k.Affine(out, g.copy(to), g.copy(slope), g.copy(at))
			all, products, bound := 0.0, 0.0, 0.0
			for i, x := range to {
				s, a := float64(slope[i]), float64(at[i])
				u := s*float64(x) + a
				all += u * u
				products += a * u
				near := math.Abs(s*float64(x)) + math.Abs(a)
				bound += near * near
				if !(math.Abs(float64(out[i])-s*u) <= 0x1p-22*near*math.Abs(s)) {
					t.Fatalf("%s, %d dimensions: value %d is %v, want %v", k.Name, dims, i, out[i], s*u)
				}
			}
			bound *= float64(dims+8) * 0x1p-23
			if !(math.Abs(float64(squares)-all) <= bound) || !(math.Abs(float64(along)-products) <= bound) {
				t.Fatalf("%s, %d dimensions: the sums are %v and %v, want %v and %v", k.Name, dims, squares, along, all, products)
			}
			if standard != nil {
				same(t, k.Name+", standardised", to, standard)
			}
			isAssembly := strings.HasPrefix(k.Name, "avx")
			if assembly && isAssembly {
				same(t, k.Name+", lines", out, bent)
				same(t, k.Name+", sums", []float32{squares, along}, sums)
			}
			standard, bent, sums, assembly = slices.Clone(to), slices.Clone(out), []float32{squares, along}, isAssembly
			g.check()
		}
	}
}
