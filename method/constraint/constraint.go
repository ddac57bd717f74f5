// Package constraint holds what is known of pairs of samples: that they belong together,
// or that they do not.
//
// Set is what a caller says, Known what follows from it: whatever is linked by a chain of
// must-links is one component, to be moved as a whole, and what is to be kept apart has a
// token in common, of which a cluster may hold one. What is known of a pair also says
// something of those around its samples: see Known.Spread.
package constraint

import (
	"fmt"
	"slices"
	"strings"
)

// Set is what is known of pairs of samples, by their numbers. The zero value knows
// nothing.
type Set struct {
	// MustLink lists pairs of samples that are in one cluster.
	MustLink [][2]int
	// CannotLink lists pairs of samples that are never in one cluster.
	CannotLink [][2]int
	// Distinct holds the group of every sample, below 0 for none; nil stands for none at
	// all. Samples of one group are never in one cluster.
	Distinct []int
}

// Empty reports whether nothing is known.
func (s *Set) Empty() bool {
	return len(s.MustLink) == 0 && len(s.CannotLink) == 0 && len(s.Distinct) == 0
}

// Kind is one of the lists of a Set.
type Kind string

// The lists of a Set, as the command line calls them.
const (
	MustLink   Kind = "must-link"
	CannotLink Kind = "cannot-link"
	Distinct   Kind = "distinct"
)

// Error says which constraint cannot be used and why.
type Error struct {
	// Kind is the list that the constraint is in, and At its place there, or -1 under
	// Distinct.
	Kind Kind
	At   int
	// Samples are the two that the constraint is about.
	Samples [2]int
	// Chain holds the places in MustLink of those that put the two together all the
	// same, in the order in which they lead from one to the other; nil where that is not
	// the matter.
	Chain []int
	// problem is what else is the matter.
	problem string
}

// Error returns one sentence, which calls samples and constraints by their numbers.
func (e *Error) Error() string {
	return e.Describe(
		func(sample int) string { return fmt.Sprint("sample ", sample) },
		func(kind Kind, places []int) string { return numbered(string(kind), places) },
	)
}

// Describe returns one sentence, in which sample says what a sample is called and place
// where the constraints at some places of a list are, or, without places, the whole list.
func (e *Error) Describe(sample func(int) string, place func(kind Kind, places []int) string) string {
	var places []int
	if e.At >= 0 {
		places = []int{e.At}
	}
	where, a, b := place(e.Kind, places), sample(e.Samples[0]), sample(e.Samples[1])
	switch {
	case e.problem != "":
		return fmt.Sprintf("%s: %s", where, e.problem)
	case e.Samples[0] == e.Samples[1]:
		return fmt.Sprintf("%s: %s is linked to itself; name two samples, or remove the pair", where, a)
	case e.Kind == Distinct:
		return fmt.Sprintf("%s: %s and %s are in one group and cannot be together, but must be by %s; take one of them out of the group, or remove a link", where, a, b, place(MustLink, e.Chain))
	default:
		return fmt.Sprintf("%s: %s and %s cannot be together, but must be by %s; remove one of these", where, a, b, place(MustLink, e.Chain))
	}
}

// numbered enumerates constraints by their numbers, though not hundreds.
func numbered(kind string, places []int) string {
	switch len(places) {
	case 0:
		return kind
	case 1:
		return fmt.Sprintf("%s %d", kind, places[0])
	}
	return fmt.Sprintf("%ss %s", kind, enumerate(places))
}

