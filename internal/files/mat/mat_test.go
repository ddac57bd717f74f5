package mat

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
)

func equalLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing %q", want[i])
		case i >= len(want):
			t.Errorf("unexpected %q", got[i])
		case got[i] != want[i]:
			t.Errorf("got  %q\nwant %q", got[i], want[i])
		}
	}
}

// What scipy and h5py wrote by testdata/make.py.
func TestOtherWriters(t *testing.T) {
	for name, want := range map[string][]string{
		"v5.mat": {
			"grid float7x5: -3 -1.75 -0.5 0.75 2 3.25 4.5 -2.75 -1.5 -0.25 1 2.25 3.5 4.75 -2.5 -1.25 0 1.25 2.5 3.75 5 -2.25 -1 0.25 1.5 2.75 4 5.25 -2 -0.75 0.5 1.75 3 4.25 5.5",
			"thin float3x4: 1.5 0 -2 0 0 0 0 0 0 0 4 0",
			"pair{1} of pair float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"pair{2} of pair int3x1: 1 -2 3",
			"names text3: ant bée 𝒳y",
			"rows text2: one three",
			"s.x int2x2: 1 3 2 65535",
			"s.none float0x3:",
			"flag int1x2: 1 0",
			"z float1x1: error",
		},
		"v73.mat": {
			"big int1x3: 1 2 -3",
			"boxes float7x5: -3 -1.75 -0.5 0.75 2 3.25 4.5 -2.75 -1.5 -0.25 1 2.25 3.5 4.75 -2.5 -1.25 0 1.25 2.5 3.75 5 -2.25 -1 0.25 1.5 2.75 4 5.25 -2 -0.75 0.5 1.75 3 4.25 5.5",
			"flag int1x2: 1 0",
			"grid float7x5: -3 -1.75 -0.5 0.75 2 3.25 4.5 -2.75 -1.5 -0.25 1 2.25 3.5 4.75 -2.5 -1.25 0 1.25 2.5 3.75 5 -2.25 -1 0.25 1.5 2.75 4 5.25 -2 -0.75 0.5 1.75 3 4.25 5.5",
			"many(1).u float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"many(1).v float0x0:",
			"many(2).u float0x0:",
			"many(2).v float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"names text3: ant  𝒳y",
			"none float0x3:",
			"nothing text0:",
			"pair{1} of pair float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"pair{2}{1} of pair{2} int3x1: 1 -2 3",
			"pair{2}{2} of pair{2} float3x4: 1.5 0 -2 0 0 0 0 0 0 0 4 0",
			"pair{3} of pair float0x0:",
			"plain int2x3x4: 0 12 4 16 8 20 1 13 5 17 9 21 2 14 6 18 10 22 3 15 7 19 11 23",
			"s.c{1} of s.c float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"s.c{2} of s.c float2x5: -3 -1.75 -2.75 -1.5 -2.5 -1.25 -2.25 -1 -2 -0.75",
			"s.x int2x2: 1 3 2 65535",
			"small int2x2: 1 3 2 -4",
			"thin float3x4: 1.5 0 -2 0 0 0 0 0 0 0 4 0",
			"word text1: bée 𝒳",
			"z float1x1: error",
			"zeros float2x3: 0 0 0 0 0 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			equalLines(t, listing(parse(t, b)), want)
		})
	}
}

