package constraint

// Pairs answers which constraint holds between two samples.
type Pairs struct {
	resolved *Resolved
	barriers *barriers
	size     []int32 // of the component, by its lowest sample
}

// Pairs prepares the answers. It panics if Check refuses r.
func (r *Resolved) Pairs() *Pairs {
	if r == nil {
		return &Pairs{}
	}
	p := &Pairs{r, r.barriers(), make([]int32, len(r.Component))}
	for _, c := range r.Component {
		p.size[c]++
	}
	return p
}

// Of returns MustLink where two samples must be in one cluster, CannotLink where they
// cannot be, for whichever reason, and "" where no constraint holds between them. It panics if
// a or b is out of range.
func (p *Pairs) Of(a, b int) Kind {
	switch {
	case p.resolved == nil:
		return ""
	case p.resolved.Component[a] == p.resolved.Component[b]:
		return MustLink
	case p.barriers.between(p.resolved.Component[a], p.resolved.Component[b]):
		return CannotLink
	}
	return ""
}

// Bound reports whether a constraint holds between sample i and any other. It panics if i is out
// of range.
func (p *Pairs) Bound(i int) bool {
	if p.resolved == nil {
		return false
	}
	c := p.resolved.Component[i]
	return p.size[c] > 1 || len(row(&p.barriers.apart, c)) > 0 || len(row(&p.barriers.groups, c)) > 0
}
