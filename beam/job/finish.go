package job

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
)

// Choice is what the last worker found.
type Choice struct {
	// Nodes is the number of nodes that the granularity was chosen on, and Clusters that of the
	// clusters.
	Nodes    int `json:"nodes"`
	Clusters int `json:"clusters"`
	// Clear says that a plateau was clear; see selection.Result.
	Clear bool `json:"clear"`
	// Chosen is the candidate that was chosen, and Tried are all.
	Chosen selection.Candidate   `json:"chosen"`
	Tried  []selection.Candidate `json:"tried"`
	// LeftOut marks the views that agree with the others no more than noise would.
	LeftOut []bool `json:"left_out"`
}

// choose chooses the granularity on what is left, on one worker, and labels the nodes.
func choose(ctx context.Context, t *task) error {
	nodes, err := t.nodes()
	if err != nil {
		return err
	}
	c := t.conf
	if len(nodes) > tooMany*c.Most && c.Rounds > 0 {
		return &InputError{Problem: fmt.Sprintf("%d nodes are left after %d rounds of contraction, where one worker is to take %d; ask for more -rounds, or for more -worker_nodes", len(nodes), c.Rounds, c.Most)}
	}
	contraction := &selection.Contraction{Neighbours: c.Neighbours}
	if c.Rounds > 0 {
		contraction.Finest = finest * t.learned.Resolution
	}
	for _, n := range nodes {
		contraction.Samples = append(contraction.Samples, n.samples)
	}
	for channel := range c.channels() {
		g := piece(nodes, channel, t.learned.Totals[channel])
		if channel < len(c.Neighbours) {
			contraction.Refined = append(contraction.Refined, g)
		} else {
			contraction.Walk = g
		}
	}
	found, err := selection.SearchContracted(ctx, contraction, selection.Settings{}, c.Seed, 0)
	if err != nil {
		return err
	}
	labels, clusters := bySamples(found.Partition.Labels, contraction.Samples)
	at := found.Best / (len(found.Candidates) / len(c.Neighbours))
	lead := leads(contraction.Refined[at], labels, clusters)
	for i, n := range nodes {
		b := appendFloat(appendInt(nil, labels[i]), float32(lead[i]))
		if c.Rounds == 0 {
			t.out[0].to(int64(n.shard), append(appendInt(nil, n.row), b...))
			continue
		}
		t.out[0].to(c.bucket(n.key), append(appendKey([]byte{'C'}, n.key), b...))
	}
	choice := Choice{len(nodes), clusters, found.Clear, found.Candidates[found.Best], found.Candidates, t.learned.LeftOut}
	text, err := json.Marshal(choice)
	if err != nil {
		return err
	}
	return t.write(ctx, choiceName, text)
}

// tooMany is how many times as many nodes as planned one worker takes: rounds are planned by what
// contraction usually leaves.
const tooMany = 4

// choiceName is the file that the last worker leaves for the report.
const choiceName = "choice.json"

// bySamples numbers the clusters by falling number of samples and, among equals, by the first node,
// and returns their number.
func bySamples(labels, samples []int) ([]int, int) {
	size := make([]int, 1+slices.Max(labels))
	for i, l := range labels {
		size[l] += samples[i]
	}
	order := make([]int, len(size))
	for l := range order {
		order[l] = l
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	number := make([]int, len(size))
	for place, l := range order {
		number[l] = place
	}
	out := make([]int, len(labels))
	for i, l := range labels {
		out[i] = number[l]
	}
	return out, len(size)
}

// leads returns the confidence of every node: the lead of its own cluster over the next, what is
// within the node included.
func leads(g *partition.Contracted, labels []int, clusters int) []float64 {
	to, out := make([]float64, clusters), make([]float64, len(labels))
	for i, own := range labels {
		within := g.Degree[i]
		for e := g.Offsets[i]; e < g.Offsets[i+1]; e++ {
			to[labels[g.Index[e]]] += g.Weight[e]
			within -= g.Weight[e]
		}
		s := partition.Standing{Own: to[own] + max(0, within), Runner: -1}
		for e := g.Offsets[i]; e < g.Offsets[i+1]; e++ {
			if l := labels[g.Index[e]]; l != own {
				s.Next = max(s.Next, to[l])
			}
		}
		if s.Own+s.Next > 0 {
			out[i] = s.Lead()
		}
		for e := g.Offsets[i]; e < g.Offsets[i+1]; e++ {
			to[labels[g.Index[e]]] = 0
		}
	}
	return out
}

// unfold hands the labels of nodes down to what these were made of.
func unfold(_ context.Context, t *task) error {
	labels := map[int64][]byte{}
	type link struct{ key, old int64 }
	type place struct {
		key        int64
		shard, row int
	}
	var links []link
	var places []place
	err := t.each(func(r *reader) error {
		switch tag, key := r.tag(), r.key(); {
		case tag == 'C':
			labels[key] = slices.Clone(r.take(len(r.b)))
		case t.round > 0:
			links = append(links, link{key, r.key()})
		default:
			places = append(places, place{key, r.int(), r.int()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range links {
		t.out[0].to(t.conf.bucket(l.old), append(appendKey([]byte{'C'}, l.old), labels[l.key]...))
	}
	for _, p := range places {
		t.out[0].to(int64(p.shard), append(appendInt(nil, p.row), labels[p.key]...))
	}
	return nil
}

// write writes the labels of a shard, in the order of its rows, under a temporary name.
func write(ctx context.Context, t *task) error {
	shard := t.shards[t.key]
	ids, err := readIDs(ctx, shard, t.conf.ID)
	if err != nil {
		return err
	}
	labels, confidence, seen := make([]int, len(ids)), make([]float64, len(ids)), 0
	err = t.each(func(r *reader) error {
		i := r.int()
		if i >= len(ids) {
			return refuse(shard, "has %d rows, and had more before; leave the input alone while a job runs", len(ids))
		}
		labels[i], confidence[i] = r.int(), float64(r.float())
		seen++
		return nil
	})
	if err != nil {
		return err
	}
	if seen != len(ids) {
		return refuse(shard, "has %d rows of which %d got a label; leave the input alone while a job runs", len(ids), seen)
	}
	var b bytes.Buffer
	if err := dataset.WriteLabels(&b, ids, labels, confidence, nil); err != nil {
		return err
	}
	return t.write(ctx, labelsName(int(t.key), len(t.shards)), b.Bytes())
}

// labelsName returns the name of the labels of a shard.
func labelsName(shard, shards int) string {
	return fmt.Sprintf("labels-%05d-of-%05d.parquet", shard, shards)
}

// write writes a file of the result under its temporary name. Whatever a call that failed has left
// there is replaced.
func (t *task) write(ctx context.Context, name string, data []byte) error {
	path := t.conf.Partial + "/" + name
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	return filesystem.Write(ctx, fs, path, data)
}