// Random matrices of every class in every storage type come back as written.
func TestRandomMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		w := []writer{little, big}[rng.IntN(2)]
		stored := types[rng.IntN(len(types))]
		dims := []int{1 + rng.IntN(200), 1 + rng.IntN(300)}
		if rng.IntN(3) == 0 {
			dims = []int{rng.IntN(4), 1 + rng.IntN(3), 2}
		}
		n := 1
		for _, d := range dims {
			n *= d
		}
		want := make([]float64, n)
		for i := range want {
			want[i] = float64(rng.IntN(128))
			if stored.float {
				want[i] = (want[i] - 64) / 4
			}
		}
		class, flags := mxDouble+rng.IntN(mxUint64-mxDouble+1), rng.IntN(2)*2
		m := w.matrix("x", class, flags, dims, w.numbers(stored.typ, want...))
		if rng.IntN(2) == 0 {
			m = w.deflated(m)
		}
		f := parse(t, w.file(m, w.double("y", 1, 1, 3)))
		kind := array.Int
		if class <= mxSingle && flags == 0 {
			kind = array.Float
		}
		a := f.Arrays()[0]
		if a.Name != "x" || !slices.Equal(a.Shape, dims) || a.Kind != kind || !a.ColumnMajor || a.Len() != n {
			t.Fatalf("class %d, flags %d, dims %d: listed as %+v", class, flags, dims, a)
		}
		got, err := f.Float32(0)
		if err != nil || len(got) != n {
			t.Fatalf("%d values and error %v, want %d", len(got), err, n)
		}
		if len(dims) == 2 {
			want := make([]float32, n)
			a.Turn(want, 0, got)
			if turned, err := f.Turned(0); err != nil || !slices.Equal(turned, want) {
				t.Fatalf("dims %d: wrong values when turned, error %v", dims, err)
			}
		}
		whole, err := f.Int64(0)
		for i, x := range want {
			if float64(got[i]) != x {
				t.Fatalf("type %d, dims %d: value %d is %g, want %g", stored.typ, dims, i, got[i], x)
			}
			if err == nil && float64(whole[i]) != x {
				t.Fatalf("type %d, dims %d: value %d is %d, want %g", stored.typ, dims, i, whole[i], x)
			}
		}
		if allWhole := !slices.ContainsFunc(want, func(x float64) bool { return x != math.Trunc(x) }); allWhole != (err == nil) {
			t.Fatalf("whole values: %v, error: %v", allWhole, err)
		}
	}
}

func TestCellsStructsText(t *testing.T) {
	for _, w := range []writer{little, big} {
		rows := w.matrix("rows", mxChar, 0, []int{2, 3}, w.numbers(4, 'a', 'x', 'b', ' ', 'c', ' '))
		halves := w.matrix("", mxChar, 0, []int{1, 3}, w.numbers(17, 0xd835, 0xdcb3, 'y'))
		latin := w.matrix("latin", mxChar, 0, []int{1, 2}, w.element(miUTF8, []byte("éa")))
		nested := w.cell("", []int{1, 2}, w.double("", 1, 1, 7), w.cell("", []int{1, 1}, w.double("", 2, 1, 8, 9)))
		handle := w.matrix("handle", mxFunction, 0, []int{1, 1}, w.double("", 1, 1, 1))
		b := w.file(
			w.deflated(w.cell("c", []int{2, 2}, w.double("", 1, 2, 1, 2), nested, w.char("", "word"), w.element(miMatrix, nil))),
			w.cell("names", []int{3, 1}, w.char("", "ant"), w.char("", ""), halves),
			w.cell("none", []int{0, 0}),
			rows, w.char("word", "word"), latin, handle,
			w.matrix("gone", mxChar, 0, []int{5, 0}, w.element(4, nil)),
			w.matrix("blank", mxChar, 0, []int{1, 1}, w.element(4, nil)),
			w.structs("s", []int{1, 1}, []string{"x", "labels"}, w.double("", 1, 1, 1.5), w.cell("", []int{1, 1}, w.char("", "a"))),
			w.structs("many", []int{2, 1}, []string{"x", "f"}, w.double("", 1, 1, 1), handle, w.double("", 1, 1, 2), w.cell("", []int{1, 1}, w.double("", 1, 1, 3))),
			w.structs("bare", []int{1 << 20, 1 << 20}, nil),
			w.matrix("", mxDouble+3, 0, []int{1, 1}, w.numbers(2, 0)), // MATLAB's notes
		)
		equalLines(t, listing(parse(t, b)), []string{
			"c{1} of c float1x2: 1 2",
			"c{2}{1} of c{2} float1x1: 7",
			"c{2}{2}{1} of c{2}{2} float2x1: 8 9",
			"c{3} of c text1: word",
			"c{4} of c float0x0:",
			"names text3: ant  𝒳y",
			"none text0:",
			"rows text2: abc x",
			"word text1: word",
			"latin text1: éa",
			"gone text0:",
			"blank text1: ",
			"s.x float1x1: 1.5",
			"s.labels text1: a",
			"many(1).x float1x1: 1",
			"many(2).x float1x1: 2",
			"many(2).f{1} of many(2).f float1x1: 3",
		})
	}
}

