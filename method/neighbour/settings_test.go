package neighbour_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
)

func TestResolve(t *testing.T) {
	s := newSpace(t, normalView(rand.New(rand.NewPCG(1, 1)), 10, 2, 0), similarity.L2, nil)
	for _, c := range []struct {
		set    neighbour.Settings
		recall float64
		want   string // the error
	}{
		{neighbour.Settings{}, neighbour.DefaultRecall, ""},
		{neighbour.Settings{Method: neighbour.Approximate, Recall: 1}, 1, ""},
		{neighbour.Settings{Method: neighbour.Exact, Recall: 1e-300}, 1e-300, ""},
		{neighbour.Settings{Recall: 1.01}, 0, "Recall: 1.01 is not above 0 and at most 1"},
		{neighbour.Settings{Recall: -0.5}, 0, "Recall: -0.5 is not above 0 and at most 1"},
		{neighbour.Settings{Recall: math.NaN()}, 0, "Recall: NaN is not above 0 and at most 1"},
		{neighbour.Settings{Recall: math.Inf(1)}, 0, "Recall: +Inf is not above 0 and at most 1"},
		{neighbour.Settings{Method: 3}, 0, `Method: unknown search method 3; choose auto, exact or approximate`},
		{neighbour.Settings{Method: -1}, 0, `Method: unknown search method -1; choose auto, exact or approximate`},
	} {
		set := c.set
		err := set.Resolve()
		_, failed := neighbour.Search(t.Context(), s, 3, 0, c.set, 1, nil)
		if c.want == "" {
			want := c.set
			want.Recall = c.recall
			if err != nil || failed != nil || set != want {
				t.Errorf("%+v became %+v, %v; the search says %v", c.set, set, err, failed)
			}
			continue
		}
		var of *option.Error
		if !errors.As(err, &of) || err.Error() != c.want || !reflect.DeepEqual(failed, err) {
			t.Errorf("%+v: %v, and the search says %v; want %s", c.set, err, failed, c.want)
		}
	}
}

// plan is a search whose footprint and cost are looked at.
type plan struct {
	neighbour.Settings
	k int
}

func (p plan) bytes(rows, dims int) int64  { return p.Footprint(rows, dims, p.k) }
func (p plan) cost(rows, dims int) float64 { return p.Cost(rows, dims, p.k) }

func planned() (all []plan) {
	for _, m := range []neighbour.Method{neighbour.Auto, neighbour.Exact, neighbour.Approximate} {
		for _, k := range []int{1, 20, 80, 400} {
			all = append(all, plan{neighbour.Settings{Method: m}, k})
		}
	}
	return all
}

// TestPlans holds what may be said of a search beforehand: the footprint and the cost
// grow with all that makes a search larger, and the footprint holds the lists.
func TestPlans(t *testing.T) {
	for _, set := range planned() {
		var bytes int64
		cost := 0.0
		for _, rows := range []int{0, 1, 2, 100, 1999, 2000, 10_000, 29_999, 30_000, 100_000, 1_000_000, 100_000_000} {
			const dims = 64
			b, c := set.bytes(rows, dims), set.cost(rows, dims)
			if b < bytes || rows > 0 && b <= bytes || b < 4*int64(rows)*int64(min(set.k, rows)) {
				t.Errorf("%+v: %d rows take %d bytes, fewer %d", set, rows, b, bytes)
			}
			if c-c != 0 || c < 0 || rows > 0 && c == 0 {
				t.Errorf("%+v: %d rows cost %v", set, rows, c)
			}
			// Where the method changes there may be a step down.
			if set.Method == neighbour.Exact && rows > 0 && c <= cost {
				t.Errorf("%+v: %d rows cost %v, fewer %v", set, rows, c, cost)
			}
			bytes, cost = b, c
			if more := set.bytes(rows, 2*dims); more < b {
				t.Errorf("%+v: %d rows take %d bytes, twice as long %d", set, rows, b, more)
			}
			if more := set.cost(rows, 4*dims); more < c || rows > 1 && more <= c {
				t.Errorf("%+v: %d rows cost %v, of more dimensions %v", set, rows, c, more)
			}
			double := set
			double.k *= 2
			if more := double.bytes(rows, dims); set.k < rows && more <= b {
				t.Errorf("%+v: %d rows take %d bytes, with twice the neighbours %d", set, rows, b, more)
			}
		}
	}
	exact, approximate := plan{neighbour.Settings{Method: neighbour.Exact}, 20}, plan{neighbour.Settings{Method: neighbour.Approximate}, 20}
	for _, rows := range []int{100_000, 1_000_000} {
		if e, a := exact.cost(rows, 128), approximate.cost(rows, 128); a >= e/2 {
			t.Errorf("%d rows cost %v, approximately %v", rows, e, a)
		}
	}
	// Auto is what it chooses.
	for rows, chosen := range map[int]plan{5000: exact, 100_000: approximate} {
		auto := plan{k: 20}
		if auto.cost(rows, 64) != chosen.cost(rows, 64) || auto.bytes(rows, 64) != chosen.bytes(rows, 64) {
			t.Errorf("the plan of %d rows is not that of the method %v", rows, chosen.Method)
		}
	}
	if kernel.Best().Name != "go" {
		fast := exact.cost(1000, 64)
		t.Setenv("MVCLUST_KERNEL", "go")
		if slow := exact.cost(1000, 64); slow <= fast {
			t.Errorf("without assembly, a search costs %v, with it %v", slow, fast)
		}
	}
}

// TestFootprint holds that an exact search takes no more memory in all than its
// footprint says, beside what belongs to the thread.
func TestFootprint(t *testing.T) {
	const perThread = 5 << 20
	s := newSpace(t, classView(rand.New(rand.NewPCG(2, 2)), 6000, 8, 60, 0.1), similarity.Cosine, nil)
	for _, k := range []int{20, 100, 400} {
		set := plan{neighbour.Settings{Method: neighbour.Exact}, k}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		search(t, s, k, 1)
		runtime.ReadMemStats(&after)
		taken, limit := int64(after.TotalAlloc-before.TotalAlloc), set.bytes(s.Count(), s.Dims)
		if taken > limit+perThread || taken < limit/4 {
			t.Errorf("%d neighbours: %d bytes are taken, where %d were foreseen", k, taken, limit)
		}
	}
}
