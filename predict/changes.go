package predict

import (
	"cmp"
	"slices"
)

// Changes says what an update did to the clusters.
type Changes struct {
	// Added is the number of new samples, Touched that of old ones of which a new one is
	// now a neighbour, and Moved that of old ones whose cluster has another number than
	// before.
	Added   int `json:"added"`
	Touched int `json:"touched"`
	Moved   int `json:"moved"`
	// Chosen says that the number of neighbours and the resolution were chosen anew, and
	// all clusters found anew with them.
	Chosen bool `json:"chosen"`
	// Clusters is the number of clusters afterwards, and Kept that of those that were there
	// before.
	Clusters int `json:"clusters"`
	Kept     int `json:"kept"`
	// Grown holds the clusters that were there before and have got new samples.
	Grown []Cluster `json:"grown"`
	// Created holds the clusters of which most samples are new.
	Created []Cluster `json:"created"`
	// Merged says which clusters are no more because most of their samples are in another,
	// or, of several that share them, the most.
	Merged []Passage `json:"merged"`
	// Split says which clusters gave samples that now make a cluster of their own.
	Split []Passage `json:"split"`
}

// Cluster is a cluster after an update.
type Cluster struct {
	Label int `json:"label"`
	Size  int `json:"size"`
	New   int `json:"new"` // new samples among these
}

// Passage is about old samples that were in cluster From and are in cluster Into.
type Passage struct {
	From    int `json:"from"`
	Into    int `json:"into"`
	Samples int `json:"samples"`
	Size    int `json:"size"` // of Into, afterwards
}

// flow counts the old samples that went from an old cluster to a new one.
type flow struct{ from, to, samples int }

// name numbers the clusters that were found as the old ones that they carry on, and others
// from next on, and notes what has changed. The first samples of found are the old ones.
func (c *Changes) name(old, found []int, next int) []int {
	clusters := 0
	for _, l := range found {
		clusters = max(clusters, l+1)
	}
	size, news := make([]int, clusters), make([]int, clusters)
	for i, l := range found {
		size[l]++
		if i >= len(old) {
			news[l]++
		}
	}
	flows := flowsOf(old, found)
	heir := map[int]int{}                        // old cluster -> found cluster that most of it went to
	source := slices.Repeat([]int{-1}, clusters) // found cluster -> old cluster that most of it came from
	for _, f := range flows {                    // largest first
		if _, ok := heir[f.from]; !ok {
			heir[f.from] = f.to
		}
		if source[f.to] < 0 {
			source[f.to] = f.from
		}
	}
	label := make([]int, clusters)
	for l := range label { // by falling size
		if s := source[l]; s >= 0 && heir[s] == l {
			label[l] = s
			c.Kept++
			if news[l] > 0 {
				c.Grown = append(c.Grown, Cluster{s, size[l], news[l]})
			}
			continue
		}
		label[l] = next
		next++
		if 2*news[l] >= size[l] {
			c.Created = append(c.Created, Cluster{label[l], size[l], news[l]})
		}
	}
	for _, f := range flows {
		switch {
		case heir[f.from] == f.to && source[f.to] != f.from:
			c.Merged = append(c.Merged, Passage{f.from, label[f.to], f.samples, size[f.to]})
		case source[f.to] == f.from && heir[f.from] != f.to && 2*news[f.to] < size[f.to]:
			c.Split = append(c.Split, Passage{f.from, label[f.to], f.samples, size[f.to]})
		}
	}
	slices.SortFunc(c.Grown, func(a, b Cluster) int { return cmp.Compare(a.Label, b.Label) })
	out := make([]int, len(found))
	for i, l := range found {
		out[i] = label[l]
		if i < len(old) && old[i] != out[i] {
			c.Moved++
		}
	}
	return out
}

// flowsOf counts what went where, the most first; among equals the lower numbers.
func flowsOf(old, found []int) []flow {
	type way struct{ from, to int }
	counts := map[way]int{}
	for i, from := range old {
		counts[way{from, found[i]}]++
	}
	var flows []flow
	for w, n := range counts {
		flows = append(flows, flow{w.from, w.to, n})
	}
	slices.SortFunc(flows, func(a, b flow) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return flows
}
