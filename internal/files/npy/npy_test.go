package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

// npyFile returns the bytes of a .npy file.
func npyFile(version byte, header string, values []byte) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), values...)
}

// dict returns the text of a header.
func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

// entry is a member of a zip archive.
type entry struct {
	name   string
	method uint16
	data   []byte
}

// zipFile returns the bytes of an archive.
func zipFile(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rawZip returns an archive of one member whose header says what f says.
func rawZip(t testing.TB, f zip.FileHeader, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	m, err := w.CreateRaw(&f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// parse lists the arrays of b as Open would.
func parse(b []byte) (*file, error) {
	members, err := list(bytes.NewReader(b), int64(len(b)))
	return &file{members: members}, err
}

func mustParse(t testing.TB, b []byte) *file {
	t.Helper()
	f, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantError checks that err is one sentence that holds want.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

// values returns n random values of type T, the ends of its range among them.
func values[T array.Number](rng *rand.Rand, n int, ends ...T) []T {
	v := make([]T, n)
	for i := range v {
		if T(1)/2 != 0 {
			v[i] = T(rng.NormFloat64() * 1000)
		} else {
			v[i] = T(rng.Uint64())
		}
	}
	copy(v, ends)
	return v
}

// roundTrip checks that vals come back in every order of bytes and of indices,
// by every version, alone and from an archive.
func roundTrip[T array.Number](t *testing.T, code string, vals []T) {
	t.Helper()
	wantF := make([]float32, len(vals))
	wantI := make([]int64, len(vals))
	wantT := make([]string, len(vals))
	intsFit := true
	for i, v := range vals {
		wantF[i], wantI[i] = float32(v), int64(v)
		wantT[i] = fmt.Sprint(v)
		if f, err := strconv.ParseFloat(wantT[i], 64); T(1)/2 != 0 && err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<63 {
			wantT[i] = strconv.FormatInt(int64(v), 10)
		}
		intsFit = intsFit && T(int64(v)) == v && (int64(v) < 0) == (v < 0)
	}
	kind := array.Int
	if code[0] == 'f' {
		kind = array.Float
	}
	for _, order := range []string{"<", ">"} {
		var data []byte
		var err error
		if order == "<" {
			data, err = binary.Append(nil, binary.LittleEndian, vals)
		} else {
			data, err = binary.Append(nil, binary.BigEndian, vals)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, fortran := range []string{"False", "True"} {
			for version := byte(1); version <= 3; version++ {
				if version > 1 && len(vals) > 100 {
					break
				}
				b := npyFile(version, dict(order+code, fortran, fmt.Sprintf("(%d, 2)", len(vals)/2)), data)
				for _, b := range [][]byte{b,
					zipFile(t, entry{"a.npy", zip.Deflate, b}),
					zipFile(t, entry{"a.npy", zip.Store, b})} {
					f := mustParse(t, b)
					info := f.Arrays()[0]
					if !slices.Equal(info.Shape, []int{len(vals) / 2, 2}) || info.Kind != kind || info.ColumnMajor != (fortran == "True") {
						t.Fatalf("%s%s: wrong description %+v", order, code, info)
					}
					if got, err := f.Float32(0); err != nil || !slices.Equal(got, wantF) {
						t.Fatalf("%s%s: Float32 gives %v, %v; want %v", order, code, got, err, wantF)
					}
					if got, err := f.Turned(0); err != nil || !slices.Equal(got, turned(wantF, info)) {
						t.Fatalf("%s%s: Turned gives %v, %v", order, code, got, err)
					}
					if got, err := f.Text(0); err != nil || !slices.Equal(got, wantT) {
						t.Fatalf("%s%s: Text gives %v, %v; want %v", order, code, got, err, wantT)
					}
					if got, err := f.Int64(0); (err == nil) != intsFit || intsFit && !slices.Equal(got, wantI) {
						t.Fatalf("%s%s: Int64 gives %v, %v; want %v", order, code, got, err, wantI)
					}
					fits := intsFit && !slices.ContainsFunc(wantI, func(x int64) bool { return int64(int32(x)) != x })
					got, err := Int32(f, 0)
					if (err == nil) != fits {
						t.Fatalf("%s%s: Int32 of %v gives %v, %v", order, code, wantI, got, err)
					}
					for k, x := range got {
						if int64(x) != wantI[k] {
							t.Fatalf("%s%s: Int32 gives %v; want %v", order, code, got, wantI)
						}
					}
				}
			}
		}
	}
}

// turned returns the values of a matrix in the other order.
func turned(vals []float32, info array.Info) []float32 {
	out := make([]float32, len(vals))
	info.Turn(out, 0, vals)
	return out
}

// A matrix of several blocks is turned as one, and an error tells the place.
func TestTurnedBlocks(t *testing.T) {
	const rows, cols = 3, turnBlock/2 + 7
	data := make([]byte, rows*cols)
	for i := range data {
		data[i] = byte(i % 251)
	}
	f := mustParse(t, npyFile(1, dict("|u1", "False", fmt.Sprintf("(%d, %d)", rows, cols)), data))
	vals, err := f.Float32(0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Turned(0); err != nil || !slices.Equal(got, turned(vals, f.Arrays()[0])) {
		t.Errorf("wrong values, %v", err)
	}
	wide := make([]byte, 8*rows*cols)
	binary.LittleEndian.PutUint64(wide[8*(2*cols+5):], math.Float64bits(1e300))
	f = mustParse(t, npyFile(1, dict("<f8", "False", fmt.Sprintf("(%d, %d)", rows, cols)), wide))
	_, err = f.Turned(0)
	wantError(t, err, "at [2 5] is 1e+300")
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 30, blockBytes + 6} {
		roundTrip(t, "i1", values[int8](rng, n, math.MinInt8, math.MaxInt8))
		roundTrip(t, "i2", values[int16](rng, n, math.MinInt16, math.MaxInt16))
		roundTrip(t, "i4", values[int32](rng, n, math.MinInt32, math.MaxInt32))
		roundTrip(t, "i8", values[int64](rng, n, math.MinInt64, math.MaxInt64))
		roundTrip(t, "u1", values[uint8](rng, n, 0, math.MaxUint8))
		roundTrip(t, "u2", values[uint16](rng, n, 0, math.MaxUint16))
		roundTrip(t, "u4", values[uint32](rng, n, 0, math.MaxUint32))
		roundTrip(t, "u8", values[uint64](rng, n, 0, math.MaxUint64))
		roundTrip(t, "u8", []uint64{0, 1, math.MaxInt64, 1 << 62})
		roundTrip(t, "f4", values[float32](rng, n, math.MaxFloat32, 0.1))
		roundTrip(t, "f4", []float32{-3, 0, 1 << 23, -1 << 40})
		roundTrip(t, "f8", values[float64](rng, n, math.Pi, -math.MaxFloat32))
		roundTrip(t, "f8", []float64{-3, 1 << 53, 1e6, -1 << 63})
	}
}

func TestBool(t *testing.T) {
	for _, descr := range []string{"|b1", "<b1", "b1"} {
		f := mustParse(t, npyFile(1, dict(descr, "False", "(3,)"), []byte{0, 1, 255}))
		if got, err := f.Int64(0); err != nil || !slices.Equal(got, []int64{0, 1, 1}) {
			t.Errorf("%s: got %v, %v", descr, got, err)
		}
	}
}

func TestHalf(t *testing.T) {
	halves := make([]uint16, 1<<16)
	for i := range halves {
		halves[i] = uint16(i)
	}
	for _, order := range []string{"<", ">"} {
		data, _ := binary.Append(nil, binary.LittleEndian, halves)
		if order == ">" {
			data, _ = binary.Append(nil, binary.BigEndian, halves)
		}
		f := mustParse(t, npyFile(1, dict(order+"f2", "False", "(65536,)"), data))
		got, err := f.Float32(0)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			exp, frac := i>>10&31, float64(i&1023)
			want := math.Ldexp(1+frac/1024, exp-15)
			switch {
			case exp == 0:
				want = math.Ldexp(frac, -24)
			case exp == 31 && frac == 0:
				want = math.Inf(1)
			case exp == 31:
				want = math.NaN()
			}
			if i>>15 == 1 {
				want = -want
			}
			if y := float32(want); x != y && (x == x || y == y) || y == y && math.Signbit(float64(x)) != math.Signbit(want) {
				t.Fatalf("half %#x is %v, want %v", i, x, want)
			}
		}
	}
	f := mustParse(t, npyFile(1, dict("<f2", "False", "(2,)"), []byte{0, 0x3c, 0x66, 0x2e}))
	if got, err := f.Text(0); err != nil || !slices.Equal(got, []string{"1", "0.099975586"}) {
		t.Errorf("halves as text: %q, %v", got, err)
	}
}

func TestText(t *testing.T) {
	want := []string{"ångström", "", "日本", "a\x00b", "𝛼"}
	for _, order := range []string{"<", ">"} {
		var data []byte
		for _, s := range want {
			item := make([]uint32, 8)
			for i, r := range []rune(s) {
				item[i] = uint32(r)
			}
			if order == "<" {
				data, _ = binary.Append(data, binary.LittleEndian, item)
			} else {
				data, _ = binary.Append(data, binary.BigEndian, item)
			}
		}
		f := mustParse(t, npyFile(3, dict(order+"U8", "False", "(5,)"), data))
		if got, err := f.Text(0); err != nil || !slices.Equal(got, want) {
			t.Errorf("%sU8: got %q, %v", order, got, err)
		}
		if f.Arrays()[0].Kind != array.Text {
			t.Errorf("%sU8 is not text", order)
		}
		_, err := f.Float32(0)
		wantError(t, err, "holds text where numbers are wanted")
		_, err = f.Int64(0)
		wantError(t, err, "holds text where numbers are wanted")
	}
	f := mustParse(t, npyFile(1, dict("|S3", "False", "(4,)"), []byte("abcd\x00\x00\x00\x00\x00ef\x00")))
	if got, err := f.Text(0); err != nil || !slices.Equal(got, []string{"abc", "d", "", "ef"}) {
		t.Errorf("S3: got %q, %v", got, err)
	}
	f = mustParse(t, npyFile(1, dict("<U1", "False", "(1, 2)"), []byte{65, 0, 0, 0, 0, 0xd8, 0, 0}))
	_, err := f.Text(0)
	wantError(t, err, "at [0 1] has the character 0xd800")
}

func TestBadValues(t *testing.T) {
	f8 := func(v ...float64) []byte { b, _ := binary.Append(nil, binary.LittleEndian, v); return b }
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		descr, fortran string
		data           []byte
		floats, ints   string // what the error says; empty for none
	}{
		{"<f8", "False", f8(0, 0, 0, 1e39, 0, 0), "at [1 1] is 1e+39, which is beyond the largest float32", "at [1 1] is 1e+39, not a whole number"},
		{"<f8", "True", f8(0, 0, 0, 1e39, 0, 0), "at [0 1] is 1e+39", "at [0 1] is"},
		{"<f8", "False", f8(0, 0, -1e300, 0, 0, 0), "at [1 0] is -1e+300", "at [1 0]"},
		{"<f8", "False", f8(0, nan, 0, inf, 0, -inf), "", "at [0 1] is NaN, not a whole number"},
		{"<f8", "False", f8(0, 1, 2, 3, 4, 2.5), "", "at [2 1] is 2.5"},
		{"<f8", "False", f8(0, 1, 2, 3, 4, 1<<63), "", "at [2 1] is 9.2233"},
		{"<f8", "False", f8(0, 1, 2, 3, 4, -1<<63), "", ""},
		{"<f8", "False", f8(0, inf, 2, 3, 4, 0), "", "at [0 1] is +Inf"},
		{"<u8", "False", bytes.Repeat([]byte{0xff}, 48), "", "at [0 0] is 18446744073709551615, not a whole number of at most 63 bits"},
	} {
		f := mustParse(t, npyFile(1, dict(c.descr, c.fortran, "(3, 2)"), c.data))
		_, err := f.Float32(0)
		if c.floats != "" {
			wantError(t, err, c.floats)
		} else if err != nil {
			t.Error(err)
		}
		_, err = f.Int64(0)
		if c.ints != "" {
			wantError(t, err, c.ints)
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape, fortran string
		want           []int
		columnMajor    bool
	}{
		{"()", "True", []int{}, false},
		{"(1,)", "True", []int{1}, false},
		{"(1L, 1L)", "True", []int{1, 1}, true},
		{"( 1 ,1,1 , )", "False", []int{1, 1, 1}, false},
	} {
		f := mustParse(t, npyFile(1, dict("|i1", c.fortran, c.shape), []byte{7}))
		info := f.Arrays()[0]
		if !slices.Equal(info.Shape, c.want) || info.ColumnMajor != c.columnMajor || info.Len() != 1 {
			t.Errorf("%s: %+v", c.shape, info)
		}
		if got, err := f.Float32(0); err != nil || !slices.Equal(got, []float32{7}) {
			t.Errorf("%s: %v, %v", c.shape, got, err)
		}
	}
	// Empty arrays, and the keys in another order with other quotes.
	for _, descr := range []string{"<f4", "<f8", "<f2", "|S5", "<U200000000"} {
		f := mustParse(t, npyFile(2, `{"shape":(0,3),"fortran_order":False,"descr":"`+descr+`"}`, nil))
		if got, err := f.Text(0); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", descr, got, err)
		}
	}
}

func TestBadHeaders(t *testing.T) {
	ok := dict("<f4", "False", "(1,)")
	for _, c := range []struct {
		name, header, want string
	}{
		{"empty", "", `"" stands where { should`},
		{"no dictionary", "[1, 2]", "stands where { should"},
		{"no end", strings.TrimSuffix(strings.TrimSpace(ok), "}"), "stands where a new key should"},
		{"text after", ok + "x", `"x" follows its end`},
		{"no key", "{'descr': '<f4', 'shape': (1,)}", `lacks the key "fortran_order"`},
		{"twice", "{'descr': '<f4', 'descr': '<f4'}", "new key"},
		{"unknown", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", `unknown key "x"`},
		{"key inside a value", "{'descr': \"'shape': (1,)\", 'fortran_order': False}", `lacks the key "shape"`},
		{"no colon", "{'descr' '<f4'}", "stands where a colon should"},
		{"no comma", "{'descr': '<f4' 'fortran_order': False}", "stands where a comma or } should"},
		{"open string", "{'descr': '<f4}", "stands where the type should"},
		{"lone quote", "{'", "new key"},
		{"backslash", `{'descr': '\x3cf4'}`, "stands where the type should"},
		{"fortran", dict("<f4", "1", "(1,)"), "not True or False"},
		{"negative", dict("<f4", "False", "(-1,)"), "stands where a length should"},
		{"too long", dict("<f4", "False", "(99999999999999999999,)"), "stands where a length should"},
		{"no tuple", dict("<f4", "False", "(1)"), "no tuple"},
		{"list", dict("<f4", "False", "[1]"), "stands where ( should"},
		{"commas", dict("<f4", "False", "(,)"), "stands where a length should"},
		{"sides", dict("<f4", "False", "("+strings.Repeat("1,", 65)+")"), "more than 64 sides"},
		{"overflow", dict("<f4", "False", "(4294967296, 4294967296)"), "does not fit any memory"},
		{"overflow by zero", dict("<f4", "False", "(4294967296, 4294967296, 0)"), "does not fit any memory"},
		{"overflow by size", dict("<f8", "False", "(1152921504606846976,)"), "does not fit any memory"},
		{"huge", dict("<f4", "False", "(1152921504606846976,)"), "is truncated to"},
		{"objects", dict("|O", "False", "(1,)"), "Python objects, which only Python can read; save it as a plain array"},
		{"records", "{'descr': [('a', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (1,)}", "save each field"},
		{"open records", "{'descr': [('a', '<f4'", "no end"},
		{"complex", dict("<c8", "False", "(1,)"), `the type "<c8"`},
		{"time", dict("<M8[ns]", "False", "(1,)"), `the type "<M8[ns]"`},
		{"no order", dict("f4", "False", "(1,)"), `the type "f4"`},
		{"bar order", dict("|f4", "False", "(1,)"), `the type "|f4"`},
		{"two orders", dict("<>f4", "False", "(1,)"), `the type "<>f4"`},
		{"empty type", dict("", "False", "(1,)"), `the type ""`},
		{"no size", dict("<U", "False", "(1,)"), `the type "<U"`},
		{"zero size", dict("|S0", "False", "(1152921504606846976,)"), `the type "|S0"`},
		{"huge size", dict("|S99999999999", "False", "(1,)"), `the type "|S99999999999"`},
		{"large size", dict("<U200000000", "False", "(1,)"), "is truncated to"},
		{"f16", dict("<f16", "False", "(1,)"), `the type "<f16"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for version := byte(1); version <= 3; version++ {
				b := npyFile(version, c.header, make([]byte, 4))
				_, err := parse(b)
				wantError(t, err, c.want)
				_, err = parse(zipFile(t, entry{"a.npy", zip.Deflate, b}))
				wantError(t, err, c.want)
				wantError(t, err, `array "a" `)
			}
		})
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty file", nil, "is empty"},
		{"text", []byte("hello, world"), `begins with "hello,"`},
		{"version 4", npyFile(4, ok, make([]byte, 4)), "version 4.0"},
		{"version 1.1", append([]byte("\x93NUMPY\x01\x01"), npyFile(1, ok, make([]byte, 4))[8:]...), "version 1.1"},
		{"long header", npyFile(2, ok+strings.Repeat(" ", maxHeader), make([]byte, 4)), "a header of"},
		{"header beyond the end", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"), "is truncated to 13 bytes, where its header alone takes 4294967307;"},
	} {
		_, err := parse(c.b)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestLength(t *testing.T) {
	whole := npyFile(1, dict("<f4", "False", "(5, 3)"), make([]byte, 60))
	mustParse(t, whole)
	for n := range whole {
		if _, err := parse(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a whole file", n, len(whole))
		}
		if _, err := parse(zipFile(t, entry{"a.npy", zip.Deflate, whole[:n]})); err == nil {
			t.Fatalf("a member of %d of %d bytes is taken for whole", n, len(whole))
		}
	}
	_, err := parse(whole[:len(whole)-7])
	wantError(t, err, fmt.Sprintf("is truncated to %d bytes, where its header promises %d;", len(whole)-7, len(whole)))
	_, err = parse(append(whole, 1, 2, 3))
	wantError(t, err, fmt.Sprintf("goes on to byte %d, where its header promises an end after %d;", len(whole)+3, len(whole)))
	_, err = parse(zipFile(t, entry{"a.npy", zip.Store, append(whole, 1, 2, 3)}))
	wantError(t, err, fmt.Sprintf("goes on to byte %d, where its header promises an end after %d;", len(whole)+3, len(whole)))
}

// readAll returns the first error of reading all that b holds, text as text.
func readAll(b []byte) error {
	f, err := parse(b)
	if err != nil {
		return err
	}
	for i := range f.members {
		if _, err := f.Text(i); err != nil {
			return err
		}
	}
	return nil
}

// smallFiles returns files that can be read as a whole.
func smallFiles(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	var members []entry
	for i, b := range seeds() {
		if readAll(b) == nil {
			files[fmt.Sprintf("%d.npy", i)] = b
			members = append(members, entry{fmt.Sprintf("%d.npy", i), uint16(i % 2 * 8), b})
		}
	}
	files["stored.npz"] = zipFile(t, entry{"a.npy", zip.Store, members[0].data})
	files["deflated.npz"] = zipFile(t, entry{"a.npy", zip.Deflate, members[0].data})
	files["all.npz"] = zipFile(t, members...)
	return files
}

func TestEveryTruncation(t *testing.T) {
	for name, b := range smallFiles(t) {
		if err := readAll(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range b {
			if readAll(b[:n]) == nil {
				t.Errorf("%s is read from %d of %d bytes", name, n, len(b))
			}
		}
	}
}

// One wrong byte is an error or other values, and nothing worse.
func TestEveryWrongByte(t *testing.T) {
	for _, b := range smallFiles(t) {
		for at, right := range b {
			for _, wrong := range []byte{right ^ 1, ^right} {
				b[at] = wrong
				check(t, b)
			}
			b[at] = right
		}
	}
}

// A file that shrinks after it was opened is noticed too.
func TestShrunk(t *testing.T) {
	b := npyFile(1, dict("<f8", "False", "(100,)"), make([]byte, 800))
	r := bytes.NewReader(b)
	f, err := Open(r, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	r.Reset(b[:len(b)-250])
	_, err = f.Float32(0)
	wantError(t, err, "the array is damaged: its values are not all there")
}

func TestZip(t *testing.T) {
	one := npyFile(1, dict("|i1", "False", "(1,)"), []byte{1})
	two := npyFile(1, dict("|i1", "False", "(2,)"), []byte{1, 2})
	objects := npyFile(1, dict("|O", "False", "(3,)"), []byte("pickle"))
	f := mustParse(t, zipFile(t,
		entry{"z.npy", zip.Deflate, one},
		entry{"notes.txt", zip.Deflate, []byte("no array")},
		entry{"dir/", zip.Store, nil},
		entry{"dir/a.npy", zip.Store, two},
		entry{"objects.npy", zip.Store, objects}))
	var names []string
	for _, info := range f.Arrays() {
		names = append(names, info.Name)
	}
	if !slices.Equal(names, []string{"z", "dir/a", "objects"}) {
		t.Fatalf("arrays %q", names)
	}
	if got, err := f.Int64(1); err != nil || !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if info := f.Arrays()[2]; info.Kind != array.Text || !slices.Equal(info.Shape, []int{3}) {
		t.Errorf("objects are described as %+v", info)
	}
	_, err := f.Text(2)
	wantError(t, err, `array "objects" holds Python objects`)

	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"no array", zipFile(t, entry{"a.txt", zip.Store, nil}), "holds no array"},
		{"empty archive", zipFile(t), "holds no array"},
		{"only objects", zipFile(t, entry{"o.npy", zip.Store, objects}), `array "o" holds Python objects`},
		{"no npy", zipFile(t, entry{"a.npy", zip.Store, []byte("hello, world")}), `array "a" begins with "hello,"`},
		{"truncated", zipFile(t, entry{"a.npy", zip.Store, one})[:100], "damaged or truncated"},
		{"encrypted", rawZip(t, zip.FileHeader{Name: "a.npy", Flags: 1}, nil), "is encrypted"},
		{"method", rawZip(t, zip.FileHeader{Name: "a.npy", Method: 12}, nil), "zip method 12"},
		{"stored size", rawZip(t, zip.FileHeader{Name: "a.npy", CompressedSize64: uint64(len(one)), UncompressedSize64: 1 << 40}, one), "cannot hold its full size, 1099511627776;"},
		{"sizes beyond the file", rawZip(t, zip.FileHeader{Name: "a.npy", CompressedSize64: 1 << 62, UncompressedSize64: 1 << 62}, one), "cannot hold"},
	} {
		_, err := parse(c.b)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestZipDamage(t *testing.T) {
	b := npyFile(1, dict("|u1", "False", "(1000,)"), bytes.Repeat([]byte{3}, 1000))
	header := zip.FileHeader{Name: "a.npy", CRC32: crc32.ChecksumIEEE(b) + 1, CompressedSize64: uint64(len(b)), UncompressedSize64: uint64(len(b))}
	f := mustParse(t, rawZip(t, header, b))
	_, err := f.Float32(0)
	wantError(t, err, `array "a" is damaged: zip: checksum error`)

	// A deflated stream that ends before the promised size.
	var short bytes.Buffer
	archive := zipFile(t, entry{"a.npy", zip.Deflate, b[:len(b)-300]})
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := z.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&short, r); err != nil {
		t.Fatal(err)
	}
	header.Method, header.CompressedSize64 = zip.Deflate, uint64(short.Len())
	f = mustParse(t, rawZip(t, header, short.Bytes()))
	_, err = f.Int64(0)
	wantError(t, err, `array "a" is damaged: its values are not all there`)
}

// allocated returns the bytes that do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBomb checks that sizes which the bytes cannot hold are refused before
// memory is taken for them.
func TestBomb(t *testing.T) {
	head := npyFile(1, dict("<f4", "False", "(4000000000,)"), nil)
	total := uint64(len(head)) + 16e9
	for name, b := range map[string][]byte{
		"npy":   head,
		"npz":   rawZip(t, zip.FileHeader{Name: "a.npy", UncompressedSize64: total, CompressedSize64: uint64(len(head))}, head),
		"ratio": rawZip(t, zip.FileHeader{Name: "a.npy", Method: zip.Deflate, UncompressedSize64: total, CompressedSize64: 8 << 10}, make([]byte, 8<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			used := allocated(func() {
				if _, err := parse(b); err == nil {
					t.Error("no error")
				}
			})
			if used > 4<<20 {
				t.Errorf("%d bytes of memory taken", used)
			}
		})
	}
	// What deflate can really do is still read.
	zeros := npyFile(1, dict("|u1", "False", "(3000000,)"), make([]byte, 3e6))
	f := mustParse(t, zipFile(t, entry{"a.npy", zip.Deflate, zeros}))
	if got, err := f.Float32(0); err != nil || len(got) != 3e6 {
		t.Errorf("%d values, %v", len(got), err)
	}
}

// TestOnce checks that a large array is not held twice.
func TestOnce(t *testing.T) {
	const n = 4 << 20
	for _, descr := range []string{"<f4", ">f4", "<f8", "<i2"} {
		b := npyFile(1, dict(descr, "False", fmt.Sprintf("(%d, 16)", n/16)), make([]byte, n*int(descr[2]-'0')))
		f := mustParse(t, b)
		zipped := mustParse(t, zipFile(t, entry{"a.npy", zip.Store, b}))
		for name, c := range map[string]struct {
			read  func(int) ([]float32, error)
			spare uint64
		}{
			"npy": {f.Float32, 1 << 20}, "npz": {zipped.Float32, 1 << 20},
			"npy, turned": {f.Turned, 4*turnBlock + 1<<20}, "npz, turned": {zipped.Turned, 4*turnBlock + 1<<20},
		} {
			used := allocated(func() {
				if _, err := c.read(0); err != nil {
					t.Error(err)
				}
			})
			if used > 4*n+c.spare {
				t.Errorf("%s, %s: %d bytes taken for %d", descr, name, used, 4*n)
			}
		}
	}
}

// An error of the reader is passed on.
func TestReaderFails(t *testing.T) {
	wrong := errors.New("wrong")
	b := npyFile(1, dict("<f4", "False", "(2, 100)"), make([]byte, 800))
	for _, b := range [][]byte{b, zipFile(t, entry{"a.npy", zip.Deflate, b})} {
		in := &failing{Reader: bytes.NewReader(b)}
		f, err := Open(in, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		in.err = wrong
		for name, read := range map[string]func(int) ([]float32, error){"Float32": f.Float32, "Turned": f.Turned} {
			if _, err := read(0); !errors.Is(err, wrong) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := Open(in, int64(len(b))); !errors.Is(err, wrong) {
			t.Errorf("Open: %v", err)
		}
	}
}

// failing is a reader that fails once err is set.
type failing struct {
	*bytes.Reader
	err error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.ReadAt(p, off)
}

func TestWrite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	floats := values[float32](rng, 100000, float32(math.Inf(-1)))
	ints := values[int64](rng, 24, math.MinInt64, math.MaxInt64)
	for _, c := range []struct {
		shape []int
		data  any
	}{
		{[]int{100000}, floats}, {[]int{500, 200}, floats}, {nil, floats[:1]}, {[]int{0, 7}, floats[:0]},
		{[]int{24}, ints}, {[]int{2, 3, 4}, ints}, {[]int{1, 24, 1}, ints}, {[]int{0}, []int64(nil)},
	} {
		var buf bytes.Buffer
		if err := Write(&buf, c.shape, c.data); err != nil {
			t.Fatal(err)
		}
		if start := 10 + int(binary.LittleEndian.Uint16(buf.Bytes()[8:])); start%64 != 0 || buf.Bytes()[start-1] != '\n' {
			t.Errorf("%v: values begin at %d", c.shape, start)
		}
		f := mustParse(t, buf.Bytes())
		if info := f.Arrays()[0]; !slices.Equal(info.Shape, c.shape) || info.ColumnMajor {
			t.Errorf("%v: %+v", c.shape, info)
		}
		switch data := c.data.(type) {
		case []float32:
			if got, err := f.Float32(0); err != nil || !slices.Equal(got, data) {
				t.Errorf("%v: wrong values, %v", c.shape, err)
			}
		case []int64:
			if got, err := f.Int64(0); err != nil || !slices.Equal(got, data) {
				t.Errorf("%v: wrong values, %v", c.shape, err)
			}
		}
	}
	var buf bytes.Buffer
	if err := Write(&buf, []int{2, 3}, make([]float32, 6)); err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + strings.Repeat(" ", 58) + "\n" + strings.Repeat("\x00", 24)
	if buf.String() != want {
		t.Errorf("wrote %q, want %q", buf.String(), want)
	}
	for _, c := range []struct {
		shape []int
		data  any
		want  string
	}{
		{[]int{2}, []float32{1}, "data of length 1 does not make"},
		{[]int{-1, -1}, []float32{1}, "no array has the shape"},
		{[]int{math.MaxInt, math.MaxInt}, []float32{1}, "no array has the shape"},
		{[]int{1}, []string{"a"}, "type []string cannot be written"},
		{slices.Repeat([]int{1}, 65), []int64{1}, "65 sides"},
	} {
		wantError(t, Write(io.Discard, c.shape, c.data), c.want)
		wantError(t, NewWriter(io.Discard).Add("a", c.shape, c.data), `array "a": `)
	}
}

// limited fails once n bytes are written.
type limited struct{ n int }

func (l *limited) Write(p []byte) (int, error) {
	if l.n -= len(p); l.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	for _, n := range []int{0, 128, 5000} {
		if err := Write(&limited{n}, []int{100000}, make([]float32, 100000)); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// Blocks of rows are those that lie in the file, and the digest of the members is that of their list.
func TestStored(t *testing.T) {
	const count, dims = 70, 400
	values := make([]float32, count*dims)
	for i := range values {
		values[i] = float32(i)
	}
	write := func(values []float32, seen func([]byte)) []byte {
		var b bytes.Buffer
		w := NewWriter(&b)
		rows := Rows[float32]{Count: count, Dims: dims, Row: func(i int) []float32 { return values[i*dims:][:dims] }, Block: seen}
		if err := errors.Join(w.Add("rows", []int{count, dims}, rows), w.Add("whole", []int{2}, []int32{1, 2}), w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var blocks [][]byte
	b := write(values, func(block []byte) { blocks = append(blocks, bytes.Clone(block)) })
	f := mustParse(t, b)
	stored := Stored(f, 0, "f4")
	if stored == nil || Stored(f, 1, "f4") != nil || Stored(f, 1, "i4") == nil {
		t.Fatal("the values that lie in the file are others")
	}
	all := make([]byte, 4*count*dims)
	if _, err := stored.ReadAt(all, 0); err != nil || int(stored.Size()) != len(all) {
		t.Fatal(stored.Size(), err)
	}
	if !bytes.Equal(all, bytes.Join(blocks, nil)) || math.Float32frombits(binary.LittleEndian.Uint32(all[4*dims:])) != dims {
		t.Error("the values in the file are others")
	}
	if each := BlockRows(dims); len(blocks) != (count+each-1)/each || len(blocks[0]) != 4*dims*each {
		t.Errorf("%d blocks, the first of %d bytes", len(blocks), len(blocks[0]))
	}
	members := func(b []byte) string {
		m, err := Members(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if members(b) != members(write(values, nil)) {
		t.Error("files of the same members differ")
	}
	values[7]++
	if members(b) == members(write(values, nil)) {
		t.Error("files of other members are taken for the same")
	}
	if _, err := Members(bytes.NewReader(b), int64(len(b)-1)); err == nil {
		t.Error("a file that is cut has members")
	}
}

func TestWriter(t *testing.T) {
	write := func() []byte {
		var buf bytes.Buffer
		w := NewWriter(&buf)
		for _, err := range []error{
			w.Add("view0", []int{2, 2}, []float32{1, 2, 3, 4}),
			w.Add("labels", []int{2}, []int64{7, 9}),
			w.Close(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return buf.Bytes()
	}
	b := write()
	if !bytes.Equal(b, write()) {
		t.Error("the same arrays give other bytes")
	}
	f := mustParse(t, b)
	if a := f.Arrays(); len(a) != 2 || a[0].Name != "view0" || a[1].Name != "labels" {
		t.Fatalf("%+v", a)
	}
	if got, err := f.Float32(0); err != nil || !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := f.Int64(1); err != nil || !slices.Equal(got, []int64{7, 9}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestRealData reads every .npz file of the evaluation data.
func TestRealData(t *testing.T) {
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.npz"))
	if len(paths) == 0 {
		t.Skip("no evaluation data; set MVCLUST_DATA to a folder of .npz files")
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parse(b)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		rows := -1
		for i, info := range f.Arrays() {
			if rows >= 0 && info.Shape[0] != rows {
				t.Errorf("%s: %s has %d rows after %d", path, info.Name, info.Shape[0], rows)
			}
			rows = info.Shape[0]
			x, err := f.Float32(i)
			if err != nil || len(x) != info.Len() {
				t.Errorf("%s: %d values, %v", path, len(x), err)
			}
			if info.Name == "labels" {
				if _, err := f.Int64(i); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
	}
}

// check reads everything that b can be read as.
func check(t *testing.T, b []byte) {
	f, err := parse(b)
	if err != nil {
		return
	}
	for i, info := range f.Arrays() {
		for _, s := range info.Shape {
			if s < 0 {
				t.Fatalf("shape %v", info.Shape)
			}
		}
		if info.Len() > 1<<22 {
			continue // real bytes, but too many for a fuzz run
		}
		if x, err := f.Float32(i); err == nil && len(x) != info.Len() {
			t.Errorf("%d of %d floats", len(x), info.Len())
		}
		if len(info.Shape) == 2 {
			if x, err := f.Turned(i); err == nil && len(x) != info.Len() {
				t.Errorf("%d of %d turned floats", len(x), info.Len())
			}
		}
		if x, err := f.Int64(i); err == nil && len(x) != info.Len() {
			t.Errorf("%d of %d integers", len(x), info.Len())
		}
		if x, err := f.Text(i); err == nil && len(x) != info.Len() {
			t.Errorf("%d of %d texts", len(x), info.Len())
		}
	}
}

// seeds returns a small file of each kind.
func seeds() [][]byte {
	var all [][]byte
	for i, descr := range []string{"<f2", ">f4", "<f8", "|b1", "|i1", ">i2", "<i4", "<i8", "|u1", "<u2", ">u4", "<u8", "|S2", "<U3", "|O"} {
		size := map[string]int{"|S2": 2, "<U3": 12, "|O": 1}[descr]
		if size == 0 {
			size = int(descr[2] - '0')
		}
		all = append(all, npyFile(byte(1+i%3), dict(descr, []string{"True", "False"}[i%2], "(2, 1)"), bytes.Repeat([]byte{1}, 2*size)))
	}
	return append(all,
		npyFile(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1L,), }", make([]byte, 4)),
		npyFile(2, dict("<f4", "False", "()"), make([]byte, 4)))
}

func FuzzNpy(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(check)
}

func FuzzNpz(f *testing.F) {
	for i, b := range seeds() {
		f.Add(zipFile(f, entry{"a.npy", uint16(i % 2 * 8), b}, entry{"b.npy", 8, b}, entry{"c.txt", 0, nil}))
	}
	f.Fuzz(check)
}

func BenchmarkRead(b *testing.B) {
	const n = 16 << 20
	for _, descr := range []string{"<f4", ">f4", "<f8", "<f2", "<i8", "|u1"} {
		b.Run(descr[1:]+map[byte]string{'<': " little", '>': " big", '|': ""}[descr[0]], func(b *testing.B) {
			data := npyFile(1, dict(descr, "False", fmt.Sprintf("(%d,)", n)), make([]byte, n*int(descr[2]-'0')))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mustParse(b, data).Float32(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadDeflated(b *testing.B) {
	const n = 1 << 20
	vals := values[float32](rand.New(rand.NewPCG(5, 6)), n)
	data, _ := binary.Append(nil, binary.LittleEndian, vals)
	archive := zipFile(b, entry{"a.npy", zip.Deflate, npyFile(1, dict("<f4", "False", fmt.Sprintf("(%d,)", n)), data)})
	b.SetBytes(4 * n)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mustParse(b, archive).Float32(0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	data := make([]float32, 1<<20)
	b.SetBytes(4 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, []int{len(data)}, data); err != nil {
			b.Fatal(err)
		}
	}
}
