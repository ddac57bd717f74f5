package job

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
)

// A channel is one weight of an edge: the co-neighbour probability by one number of neighbours,
// and, as the last, 1 for an edge of the random walk. Weights are whole multiples of unit, so that
// their sums are the same in any order.
const unit = 1.0 / (1 << 24)

// walked is the number of neighbours that the random walk goes to; see package selection.
const walked = 10

// node stands for samples that were contracted, at first for one.
type node struct {
	key        int64 // the least of its samples'
	home       int   // that sample's home
	samples    int
	shard, row int      // where the sample is stored, for a single one
	within     []uint64 // by channel: the weights of edges within, each counted from both ends
	edges      []edge   // by rising key
	newKey     int64    // the key of the node that it becomes part of
	newHome    int
}

// edge leads to another node.
type edge struct {
	key    int64
	home   int
	weight []uint64 // by channel
}

// channels returns the number of channels.
func (c *Config) channels() int { return len(c.Neighbours) + 1 }

func appendWeights(b []byte, w []uint64) []byte {
	for _, x := range w {
		b = appendInt(b, int(x))
	}
	return b
}

func readWeights(r *reader, channels int) []uint64 {
	w := make([]uint64, channels)
	for i := range w {
		w[i] = r.long()
	}
	return w
}

func (n *node) encode() []byte {
	b := appendInt(appendInt(appendKey([]byte{'N'}, n.key), n.home), n.samples)
	b = appendInt(appendInt(b, n.shard), n.row)
	b = appendInt(appendKey(b, n.newKey), n.newHome)
	b = appendWeights(b, n.within)
	b = appendInt(b, len(n.edges))
	for _, e := range n.edges {
		b = appendWeights(appendInt(appendKey(b, e.key), e.home), e.weight)
	}
	return b
}

func readNode(r *reader, channels int) *node {
	n := &node{key: r.key(), home: r.int(), samples: r.int(), shard: r.int(), row: r.int(), newKey: r.key(), newHome: r.int()}
	n.within = readWeights(r, channels)
	for range r.count() {
		n.edges = append(n.edges, edge{r.key(), r.int(), readWeights(r, channels)})
	}
	return n
}

// add adds weights.
func add(to, w []uint64) {
	for c, x := range w {
		to[c] += x
	}
}

// coNeighbours is one round of co-neighbour propagation over the samples of a piece, by all numbers
// of neighbours. It makes nodes of the samples. An edge that another piece cannot find, because the
// list of this end was not sent there, is sent there.
func coNeighbours(_ context.Context, t *task) error {
	lists, nodes := map[int64]*list{}, map[int64]*node{}
	err := t.each(func(r *reader) error {
		if r.tag() == 'L' {
			l := readList(r)
			lists[l.key] = l
			return nil
		}
		n := &node{key: r.key(), home: r.int(), samples: 1, shard: r.int(), row: r.int()}
		if nodes[n.key] != nil {
			return errTwice
		}
		n.within = make([]uint64, t.conf.channels())
		nodes[n.key] = n
		return nil
	})
	if err != nil {
		return err
	}
	others := map[int64][]int64{} // by sample of the piece: those with lists that it has edges to
	for _, key := range sortedKeys(lists) {
		for _, n := range lists[key].near {
			if nodes[n.key] != nil {
				others[n.key] = append(others[n.key], key)
			}
			if nodes[key] != nil && lists[n.key] != nil {
				others[key] = append(others[key], n.key)
			}
		}
	}
	sums := make([]uint64, t.conf.channels())
	for _, key := range sortedKeys(nodes) {
		n, own := nodes[key], lists[key]
		if own != nil {
			t.edges(n, own, others[key], lists, sums)
		}
		t.out[0].to(int64(t.learned.Groups[0][n.home]), n.encode())
	}
	t.out[1].to(0, appendWeights(nil, sums))
	return nil
}

