package column

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

var nan = float32(math.NaN())

// source is columns in memory.
type source struct {
	rows    int
	columns []Info
	chunks  [][]Chunk
	err     error
}

func (s *source) Rows() int                    { return s.rows }
func (s *source) Columns() []Info              { return s.columns }
func (s *source) Scratch(k int) (int64, error) { return int64(10 * k), nil }
func (s *source) Notes() []string              { return []string{"a note"} }
func (s *source) Scan(k int, take func(Chunk) error) error {
	for _, c := range s.chunks[k] {
		if err := take(c); err != nil {
			return err
		}
	}
	return s.err
}

// add adds a column.
func (s *source) add(name string, list bool, chunks ...Chunk) *source {
	info := Info{Name: name, List: list}
	switch chunks[0].Values.(type) {
	case []string:
		info.Kind = array.Text
	case []int64, []uint8, []uint64:
		info.Kind = array.Int
	}
	s.columns = append(s.columns, info)
	s.chunks = append(s.chunks, chunks)
	return s
}

// one is a column of a single chunk.
func one(values any, lengths ...int32) Chunk { return Chunk{Values: values, Lengths: lengths} }

func mustNew(t *testing.T, s *source) *Table {
	t.Helper()
	tab, err := New(s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// same compares, for which NaN is NaN.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error %v does not say %q", err, w)
		}
	}
}

func TestTable(t *testing.T) {
	s := &source{rows: 3}
	s.add("name", false, one([]string{"u", "v", "w"}, 1, 1, 1))
	s.add("ID", false, one([]int64{7, 8, 9}, 1, 1, 1))
	s.add("x", false, one([]float64{1.5, 2.5}, 1, Null, 1))
	s.add("emb", true, one([]float32{1, 2, 3, 4}, 2, Null, 2))
	s.add("n", false, one([]uint8{1, 0, 1}, 1, 1, 1))
	s.add("tokens", true, one([]int64{1, 2, 3, 4, 5, 6}, 2, 2, 2))
	s.columns = append(s.columns, Info{Name: "day", Kind: array.Text, Problem: Unreadable("dates", "")})
	s.chunks = append(s.chunks, nil)
	tab := mustNew(t, s)

	if got := strings.Join(tab.Columns(), " "); got != "name ID x emb n tokens day" {
		t.Errorf("columns %s", got)
	}
	if tab.ID() != "ID" || !slices.Equal(tab.Embeddings(), []string{"emb"}) {
		t.Errorf("ids %q, lists %q", tab.ID(), tab.Embeddings())
	}
	if got := fmt.Sprint(tab.Arrays()[0], tab.Arrays()[4]); got != "{  [3 2] float false} {emb  [3 0] float false}" {
		t.Errorf("arrays %s", got)
	}
	if m, cols, err := tab.Matrix(); err != nil || cols != 2 || !same(m, []float32{1.5, 1, nan, 0, 2.5, 1}) {
		t.Errorf("matrix %v, %d, %v", m, cols, err)
	}
	if m, cols, err := tab.Matrix("x"); err != nil || cols != 1 || !same(m, []float32{1, 0, 1}) {
		t.Errorf("matrix %v, %d, %v", m, cols, err)
	}
	if m, err := tab.Float32(0); err != nil || len(m) != 6 {
		t.Errorf("matrix %v, %v", m, err)
	}
	emb := tab.Array("emb")
	if v, err := tab.Float32(emb); err != nil || !same(v, []float32{1, 2, nan, nan, 3, 4}) {
		t.Errorf("emb %v, %v", v, err)
	}
	if v, err := tab.Turned(emb); err != nil || !same(v, []float32{1, nan, 3, 2, nan, 4}) {
		t.Errorf("emb turned %v, %v", v, err)
	}
	if got := fmt.Sprint(tab.Arrays()[emb].Shape); got != "[3 2]" {
		t.Errorf("shape %s once it is known", got)
	}
	if v, err := tab.Int64(tab.Array("tokens")); err != nil || !slices.Equal(v, []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("tokens %v, %v", v, err)
	}
	if v, err := tab.Text(tab.Array("x")); err != nil || !slices.Equal(v, []string{"1.5", "", "2.5"}) {
		t.Errorf("x %q, %v", v, err)
	}
	if v, err := tab.Text(tab.Array("ID")); err != nil || !slices.Equal(v, []string{"7", "8", "9"}) {
		t.Errorf("ids %q, %v", v, err)
	}
	if n, err := tab.Scratch(0); n != 40 || err != nil { // of column 4, n
		t.Errorf("scratch %d, %v", n, err)
	}
	if n, err := tab.Scratch(emb); n != 30 || err != nil {
		t.Errorf("scratch %d, %v", n, err)
	}
	if tab.Array("none") != -1 || len(tab.Notes()) != 1 {
		t.Error(tab.Array("none"), tab.Notes())
	}

	_, err := tab.Float32(tab.Array("name"))
	wantError(t, err, `row 0 (counted from 0) of the column "name" is text where a number is wanted`)
	_, err = tab.Int64(tab.Array("x"))
	wantError(t, err, `row 0 (counted from 0) of the column "x" is 1.5, not a whole number`)
	_, err = tab.Int64(emb)
	wantError(t, err, `row 1 (counted from 0) of the column "emb" is null where a whole number is wanted`)
	_, err = tab.Text(emb)
	wantError(t, err, `the column "emb" holds lists; name one of single values`)
	_, err = tab.Text(tab.Array("day"))
	wantError(t, err, `the column "day" holds dates, which cannot be read; cast it`)
	_, err = tab.Dims(tab.Array("x"))
	wantError(t, err, `the column "x" has a single number or text per row`)
	_, _, err = tab.Matrix("x", "n")
	wantError(t, err, "no column of single numbers is left")
}

