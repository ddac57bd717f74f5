package score

import (
	"cmp"
	"slices"
)

// assign solves the assignment problem: it returns the largest number of samples in
// cells of which no two share a row or a column. Cells without samples are not used.
//
// Rows are added one by one along shortest augmenting paths, as in Jonker and
// Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
// assignment problems", 1987, with a heap in place of the scan over all columns.
// A path ends at a free column, or at a row that is left unmatched. A search stays
// in the connected component of its row.
func (t *table) assign() int64 {
	// By duality, the sum of the prices is the value of the assignment.
	a := t.match()
	var total int64
	for _, x := range a.u {
		total += x
	}
	for _, x := range a.v {
		total += x
	}
	return total
}

// match adds all rows.
func (t *table) match() *assignment {
	a := &assignment{
		table:  t,
		u:      make([]int64, len(t.rows)),
		v:      make([]int64, len(t.cols)),
		rowOf:  make([]int32, len(t.cols)),
		colOf:  make([]int32, len(t.rows)),
		dist:   make([]int64, len(t.cols)),
		before: make([]int32, len(t.cols)),
		seen:   make([]int32, len(t.cols)),
	}
	order := make([]int32, len(t.rows))
	for i := range order {
		order[i] = int32(i)
		a.colOf[i] = none
		for _, c := range t.row(i) {
			a.u[i] = max(a.u[i], int64(c.count))
		}
	}
	for j := range a.rowOf {
		a.rowOf[j] = none
	}
	// Rows with a large cell first, since later rows then displace few of them.
	slices.SortStableFunc(order, func(i, k int32) int { return cmp.Compare(a.u[k], a.u[i]) })
	for k, i := range order {
		a.enter(i, int32(k)+1)
	}
	return a
}

// none stands for no row or no column.
const none = -1

// assignment is an optimal matching of the rows added so far, with dual prices that
// prove it optimal: u[i], v[j] >= 0 with u[i] + v[j] >= count for every cell, equality
// for the matched cells, and 0 for unmatched rows and columns.
type assignment struct {
	*table
	u, v         []int64
	rowOf, colOf []int32

	// For the columns j whose seen[j] is the number of the current search: the
	// length of the shortest path, and the row before j on it.
	dist   []int64
	before []int32
	seen   []int32
	heap   []step
	done   []int32 // columns whose dist is final
}

// step is a path to a column, with its length.
type step struct {
	dist int64
	col  int32
}

// enter adds row s, along the path that loses the least value. A step from row i to
// column j loses u[i] + v[j] - count, a step from a column to its matched row nothing,
// and to end at row i, which is then unmatched, loses u[i].
func (a *assignment) enter(s, search int32) {
	a.u[s] = 0
	for _, c := range a.row(int(s)) {
		a.u[s] = max(a.u[s], int64(c.count)-a.v[c.col])
	}
	best, endCol, endRow := a.u[s], int32(none), s
	a.heap, a.done = a.heap[:0], a.done[:0]
	for i, d := s, int64(0); ; {
		if d+a.u[i] < best {
			best, endCol, endRow = d+a.u[i], none, i
		}
		for _, c := range a.row(int(i)) {
			j := c.col
			to := d + a.u[i] + a.v[j] - int64(c.count)
			if to >= best || a.seen[j] == search && to >= a.dist[j] {
				continue
			}
			a.seen[j], a.dist[j], a.before[j] = search, to, i
			if a.rowOf[j] == none {
				best, endCol, endRow = to, j, none
			} else {
				a.push(step{to, j})
			}
		}
		// The nearest column that is not done. A heap entry is stale if a shorter path
		// to its column was found later.
		next := step{best, none}
		for len(a.heap) > 0 && a.heap[0].dist < best && next.col == none {
			if top := a.pop(); top.dist == a.dist[top.col] {
				next = top
			}
		}
		if next.col == none {
			break
		}
		a.done = append(a.done, next.col)
		i, d = a.rowOf[next.col], next.dist
	}

	a.u[s] -= best
	for _, j := range a.done {
		a.v[j] += best - a.dist[j]
		a.u[a.rowOf[j]] -= best - a.dist[j]
	}
	if endRow != none {
		endCol, a.colOf[endRow] = a.colOf[endRow], none
	}
	for j := endCol; j != none; {
		i := a.before[j]
		a.rowOf[j] = i
		j, a.colOf[i] = a.colOf[i], j
	}
}

func (a *assignment) push(s step) {
	h := append(a.heap, s)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2].dist > s.dist {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = s
	a.heap = h
}

func (a *assignment) pop() step {
	h := a.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && h[c+1].dist < h[c].dist {
			c++
		}
		if h[c].dist >= last.dist {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = last
	}
	a.heap = h
	return top
}
