package constraint

// Pairs tells what is known of pairs of samples.
type Pairs struct {
	known  *Known
	tokens *rows[int32] // of the samples' components
	size   []int32      // of the component of the lowest sample in it
}

// Pairs returns what is known of pairs.
func (k *Known) Pairs() *Pairs {
	if k == nil {
		return &Pairs{}
	}
	p := &Pairs{k, k.jointly(), make([]int32, len(k.Component))}
	for _, c := range k.Component {
		p.size[c]++
	}
	return p
}

// Of returns MustLink where two samples must be together, CannotLink where they cannot be,
// for whichever reason, and nothing where they may.
func (p *Pairs) Of(a, b int) Kind {
	switch {
	case p.known == nil:
		return ""
	case p.known.Component[a] == p.known.Component[b]:
		return MustLink
	case common(p.tokens.of(a), p.tokens.of(b)):
		return CannotLink
	}
	return ""
}

// Bound reports whether anything is known of a sample and others.
func (p *Pairs) Bound(i int) bool {
	return p.known != nil && (p.size[p.known.Component[i]] > 1 || len(p.tokens.of(i)) > 0)
}
