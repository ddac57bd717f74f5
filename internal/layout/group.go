package layout

import (
	"cmp"
	"slices"
)

// groups are sets of nodes that act on each other.
type groups struct {
	of    []int32 // node -> group, numbered by falling size and then by first node
	nodes []int32 // of group c, from start[c] to start[c+1], ascending
	start []int
}

func (g *groups) count() int { return len(g.start) - 1 }

func (g *groups) members(c int) []int32 { return g.nodes[g.start[c]:g.start[c+1]] }

// group joins what is linked, and what is of one cluster.
func group(l *links, label []int32) *groups {
	root := make([]int32, l.nodes())
	for i := range root {
		root[i] = int32(i)
	}
	find := func(i int32) int32 {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	// The lower number is the root, so that it does not matter in which order is joined.
	join := func(i, j int32) {
		i, j = find(i), find(j)
		root[max(i, j)] = min(i, j)
	}
	first := map[int32]int32{} // label -> its first node
	for i := range int32(l.nodes()) {
		if f, ok := first[label[i]]; ok {
			join(f, i)
		} else {
			first[label[i]] = i
		}
		to, _ := l.of(int(i))
		for _, j := range to {
			join(i, j)
		}
	}
	members := map[int32][]int32{}
	var roots []int32
	for i := range int32(l.nodes()) {
		r := find(i)
		if members[r] == nil {
			roots = append(roots, r)
		}
		members[r] = append(members[r], i)
	}
	slices.SortFunc(roots, func(a, b int32) int {
		return cmp.Or(len(members[b])-len(members[a]), cmp.Compare(a, b))
	})
	g := &groups{of: root, start: make([]int, 1, len(roots)+1)}
	of := make([]int32, l.nodes())
	for c, r := range roots {
		g.nodes = append(g.nodes, members[r]...)
		g.start = append(g.start, len(g.nodes))
		for _, i := range members[r] {
			of[i] = int32(c)
		}
	}
	g.of = of
	return g
}
