// Package constraint holds pairwise constraints: which pairs of samples must be in one
// cluster (must-link), and which must not (cannot-link).
//
// A Set is what the caller gives, and Resolved what follows from it. The must-links are
// closed under transitivity: samples that a chain of them joins are one component, which is
// moved as a whole. Cannot-links are kept as exclusions: sets of samples of which a cluster
// may hold one. Resolved.Clamp and Resolved.Propagate enter both into the pair
// probabilities.
//
// It follows the method and may change in any minor version.
package constraint

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mvclust/mvclust/method/sparse"
)

// Set holds pairwise constraints, by the samples' numbers. The zero value has none.
type Set struct {
	// MustLink lists pairs of samples that must be in one cluster.
	MustLink [][2]int
	// CannotLink lists pairs of samples that must not be in one cluster.
	CannotLink [][2]int
	// Distinct holds the group of every sample, or a number below 0 for none. No two samples
	// of a group may be in one cluster. nil stands for no groups.
	Distinct []int
}

// Empty reports whether s has no constraints.
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
	// Chain holds, where must-links join two samples that must not be in one cluster, the
	// places of these links in MustLink, in the order in which they lead from one sample to
	// the other.
	Chain []int
	// problem is any other reason.
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
// where the constraints at some places of a list are, or, without places, the whole list. It
// panics if one of them is nil.
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

// Resolved is what follows from a Set for every sample. A nil *Resolved has no constraints.
type Resolved struct {
	// Component holds, for every sample, the lowest sample of its must-link component, which
	// may be itself.
	Component []int32
	// Exclusions holds, by sample, the numbers of the exclusions that it is a member of,
	// ascending. No two members of an exclusion, nor of their components, may be in one
	// cluster.
	Exclusions sparse.Rows[int32]

	nodes   []int32            // by sample: the lowest that is moved with it; nil for Component
	must    [][2]int32         // the must-links, as they were given
	members sparse.Rows[int32] // by exclusion: the samples in it
	count   Count

	apart *apart
}

// apart is what must not be in one cluster, made when it is asked for first: by sample, as
// Resolved.Apart returns it, and by component.
type apart struct {
	byPair, byBarrier sync.Once
	pairs, groups     sparse.Rows[int32]
	barriers          *barriers
}

// Count says how many constraints there are.
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

// Count returns how many constraints there are.
func (r *Resolved) Count() Count {
	if r == nil {
		return Count{}
	}
	return r.count
}

// Resolve returns what follows from s for the given number of samples, or nil where s is
// empty. The error is an *Error: a sample is out of range or linked to itself, Distinct does
// not have one group per sample, or must-links join samples that must not be in one cluster.
func (s *Set) Resolve(samples int) (*Resolved, error) {
	if s == nil || s.Empty() {
		return nil, nil
	}
	if err := s.check(samples); err != nil {
		return nil, err
	}
	r := &Resolved{Component: components(samples, s.MustLink)}
	r.count.MustLinks, r.count.CannotLinks = len(s.MustLink), len(s.CannotLink)
	size := make([]int, samples)
	for _, c := range r.Component {
		if size[c]++; size[c] == 2 {
			r.count.Components++
			r.count.Joined++
		}
		if size[c] > 1 {
			r.count.Joined++
		}
	}
	for at, p := range s.CannotLink {
		if r.Component[p[0]] == r.Component[p[1]] {
			return nil, &Error{Kind: CannotLink, At: at, Samples: p, Chain: s.chain(samples, p[0], p[1])}
		}
	}
	for _, p := range s.MustLink {
		r.must = append(r.must, [2]int32{int32(p[0]), int32(p[1])})
	}
	groups := s.groups(&r.count)
	if a, b, found := together(groups, r.Component); found {
		return nil, &Error{Kind: Distinct, At: -1, Samples: [2]int{a, b}, Chain: s.chain(samples, a, b)}
	}
	r.exclude(s.CannotLink, groups)
	r.apart = &apart{}
	return r, nil
}

