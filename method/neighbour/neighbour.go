// Package neighbour finds the K nearest neighbours of every sample in one view
// (KNN^(m) of the paper).
//
// A search keeps the best candidates of every row as single numbers: the similarity in
// the high bits, and the number of the other sample in the low bits, so that the lower
// one wins a tie. The best under this total order do not depend on the order in which
// candidates arrive, nor on the threads.
//
//	exact         finder.go       blocks of rows with blocks of rows, each pair of blocks once
//	approximate   reduce.go       the few axes that hold nearly all of the rows
//	              cells.go        cells around the centres of k-means, an inverted file
//	              visit.go        every row with the members of the nearest cells
//	              descent.go      every row with the neighbours of its neighbours
//	              approximate.go  the recall, and how the search is widened below its bound
//	new rows      index.go        rows that come later, with the same cells
//	equal rows    copies.go       the groups of equal rows, of which one each is searched
//	order         walk.go         samples in the order of a walk between neighbours
//
// Both searches keep somewhat more than K candidates and rank these by the space's own
// similarities, because tiles of rows round in another order. Lists hold no similarities:
// these would take as much memory again, and are measured anew where they are needed.
//
// It follows the method and may change in any minor version.
package neighbour

import (
	"context"
	"errors"
	"fmt"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Lists holds the neighbours of every sample in one view, most alike first and,
// among equals, the lower number first. A sample without the view has none, and
// a sample is not its own neighbour. Of(i) is the list of sample i;
// similarity.Space.Similarities says how alike they are.
type Lists struct {
	sparse.Rows[int32]
	// Search tells how the lists were found.
	Search Report
}

// Check returns the number of samples that lists are of. It is an error if there is no list, if
// they are not all of the same samples, or if one names a sample that is not there.
func Check(lists []*Lists) (samples int, err error) {
	if len(lists) == 0 {
		return 0, errors.New("there are no lists of neighbours; pass those of at least one view")
	}
	for m, l := range lists {
		if l == nil {
			return 0, fmt.Errorf("the lists of view %d (counted from 0) are nil; leave them out", m)
		}
		if err := l.Validate(); err != nil {
			return 0, fmt.Errorf("the lists of view %d (counted from 0) cannot be: %w", m, err)
		}
		if m == 0 {
			samples = l.Len()
		}
		if l.Len() != samples {
			return 0, fmt.Errorf("view %d (counted from 0) has lists of %d samples where the first has %d; pass lists of the same samples", m, l.Len(), samples)
		}
		for _, j := range l.Values {
			if uint(j) >= uint(samples) {
				return 0, fmt.Errorf("the lists of view %d (counted from 0) name sample %d of %d", m, j, samples)
			}
		}
	}
	return samples, nil
}

// Emptied returns the lists as if no sample had the view.
func (l *Lists) Emptied() *Lists {
	return &Lists{sparse.Rows[int32]{Offsets: make([]int, len(l.Offsets))}, l.Search}
}

// Settings steer Search.
type Settings struct {
	// Method says how to search; Auto by default.
	Method Method
	// Recall is the share of the true neighbours below which an approximate search
	// widens by itself; 0 stands for DefaultRecall.
	Recall float64
}

// DefaultRecall is the recall that an approximate search reaches by default.
const DefaultRecall = 0.97

// Parameters returns a description of every setting, with a pointer to its field in s.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Method", Name: "neighbor-search", Value: option.OneOf(&s.Method), //nolint:misspell // spelt as --neighbors is
			Equation: "not in the paper",
			Meaning:  "how the candidates are found; auto is approximate where that is faster, and else exact",
		},
		{
			Field: "Recall", Name: "recall", Value: option.Number(&s.Recall, DefaultRecall, option.Above, 1),
			Equation: "not in the paper",
			Meaning:  "share of the true neighbours below which an approximate search goes on",
		},
	}
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error { return option.Resolve(s.Parameters()) }

// Report tells how the neighbours were found.
type Report struct {
	// Method is Exact or Approximate: how the lists were found in the end.
	Method Method
	// Recall is the share of the true neighbours that the lists hold, estimated on
	// Checked samples drawn at random; 1, on 0 samples, where the search was exact. A
	// neighbour that is as alike as the last true one counts as true. Where rows are equal,
	// an approximate search estimates it among the distinct ones.
	Recall  float64
	Checked int
	// Cells is the number of cells that the rows were put into, 0 where no approximate
	// search was tried. Probes is how many of them every row was compared with, and
	// Passes how often it was then compared with the neighbours of its neighbours; both
	// are 0 where the search was exact in the end.
	Cells, Probes, Passes int
	// Widened counts how often the search was widened because the recall was low, or
	// was foreseen to be: to twice the probes, and at last to an exact search.
	Widened int
}