// edges finds the edges of a sample to others, and adds their weights to sums.
func (t *task) edges(n *node, own *list, others []int64, lists map[int64]*list, sums []uint64) {
	slices.Sort(others)
	pairs := refine.NewPairwise(own.names(), append(slices.Clone(t.conf.Neighbours), walked))
	sent := t.learned.pieces(0, own)
	var p []float32
	for _, key := range slices.Compact(others) {
		other := lists[key]
		p = pairs.CoNeighbours(p[:0], other.names())
		e, any := edge{key: key, home: other.home, weight: make([]uint64, len(p))}, false
		for c, x := range p {
			if c == len(p)-1 && x > 0 {
				x = 1
			}
			e.weight[c] = uint64(float64(x)/unit + 0.5)
			any = any || e.weight[c] > 0
		}
		if !any {
			continue
		}
		n.edges = append(n.edges, e)
		add(sums, e.weight)
		if piece := t.learned.Groups[0][other.home]; !slices.Contains(sent, piece) {
			add(sums, e.weight)
			back := appendInt(appendKey(appendKey([]byte{'E'}, key), n.key), n.home)
			t.out[0].to(int64(piece), appendWeights(back, e.weight))
		}
	}
}

// names returns the list as package refine takes it.
func (l *list) names() refine.List[int64] {
	out := refine.List[int64]{Sample: l.key}
	for _, n := range l.near {
		out.Neighbours, out.Probability = append(out.Neighbours, n.key), append(out.Probability, n.value)
	}
	return out
}

// total adds up the weights of all edges.
func total(_ context.Context, t *task) error {
	sums := make([]uint64, t.conf.channels())
	err := t.each(func(r *reader) error {
		add(sums, readWeights(r, len(sums)))
		return nil
	})
	if err != nil {
		return err
	}
	l := *t.learned
	for _, x := range sums {
		l.Totals = append(l.Totals, int64(x))
	}
	l.Resolution = resolution(t.conf, float64(sums[t.conf.Moved])*unit)
	t.value, err = l.encode()
	return err
}

// resolution returns that at which nodes are moved before the choice, given the sum of all degrees.
// In modularity of resolution γ, sets of samples of degree d grow up to about N/γ samples, so that
// half of what one worker takes would leave as many nodes as it takes. But two samples join only
// if their probability is above γ d/N, which must not be too much to ask for.
func resolution(c *Config, degrees float64) float64 {
	n := float64(c.Samples)
	return min(float64(c.Most)/2, leastJoin*n*n/max(1, degrees))
}

// leastJoin is the co-neighbour probability from which on two samples join.
const leastJoin = 0.3

// finest is the highest resolution that is tried, as a share of that of the contraction: clusters
// must be made of several nodes.
const finest = 1.0 / 3

