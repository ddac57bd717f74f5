package similarity_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// sourceOf returns a source of the rows of a view.
func sourceOf(v *view.View, block int) *similarity.Source {
	part := func(at int) *view.View { return v.Part(at*block, min(v.Samples, (at+1)*block)) }
	return &similarity.Source{
		Name: v.Name, Samples: v.Samples, Dims: v.Dims, Block: block,
		Read: func(at int, room []float32) ([]float32, error) {
			return append(room[:0], part(at).Data...), nil
		},
		Check: func(at int, values []float32) (*view.View, error) {
			rows := part(at)
			rows.Data = values
			return rows, nil
		},
	}
}

// Rows that are read when they are compared say what those in memory say, but for rounding; a failure to
// read them is an error.
func TestStored(t *testing.T) {
	set, err := synth.Generate(synth.Config{Samples: 500, Classes: 5, Dims: []int{40}, Noise: []float64{0.6}, Missing: 0.1, Views: 2, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	v := set.Views[0]
	present := 0
	for !v.Has(present) {
		present++
	}
	clear(v.Row(present)) // without a direction as it is
	late := v.Part(300, 500)
	for _, scale := range []view.Scale{view.NoScale, view.MinMax, view.Mixed} {
		scaler, err := v.Scaler(t.Context(), scale, nil)
		if err != nil {
			t.Fatal(err)
		}
		scaled, err := scaler.Apply(t.Context(), v, 1)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := similarity.NewSpace(t.Context(), scaled, similarity.Cosine, nil, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := similarity.Stored(t.Context(), sourceOf(v, 7), scaler, 2)
		if err != nil {
			t.Fatal(err)
		}
		if stored.Count() != kept.Count() || stored.Zero != kept.Zero || stored.FirstZero != kept.FirstZero || stored.Dims != kept.Dims || !stored.Stored() || kept.Stored() {
			t.Fatalf("%v: %d rows, %d zeros from %d; want %d, %d, %d", scale, stored.Count(), stored.Zero, stored.FirstZero, kept.Count(), kept.Zero, kept.FirstZero)
		}
		var mu sync.Mutex
		rows := 0
		for _, s := range []*similarity.Space{stored, kept} {
			err := s.Scan(t.Context(), 2, func(r int, row []float32) {
				mu.Lock()
				defer mu.Unlock()
				if rows++; !slices.Equal(row, kept.Row(r)) {
					t.Errorf("%v: row %d is another", scale, r)
				}
			})
			if err != nil || rows != kept.Count() {
				t.Fatalf("%v: %d rows, %v", scale, rows, err)
			}
			rows = 0
		}
		offsets, order := []int{0}, []int32{}
		var samples []int32
		for i := range late.Samples {
			for j := i % 3; j < v.Samples; j += 1 + i%7 {
				samples = append(samples, int32(j))
			}
			offsets, order = append(offsets, len(samples)), append(order, int32(late.Samples-1-i))
		}
		compared := func(s *similarity.Space, given *view.View, threads int) []float32 {
			rows, err := scaler.Apply(t.Context(), late, 1)
			if err != nil {
				t.Fatal(err)
			}
			q, err := s.Queries(t.Context(), rows, false, 1)
			if err != nil {
				t.Fatal(err)
			}
			lists, err := similarity.NewLists(v.Samples, offsets, samples, order)
			if err != nil {
				t.Fatal(err)
			}
			out, err := q.Compare(t.Context(), given, lists, threads)
			if err != nil {
				t.Fatal(err)
			}
			fewer, err := similarity.NewLists(v.Samples, offsets[:1], nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.Compare(t.Context(), given, fewer, 1); err == nil {
				t.Error("lists of fewer rows are compared")
			}
			return out
		}
		want, got := compared(kept, late, 2), compared(stored, late, 2)
		close := func(what string, got, want []float32) {
			t.Helper()
			for e, x := range got {
				if y := want[e]; !(math.Abs(float64(x-y)) < 1e-6) && (x == x || y == y) {
					t.Fatalf("%v: %s, similarity %d is %v, want %v", scale, what, e, x, y)
				}
			}
		}
		close("of rows taken apart", got, want)
		close("of scaled rows", compared(stored, nil, 2), want)
		back := make(sparse.Permutation, v.Samples) // the samples in another order
		for i := range back {
			back[i] = v.Samples - 1 - i
		}
		turned := stored.Gather(back)
		err = turned.Scan(t.Context(), 2, func(r int, row []float32) {
			if !slices.Equal(row, kept.Gather(back).Row(r)) {
				t.Errorf("%v: in another order, row %d is another", scale, r)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		close("in another order", compared(turned, late, 2), compared(kept.Gather(back), late, 1))
		again := compared(stored, late, 1)
		for e := range again {
			if math.Float32bits(again[e]) != math.Float32bits(got[e]) {
				t.Fatalf("%v: similarity %d is %v in one thread, and %v in two", scale, e, again[e], got[e])
			}
		}
	}
	gone := errors.New("it is gone")
	bad := sourceOf(v, 7)
	read := bad.Read
	bad.Read = func(at int, room []float32) ([]float32, error) {
		if at >= 40 {
			return nil, fmt.Errorf("block %d: %w", at, gone)
		}
		return read(at, room)
	}
	for range 20 { // the first that fails, whatever the threads do
		if _, err := similarity.Stored(t.Context(), bad, &view.Scaler{}, 2); !errors.Is(err, gone) || err.Error() != "block 40: it is gone" {
			t.Errorf("blocks that cannot be read: %v", err)
		}
	}
	if _, err := similarity.Stored(t.Context(), sourceOf(v.Part(present, present+1), 7), &view.Scaler{}, 2); err == nil {
		t.Error("one row of zeros makes a space")
	}
}
