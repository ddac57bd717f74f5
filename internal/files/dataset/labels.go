package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/words"
)

// Truth is one class per sample.
type Truth struct {
	// Labels has one number per sample, from 0 to len(Names)-1.
	Labels []int
	// Names are the classes by label: whole numbers in ascending order, or text
	// in that of its bytes.
	Names []string
	// IDs are the samples' ids where the labels come from a table with a column
	// of ids, else nil.
	IDs []string
	// File is the file that the labels come from.
	File File
}

// Labels reads one label per sample from source, FILE or FILE:NAME: a vector, a
// cell array of equal vectors, or a column of a table. Without a NAME that is
// the array called labels, Y, gt or the like, or the column called label, class,
// truth, y or cluster, or the only one there is. Labels are whole numbers, or
// text.
//
// Where ids is not nil and source is a table with ids, the labels are those of
// the samples with these ids, in their order; else they are in that of the file,
// and their number must be samples unless that is 0.
func Labels(ctx context.Context, source string, ids []string, samples int) (*Truth, error) {
	values, own, file, err := perSample(ctx, source, ids, samples, "label")
	if err != nil {
		return nil, err
	}
	t := &Truth{IDs: own, File: file}
	if t.Labels, t.Names, err = classes(values); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	return t, nil
}

// perSample reads one value per sample and the ids beside them, by the rules of Labels;
// what is the word for a value.
func perSample(ctx context.Context, source string, ids []string, samples int, what string) (values, own []string, file File, err error) {
	l := newLibrary(ctx)
	defer l.close()
	s, name, err := l.open(source)
	if err != nil {
		return nil, nil, file, err
	}
	if values, err = s.labels(name, what+"s"); err != nil {
		return nil, nil, file, s.fail(err)
	}
	switch {
	case s.cells != nil:
		var i int
		if i, err = s.cellColumn(name, what+"s"); err == nil {
			own, err = s.rowIDs(i)
		}
	case s.table != nil && s.table.ID() != "":
		own, err = s.ids(s.table.ID())
	}
	if err != nil {
		return nil, nil, file, s.fail(err)
	}
	switch {
	case ids != nil && own != nil:
		if values, err = join(values, own, ids, what); err != nil {
			return nil, nil, file, s.fail(err)
		}
		own = ids
	case len(values) == 0:
		return nil, nil, file, s.failf("holds no %ss; give one per sample", what)
	case samples > 0 && len(values) != samples:
		return nil, nil, file, s.failf("holds %s for %s; give one per sample, in the order of the samples", words.Count(len(values), what), words.Count(samples, "sample"))
	}
	files, err := l.files()
	if err != nil {
		return nil, nil, file, err
	}
	return values, own, files[0], nil
}

// usualLabels are the names of columns of labels.
var usualLabels = []string{"label", "labels", "class", "truth", "y", "cluster"}

// labels returns the labels of a file as text; what is the word for them.
func (s *source) labels(name, what string) ([]string, error) {
	infos := s.Arrays()
	if s.cells != nil {
		i, err := s.cellColumn(name, what)
		if err != nil {
			return nil, err
		}
		return s.vector(i)
	}
	if s.table != nil {
		i, err := s.column(name, what, usualLabels...)
		if err != nil {
			return nil, err
		}
		return s.Text(i)
	}
	u, err := one(infos, name, what, isLabelName)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range u.members {
		values, err := s.vector(i)
		if err != nil {
			return nil, err
		}
		if out != nil && !slices.Equal(out, values) {
			return nil, fmt.Errorf("%s and %s are not the same; name one of them by FILE:NAME", infos[u.members[0]].Name, infos[i].Name)
		}
		out = values
	}
	return out, nil
}

// vector returns array i, which must be a vector of whole numbers or of text.
func (s *source) vector(i int) ([]string, error) {
	info := s.Arrays()[i]
	if !isThin(info) {
		return nil, fmt.Errorf("%s has the shape %v; give one value per sample", cmp.Or(info.Name, "the array"), info.Shape)
	}
	if info.Kind == array.Text {
		return s.Text(i)
	}
	values, err := s.whole(i)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(values))
	for k, v := range values {
		out[k] = strconv.FormatInt(v, 10)
	}
	return out, nil
}

