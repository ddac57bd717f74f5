package dataset

import (
	"context"
	"strings"

	"github.com/mvclust/mvclust/internal/words"
)

// Examples are samples whose classes a file tells.
type Examples struct {
	// Samples holds their numbers, each once, in the order of the file, and Labels the names of
	// their classes.
	Samples []int
	Labels  []string
	// File is the file that they come from.
	File File
}

// ReadExamples reads the classes of some samples from source, FILE or FILE:COLUMN: a table with a
// column of ids, or, where ids is nil, of row numbers from 0 to samples-1, and one of labels.
// Without a COLUMN that is the one called label, class, truth, y or cluster, or the only one
// besides the ids. A row without a label says nothing. A sample may be listed again with the same
// label.
func ReadExamples(ctx context.Context, source string, ids []string, samples int) (*Examples, error) {
	l := newLibrary(ctx)
	defer l.close()
	s, name, err := l.open(source)
	if err != nil {
		return nil, err
	}
	if s.table == nil || s.table.ID() == "" {
		return nil, s.failf("has no column of ids; give a table with the columns id and label")
	}
	labels, err := s.labels(name, "labels")
	if err != nil {
		return nil, s.fail(err)
	}
	at, err := s.column(s.table.ID(), "ids", s.table.ID())
	if err != nil {
		return nil, s.fail(err)
	}
	own, err := s.Text(at)
	if err != nil {
		return nil, s.fail(err)
	}
	e := &Examples{}
	number, first := numberOf(ids, samples), map[int]string{}
	for row, id := range own {
		label := strings.TrimSpace(labels[row])
		switch strings.ToLower(label) {
		case "", "nan", "na", "null":
			continue
		}
		i, err := number(id)
		if err != nil {
			return nil, s.failf("row %d (counted from 0, without the header): %w", row, err)
		}
		if before, again := first[i]; again && before != label {
			return nil, s.failf("row %d (counted from 0, without the header): %s is %s here and %s in an earlier row; keep one of the two", row, words.Quote(id), words.Quote(label), words.Quote(before))
		} else if again {
			continue
		}
		first[i] = label
		e.Samples, e.Labels = append(e.Samples, i), append(e.Labels, label)
	}
	if len(e.Samples) == 0 {
		return nil, s.failf("has no label; give one in some row, or leave the file out")
	}
	files, err := l.files()
	if err != nil {
		return nil, err
	}
	e.File = files[0]
	return e, nil
}