// The ids are the column id, or that of the names of rows.
func TestID(t *testing.T) {
	number := one([]int64{1, 2, 3}, 1, 1, 1)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "id"}, "id"},
		{[]string{"__index_level_0__", "Id", "id2"}, "Id"},
		{[]string{"a", "__index_level_0__"}, "__index_level_0__"},
		{[]string{"a", "ids"}, ""},
	} {
		s := &source{rows: 3}
		for _, n := range c.names {
			s.add(n, false, number)
		}
		if got := mustNew(t, s).ID(); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
	s := (&source{rows: 1}).add("id", true, one([]float32{1, 2}, 2))
	if got := mustNew(t, s).ID(); got != "" {
		t.Errorf("lists are ids")
	}
}

func TestBadTables(t *testing.T) {
	x := one([]int64{1}, 1)
	for _, c := range []struct {
		s    *source
		want string
	}{
		{&source{rows: 1}, "holds no column"},
		{(&source{rows: 0}).add("x", false, x), "holds no row; write one row per sample"},
		{(&source{rows: 1}).add("x", false, x).add("x", false, x), `has two columns with the name "x"; rename`},
		{(&source{rows: math.MaxInt}).add("x", false, x), "rows, which its 1000 bytes cannot hold"},
	} {
		_, err := New(c.s, 1000)
		wantError(t, err, c.want)
	}
}

func TestBadLists(t *testing.T) {
	broken := errors.New("broken")
	f := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		name   string
		chunks []Chunk
		want   string
	}{
		{"short", []Chunk{one(f(7), 3, 1, 3)}, `row 1 (counted from 0) of the column "emb" has 1 values, and the first list of the column has 3; give lists of one length, or name the columns that are views by FILE:NAME`},
		{"long", []Chunk{one(f(10), 3, 4, 3)}, "row 1 (counted from 0) of the column \"emb\" has 4 values"},
		{"short at the end", []Chunk{one(f(8), 3, 3, 2)}, "row 2 (counted from 0) of the column \"emb\" has 2 values"},
		{"long by a chunk", []Chunk{one(f(9), 3, 3, 3), {Values: f(1), Lengths: []int32{1}, More: true}}, "row 2 (counted from 0) of the column \"emb\" has 4 values"},
		{"empty", []Chunk{one(f(6), 3, 0, 3)}, `row 1 (counted from 0) of the column "emb" has an empty list; write null`},
		{"empty first", []Chunk{one(f(6), 0, 3, 3)}, `row 0 (counted from 0) of the column "emb" has an empty list; write null`},
		{"null throughout", []Chunk{one(f(0), Null, Null, Null)}, `the column "emb" is null in every row`},
		{"rows that lack", []Chunk{one(f(6), 3, 3)}, `the column "emb" ends after 2 rows of 3`},
		{"rows too many", []Chunk{one(f(9), 3, 3, 3), one(f(3), 3)}, `the column "emb" goes on after the 3 rows`},
		{"nulls too many", []Chunk{one(f(9), 3, 3, 3), one(f(3), Null)}, `the column "emb" goes on after the 3 rows`},
		{"values that lack", []Chunk{one(f(8), 3, 3, 3)}, `the column "emb" is damaged: its lists go beyond its values`},
		{"starts beyond", []Chunk{{Values: f(9), Lengths: []int32{3, 3, 3}, Starts: []int{0, 7, 3}}}, "its lists go beyond its values"},
		{"starts before", []Chunk{{Values: f(9), Lengths: []int32{3, 3, 3}, Starts: []int{0, -3, 3}}}, "its lists go beyond its values"},
		{"beyond float32", []Chunk{one([]float64{1, 2, 3, 4, 1e39, 6, 7, 8, 9}, 3, 3, 3)}, `row 1 (counted from 0) of the column "emb" is 1e+39, which is beyond the largest float32; divide the column by`},
		{"long lists", []Chunk{one(f(0), 1<<30, Null, Null)}, `has 3 rows of 1073741824 values, which is more than a file of this size can hold`},
		{"another type", []Chunk{one([]complex64{1}, 1, 1, 1)}, "values of type []complex64 cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := mustNew(t, (&source{rows: 3}).add("emb", true, c.chunks...))
			_, err := tab.Float32(0)
			wantError(t, err, c.want)
		})
	}
	tab := mustNew(t, &source{rows: 1, columns: []Info{{Name: "x"}}, chunks: [][]Chunk{{one(f(1), 1)}}, err: broken})
	if _, err := tab.Float32(1); !errors.Is(err, broken) {
		t.Errorf("the error of the source comes as %v", err)
	}
}

