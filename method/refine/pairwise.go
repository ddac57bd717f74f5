package refine

// List is a sample and its nearest neighbours, most probable first, by names of any kind.
type List[ID comparable] struct {
	Sample      ID
	Neighbours  []ID
	Probability []float32
}

// Pairwise compares one sample with others whose lists come one after another, so that a graph
// need not be in one place: a round of co-neighbour propagation over some of its edges. It has
// memory of its own, for one goroutine.
type Pairwise[ID comparable] struct {
	own    List[ID]
	ks     []int
	place  map[ID]int // in own, counted from 0 for the sample itself
	sums   []float32  // by place in ks: of the weights of own
	match  [][2]int   // scratch: places in own and in the other list of what they have in common
	shared []bool     // scratch: by place in own, whether it is in common
}

// NewPairwise prepares comparisons with a sample by the numbers of neighbours ks. The list is
// kept, and must not change. NewPairwise and CoNeighbours panic if a list has fewer probabilities
// than neighbours.
func NewPairwise[ID comparable](own List[ID], ks []int) *Pairwise[ID] {
	p := &Pairwise[ID]{own: own, ks: ks, place: map[ID]int{own.Sample: 0}}
	for t, h := range own.Neighbours {
		p.place[h] = t + 1
	}
	for _, k := range ks {
		p.sums = append(p.sums, own.sum(k))
	}
	return p
}

// sum adds up the weights of the k nearest and of the sample itself.
func (l *List[ID]) sum(k int) float32 {
	sum := 1.0
	for _, w := range l.Probability[:max(0, min(k, len(l.Probability)))] {
		sum += float64(w)
	}
	return float32(sum)
}

// weight returns the weight at a place of a list, where 0 is the sample itself.
func (l *List[ID]) weight(place int) float64 {
	if place == 0 {
		return 1
	}
	return float64(l.Probability[place-1])
}

// CoNeighbours appends to dst, for each of the numbers of neighbours, what
// Neighbourhoods.CoNeighbours gives the edge between the two samples, to the last bit, or 0 where
// neither is among the k nearest of the other. It panics if a list has fewer probabilities than
// neighbours.
func (p *Pairwise[ID]) CoNeighbours(dst []float32, other List[ID]) []float32 {
	if p.shared == nil {
		p.shared = make([]bool, len(p.own.Neighbours)+1)
	}
	p.match = p.match[:0]
	if at, in := p.place[other.Sample]; in {
		p.match = append(p.match, [2]int{at, 0})
	}
	listed := len(other.Neighbours) + 1 // place of the own sample in the other list
	for t, h := range other.Neighbours {
		if at, in := p.place[h]; in {
			p.match = append(p.match, [2]int{at, t + 1})
			if at == 0 {
				listed = t + 1
			}
		}
	}
	reach, in := p.place[other.Sample]
	if !in {
		reach = len(p.own.Neighbours) + 1
	}
	for c, k := range p.ks {
		isIn := in && reach <= k || listed <= min(k, len(other.Neighbours))
		if !isIn {
			dst = append(dst, 0)
			continue
		}
		theirs, mine := 0.0, 0.0
		clear(p.shared)
		for _, m := range p.match { // in the order of the other list
			if m[0] <= k && m[1] <= k {
				theirs += other.weight(m[1])
				p.shared[m[0]] = true
			}
		}
		for at, is := range p.shared[:min(k+1, len(p.shared))] {
			if is {
				mine += p.own.weight(at)
			}
		}
		both := float64(float32(mine)) + float64(float32(theirs))
		dst = append(dst, float32(both/(float64(p.sums[c])+float64(other.sum(k)))))
	}
	return dst
}