// nodes reads the nodes of a piece, in the order of their keys, with the edges that other pieces
// found.
func (t *task) nodes() ([]*node, error) {
	found, back := map[int64]*node{}, map[int64][]edge{}
	err := t.each(func(r *reader) error {
		if r.tag() == 'E' {
			to := r.key()
			back[to] = append(back[to], edge{r.key(), r.int(), readWeights(r, t.conf.channels())})
			return nil
		}
		n := readNode(r, t.conf.channels())
		found[n.key] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	var nodes []*node
	for _, key := range sortedKeys(found) {
		n := found[key]
		n.edges = append(n.edges, back[key]...)
		slices.SortFunc(n.edges, func(a, b edge) int { return cmp.Compare(a.key, b.key) })
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// piece numbers the nodes and, after them, those that edges lead to, and returns the graph of a
// channel. The degrees of the latter are not known here: they are taken to be the mean.
func piece(nodes []*node, channel int, total int64) *partition.Contracted {
	number := map[int64]int32{}
	for i, n := range nodes {
		number[n.key] = int32(i)
	}
	outside := map[int64]bool{}
	for _, n := range nodes {
		for _, e := range n.edges {
			if _, in := number[e.key]; !in {
				outside[e.key] = true
			}
		}
	}
	for t, key := range sortedKeys(outside) {
		number[key] = int32(len(nodes) + t)
	}
	g := &partition.Contracted{Offsets: []int{0}, Degree: make([]float64, len(number)), All: float64(total) * unit}
	backs := make([][]partEdge, len(outside))
	sum := 0.0
	for i, n := range nodes {
		degree := n.within[channel]
		for _, e := range n.edges {
			degree += e.weight[channel]
			if e.weight[channel] == 0 {
				continue
			}
			j, w := number[e.key], float64(e.weight[channel])*unit
			g.Index, g.Weight = append(g.Index, j), append(g.Weight, w)
			if int(j) >= len(nodes) {
				backs[int(j)-len(nodes)] = append(backs[int(j)-len(nodes)], partEdge{int32(i), w})
			}
		}
		g.Offsets = append(g.Offsets, len(g.Index))
		g.Degree[i] = float64(degree) * unit
		sum += g.Degree[i]
	}
	for t, edges := range backs {
		for _, e := range edges {
			g.Index, g.Weight = append(g.Index, e.to), append(g.Weight, e.weight)
		}
		g.Offsets = append(g.Offsets, len(g.Index))
		g.Degree[len(nodes)+t] = sum / float64(max(1, len(nodes)))
	}
	return g
}

// partEdge is an edge of a node outside back into the piece.
type partEdge struct {
	to     int32
	weight float64
}

// move moves the nodes of a piece with the outside frozen, and tells the pieces of their neighbours
// which new nodes they become part of.
func move(ctx context.Context, t *task) error {
	nodes, err := t.nodes()
	if err != nil {
		return err
	}
	c := t.conf
	random := rand.New(rand.NewPCG(c.Seed^uint64(t.round)<<32, uint64(t.key)))
	g := piece(nodes, c.Moved, t.learned.Totals[c.Moved])
	labels, err := partition.MoveInside(ctx, g, len(nodes), t.learned.Resolution, partition.Settings{}, random)
	if err != nil {
		return err
	}
	first := map[int32]*node{}
	for i, n := range nodes {
		if first[labels[i]] == nil {
			first[labels[i]] = n // of the lowest key
		}
		n.newKey, n.newHome = first[labels[i]].key, first[labels[i]].home
		t.out[0].to(t.key, n.encode())
		told := appendInt(appendKey(appendKey([]byte{'M'}, n.key), n.newKey), n.newHome)
		for _, p := range n.outside(t.learned.Groups[t.round], t.key) {
			t.out[0].to(p, told)
		}
		t.out[1].to(c.bucket(n.newKey), n.link(t.round))
	}
	return nil
}

// outside returns the other pieces that neighbours are at home in.
func (n *node) outside(groups []int32, own int64) []int64 {
	var out []int64
	for _, e := range n.edges {
		if p := int64(groups[e.home]); p != own {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// link tells what a new node is made of: of an older one, or, in the first round, of the sample in
// a row of a shard.
func (n *node) link(round int) []byte {
	b := appendKey([]byte{'P'}, n.newKey)
	if round == 0 {
		return appendInt(appendInt(b, n.shard), n.row)
	}
	return appendKey(b, n.key)
}

// bucket returns where labels and links of a node meet.
func (c *Config) bucket(key int64) int64 { return key % int64(c.Buckets) }

// fold contracts the clusters of a piece to nodes, and sends these to the pieces of the next
// round, or all to one worker.
func fold(_ context.Context, t *task) error {
	var nodes []*node
	now := map[int64]place{} // by key before
	err := t.each(func(r *reader) error {
		if r.tag() == 'M' {
			now[r.key()] = place{r.key(), r.int()}
			return nil
		}
		n := readNode(r, t.conf.channels())
		now[n.key] = place{n.newKey, n.newHome}
		nodes = append(nodes, n)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.key, b.key) })
	merged := map[int64]*merging{}
	for _, n := range nodes {
		to := merged[n.newKey]
		if to == nil {
			to = &merging{node{key: n.newKey, home: n.newHome, within: make([]uint64, t.conf.channels())}, map[int64]*edge{}}
			merged[n.newKey] = to
		}
		if !to.take(n, now) {
			return fmt.Errorf("a neighbour of a node of piece %d was not heard of; this is a fault of the program", t.key)
		}
	}
	for _, key := range sortedKeys(merged) {
		n := merged[key]
		for _, other := range sortedKeys(n.to) {
			n.edges = append(n.edges, *n.to[other])
		}
		next := int64(0)
		if t.round+1 < t.conf.Rounds {
			next = int64(t.learned.Groups[t.round+1][n.home])
		}
		t.out[0].to(next, n.encode())
	}
	return nil
}

// place is the node that an older one became part of.
type place struct {
	key  int64
	home int
}

// merging is a node that is made of others.
type merging struct {
	node
	to map[int64]*edge
}

// take adds a node. now says what its neighbours became part of; it is false if it does not.
func (m *merging) take(n *node, now map[int64]place) bool {
	m.samples += n.samples
	add(m.within, n.within)
	for _, e := range n.edges {
		at, known := now[e.key]
		if !known {
			return false
		}
		if at.key == m.key {
			add(m.within, e.weight)
			continue
		}
		if m.to[at.key] == nil {
			m.to[at.key] = &edge{at.key, at.home, make([]uint64, len(e.weight))}
		}
		add(m.to[at.key].weight, e.weight)
	}
	return true
}