func TestSparse(t *testing.T) {
	for _, w := range []writer{little, big} {
		b := w.file(
			w.deflated(w.sparse("a", 0, []int{3, 2}, []float64{0, 2, 1, 0}, []float64{0, 2, 3}, []float64{5, 1e300, 7, 1})),
			w.sparse("zero", 0, []int{2, 3}, nil, []float64{0, 0, 0, 0}, nil),
			w.matrix("mask", mxSparse, 2, []int{2, 2}, w.numbers(5, 1), w.numbers(5, 0, 0, 1), w.element(9, []byte{1})),
			w.sparse("wide", 0, []int{1 << 31 >> 1, 4}, nil, []float64{0, 0, 0, 0, 0}, nil),
			w.sparse("order", 0, []int{3, 1}, []float64{2, 1}, []float64{0, 2}, []float64{1, 1}),
			w.sparse("row", 0, []int{3, 1}, []float64{3}, []float64{0, 1}, []float64{1}),
			w.sparse("starts", 0, []int{3, 2}, []float64{0, 1}, []float64{0, 2, 1}, []float64{1, 1}),
			w.sparse("few", 0, []int{3, 2}, []float64{0, 1}, []float64{0, 1, 3}, []float64{1, 1}),
			w.sparse("short", 0, []int{3, 2}, []float64{0, 1}, []float64{0, 1}, []float64{1, 1}),
		)
		f := parse(t, b)
		if _, err := f.Float32(0); err == nil || !strings.HasPrefix(err.Error(), "a(3,1) is 1e+300") {
			t.Errorf("error %v, want one about a(3,1)", err)
		}
		lines := listing(f)
		equalLines(t, lines[:3], []string{"a float3x2: 5 0 1e+300 0 7 0", "zero float2x3: 0 0 0 0 0 0", "mask int2x2: 0 0 0 1"})
		for i, want := range []string{"wide is a sparse matrix of 1073741824 x 4, which takes more than 8 GiB", "order is a sparse", "row is a sparse", "starts is a sparse", "few is a sparse", "short is a sparse"} {
			if _, err := f.Float32(3 + i); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v, want %s...", err, want)
			}
		}
	}
}

func TestValueErrors(t *testing.T) {
	w := little
	large := make([]float64, 20000)
	large[19999] = 1e39
	f := parse(t, w.file(
		w.double("x", 2, 3, 0, 1, 2, math.Inf(1), math.MaxFloat64, 1),
		w.deflated(w.double("deep", 100, 200, large...)),
		w.matrix("u", mxUint64, 0, []int{1, 2}, w.numbers(13, 1, 1<<63)),
		w.char("s", "text"),
		w.matrix("z", mxDouble, 8, []int{1, 1}, w.numbers(9, 1), w.numbers(9, 2)),
		w.double("y", 1, 4, math.NaN(), math.Copysign(0, -1), 1e6, 0.1),
	))
	float := func(i int) error { _, err := f.Float32(i); return err }
	whole := func(i int) error { _, err := f.Int64(i); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{float(0), "x(1,3) is 1.7976931348623157e+308, beyond the largest single"},
		{whole(0), "x(2,2) is +Inf where a whole number"},
		{float(1), "deep(100,200) is 1e+39, beyond"},
		{whole(2), "u(1,2) is 9223372036854775808 where a whole number"},
		{float(3), "s holds text"},
		{whole(3), "s holds text"},
		{float(4), "z holds complex numbers"},
		{whole(5), "y(1,1) is NaN where"},
		{float(6), "there is no array 6"},
		{float(-1), "there is no array -1"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("error %v, want %s...", c.err, c.want)
		}
	}
	if got, err := f.Text(5); err != nil || !slices.Equal(got, []string{"NaN", "0", "1000000", "0.1"}) {
		t.Errorf("Text gives %q, %v", got, err)
	}
}

