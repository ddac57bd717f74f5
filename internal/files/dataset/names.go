package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// isViewName reports whether arrays of that name, followed by a number or in a
// cell array, are views.
func isViewName(name string) bool {
	switch strings.TrimRight(plain(name), "_-") {
	case "arr", "data", "fea", "feature", "features", "v", "view", "views", "x":
		return true
	}
	return false
}

func isLabelName(name string) bool {
	switch plain(name) {
	case "class", "classes", "gnd", "ground_truth", "groundtruth", "gt", "label", "labels", "target", "targets", "true_label", "true_labels", "truelabel", "truelabels", "truth", "y":
		return true
	}
	return false
}

func isIndexName(name string) bool {
	switch plain(name) {
	case "folds", "idx", "index", "indices", "missingstatus":
		return true
	}
	return false
}

func isIDName(name string) bool {
	switch plain(name) {
	case "id", "ids":
		return true
	}
	return false
}

// plain returns a name in lower case and without the structs it is in.
func plain(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
}

// unit is what a name in a file stands for: one array, or a cell array of them.
type unit struct {
	name    string
	members []int // among the file's arrays
}

// units returns the units of a file, in its order.
func units(infos []array.Info) []unit {
	var out []unit
	for i, info := range infos {
		name := cmp.Or(info.Group, info.Name)
		k := -1
		if info.Group != "" {
			k = slices.IndexFunc(out, func(u unit) bool { return u.name == name })
		}
		if k < 0 {
			k = len(out)
			out = append(out, unit{name: name})
		}
		out[k].members = append(out[k].members, i)
	}
	return out
}

// named returns the array or the cells called name.
func named(infos []array.Info, name string) (unit, error) {
	for i, info := range infos {
		if info.Name == name {
			return unit{name, []int{i}}, nil
		}
	}
	all := units(infos)
	for _, u := range all {
		if u.name == name {
			return u, nil
		}
	}
	if len(all) == 1 && all[0].name == "" {
		return unit{}, fmt.Errorf("holds a single array, without a name; leave out %s", words.Quote(":"+name))
	}
	return unit{}, fmt.Errorf("holds no array %s, only %s; name one of these", words.Quote(name), listUnits(all))
}

// one returns the unit called name or, without a name, the one that known holds
// for, or the only one there is.
func one(infos []array.Info, name, what string, known func(name string) bool) (unit, error) {
	if name != "" {
		return named(infos, name)
	}
	all := units(infos)
	fit := keep(all, func(u unit) bool { return known(u.name) })
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(fit) > 1:
		all = fit
	}
	return unit{}, fmt.Errorf("holds %s; say which are the %s by FILE:NAME", listUnits(all), what)
}

// views returns the arrays of a file that are views: those called name or,
// without a name, those that the rules of the package's documentation find.
// passed lists the names of the others.
func views(infos []array.Info, name string) (members []int, passed []string, err error) {
	if name != "" {
		u, err := named(infos, name)
		return u.members, nil, err
	}
	var likely, other []unit
	all := units(infos)
	for _, u := range all {
		stem, _, numbered := numberedName(u.name)
		grouped := infos[u.members[0]].Group != ""
		switch {
		case isLabelName(u.name), isIndexName(u.name), isIDName(u.name):
		case numbered && !grouped && isViewName(stem):
			k := slices.IndexFunc(likely, func(v unit) bool { return v.name == stem+"..." })
			if k < 0 {
				k = len(likely)
				likely = append(likely, unit{name: stem + "..."})
			}
			likely[k].members = append(likely[k].members, u.members...)
		case grouped && isViewName(u.name):
			likely = append(likely, u)
		default:
			other = append(other, u)
		}
	}
	matrices := keep(other, func(u unit) bool { return allArrays(infos, u, isMatrix) })
	// Numbers and vectors that go with a matrix are settings or results.
	wide := func(u unit) bool { return !allArrays(infos, u, isThin) }
	var fit []unit
	for _, choice := range [][]unit{keep(likely, wide), keep(matrices, wide), likely, matrices} {
		if len(fit) == 0 {
			fit = choice
		}
	}
	switch {
	case len(fit) == 0 && len(all) == 1:
		fit = all // for the reason why it is no matrix
	case len(fit) == 0:
		return nil, nil, fmt.Errorf("holds no matrix of numbers that could be a view, only %s; name one of these by FILE:NAME if it is one", listUnits(all))
	case len(fit) > 1:
		return nil, nil, fmt.Errorf("holds several arrays that could be views: %s; name those that are by FILE:NAME, or call them view0, view1 and so on", listUnits(fit))
	}
	members = fit[0].members
	slices.SortStableFunc(members, func(a, b int) int {
		_, i, _ := numberedName(infos[a].Name)
		_, j, _ := numberedName(infos[b].Name)
		return cmp.Compare(i, j)
	})
	for _, u := range all {
		if !slices.Contains(members, u.members[0]) {
			passed = append(passed, u.name)
		}
	}
	return members, passed, nil
}

// numberedName takes a name apart that ends in a number.
func numberedName(name string) (stem string, number int, ok bool) {
	stem = strings.TrimRight(name, "0123456789")
	number, err := strconv.Atoi(name[len(stem):])
	return stem, number, err == nil
}

// checkMatrix says why an array cannot be a view.
func checkMatrix(info array.Info) error {
	switch {
	case info.Kind == array.Text:
		return errors.New("holds text where numbers are needed; name another array")
	case len(info.Shape) < 2:
		return fmt.Errorf("has the shape %v and not two sides; give a matrix, samples x 1 if there is but one value per sample", info.Shape)
	case len(info.Shape) > 2:
		return fmt.Errorf("has %d sides, %v; reshape it to a matrix with one row per sample", len(info.Shape), info.Shape)
	case info.Len() == 0:
		return fmt.Errorf("is empty, %d x %d; give at least one sample and one value per sample", info.Shape[0], info.Shape[1])
	}
	return nil
}

func isMatrix(info array.Info) bool { return checkMatrix(info) == nil }

// isThin reports whether an array is a vector or less.
func isThin(info array.Info) bool { return info.Len() <= slices.Max(append(info.Shape, 1)) }

func allArrays(infos []array.Info, u unit, hold func(array.Info) bool) bool {
	return !slices.ContainsFunc(u.members, func(i int) bool { return !hold(infos[i]) })
}

// keep returns the elements that hold is true for.
func keep[T any](all []T, hold func(T) bool) []T {
	var out []T
	for _, x := range all {
		if hold(x) {
			out = append(out, x)
		}
	}
	return out
}

func listUnits(units []unit) string {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	return words.List(names)
}
