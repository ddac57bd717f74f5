package layout

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

const (
	coarseSteps = 300
	steps       = 300
	// spacing is about how far samples lie from each other, in units of the force.
	spacing = 0.12
	// strangers is how many nodes that it may not be linked to push a node away in a step.
	strangers = 8
	// push is the weight of all of these beside that of a node's links.
	push = 1.2
	// peers is how many nodes of its own cluster do too, and part the weight of these.
	peers = 4
	part  = 0.02
	// compact draws a node to the middle of its group, so that little room lies empty.
	compact = 0.003
	// home is how strongly a node is drawn to the middle of its cluster, which keeps
	// parts together that no link joins.
	home = 0.01
	// inertia is the share of a step that goes into the next one.
	inertia = 0.7
	// farthest bounds a force, and with it a step.
	farthest = 2
)

// embed returns the places of the nodes: first of the clusters of each group, and from
// there those of the nodes.
func embed(ctx context.Context, l *links, label []int32, g *groups, seed uint64, threads int, progress func(int)) ([]point, error) {
	clusters, coarse, of := clustersOf(l, label, g)
	f := &field{links: coarse, groups: of, seed: mix(seed, 1), places: make([]point, coarse.nodes())}
	for c := range f.places {
		f.places[c] = disc(mix(mix(seed, 3), uint64(c)), spacing*math.Sqrt(float64(len(of.members(int(of.of[c]))))))
	}
	report := func(before int) func(int) {
		return func(done int) {
			if progress != nil {
				progress(before + done)
			}
		}
	}
	if err := f.run(ctx, coarseSteps, threads, report(0)); err != nil {
		return nil, err
	}
	middle := f.places
	spread(middle, of, g)

	f = &field{links: l, groups: g, seed: mix(seed, 2), places: make([]point, l.nodes()), cluster: make([]int32, l.nodes()), clusters: clusters}
	for c, nodes := range clusters {
		for _, i := range nodes {
			p := disc(mix(mix(seed, 4), uint64(i)), spacing*math.Sqrt(float64(len(nodes))))
			f.places[i] = point{middle[c].x + p.x, middle[c].y + p.y}
			f.cluster[i] = int32(c)
		}
	}
	if err := f.run(ctx, steps, threads, report(coarseSteps)); err != nil {
		return nil, err
	}
	return f.places, nil
}

// clustersOf returns the nodes of every cluster, the graph of the clusters, and their
// groups, which are numbered as those of the nodes are.
func clustersOf(l *links, label []int32, g *groups) ([][]int32, *links, *groups) {
	number := map[int32]int32{}
	cluster := make([]int32, l.nodes())
	var clusters [][]int32
	of := &groups{start: []int{0}}
	// Clusters are numbered group by group.
	for c := range g.count() {
		for _, i := range g.members(c) {
			k, ok := number[label[i]]
			if !ok {
				k = int32(len(clusters))
				number[label[i]] = k
				clusters = append(clusters, nil)
				of.of = append(of.of, int32(c))
				of.nodes = append(of.nodes, k)
			}
			clusters[k] = append(clusters[k], i)
			cluster[i] = k
		}
		of.start = append(of.start, len(of.nodes))
	}
	rows := make([][]link, len(clusters))
	room := make([]float32, len(clusters))
	for c, nodes := range clusters {
		var row []link
		for _, i := range nodes {
			to, weight := l.of(int(i))
			for e, j := range to {
				k := cluster[j]
				if int(k) == c {
					continue
				}
				if room[k] == 0 {
					row = append(row, link{to: k})
				}
				room[k] += weight[e]
			}
		}
		for e := range row {
			k := row[e].to
			row[e].weight = room[k] / float32(len(clusters[k]))
			room[k] = 0
		}
		rows[c] = strong(row)
	}
	return clusters, symmetric(rows), of
}