// Large variables, of which only the start is read to list them, that are cut
// short, be it the file or the variable in it.
func TestCutShort(t *testing.T) {
	w := little
	rng := rand.New(rand.NewPCG(3, 4))
	noise := make([]float64, 9000) // more than is read to list it
	for i := range noise {
		noise[i] = rng.Float64()
	}
	for name, b := range map[string][]byte{
		"large":          w.file(w.double("x", 90, 100, noise...)),
		"deflated large": w.file(w.deflated(w.double("x", 90, 100, noise...))),
	} {
		for n := 0; n < len(b); n += 1 + n/200 {
			if _, err := read(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Errorf("%s: cut to %d of %d bytes without an error", name, n, len(b))
			}
		}
	}
	// The variable itself ends too early, while the file does not.
	for name, m := range map[string][]byte{
		"double":   w.double("x", 90, 100, noise...),
		"cell":     w.cell("c", []int{1, 2}, w.double("", 90, 100, noise...), w.double("", 1, 1, 5)),
		"sparse":   w.sparse("s", 0, []int{2, 2}, []float64{0, 1}, []float64{0, 1, 2}, []float64{3, 4}),
		"struct":   w.structs("s", []int{1, 1}, []string{"a"}, w.double("", 2, 2, 1, 2, 3, 4)),
		"large, 0": w.double("x", 100, 120, make([]float64, 12000)...),
	} {
		if err := readAll(w.file(w.deflated(m))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := len(m) - 8; n >= 0; n -= 1 + n/30 {
			if readAll(w.file(w.deflated(m[:n]))) == nil {
				t.Errorf("%s: deflated %d of %d bytes without an error", name, n, len(m))
			}
		}
		sum := w.file(w.deflated(m))
		sum[len(sum)-1]++
		if readAll(sum) == nil {
			t.Errorf("%s: wrong checksum without an error", name)
		}
	}
}

// smallFiles returns files of one variable, and one of version 7.3.
func smallFiles(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	for order, w := range map[string]writer{"little": little, "big": big} {
		for name, m := range map[string][]byte{
			"double": w.double("x", 2, 2, 1, 2, 3, 4),
			"int":    w.matrix("i", mxDouble+4, 2, []int{2, 1, 2}, w.numbers(3, 1, -2, 3, 4)),
			"text":   w.matrix("rows", mxChar, 0, []int{2, 2}, w.numbers(4, 'a', 0xd835, 'b', 0xdcb3)),
			"cell":   w.cell("c", []int{1, 2}, w.double("", 1, 1, 2), w.cell("", []int{1, 1}, w.char("", "abcdef"))),
			"struct": w.structs("s", []int{2, 1}, []string{"x", "y"}, w.double("", 1, 1, 1), w.char("", "a"), w.double("", 0, 3), w.cell("", []int{0, 0})),
			"sparse": w.sparse("thin", 0, []int{3, 2}, []float64{0, 2, 1}, []float64{0, 2, 3}, []float64{5, 6, 7}),
		} {
			files[order+" "+name] = w.file(m)
			files[order+" deflated "+name] = w.file(w.deflated(m))
		}
	}
	v73, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		t.Fatal(err)
	}
	files["v7.3"] = v73
	return files
}