// enumerate lists numbers for people: "2, 3 and 7". Of many, it says how many more there
// are.
func enumerate(numbers []int) string {
	const most = 8
	var words []string
	for _, n := range numbers[:min(len(numbers), most)] {
		words = append(words, fmt.Sprint(n))
	}
	last := len(words) - 1
	switch {
	case len(numbers) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(words, ", "), len(numbers)-most)
	case last < 1:
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Known is what follows from a Set for every sample. A nil *Known knows nothing.
type Known struct {
	// Component holds, for every sample, the lowest sample that it must be with, which
	// may be itself.
	Component []int32
	// Token[Offsets[i]:Offsets[i+1]] are the tokens that sample i holds. No two samples
	// that hold the same token, nor those of their components, may be in one cluster.
	Offsets []int
	Token   []int32

	must  [][2]int32   // the links, as they were given
	apart *rows[int32] // by token: the samples that hold it
	count Count
}

// Count says how much is known.
type Count struct {
	// MustLinks and CannotLinks are the pairs that were given.
	MustLinks   int `json:"must_links"`
	CannotLinks int `json:"cannot_links"`
	// Groups are those of two or more samples under Distinct, and Grouped the samples in
	// them.
	Groups  int `json:"distinct_groups"`
	Grouped int `json:"distinct_samples"`
	// Components are those of two or more samples that must be together, and Joined
	// the samples in them.
	Components int `json:"components"`
	Joined     int `json:"joined_samples"`
}

// Count says how much is known.
func (k *Known) Count() Count {
	if k == nil {
		return Count{}
	}
	return k.count
}

// Resolve draws the conclusions for so many samples. It returns nil where nothing is
// known, and an *Error where a sample is out of range or linked to itself, where Distinct
// has not one group per sample, or where samples that cannot be together must be.
func (s *Set) Resolve(samples int) (*Known, error) {
	if s.Empty() {
		return nil, nil
	}
	if err := s.check(samples); err != nil {
		return nil, err
	}
	k := &Known{Component: components(samples, s.MustLink)}
	k.count.MustLinks, k.count.CannotLinks = len(s.MustLink), len(s.CannotLink)
	size := make([]int, samples)
	for _, c := range k.Component {
		if size[c]++; size[c] == 2 {
			k.count.Components++
			k.count.Joined++
		}
		if size[c] > 1 {
			k.count.Joined++
		}
	}
	for at, p := range s.CannotLink {
		if k.Component[p[0]] == k.Component[p[1]] {
			return nil, &Error{Kind: CannotLink, At: at, Samples: p, Chain: s.chain(samples, p[0], p[1])}
		}
	}
	for _, p := range s.MustLink {
		k.must = append(k.must, [2]int32{int32(p[0]), int32(p[1])})
	}
	groups := s.groups(&k.count)
	if a, b, found := together(groups, k.Component); found {
		return nil, &Error{Kind: Distinct, At: -1, Samples: [2]int{a, b}, Chain: s.chain(samples, a, b)}
	}
	k.hand(s.CannotLink, groups)
	return k, nil
}

// check looks at every constraint by itself.
func (s *Set) check(samples int) error {
	for _, list := range []struct {
		kind  Kind
		pairs [][2]int
	}{{MustLink, s.MustLink}, {CannotLink, s.CannotLink}} {
		for at, p := range list.pairs {
			for _, i := range p {
				if i < 0 || i >= samples {
					return &Error{Kind: list.kind, At: at, Samples: p, problem: fmt.Sprintf("there is no sample %d; name samples from 0 to %d", i, samples-1)}
				}
			}
			if p[0] == p[1] {
				return &Error{Kind: list.kind, At: at, Samples: p}
			}
		}
	}
	if s.Distinct != nil && len(s.Distinct) != samples {
		return &Error{Kind: Distinct, At: -1, problem: fmt.Sprintf("%d groups for %d samples; give every sample a group, or -1", len(s.Distinct), samples)}
	}
	return nil
}

// components returns, for every sample, the lowest of those that links lead to.
func components(samples int, links [][2]int) []int32 {
	parent := make([]int32, samples)
	for i := range parent {
		parent[i] = int32(i)
	}
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, p := range links {
		a, b := root(int32(p[0])), root(int32(p[1]))
		parent[max(a, b)] = min(a, b)
	}
	for i := range parent {
		parent[i] = root(int32(i))
	}
	return parent
}

// chain returns the places of the fewest must-links that lead from a to b.
func (s *Set) chain(samples, a, b int) []int {
	links := make([][]int, samples)
	for at, p := range s.MustLink {
		links[p[0]], links[p[1]] = append(links[p[0]], at), append(links[p[1]], at)
	}
	by := make([]int, samples) // the link that leads to a sample, counted from 1
	for queue := []int{a}; len(queue) > 0; queue = queue[1:] {
		for _, at := range links[queue[0]] {
			p := s.MustLink[at]
			if next := p[0] + p[1] - queue[0]; next != a && by[next] == 0 {
				by[next] = at + 1
				queue = append(queue, next)
			}
		}
	}
	var chain []int
	for i := b; i != a; {
		at := by[i] - 1
		chain = append(chain, at)
		i = s.MustLink[at][0] + s.MustLink[at][1] - i
	}
	slices.Reverse(chain)
	return chain
}

// groups returns the samples of every group that has two or more, in the order of their
// first ones.
func (s *Set) groups(count *Count) [][]int32 {
	place := map[int]int{}
	var groups [][]int32
	for i, g := range s.Distinct {
		if g < 0 {
			continue
		}
		at, ok := place[g]
		if !ok {
			at = len(groups)
			place[g] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], int32(i))
	}
	groups = slices.DeleteFunc(groups, func(g []int32) bool { return len(g) < 2 })
	count.Groups = len(groups)
	for _, g := range groups {
		count.Grouped += len(g)
	}
	return groups
}