// spread scales the places of each group's clusters to the room that its nodes need.
func spread(places []point, clusters, nodes *groups) {
	for c := range clusters.count() {
		members := clusters.members(c)
		var middle point
		for _, k := range members {
			middle.x += places[k].x / float32(len(members))
			middle.y += places[k].y / float32(len(members))
		}
		sum := 0.0
		for _, k := range members {
			places[k].x -= middle.x
			places[k].y -= middle.y
			sum += places[k].norm() * places[k].norm()
		}
		if sum == 0 {
			continue
		}
		scale := float32(spacing * math.Sqrt(float64(len(nodes.members(c)))) / math.Sqrt(sum/float64(len(members))))
		for _, k := range members {
			places[k].x *= scale
			places[k].y *= scale
		}
	}
}

// disc returns a place that looks drawn at random from a disc.
func disc(random uint64, radius float64) point {
	r := radius * math.Sqrt(float64(random>>40)/(1<<24))
	sin, cos := math.Sincos(2 * math.Pi * float64(random&(1<<24-1)) / (1 << 24))
	return point{float32(r * cos), float32(r * sin)}
}

// field moves nodes by what they are linked to and by strangers of their groups.
type field struct {
	links  *links
	groups *groups
	seed   uint64
	places []point

	cluster  []int32   // node -> cluster, or nil where nodes have none
	clusters [][]int32 // their nodes
	middles  []point
}

// run takes all steps, each from the places after the one before for every node, so that
// the order in which nodes are moved does not matter.
func (f *field) run(ctx context.Context, steps, threads int, progress func(done int)) error {
	next, speed := slices.Clone(f.places), make([]point, len(f.places))
	for step := range steps {
		f.findMiddles()
		rate := 0.4 * (1 - float32(step)/float32(steps))
		seed := mix(f.seed, uint64(step))
		err := parallel.Blocks(ctx, threads, len(f.places), 256, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				p := f.force(i, seed)
				v := point{inertia*speed[i].x + rate*p.x, inertia*speed[i].y + rate*p.y}
				speed[i] = v
				next[i] = point{f.places[i].x + v.x, f.places[i].y + v.y}
			}
		})
		if err != nil {
			return err
		}
		f.places, next = next, f.places
		progress(step + 1)
	}
	return nil
}

// findMiddles finds the middles of the clusters.
func (f *field) findMiddles() {
	if f.cluster == nil {
		return
	}
	f.middles = append(f.middles[:0], make([]point, len(f.clusters))...)
	for i, c := range f.cluster {
		n := float32(len(f.clusters[c]))
		f.middles[c].x += f.places[i].x / n
		f.middles[c].y += f.places[i].y / n
	}
}

// force returns what moves node i: the mean of what its links draw it by, and what
// strangers push it by. Both fade with the distance as in a Cauchy distribution.
func (f *field) force(i int, seed uint64) point {
	at := f.places[i]
	var force point
	to, weight := f.links.of(i)
	all := float32(0)
	for e, j := range to {
		dx, dy := f.places[j].x-at.x, f.places[j].y-at.y
		w := weight[e]
		pull := w / (1 + dx*dx + dy*dy)
		force.x += pull * dx
		force.y += pull * dy
		all += w
	}
	if all > 0 {
		force.x /= all
		force.y /= all
	}
	random := mix(seed, uint64(i))
	away := f.away(at, f.groups.members(int(f.groups.of[i])), random, strangers)
	force.x += bounded(push*away.x) - compact*at.x
	force.y += bounded(push*away.y) - compact*at.y
	if f.cluster != nil {
		c := f.cluster[i]
		middle := f.middles[c]
		force.x += home * (middle.x - at.x)
		force.y += home * (middle.y - at.y)
		away = f.away(at, f.clusters[c], mix(random, 1), peers)
		force.x += bounded(part * away.x)
		force.y += bounded(part * away.y)
	}
	return force
}

// away is the mean of what so many of some nodes push a place by.
func (f *field) away(at point, nodes []int32, random uint64, draws int) point {
	var away point
	for range draws {
		random = random*6364136223846793005 + 1442695040888963407
		j := nodes[int(random>>33*uint64(len(nodes))>>31)]
		dx, dy := at.x-f.places[j].x, at.y-f.places[j].y
		d := dx*dx + dy*dy
		pushed := 1 / ((0.01 + d) * (1 + d) * float32(draws))
		away.x += pushed * dx
		away.y += pushed * dy
	}
	return away
}

func bounded(x float32) float32 { return min(farthest, max(-farthest, x)) }