// check looks at every constraint by itself.
func (s *Set) check(samples int) error {
	if samples < 0 || samples > math.MaxInt32 {
		return &Error{Kind: MustLink, At: -1, problem: fmt.Sprintf("there cannot be %d samples; give from 0 to %d", samples, math.MaxInt32)}
	}
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

// exclude makes an exclusion of every cannot-link and of every group.
func (r *Resolved) exclude(cannot [][2]int, groups [][]int32) {
	for _, p := range cannot {
		r.members.Append(int32(p[0]), int32(p[1]))
	}
	for _, g := range groups {
		r.members.Append(g...)
	}
	r.Exclusions = sparse.Collect(len(r.Component), func(add func(row int, value int32)) {
		for x := range r.members.Len() {
			for _, i := range r.members.Of(x) {
				add(int(i), int32(x))
			}
		}
	})
}

// Apart returns what must not be in one cluster in the form that takes the least time: pairs has,
// by sample, the other sample of each exclusion of two, and groups the numbers of its larger
// exclusions. Where there are none of a kind, there may be no rows.
func (r *Resolved) Apart() (pairs, groups sparse.Rows[int32]) {
	if r == nil || len(r.members.Values) == 0 {
		return pairs, groups // among them one that Resolve has not made
	}
	r.apart.byPair.Do(func() { r.apart.pairs, r.apart.groups = r.findApart() })
	return r.apart.pairs, r.apart.groups
}

func (r *Resolved) findApart() (pairs, groups sparse.Rows[int32]) {
	large := false
	pairs = sparse.Collect(len(r.Component), func(add func(row int, value int32)) {
		for x := range r.members.Len() {
			if m := r.members.Of(x); len(m) == 2 {
				add(int(m[0]), m[1])
				add(int(m[1]), m[0])
			} else {
				large = true
			}
		}
	})
	if !large {
		return pairs, groups
	}
	groups = sparse.Collect(len(r.Component), func(add func(row int, value int32)) {
		for x := range r.members.Len() {
			if m := r.members.Of(x); len(m) > 2 {
				for _, i := range m {
					add(int(i), int32(x))
				}
			}
		}
	})
	return pairs, groups
}

// Check reports why r is not about so many samples. A nil r is about any number.
func (r *Resolved) Check(samples int) error {
	if r == nil {
		return nil
	}
	if len(r.Component) != samples || r.Exclusions.Len() != samples {
		return fmt.Errorf("there are constraints on %d samples, and %d samples; resolve them for these", len(r.Component), samples)
	}
	if err := r.Exclusions.Validate(); err != nil {
		return err
	}
	for i, c := range r.Component {
		if c < 0 || int(c) > i || r.Component[c] != c {
			return fmt.Errorf("sample %d is in component %d; it is called after its lowest sample", i, c)
		}
	}
	if r.nodes != nil && len(r.nodes) != samples {
		return fmt.Errorf("%d samples are to be moved together with others, and there are %d; pass as many", len(r.nodes), samples)
	}
	for _, x := range r.Exclusions.Values {
		if uint(x) >= uint(r.members.Len()) {
			return fmt.Errorf("there is an exclusion %d of %d", x, r.members.Len())
		}
	}
	return nil
}

// Gather returns the constraints in which sample i is sample p[i] of r. It panics if p does not
// list every sample once.
func (r *Resolved) Gather(p sparse.Permutation) *Resolved {
	if r == nil {
		return nil
	}
	number := p.Inverse()
	out := &Resolved{
		Component: gathered(r.Component, p), must: make([][2]int32, len(r.must)), count: r.count, apart: &apart{},
		members: sparse.Rows[int32]{Offsets: r.members.Offsets, Values: make([]int32, len(r.members.Values))},
	}
	for at, i := range r.members.Values {
		out.members.Values[at] = int32(number[i])
	}
	for _, from := range p {
		out.Exclusions.Append(r.Exclusions.Of(from)...)
	}
	if r.nodes != nil {
		out.nodes = gathered(r.nodes, p)
	}
	for l, pair := range r.must {
		out.must[l] = [2]int32{int32(number[pair[0]]), int32(number[pair[1]])}
	}
	return out
}

// gathered numbers sets of samples, each called after its lowest, as p does.
func gathered(set []int32, p sparse.Permutation) []int32 {
	out := make([]int32, len(p))
	lowest := make([]int32, len(p)) // by set in the old numbers, counted from 1
	for i, from := range p {
		c := set[from]
		if lowest[c] == 0 {
			lowest[c] = int32(i) + 1
		}
		out[i] = lowest[c] - 1
	}
	return out
}

// Violations returns how many pairs cannot be in one cluster, and how many of these have
// the same label. labels holds one per sample. It panics if there are fewer.
func (r *Resolved) Violations(labels []int32) (violated, all int) {
	if r == nil {
		return 0, 0
	}
	var row []int32
	for x := range r.members.Len() {
		if pair := r.members.Of(x); len(pair) == 2 {
			if all++; labels[pair[0]] == labels[pair[1]] {
				violated++
			}
			continue
		}
		row = row[:0]
		for _, i := range r.members.Of(x) {
			row = append(row, labels[i])
		}
		slices.Sort(row)
		same := 0 // labels before this one that equal it
		for at := range row {
			if same++; at == 0 || row[at] != row[at-1] {
				same = 0
			}
			violated += same
		}
		all += len(row) * (len(row) - 1) / 2
	}
	return violated, all
}

// Violation returns two samples whose labels violate a constraint; found is false where
// there are none. labels holds one per sample. It panics if there are fewer or more.
func (r *Resolved) Violation(labels []int) (pair [2]int, found bool) {
	if r == nil {
		return pair, false
	}
	type place struct{ label, exclusion int }
	member := map[place]int{}
	for i, l := range labels {
		if c := int(r.Component[i]); labels[c] != l {
			return [2]int{c, i}, true
		}
		for _, x := range r.Exclusions.Of(i) {
			if other, taken := member[place{l, int(x)}]; taken {
				return [2]int{other, i}, true
			}
			member[place{l, int(x)}] = i
		}
	}
	return pair, false
}