// Search finds the k nearest neighbours of every sample that has the view, or all others
// where there are fewer. seed decides at random which rows an approximate search learns
// from and measures its recall on.
//
// An exact search compares all pairs, each once. It keeps k candidates and an eighth more
// per sample, and ranks them by Space.Similarity, whose sums run in another order. So the
// lists are those of Space.Similarity, except that two candidates about the last place may
// be exchanged where their sums differ by rounding alone. Of equal rows, the lower numbers
// always come first.
//
// An approximate search compares every sample with those of nearby cells, projected onto few
// axes where these hold nearly all of the rows. It ranks the best by Space.Similarity. Every
// run estimates its recall, and goes on until that reaches Settings.Recall, at last with an
// exact search. Fewer than 2000 samples, or than 8 k, are always searched exactly.
//
// Of samples whose rows are equal, an approximate search compares only the first, and gives
// its neighbours, with all their copies, to the others. So no two equal samples are separated.
// Where the distinct rows are few, they are searched exactly, as Report tells.
//
// Settings.Footprint tells the memory beside the rows. On top of that come 5 MB per thread,
// or 2 kB per dimension where that is more.
//
// threads of 0 or less stands for all usable processors; the result is the same for any
// number. progress, if not nil, is called now and then, one call at a time, with the share
// of the work that is done, as a number of samples of Space.Count. The only errors are those
// of Settings.Resolve and Space.Check, rows that are similarity.Stored, and the context's own.
func Search(ctx context.Context, s *similarity.Space, k int, seed uint64, settings Settings, threads int, progress func(done int)) (*Lists, error) {
	lists, _, err := search(ctx, s, k, seed, settings, threads, false, progress)
	return lists, err
}

// SearchParts is Search, and returns the Parts of an Index that finds k neighbours of new rows: most of what
// FindParts does has been done then, and the cells are smaller. They are nil where FindParts has none, and its
// own where the search was exact, had equal rows, or has cells that do not reach the recall.
func SearchParts(ctx context.Context, s *similarity.Space, k int, seed uint64, settings Settings, threads int, progress func(done int)) (*Lists, *Parts, error) {
	lists, parts, err := search(ctx, s, k, seed, settings, threads, true, progress)
	if err == nil && parts == nil {
		parts, err = FindParts(ctx, s, k, seed, threads)
	}
	return lists, parts, err
}

// whole returns an error where the samples of a space cannot be compared with each other.
func whole(s *similarity.Space) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Stored() {
		return errors.New("the rows of the space are in a file; read the model by mvclust.ReadModel to compare its samples")
	}
	return nil
}

// inMemory returns the space with all rows in memory. The errors are those of whole, and the context's own.
func inMemory(ctx context.Context, s *similarity.Space, threads int) (*similarity.Space, error) {
	if err := whole(s); err != nil {
		return nil, err
	}
	return s.Kept(ctx, threads)
}

// search is Search. With indexed it returns the parts of an index, too, where the search has found most of
// them; else nil.
func search(ctx context.Context, s *similarity.Space, k int, seed uint64, settings Settings, threads int, indexed bool, progress func(done int)) (*Lists, *Parts, error) {
	if err := whole(s); err != nil {
		return nil, nil, err
	}
	if err := settings.Resolve(); err != nil {
		return nil, nil, err
	}
	if !s.Sparse() {
		var err error
		if s, err = s.Kept(ctx, threads); err != nil {
			return nil, nil, err
		}
	}
	if !s.Sparse() && settings.approximates(s.Count(), k) {
		c, err := findCopies(ctx, s, threads)
		if err != nil {
			return nil, nil, err
		}
		if c != nil {
			lists, err := searchDistinct(ctx, s, c, k, seed, settings, threads, progress)
			return lists, nil, err
		}
	}
	f := newFinder(ctx, s, k, seed, settings, threads, progress)
	f.indexed = indexed && f.divides()
	if f.k == 0 {
		return f.lists, nil, ctx.Err()
	}
	if err := f.search(); err != nil {
		return nil, nil, err
	}
	return f.lists, f.parts, nil
}
