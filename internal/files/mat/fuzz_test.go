package mat

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

// checkAny asks for everything in a file of any bytes: there may be errors, but
// no panic, and as many values as the listing says.
func checkAny(t *testing.T, b []byte) {
	f, err := read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	for i, a := range f.Arrays() {
		if a.Len() > 1<<20 { // a sparse matrix may be large in earnest
			continue
		}
		if v, err := f.Float32(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d values in %+v", len(v), a)
		}
		if len(a.Shape) == 2 {
			if v, err := f.Turned(i); err == nil && len(v) != a.Len() {
				t.Errorf("%d turned values in %+v", len(v), a)
			}
		}
		if v, err := f.Int64(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d whole values in %+v", len(v), a)
		}
		if v, err := f.Text(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d strings in %+v", len(v), a)
		}
	}
}

func FuzzMat5(f *testing.F) {
	for _, w := range []writer{little, big} {
		m := [][]byte{
			w.double("x", 2, 3, 1, 2, 3, 4, 5, 6),
			w.matrix("i", mxDouble+4, 2, []int{2, 1, 2}, w.numbers(3, 1, -2, 3, 4)),
			w.matrix("z", mxSingle, 8, []int{1, 1}, w.numbers(7, 1), w.numbers(7, 2)),
			w.cell("c", []int{1, 3}, w.double("", 1, 1, 7), w.cell("", []int{1, 1}, w.char("", "é")), w.element(miMatrix, nil)),
			w.cell("names", []int{2, 1}, w.char("", "ant"), w.char("", "bee")),
			w.matrix("rows", mxChar, 0, []int{2, 2}, w.numbers(4, 'a', 0xd835, 'b', 0xdcb3)),
			w.structs("s", []int{2, 1}, []string{"x", "y"}, w.double("", 1, 1, 1), w.char("", "a"), w.double("", 0, 3), w.cell("", []int{0, 0})),
			w.sparse("thin", 0, []int{3, 2}, []float64{0, 2, 1}, []float64{0, 2, 3}, []float64{5, 6, 7}),
			w.matrix("f", mxFunction, 0, []int{1, 1}, w.double("", 1, 1, 1)),
		}
		for _, v := range m {
			f.Add(w.file(v))
			f.Add(w.file(w.deflated(v)))
		}
		f.Add(w.file(m...))
	}
	f.Fuzz(checkAny)
}

func FuzzMat73(f *testing.F) {
	b, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[512:]) // without the part before the superblock
	for at := 512; at < len(b); at += 97 {
		f.Add(slices.Replace(slices.Clone(b), at, at+1, b[at]^0x41))
	}
	f.Fuzz(checkAny)
}