// A version 5 file with one variable, or any version 7.3 file, is useless when
// its end is missing. Every cut must be noticed at once.
func TestEveryTruncation(t *testing.T) {
	for name, b := range smallFiles(t) {
		if _, err := read(bytes.NewReader(b), int64(len(b))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range b {
			if _, err := read(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Errorf("%s is read from %d of %d bytes", name, n, len(b))
			}
		}
	}
}

// One wrong byte is an error or other values, and nothing worse. Of the file of
// version 7.3, which is not small, every seventh byte is tried.
func TestEveryWrongByte(t *testing.T) {
	for _, b := range smallFiles(t) {
		for at := 0; at < len(b); at += 1 + 6*min(1, len(b)>>13) {
			right := b[at]
			b[at] ^= 0xff >> (at % 8)
			checkAny(t, b)
			b[at] = right
		}
	}
}

// A sparse matrix of version 7.3 may have room for more values than it stores,
// and the row numbers there mean nothing.
func TestSparseRoom(t *testing.T) {
	const room, stored = 50000, 3
	rows := make([]byte, 8*room)
	for i := range room {
		binary.LittleEndian.PutUint64(rows[8*i:], uint64(i))
	}
	whole := array.Encoding{Size: 8}
	v := &value{class: numbers, dims: []int{4, 1}, data: array.Held([]byte{5, 6, 7}, array.Encoding{Size: 1}), index: &index{
		rows: array.Numbers{Encoding: whole, N: room, Stored: 8 * room, Each: func(do func(int, []byte) error) error {
			return array.Stream(bytes.NewReader(rows), whole.Size, room, do)
		}},
		starts: array.Held(little.AppendUint64(make([]byte, 8), stored), whole),
	}}
	f := &file{infos: []array.Info{{Name: "x", Shape: v.dims}}, values: []*value{v}}
	if got, err := f.Int64(0); err != nil || !slices.Equal(got, []int64{5, 6, 7, 0}) {
		t.Errorf("%d, %v", got, err)
	}
}

func TestRefusedAtOnce(t *testing.T) {
	w := little
	v73, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		t.Fatal(err)
	}
	patched := func(at int, b ...byte) []byte { return slices.Replace(slices.Clone(v73), at, at+len(b), b...) }
	tower := w.double("", 1, 1, 1)
	for range maxDepth + 1 {
		tower = w.cell("", []int{1, 1}, tower)
	}
	many := make([]byte, 8*(maxCells+1))
	for i := 0; i < len(many); i += 8 {
		many[i] = miMatrix
	}
	level4 := slices.Concat(w.AppendUint32(nil, 0), w.AppendUint32(nil, 2), w.AppendUint32(nil, 1), w.AppendUint32(nil, 0), w.AppendUint32(nil, 2), []byte("x\x00"), make([]byte, 16))
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "is empty (0 bytes);"},
		{"text", []byte(strings.Repeat("1,2,3\n", 50)), "is no MATLAB file"},
		{"version 4", level4, "uses version 4 of the MATLAB format"},
		{"version 4, big-endian", slices.Concat([]byte{0, 0, 3, 0xe8, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2}, make([]byte, 18)), "uses version 4 of the MATLAB format"},
		{"version 7", patched(512, 0), "is a MATLAB file of version 7.3 without"},
		{"future", slices.Replace(w.file(), 125, 126, 3), "uses version 0x300"},
		{"nothing", w.file(), "holds no array"},
		{"functions", w.file(w.matrix("f", mxFunction, 0, []int{1, 1}), w.matrix("g", mxObject, 0, []int{1, 1})), "holds only functions or objects, such as g"},
		{"no variable", w.file(w.element(9, make([]byte, 8))), "has 8 bytes of type 9 after byte 128"},
		{"class", w.file(w.matrix("x", 0, 0, []int{1, 1})), "the variable at byte 128 is of class 0"},
		{"dimensions", w.file(w.matrix("x", mxDouble, 0, []int{1 << 20, 1 << 20, 1 << 20})), "the variable at byte 128 has dimensions [1048576 1048576 1048576] out of range"},
		{"negative", w.file(w.matrix("x", mxDouble, 0, []int{-1, 2})), "the variable at byte 128 has dimensions [-1 2] out of range"},
		{"one dimension", w.file(w.matrix("x", mxDouble, 0, []int{1})), "the variable at byte 128 has 1 dimension;"},
		{"claim", w.file(w.deflated(w.matrix("x", mxDouble, 0, []int{1 << 30, 1 << 10}, w.numbers(9, 1)))), "the variable at byte 128 has 8 bytes of type 9 for 1099511627776 values"},
		{"cells", w.file(w.cell("x", []int{1 << 30, 1 << 10}, w.double("", 1, 1, 1))), "the variable at byte 128 has 0 bytes and needs 4"},
		{"many cells", w.file(w.deflated(w.cell("x", []int{maxCells + 1, 1}, many))), "the variable at byte 128 holds more than 1048576 cells"},
		{"many arrays", w.file(w.deflated(w.cell("x", []int{maxArrays + 1, 1}, many[:8*(maxArrays+1)]))), "holds more than 65536 arrays"},
		{"tower", w.file(tower), "the variable at byte 128 has cells or structs nested more than 32 deep"},
		{"type", w.file(w.matrix("x", mxDouble, 0, []int{1, 1}, w.element(99, make([]byte, 8)))), "the variable at byte 128 has data of type 99"},
		{"wide text", w.file(w.matrix("x", mxChar, 0, []int{1, 1}, w.numbers(6, 1))), "the variable at byte 128 has 4 bytes of type 6 for 1 value;"},
		{"tall text", w.file(w.matrix("x", mxChar, 0, []int{1 << 30, 1}, w.element(4, nil))), "the variable at byte 128 has 0 bytes of type 4 for 1073741824 values"},
		{"field names", w.file(w.matrix("x", mxStruct, 0, []int{1, 1}, w.numbers(5, 0), w.element(1, nil))), "the variable at byte 128 has 0 bytes of field names"},
		{"bomb", w.file(w.element(miCompressed, slices.Concat([]byte{0x78, 0x9c}, w.deflated(w.AppendUint32(w.AppendUint32(nil, miMatrix), math.MaxUint32))[10:]))), "the variable at byte 128 inflates to 4294967295 bytes of type 14"},
		{"superblock", patched(512+8, 4), "uses HDF5 superblock version 4"},
		{"offsets", patched(512+13, 4), "uses HDF5 superblock version 0 with addresses of 4 bytes"},
		{"root", patched(512+64, 0xff, 0xff, 0xff), "refers to 16 bytes at address 16777215"},
		{"header", patched(512+96, 'O', 'H', 'D', 'R', 3), "uses HDF5 object headers of version 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := readAll(c.b); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s...", err, c.want)
			}
		})
	}
	prose := strings.Repeat("This is no MATLAB file. ", 20)
	if f, err := Open(strings.NewReader(prose), int64(len(prose))); f != nil || err == nil || !strings.HasPrefix(err.Error(), "is no MATLAB file") {
		t.Errorf("error %v for a text file", err)
	}
}

