package dataset

import (
	"fmt"

	"github.com/mvclust/mvclust/internal/words"
)

// cellViews returns the views of a file of single cells, whose rows are cells, and the names
// of its other matrices.
func (s *source) cellViews(name string) (found []*candidate, passed []string, err error) {
	var members []int
	if name == "" {
		members, passed, err = s.cells.Views()
	} else {
		members = []int{0}
		members[0], err = s.cells.View(name)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, i := range members {
		info := s.Arrays()[i]
		if err := checkMatrix(info); err != nil {
			return nil, nil, fmt.Errorf("%s %w", info.Name, err)
		}
		c := &candidate{src: s, index: i, info: info, name: s.base() + ":" + info.Name, fixed: true}
		if c.ids, err = s.rowIDs(i); err != nil {
			return nil, nil, err
		}
		if len(c.ids) != info.Shape[0] {
			return nil, nil, fmt.Errorf("%s has %s for %s; write the file again with anndata", info.Name, words.Count(info.Shape[0], "row"), words.Count(len(c.ids), "cell"))
		}
		found = append(found, c)
	}
	return found, passed, nil
}

// rowIDs returns the names of the cells that are the rows of array i.
func (s *source) rowIDs(i int) ([]string, error) {
	ids, err := s.cells.IDs(i)
	if err != nil {
		return nil, err
	}
	return ids, checkIDs(ids)
}

// cellIDs returns the values of a column as ids or, without a name, the names of all cells.
func (s *source) cellIDs(name string) (ids []string, err error) {
	if name == "" {
		ids, err = s.cells.All()
	} else {
		var i int
		if i, err = s.cells.Column(name); err == nil {
			ids, err = s.vector(i)
		}
	}
	if err != nil {
		return nil, err
	}
	return ids, checkIDs(ids)
}

// cellColumn returns the array that the column called name is or, without a name, the first
// with a usual name; what is the word for its values.
func (s *source) cellColumn(name, what string) (int, error) {
	if name != "" {
		return s.cells.Column(name)
	}
	for _, usual := range usualLabels {
		if i, err := s.cells.Column(usual); err == nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("has the columns %s in obs; name that of the %s by FILE:NAME", words.List(s.cells.Columns()), what)
}

// sameRows reports whether the rows of two views are the same in their files.
func (c *candidate) sameRows(d *candidate) bool {
	return c.src == d.src && len(c.ids) == len(d.ids) && (len(c.ids) == 0 || &c.ids[0] == &d.ids[0])
}
