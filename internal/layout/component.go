package layout

import (
	"cmp"
	"slices"

	"github.com/mvclust/mvclust/method/sparse"
)

// components are the connected components of the nodes, numbered by falling size and then by
// first node. The nodes of a cluster count as connected.
type components struct {
	of    []int32            // node -> component
	nodes sparse.Rows[int32] // by component, ascending
}

// component finds the connected components.
func component(l *links, label []int32) *components {
	root := make([]int32, l.Len())
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
	// The lower number is the root, whatever the order of joining.
	join := func(i, j int32) {
		i, j = find(i), find(j)
		root[max(i, j)] = min(i, j)
	}
	first := map[int32]int32{} // label -> its first node
	for i := range int32(l.Len()) {
		if f, ok := first[label[i]]; ok {
			join(f, i)
		} else {
			first[label[i]] = i
		}
		for _, x := range l.Of(int(i)) {
			join(i, x.to)
		}
	}
	members := map[int32][]int32{}
	var roots []int32
	for i := range int32(l.Len()) {
		r := find(i)
		if members[r] == nil {
			roots = append(roots, r)
		}
		members[r] = append(members[r], i)
	}
	slices.SortFunc(roots, func(a, b int32) int {
		return cmp.Or(len(members[b])-len(members[a]), cmp.Compare(a, b))
	})
	g := &components{of: make([]int32, l.Len())}
	for c, r := range roots {
		g.nodes.Append(members[r]...)
		for _, i := range members[r] {
			g.of[i] = int32(c)
		}
	}
	return g
}
