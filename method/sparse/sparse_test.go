package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/sparse"
)

// Rows are collected in two passes, in the order in which values come.
func ExampleCollect() {
	links := [][2]int{{0, 1}, {2, 0}, {0, 3}}
	rows := sparse.Collect(4, func(add func(row, value int)) {
		for _, l := range links {
			add(l[0], l[1])
			add(l[1], l[0])
		}
	})
	for i := range rows.Len() {
		fmt.Println(i, rows.Of(i))
	}
	// Output:
	// 0 [1 2 3]
	// 1 [0]
	// 2 [0]
	// 3 [0]
}

func ExamplePermutation() {
	p, names := sparse.Permutation{2, 0, 1}, []string{"a", "b", "c"}
	fmt.Println(sparse.Gather(p, names), sparse.Scatter(p, names), p.Inverse())
	// Output: [c a b] [b c a] [1 2 0]
}

// TestCollect holds that Collect, Append and a plain slice of slices agree.
func TestCollect(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := random.IntN(20)
		want := make([][]int, n)
		var rows, values []int
		for range random.IntN(60) * min(n, 1) {
			r, v := random.IntN(n), random.IntN(1000)
			rows, values = append(rows, r), append(values, v)
			want[r] = append(want[r], v)
		}
		got := sparse.Collect(n, func(add func(row, value int)) {
			for at, r := range rows {
				add(r, values[at])
			}
		})
		var appended sparse.Rows[int]
		for _, row := range want {
			appended.Append(row...)
		}
		if got.Len() != n || appended.Len() != n {
			t.Fatalf("%d and %d rows, want %d", got.Len(), appended.Len(), n)
		}
		for i, row := range want {
			if !slices.Equal(got.Of(i), row) || !slices.Equal(appended.Of(i), row) {
				t.Fatalf("row %d: %v and %v, want %v", i, got.Of(i), appended.Of(i), row)
			}
			if cap(got.Of(i)) != len(row) {
				t.Fatalf("row %d could grow into the next", i)
			}
		}
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRowsValidate(t *testing.T) {
	for _, c := range []struct {
		rows  sparse.Rows[int]
		valid bool
	}{
		{sparse.Rows[int]{}, true},
		{sparse.Rows[int]{Values: []int{1}}, false},
		{sparse.Rows[int]{Offsets: []int{0, 1}, Values: []int{1}}, true},
		{sparse.Rows[int]{Offsets: []int{1, 1}, Values: []int{1}}, false},
		{sparse.Rows[int]{Offsets: []int{0, 2}, Values: []int{1}}, false},
		{sparse.Rows[int]{Offsets: []int{0, 2, 1}, Values: []int{1}}, false},
		{sparse.Rows[int]{Offsets: []int{0, 0, 1}, Values: []int{1}}, true},
	} {
		if err := c.rows.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: %v", c.rows, err)
		}
	}
}

// TestPermutation holds that gathering and scattering undo each other, and that the
// inverse swaps the two.
func TestPermutation(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 30 {
		p := sparse.Permutation(random.Perm(n))
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		values := random.Perm(n)
		if got := sparse.Scatter(p, sparse.Gather(p, values)); !slices.Equal(got, values) {
			t.Fatalf("%v: %v became %v", p, values, got)
		}
		if a, b := sparse.Gather(p, values), sparse.Scatter(p.Inverse(), values); !slices.Equal(a, b) {
			t.Fatalf("%v: gathered %v, scattered by the inverse %v", p, a, b)
		}
	}
	for _, p := range []sparse.Permutation{{1}, {-1}, {0, 0}, {0, 2}} {
		if p.Validate() == nil {
			t.Errorf("%v is no permutation", p)
		}
	}
}

func TestSpaced(t *testing.T) {
	for all := range 60 {
		for n := 1; n <= all; n++ {
			if first := sparse.Spaced(0, n, all); first != 0 {
				t.Fatalf("the first of %d among %d is %d", n, all, first)
			}
			for k := 1; k < n; k++ {
				step := sparse.Spaced(k, n, all) - sparse.Spaced(k-1, n, all)
				if step != all/n && step != all/n+1 {
					t.Fatalf("%d of %d pairs: a step of %d to number %d", n, all, step, k)
				}
			}
			if last := sparse.Spaced(n-1, n, all); last >= all || last < all-all/n-1 {
				t.Fatalf("the last of %d among %d is %d", n, all, last)
			}
		}
	}
	// The product of the first and the last number has 62 bits.
	if got, want := sparse.Spaced(math.MaxInt32-1, math.MaxInt32, math.MaxInt32), math.MaxInt32-1; got != want {
		t.Errorf("%d, want %d", got, want)
	}
}
