package neighbour_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
)

// An index that is made again from its parts finds the same.
func TestRestore(t *testing.T) {
	for _, metric := range []similarity.Metric{similarity.Cosine, similarity.L1} {
		s, _, q := parted(t, metric, 11_800, 11_700, 30)
		x, err := neighbour.NewIndex(t.Context(), s, 20, 3, neighbour.Settings{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := neighbour.FindParts(t.Context(), s, 20, 3, 2)
		if err != nil || parts == nil || len(parts.Cells) != s.Count() {
			t.Fatalf("%v: the parts are %+v", metric, parts)
		}
		again, err := neighbour.Restore(t.Context(), s, 20, 3, parts, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := x.Search(t.Context(), q, nil, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := again.Search(t.Context(), q, nil, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Index, want.Index) || !slices.Equal(found.Similarity, want.Similarity) || again.Report() != x.Report() {
			t.Errorf("%v: the index that was made again finds others", metric)
		}
		if len(parts.Axes) > 0 {
			if len(parts.Rows) != len(parts.Cells)*len(parts.Axes)/s.Dims {
				t.Errorf("%v: %d coordinates of %d rows", metric, len(parts.Rows), len(parts.Cells))
			}
			bare := *parts
			bare.Rows = nil // as models of older versions are
			if again, err = neighbour.Restore(t.Context(), s, 20, 3, &bare, 2); err != nil {
				t.Fatal(err)
			}
			if found, err = again.Search(t.Context(), q, nil, 2, nil); err != nil || !slices.Equal(found.Index, want.Index) {
				t.Errorf("%v: the index without its rows finds others, %v", metric, err)
			}
		}
		whole, err := neighbour.Restore(t.Context(), s, 20, 3, &neighbour.Parts{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if found, err = whole.Search(t.Context(), q, nil, 2, nil); err != nil || len(found.Index) != len(want.Index) {
			t.Errorf("%v: an index of one cell: %v", metric, err)
		}
	}
	few, _, _ := parted(t, similarity.Cosine, 300, 200, 5)
	if parts, err := neighbour.FindParts(t.Context(), few, 5, 0, 1); err != nil || parts != nil {
		t.Errorf("few rows have parts: %v, %v", parts, err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	cells := make([]int32, few.Count())
	for name, p := range map[string]neighbour.Parts{
		"axes of other rows":   {Axes: make([]float32, 41), Centres: make([]float32, 1), Cells: cells, Report: neighbour.Report{Probes: 1}},
		"too many axes":        {Axes: make([]float32, 41*40), Centres: make([]float32, 41), Cells: cells, Report: neighbour.Report{Probes: 1}},
		"an axis of NaN":       {Axes: slices.Repeat([]float32{nan}, 40), Centres: make([]float32, 1), Cells: cells, Report: neighbour.Report{Probes: 1}},
		"a centre of Inf":      {Centres: slices.Repeat([]float32{inf}, 40), Cells: cells, Report: neighbour.Report{Probes: 1}},
		"half a centre":        {Centres: make([]float32, 20), Cells: cells, Report: neighbour.Report{Probes: 1}},
		"no centre":            {Cells: cells},
		"no probe":             {Centres: make([]float32, 40), Cells: cells},
		"too many probes":      {Centres: make([]float32, 40), Cells: cells, Report: neighbour.Report{Probes: 2}},
		"a cell out of range":  {Centres: make([]float32, 40), Cells: slices.Repeat([]int32{1}, few.Count()), Report: neighbour.Report{Probes: 1}},
		"a cell below 0":       {Centres: make([]float32, 40), Cells: slices.Repeat([]int32{-1}, few.Count()), Report: neighbour.Report{Probes: 1}},
		"cells of other rows":  {Centres: make([]float32, 40), Cells: cells[1:], Report: neighbour.Report{Probes: 1}},
		"a row of NaN":         {Axes: make([]float32, 40), Centres: make([]float32, 1), Cells: cells, Rows: slices.Repeat([]float32{nan}, len(cells)), Report: neighbour.Report{Probes: 1}},
		"rows without axes":    {Centres: make([]float32, 40), Cells: cells, Rows: make([]float32, 40*len(cells)), Report: neighbour.Report{Probes: 1}},
		"rows of other cells":  {Axes: make([]float32, 40), Centres: make([]float32, 1), Cells: cells, Rows: make([]float32, len(cells)-1), Report: neighbour.Report{Probes: 1}},
		"more cells than rows": {Centres: make([]float32, 400*40), Cells: cells, Report: neighbour.Report{Probes: 1}},
	} {
		if _, err := neighbour.Restore(t.Context(), few, 5, 0, &p, 1); err == nil {
			t.Errorf("%s: an index is made", name)
		}
	}
}