// together finds two samples of one group that are in one component.
func together(groups [][]int32, component []int32) (a, b int, found bool) {
	for _, g := range groups {
		first := make(map[int32]int32, len(g))
		for _, i := range g {
			if other, ok := first[component[i]]; ok {
				return int(other), int(i), true
			}
			first[component[i]] = i
		}
	}
	return 0, 0, false
}

// hand gives tokens to the samples: one for every cannot-link and one for every group.
func (k *Known) hand(cannot [][2]int, groups [][]int32) {
	n := len(k.Component)
	k.Offsets = make([]int, n+1)
	k.apart = &rows[int32]{start: []int{0}}
	for _, p := range cannot {
		k.apart.add(int32(p[0]), int32(p[1]))
	}
	for _, g := range groups {
		k.apart.add(g...)
	}
	each := func(do func(token, i int32)) {
		for t := range k.apart.count() {
			for _, i := range k.apart.of(t) {
				do(int32(t), i)
			}
		}
	}
	each(func(_, i int32) { k.Offsets[i+1]++ })
	for i := range n {
		k.Offsets[i+1] += k.Offsets[i]
	}
	k.Token = make([]int32, k.Offsets[n])
	fill := slices.Clone(k.Offsets)
	each(func(t, i int32) {
		k.Token[fill[i]] = t
		fill[i]++
	})
}

// Of returns the tokens that sample i holds, ascending.
func (k *Known) Of(i int) []int32 { return k.Token[k.Offsets[i]:k.Offsets[i+1]] }

// Renumber returns what is known where sample order[i] has the number i; order is a
// permutation of the samples.
func (k *Known) Renumber(order []int) *Known {
	if k == nil {
		return nil
	}
	n := len(order)
	number := make([]int32, n)
	for i, from := range order {
		number[from] = int32(i)
	}
	out := &Known{
		Component: make([]int32, n), Offsets: make([]int, n+1), Token: make([]int32, 0, len(k.Token)),
		must: make([][2]int32, len(k.must)), apart: &rows[int32]{start: k.apart.start}, count: k.count,
	}
	for _, i := range k.apart.all {
		out.apart.all = append(out.apart.all, number[i])
	}
	lowest := make([]int32, n) // by component in the old numbers, counted from 1
	for i, from := range order {
		c := k.Component[from]
		if lowest[c] == 0 {
			lowest[c] = int32(i) + 1
		}
		out.Component[i] = lowest[c] - 1
		out.Token = append(out.Token, k.Of(from)...)
		out.Offsets[i+1] = len(out.Token)
	}
	for l, p := range k.must {
		out.must[l] = [2]int32{number[p[0]], number[p[1]]}
	}
	return out
}

// Joined returns how many of all pairs of samples that cannot be together labels, one per
// sample, have together.
func (k *Known) Joined(labels []int32) (joined, all int) {
	if k == nil {
		return 0, 0
	}
	var row []int32
	for t := range k.apart.count() {
		row = row[:0]
		for _, i := range k.apart.of(t) {
			row = append(row, labels[i])
		}
		slices.Sort(row)
		same := 0 // as many before in the row
		for at := range row {
			if same++; at == 0 || row[at] != row[at-1] {
				same = 0
			}
			joined += same
		}
		all += len(row) * (len(row) - 1) / 2
	}
	return joined, all
}

// Broken returns two samples that labels, one per sample, have together though they
// cannot be, or apart though they must be together; ok is false where there are none.
func (k *Known) Broken(labels []int) (pair [2]int, ok bool) {
	if k == nil {
		return pair, false
	}
	type claim struct{ label, token int }
	holder := map[claim]int{}
	for i, l := range labels {
		if c := int(k.Component[i]); labels[c] != l {
			return [2]int{c, i}, true
		}
		for _, t := range k.Of(i) {
			if other, taken := holder[claim{l, int(t)}]; taken {
				return [2]int{other, i}, true
			}
			holder[claim{l, int(t)}] = i
		}
	}
	return pair, false
}