// A header that claims far more than the file can hold must not be believed.
func TestClaimsAllocateLittle(t *testing.T) {
	w := little
	const n = 2 << 20
	zeros := w.double("", n, 1, make([]float64, n)...)
	for name, b := range map[string][]byte{
		"matrix": w.file(w.deflated(zeros[:1<<20])),
		"cell":   w.file(w.deflated(w.cell("x", []int{1, 1}, zeros)[:1<<20])),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if readAll(b) == nil {
			t.Errorf("%s: no error", name)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, got, len(b))
		}
	}
}

// Faults in the B-tree of a chunked dataset and in the chunks.
func TestHDF5Chunks(t *testing.T) {
	b, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		t.Fatal(err)
	}
	node := bytes.Index(b, []byte("TREE\x01"))
	key := node + 24 // size, mask, place of the first chunk
	chunk := 512 + int(binary.LittleEndian.Uint32(b[key+8+8*3:]))
	for _, c := range []struct {
		name string
		at   int
		b    []byte
		want string
	}{
		{"signature", node, []byte("TREX"), "boxes has no HDF5 B-tree node of kind 1"},
		{"level", node + 5, []byte{1}, "boxes has no HDF5 B-tree node of kind 1"},
		{"a chunk less", node + 6, []byte{3}, "boxes lacks chunk 4 of 4"},
		{"no chunk", node + 6, []byte{0}, "boxes lacks chunk 1 of 4"},
		{"first chunk", key + 8, []byte{3}, "boxes has chunks out of order"},
		{"place", key + 8, []byte{1}, "boxes has a chunk out of place"},
		{"beyond", key + 8, []byte{9}, "boxes has a chunk out of place"},
		{"size", key, []byte{0xff, 0xff}, "boxes has chunks that overlap"},
		{"short", key, []byte{20}, "boxes ends after"},
		{"empty", key, []byte{0}, "boxes cannot be inflated"},
		{"mask", key + 4, []byte{2}, "boxes has a chunk of"},
		{"address", key + 8 + 8*3, []byte{0xff, 0xff, 0xff}, "boxes refers to"},
		{"content", chunk + 4, []byte{0xff, 0xff}, "boxes ends after"},
	} {
		err := readAll(slices.Replace(slices.Clone(b), c.at, c.at+len(c.b), c.b...))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s...", c.name, err, c.want)
		}
	}
}

// A cell array of version 7.3 that contains itself.
func TestHDF5Knot(t *testing.T) {
	b, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		t.Fatal(err)
	}
	f, err := hdf5.Open(bytes.NewReader(b), 512, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	h := &version73{File: f}
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range h.links(root) {
		if l.Name == "pair" { // its values are references, one after another
			refs := convert(h.data(h.object(l.Address)), array.ToInt64)
			at := bytes.Index(b, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(refs[0])), uint64(refs[1])))
			binary.LittleEndian.PutUint64(b[at:], l.Address)
		}
	}
	if err := readAll(b); err == nil || !strings.HasPrefix(err.Error(), `the variable "pair" has cells or structs nested more than 32 deep`) {
		t.Errorf("error %v, want one about nesting", err)
	}
}