// Where a column is cut into chunks, within rows too, does not matter, nor where in
// the values its rows are.
func TestChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, dims := 1+r.IntN(20), 1+r.IntN(5)
		var values, want []float32
		var lengths []int32
		for i := range rows {
			if i > 0 && r.IntN(3) == 0 {
				lengths = append(lengths, Null)
				want = append(want, slices.Repeat([]float32{nan}, dims)...)
				continue
			}
			lengths = append(lengths, int32(dims))
			for range dims {
				values = append(values, r.Float32())
			}
			want = append(want, values[len(values)-dims:]...)
		}
		tab := mustNew(t, (&source{rows: rows}).add("emb", true, cut(r, values, lengths)...))
		if got, err := tab.Float32(0); err != nil || !same(got, want) {
			t.Fatalf("%v of %v: %v, %v", lengths, values, got, err)
		}
		tab = mustNew(t, (&source{rows: rows}).add("emb", true, scattered(r, values, lengths)))
		if got, err := tab.Float32(0); err != nil || !same(got, want) {
			t.Fatalf("%v of %v, scattered: %v, %v", lengths, values, got, err)
		}
	}
}

// cut cuts rows into chunks.
func cut(r *rand.Rand, values []float32, lengths []int32) []Chunk {
	var chunks []Chunk
	now := Chunk{}
	from, at := 0, 0
	flush := func(more bool) {
		now.Values = values[from:at]
		if len(now.Lengths) > 0 {
			chunks = append(chunks, now)
		}
		now, from = Chunk{More: more}, at
	}
	for _, n := range lengths {
		if r.IntN(3) == 0 {
			flush(false)
		}
		if n == Null {
			now.Lengths = append(now.Lengths, Null)
			continue
		}
		if head := int32(1 + r.IntN(int(n))); head < n && r.IntN(3) == 0 {
			now.Lengths = append(now.Lengths, head)
			at += int(head)
			flush(true)
			n -= head
		}
		now.Lengths = append(now.Lengths, n)
		at += int(n)
	}
	flush(false)
	return chunks
}

// scattered puts rows into any order.
func scattered(r *rand.Rand, values []float32, lengths []int32) Chunk {
	c := Chunk{Lengths: lengths, Starts: make([]int, len(lengths))}
	from := make([]int, len(lengths))
	at := 0
	for i, n := range lengths {
		from[i] = at
		at += int(max(n, 0))
	}
	var out []float32
	for _, i := range r.Perm(len(lengths)) {
		out = append(out, make([]float32, r.IntN(2))...)
		c.Starts[i] = len(out)
		out = append(out, values[from[i]:][:max(lengths[i], 0)]...)
	}
	c.Values = out
	return c
}

func BenchmarkFloat32(b *testing.B) {
	const rows, dims = 10_000, 256
	s := &source{rows: rows}
	s.add("emb", true, one(make([]float32, rows*dims), slices.Repeat([]int32{dims}, rows)...))
	tab, err := New(s, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(4 * rows * dims)
	for b.Loop() {
		if _, err := tab.Float32(0); err != nil {
			b.Fatal(err)
		}
	}
}
