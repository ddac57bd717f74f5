package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/npy"
)

var nan = float32(math.NaN())

// folder is a directory of made files. Its methods return the path written.
type folder struct {
	*testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) write(name string, content []byte) string {
	f.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		f.Fatal(err)
	}
	return path
}

// text writes lines.
func (f folder) text(name string, lines ...string) string {
	f.Helper()
	return f.write(name, []byte(strings.Join(lines, "\n")+"\n"))
}

// entry is an array to write: data is a []float32, an []int64, a []entry (the
// cells of a cell array, in MATLAB files) or a []string (likewise, of text).
type entry struct {
	name  string
	shape []int
	data  any
}

// matrix is an entry of rows x cols distinct values, row after row.
func matrix(name string, rows, cols int) entry {
	return entry{name, []int{rows, cols}, ramp(rows, cols, 0)}
}

// ramp returns a rows x cols matrix of value(i, k) + shift, row after row.
func ramp(rows, cols int, shift float32) []float32 {
	a := make([]float32, 0, rows*cols)
	for i := range rows {
		for k := range cols {
			a = append(a, value(i, k)+shift)
		}
	}
	return a
}

func value(i, k int) float32 { return float32(1000*k + i + 1) }

// flip returns the rows x cols matrix a column after column.
func flip[T any](a []T, rows, cols int) []T {
	out := make([]T, 0, len(a))
	for k := range cols {
		for i := range rows {
			out = append(out, a[i*cols+k])
		}
	}
	return out
}

func labels(values ...int64) entry { return entry{"labels", []int{len(values)}, values} }

func ints(name string, values ...int64) entry { return entry{name, []int{len(values), 1}, values} }

func (f folder) npy(name string, a entry) string {
	f.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, a.shape, a.data); err != nil {
		f.Fatal(err)
	}
	return f.write(name, b.Bytes())
}

func (f folder) npz(name string, arrays ...entry) string {
	f.Helper()
	var b bytes.Buffer
	w := npy.NewWriter(&b)
	for _, a := range arrays {
		if err := w.Add(a.name, a.shape, a.data); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return f.write(name, b.Bytes())
}

// mat writes an uncompressed MATLAB file of version 5.
func (f folder) mat(name string, arrays ...entry) string {
	f.Helper()
	b := append(bytes.Repeat([]byte{' '}, 124), 0, 1, 'I', 'M')
	copy(b, "MATLAB 5.0 MAT-file")
	for _, a := range arrays {
		b = append(b, a.element()...)
	}
	return f.write(name, b)
}

// element returns the array as an element of a MATLAB file.
func (a entry) element() []byte {
	const int8s, uint16s, int32s, uint32s, doubles, matrices = 1, 4, 5, 6, 9, 14
	class, sides := uint32(6), a.shape
	if len(sides) == 1 {
		sides = []int{sides[0], 1}
	}
	var content []byte
	switch data := a.data.(type) {
	case []float32:
		var b []byte
		for _, x := range flip(data, sides[0], sides[1]) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
		}
		content = tagged(doubles, b)
	case []int64:
		var b []byte
		for _, x := range flip(data, sides[0], sides[1]) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(x)))
		}
		content = tagged(doubles, b)
	case []entry:
		class, sides = 1, []int{1, len(data)}
		for _, c := range data {
			c.name = ""
			content = append(content, c.element()...)
		}
	case []string:
		class, sides = 1, []int{len(data), 1}
		for _, s := range data {
			content = append(content, entry{"", []int{1, len(s)}, s}.element()...)
		}
	case string:
		class = 4
		var b []byte
		for _, c := range []byte(data) {
			b = append(b, c, 0)
		}
		content = tagged(uint16s, b)
	}
	var dims []byte
	for _, s := range sides {
		dims = binary.LittleEndian.AppendUint32(dims, uint32(s))
	}
	flags := binary.LittleEndian.AppendUint32(nil, class)
	flags = append(flags, 0, 0, 0, 0)
	return tagged(matrices, slices.Concat(tagged(uint32s, flags), tagged(int32s, dims), tagged(int8s, []byte(a.name)), content))
}

// tagged puts a type and a length before content, and blanks behind it.
func tagged(kind uint32, content []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = append(b, content...)
	return append(b, make([]byte, -len(content)&7)...)
}

// load calls Load and fails the test where it fails.
func (f folder) load(opt Options, sources ...string) *Set {
	f.Helper()
	set, err := Load(f.Context(), sources, opt)
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range set.Views {
		if err := v.Validate(); err != nil {
			f.Fatal(err)
		}
		if v.Samples != set.Views[0].Samples || set.IDs != nil && len(set.IDs) != v.Samples {
			f.Fatalf("%s has %d samples, %s %d, with %d ids", v.Name, v.Samples, set.Views[0].Name, set.Views[0].Samples, len(set.IDs))
		}
		for i := range v.Samples {
			if present := slices.ContainsFunc(v.Row(i), func(x float32) bool { return x == x }); present != v.Has(i) {
				f.Fatalf("%s: sample %d is %v, and marked as present: %v", v.Name, i, v.Row(i), v.Has(i))
			}
		}
	}
	return set
}

// refuse checks that Load fails with an error that has all the words.
func (f folder) refuse(opt Options, sources []string, words ...string) {
	f.Helper()
	f.mentions(f.refusal(opt, sources), words...)
}

// refusal returns the error of Load and fails the test where there is none.
func (f folder) refusal(opt Options, sources []string) error {
	f.Helper()
	set, err := Load(f.Context(), sources, opt)
	if err == nil {
		f.Fatalf("no error; notes %q", set.Notes)
	}
	return err
}

func (f folder) mentions(err error, words ...string) {
	f.Helper()
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			f.Errorf("the error %q does not mention %q", err, w)
		}
	}
}

// short returns "name samples x dims" for each view, with the number of samples
// that have it if they are not all.
func (s *Set) short() []string {
	var out []string
	for _, v := range s.Views {
		line := fmt.Sprintf("%s %d x %d", v.Name, v.Samples, v.Dims)
		if n := v.Count(); n < v.Samples {
			line += fmt.Sprintf(" of %d", n)
		}
		out = append(out, line)
	}
	return out
}

// shows checks what the views are.
func (f folder) shows(set *Set, want ...string) {
	f.Helper()
	if got := set.short(); !slices.Equal(got, want) {
		f.Errorf("views %q, want %q", got, want)
	}
}