// wholeBytes is about what a value takes that is read as a whole number and as text.
const wholeBytes = 40

// whole returns the whole numbers of array i. A sparse matrix of few bytes may stand for more
// of them than can be held.
func (s *source) whole(i int) ([]int64, error) {
	info := s.Arrays()[i]
	if hand := memory.AtHand(); int64(info.Len()) > hand.Bytes/wholeBytes {
		return nil, fmt.Errorf("%s has the shape %v, which takes %d bytes of memory where there are %d, %s; name another array", cmp.Or(info.Name, "the array"), info.Shape, wholeBytes*int64(info.Len()), hand.Bytes, hand.By)
	}
	return s.Int64(i)
}

// column returns the place among the table's arrays of the column called name
// or, without a name, of the first of the usual names that is there, or of the
// only column besides the ids.
func (s *source) column(name, what string, usual ...string) (int, error) {
	columns := s.table.Columns()
	k := slices.Index(columns, name)
	if name == "" {
		for _, u := range usual {
			if k < 0 {
				k = slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, u) })
			}
		}
		if rest := keep(columns, func(c string) bool { return c != s.table.ID() }); k < 0 && len(rest) == 1 {
			k = slices.Index(columns, rest[0])
		}
	}
	if k < 0 {
		return 0, fmt.Errorf("has no column %s, only %s; name that of the %s by FILE:NAME", words.Quote(cmp.Or(name, usual[0])), words.List(columns), what)
	}
	// The matrix of all numbers may stand before the columns.
	return len(s.Arrays()) - len(columns) + k, nil
}

// join returns the labels of the samples with the ids wanted. labels[i] belongs to the id
// own[i]; what is the word for a label.
func join(labels, own, wanted []string, what string) ([]string, error) {
	row := rowsOf(own)
	out := make([]string, len(wanted))
	for i, id := range wanted {
		k, ok := row[id]
		if !ok {
			return nil, fmt.Errorf("has no %s for the sample with the id %s; add a row for it", what, words.Quote(id))
		}
		out[i] = labels[k]
	}
	return out, nil
}

// classes numbers the labels in the order of their values.
func classes(labels []string) (numbers []int, names []string, err error) {
	whole, real := make([]int64, len(labels)), true
	fraction := -1 // the first number that is not whole
	for i, s := range labels {
		s = strings.TrimSpace(s)
		switch strings.ToLower(s) {
		case "", "nan", "na", "null":
			return nil, nil, fmt.Errorf("row %d (counted from 0) has no label; give every sample one", i)
		}
		labels[i] = s
		var ok bool
		if whole[i], ok = wholeNumber(s); !ok && fraction < 0 {
			fraction = i
		}
		_, err := strconv.ParseFloat(s, 64)
		real = real && (ok || err == nil)
	}
	switch {
	case fraction < 0:
		numbers, values := rank(whole)
		for _, v := range values {
			names = append(names, strconv.FormatInt(v, 10))
		}
		return numbers, names, nil
	case real:
		return nil, nil, fmt.Errorf("row %d (counted from 0) holds %s; give whole numbers or names as labels", fraction, labels[fraction])
	}
	numbers, names = rank(labels)
	return numbers, names, nil
}

// wholeNumber returns the whole number that s stands for, with or without a
// point or an exponent.
func wholeNumber(s string) (int64, bool) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	v, err := strconv.ParseFloat(s, 64)
	return int64(v), err == nil && v == math.Trunc(v) && math.Abs(v) <= 1<<53
}

// rank returns the different values in ascending order, and the place of every
// value among them.
func rank[T cmp.Ordered](values []T) (places []int, sorted []T) {
	sorted = slices.Compact(slices.Sorted(slices.Values(values)))
	places = make([]int, len(values))
	for i, v := range values {
		places[i], _ = slices.BinarySearch(sorted, v)
	}
	return places, sorted
}
