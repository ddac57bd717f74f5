package dataset

import (
	"fmt"

	"github.com/mvclust/mvclust/internal/words"
)

// presence says which samples have which of the chosen views.
type presence struct {
	arg string
	// lists are the samples that have each view, counted from 1.
	lists [][]int64
	// samples is the number of samples, or 0 if the lists do not tell.
	samples int
	// highest is the greatest number in the lists.
	highest int64
}

// presence reads arg, the value of --index. order holds the places of the chosen
// views among the found ones.
func (l *library) presence(arg string, found int, order []int) (*presence, error) {
	s, name, err := l.open(arg)
	if err != nil {
		return nil, fmt.Errorf("--index %w", err)
	}
	p := &presence{arg: arg}
	infos := s.Arrays()
	u := unit{members: []int{0}} // a table as a whole
	if s.table == nil || name != "" {
		if u, err = one(infos, name, "lists of present samples", isIndexName); err != nil {
			return nil, s.fail(err)
		}
	} else if infos[0].Name != "" {
		return nil, fmt.Errorf("--index %s holds no columns of whole numbers, one per view; name what it holds by FILE:NAME", arg)
	}
	for _, i := range u.members {
		values, err := s.whole(i)
		if err != nil {
			return nil, s.fail(err)
		}
		p.lists = append(p.lists, values)
	}
	first := s.Arrays()[u.members[0]] // its sides may not have been known before
	if len(u.members) == 1 && isMatrix(first) && !isThin(first) {
		rows, cols := first.Shape[0], first.Shape[1]
		byColumn := first.ColumnMajor
		if cols != found && cols != len(order) {
			rows, cols, byColumn = cols, rows, !byColumn
		}
		if p.lists, err = listed(p.lists[0], rows, cols, byColumn); err != nil {
			return nil, s.failf("%s %w", first.Name, err)
		}
		p.samples = rows
	}
	switch len(p.lists) {
	case found:
		all := p.lists
		p.lists = nil
		for _, k := range order {
			p.lists = append(p.lists, all[k])
		}
	case len(order):
	default:
		return nil, fmt.Errorf("--index %s has %s for %s; give one for each view", arg, words.Count(len(p.lists), "list"), words.Count(found, "view"))
	}
	for _, list := range p.lists {
		for _, i := range list {
			p.highest = max(p.highest, i)
		}
	}
	return p, nil
}

// listed turns a samples x views matrix of 0 and 1, stored row after row or
// column after column, into a list for each view.
func listed(marks []int64, samples, views int, byColumn bool) ([][]int64, error) {
	lists := make([][]int64, views)
	for at, mark := range marks {
		i, v := at/views, at%views
		if byColumn {
			i, v = at%samples, at/samples
		}
		switch mark {
		case 0:
		case 1:
			lists[v] = append(lists[v], int64(i+1))
		default:
			return nil, fmt.Errorf("holds %d for sample %d and view %d (counted from 0); write 1 where a sample has a view, 0 where it lacks it", mark, i, v)
		}
	}
	return lists, nil
}

// fits reports whether there can be n samples.
func (p *presence) fits(n int) bool {
	return p.samples == n || p.samples == 0 && p.highest <= int64(n)
}

// tells reports whether the index itself says that there are n samples.
func (p *presence) tells(n int) bool { return p.samples == n || p.highest == int64(n) }

// extent returns words for the samples that fit.
func (p *presence) extent() string {
	if p.samples > 0 {
		return words.Count(p.samples, "sample")
	}
	return words.Count(int(p.highest), "sample") + " or more"
}

// mask returns which of n samples have the chosen view v.
func (p *presence) mask(v, n int) ([]bool, error) {
	mask := make([]bool, n)
	for at, i := range p.lists[v] {
		if i < 1 || i > int64(n) {
			return nil, fmt.Errorf("--index %s: entry %d of the list of view %d (both counted from 0) is %d; samples are numbered from 1 to %d there", p.arg, at, v, i, n)
		}
		if mask[i-1] {
			return nil, fmt.Errorf("--index %s: the list of view %d (counted from 0) has sample %d twice; list every sample once", p.arg, v, i)
		}
		mask[i-1] = true
	}
	return mask, nil
}
