package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/words"
)

// orient finds which side of each chosen view is the samples. id is the file
// that the ids come from, if they come from one of their own.
func orient(set *Set, chosen, all []*candidate, here *presence, id string) error {
	lengths := commonSides(chosen)
	if len(lengths) == 0 {
		return fmt.Errorf("the views have no side in common that could be the samples: %s; give views of the same samples, or tables with ids", shapes(chosen))
	}
	if set.IDs != nil && !slices.Contains(lengths, len(set.IDs)) {
		return fmt.Errorf("--id %s has %s, and %s; give one id per sample", id, words.Count(len(set.IDs), "id"), shapes(chosen))
	}
	if here != nil && !slices.ContainsFunc(lengths, here.fits) {
		return fmt.Errorf("--index %s is about %s, and %s; give the index that belongs to the views", here.arg, here.extent(), shapes(chosen))
	}
	narrow := func(fits func(n int) bool) {
		if left := keep(lengths, fits); len(left) > 0 {
			lengths = left
		}
	}
	narrow(func(n int) bool { return n == len(set.IDs) })
	if here != nil {
		narrow(here.fits)
	}
	for _, c := range chosen {
		narrow(c.src.hasLabels)
	}
	byRows := func(n int) bool {
		return !slices.ContainsFunc(chosen, func(c *candidate) bool { return !c.src.format.eitherSide && c.info.Shape[0] != n })
	}
	narrow(byRows)
	others := commonSides(all)
	narrow(func(n int) bool { return slices.Contains(others, n) })
	n := slices.Max(lengths)
	confirmed := n == len(set.IDs) || here != nil && here.tells(n) ||
		slices.ContainsFunc(chosen, func(c *candidate) bool { return c.fixed || c.src.hasLabels(n) })
	if !byRows(n) && !confirmed {
		return fmt.Errorf("samples are rows, save in .mat files, and the views differ in their number: %s; give views of the same samples, or transpose those that have them in columns", shapes(chosen))
	}
	if len(lengths) > 1 {
		set.note("both sides of %s could be the samples, and the longer one, %d, is taken; save the views as .npy files with one row per sample if that is wrong", words.List(names(chosen)), n)
	}
	for _, c := range chosen {
		c.columns = c.info.Shape[0] != n
	}
	for _, c := range chosen {
		// A square matrix is like the others of its file.
		if c.info.Shape[0] == c.info.Shape[1] {
			c.columns = slices.ContainsFunc(chosen, func(d *candidate) bool { return d.src == c.src && d.columns })
		}
	}
	if turned := keep(chosen, func(c *candidate) bool { return c.columns }); len(turned) > 0 {
		set.note("the columns, and not the rows, are taken for the samples, %d in number, in %s", n, words.List(names(turned)))
	}
	return nil
}

// commonSides returns the lengths that could be the samples of all views.
func commonSides(all []*candidate) []int {
	lengths := slices.Compact(slices.Clone(all[0].possible()))
	return keep(lengths, func(n int) bool {
		return !slices.ContainsFunc(all, func(c *candidate) bool { return !slices.Contains(c.possible(), n) })
	})
}

// possible returns the lengths of the sides that could be the samples.
func (c *candidate) possible() []int {
	if c.fixed {
		return c.info.Shape[:1]
	}
	return c.info.Shape
}

// hasLabels reports whether the file holds something for each of n samples:
// labels, or marks of presence.
func (s *source) hasLabels(n int) bool {
	for _, info := range s.Arrays() {
		name := cmp.Or(info.Group, info.Name)
		switch {
		case isLabelName(name) && isThin(info):
			if info.Len() == n {
				return true
			}
		case isLabelName(name), isIndexName(name) && !isThin(info):
			if slices.Contains(info.Shape, n) {
				return true
			}
		}
	}
	return false
}

// names returns the names of views.
func names(all []*candidate) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.name)
	}
	return out
}

// shapes returns words for the shapes of views.
func shapes(all []*candidate) string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s is %d x %d", c.name, c.info.Shape[0], c.info.Shape[1]))
	}
	return words.List(out)
}
