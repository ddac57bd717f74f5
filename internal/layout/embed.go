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
	// spacing is about the distance between samples, in the units of the forces.
	spacing = 0.12
	// negatives is how many random nodes of its component repel a node in each step: the
	// negative samples of UMAP.
	negatives = 8
	// repulsion is the weight of all of these, where a node's links together weigh 1.
	repulsion = 1.2
	// clusterNegatives is how many random nodes of its own cluster repel a node as well, and
	// clusterRepulsion their weight.
	clusterNegatives = 4
	clusterRepulsion = 0.02
	// gravity pulls a node to the centre of its component.
	gravity = 0.003
	// clusterGravity pulls a node to the centroid of its cluster, which keeps parts of the
	// cluster together that no link joins.
	clusterGravity = 0.01
	// momentum is the share of the last step that a step adds.
	momentum = 0.7
	// maxForce bounds the coordinates of a repulsion.
	maxForce = 2
)

// embed returns the places of the nodes. It lays out the clusters of each component first, and
// starts the nodes around their clusters.
func embed(ctx context.Context, l *links, label []int32, g *components, seed uint64, threads int, progress func(int)) ([]point, error) {
	clusters, coarse, of := clustersOf(l, label, g)
	f := &forces{links: coarse, components: of, seed: hash(seed, 1), places: make([]point, coarse.Len())}
	for c := range f.places {
		f.places[c] = disc(hash(hash(seed, 3), uint64(c)), spacing*math.Sqrt(float64(len(of.nodes.Of(int(of.of[c]))))))
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
	centroid := f.places
	expand(centroid, of, g)

	f = &forces{links: l, components: g, seed: hash(seed, 2), places: make([]point, l.Len()), cluster: make([]int32, l.Len()), clusters: clusters}
	for c, nodes := range clusters {
		for _, i := range nodes {
			p := disc(hash(hash(seed, 4), uint64(i)), spacing*math.Sqrt(float64(len(nodes))))
			f.places[i] = point{centroid[c].x + p.x, centroid[c].y + p.y}
			f.cluster[i] = int32(c)
		}
	}
	if err := f.run(ctx, steps, threads, report(coarseSteps)); err != nil {
		return nil, err
	}
	return f.places, nil
}

// clustersOf returns the nodes of every cluster, the graph of the clusters, and its components,
// numbered as those of the nodes.
func clustersOf(l *links, label []int32, g *components) ([][]int32, *links, *components) {
	number := map[int32]int32{}
	cluster := make([]int32, l.Len())
	var clusters [][]int32
	of := &components{}
	// Clusters are numbered component by component.
	for c := range g.nodes.Len() {
		var first []int32
		for _, i := range g.nodes.Of(c) {
			k, ok := number[label[i]]
			if !ok {
				k = int32(len(clusters))
				number[label[i]] = k
				clusters = append(clusters, nil)
				of.of = append(of.of, int32(c))
				first = append(first, k)
			}
			clusters[k] = append(clusters[k], i)
			cluster[i] = k
		}
		of.nodes.Append(first...)
	}
	rows := make([][]link, len(clusters))
	room := make([]float32, len(clusters))
	for c, nodes := range clusters {
		var row []link
		for _, i := range nodes {
			for _, x := range l.Of(int(i)) {
				k := cluster[x.to]
				if int(k) == c {
					continue
				}
				if room[k] == 0 {
					row = append(row, link{to: k})
				}
				room[k] += x.weight
			}
		}
		for e := range row {
			k := row[e].to
			row[e].weight = room[k] / float32(len(clusters[k]))
			room[k] = 0
		}
		rows[c] = strongestLinks(row)
	}
	return clusters, symmetric(rows), of
}

// expand scales the places of each component's clusters to the area that its nodes need.
func expand(places []point, clusters, nodes *components) {
	for c := range clusters.nodes.Len() {
		members := clusters.nodes.Of(c)
		var centroid point
		for _, k := range members {
			centroid.x += places[k].x / float32(len(members))
			centroid.y += places[k].y / float32(len(members))
		}
		sum := 0.0
		for _, k := range members {
			places[k].x -= centroid.x
			places[k].y -= centroid.y
			sum += places[k].norm() * places[k].norm()
		}
		if sum == 0 {
			continue
		}
		scale := float32(spacing * math.Sqrt(float64(len(nodes.nodes.Of(c)))) / math.Sqrt(sum/float64(len(members))))
		for _, k := range members {
			places[k].x *= scale
			places[k].y *= scale
		}
	}
}

// disc returns a point of a disc around 0, by the bits of random.
func disc(random uint64, radius float64) point {
	r := radius * math.Sqrt(float64(random>>40)/(1<<24))
	sin, cos := math.Sincos(2 * math.Pi * float64(random&(1<<24-1)) / (1 << 24))
	return point{float32(r * cos), float32(r * sin)}
}

// forces is a force-directed layout: links attract, random nodes of a component repel.
type forces struct {
	links      *links
	components *components
	seed       uint64
	places     []point

	cluster   []int32   // node -> cluster, or nil where nodes have none
	clusters  [][]int32 // their nodes
	centroids []point
}

// run takes all steps. A step computes all places from those of the step before, so that the
// order of the nodes does not matter.
func (f *forces) run(ctx context.Context, steps, threads int, progress func(done int)) error {
	next, speed := slices.Clone(f.places), make([]point, len(f.places))
	for step := range steps {
		f.findCentroids()
		rate := 0.4 * (1 - float32(step)/float32(steps))
		seed := hash(f.seed, uint64(step))
		err := parallel.Blocks(ctx, threads, len(f.places), 256, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				p := f.force(i, seed)
				v := point{momentum*speed[i].x + rate*p.x, momentum*speed[i].y + rate*p.y}
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

// findCentroids computes the centroids of the clusters.
func (f *forces) findCentroids() {
	if f.cluster == nil {
		return
	}
	f.centroids = append(f.centroids[:0], make([]point, len(f.clusters))...)
	for i, c := range f.cluster {
		n := float32(len(f.clusters[c]))
		f.centroids[c].x += f.places[i].x / n
		f.centroids[c].y += f.places[i].y / n
	}
}

// force returns the force on node i: the mean attraction of its links, the repulsions, and the
// gravities. Attraction and repulsion fade with the distance d by the kernel of UMAP and
// t-SNE, 1/(1+d^2).
func (f *forces) force(i int, seed uint64) point {
	at := f.places[i]
	var force point
	all := float32(0)
	for _, x := range f.links.Of(i) {
		dx, dy := f.places[x.to].x-at.x, f.places[x.to].y-at.y
		pull := x.weight / (1 + dx*dx + dy*dy)
		force.x += pull * dx
		force.y += pull * dy
		all += x.weight
	}
	if all > 0 {
		force.x /= all
		force.y /= all
	}
	random := hash(seed, uint64(i))
	repel := f.repel(at, f.components.nodes.Of(int(f.components.of[i])), random, negatives)
	force.x += clamp(repulsion*repel.x) - gravity*at.x
	force.y += clamp(repulsion*repel.y) - gravity*at.y
	if f.cluster != nil {
		c := f.cluster[i]
		centroid := f.centroids[c]
		force.x += clusterGravity * (centroid.x - at.x)
		force.y += clusterGravity * (centroid.y - at.y)
		repel = f.repel(at, f.clusters[c], hash(random, 1), clusterNegatives)
		force.x += clamp(clusterRepulsion * repel.x)
		force.y += clamp(clusterRepulsion * repel.y)
	}
	return force
}

// repel returns the mean repulsion of randomly drawn nodes on a place.
func (f *forces) repel(at point, nodes []int32, random uint64, draws int) point {
	var sum point
	for range draws {
		random = random*6364136223846793005 + 1442695040888963407
		j := nodes[int(random>>33*uint64(len(nodes))>>31)]
		dx, dy := at.x-f.places[j].x, at.y-f.places[j].y
		d := dx*dx + dy*dy
		pushed := 1 / ((0.01 + d) * (1 + d) * float32(draws))
		sum.x += pushed * dx
		sum.y += pushed * dy
	}
	return sum
}

func clamp(x float32) float32 { return min(maxForce, max(-maxForce, x)) }
