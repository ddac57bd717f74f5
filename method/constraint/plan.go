package constraint

// Footprint returns how many bytes the constraints take at most, beside a fused graph of the
// given number of edges: what follows from them, in both numberings, what is propagated to the
// neighbours, the fused graph once more, and every thread's refined graph of the given number of edges.
func (s *Set) Footprint(samples, edges, refined int64, threads int) int64 {
	if s.Empty() {
		return 0
	}
	exclusions := int64(2*len(s.CannotLink) + len(s.Distinct))
	links, t := int64(len(s.MustLink)), int64(threads)
	return 160*samples + exclusions*(80+80*t) + 400*links*t + 16*edges + 16*refined*t
}
