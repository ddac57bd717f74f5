package predict

import (
	"cmp"
	"slices"
)

// Changes says what an update did to the clusters.
type Changes struct {
	// Added is the number of new samples.
	Added int `json:"added"`
	// Relinked is the number of old samples that have new samples among their neighbours.
	Relinked int `json:"touched"`
	// Moved is the number of old samples whose label has changed.
	Moved int `json:"moved"`
	// Held says that the old samples stayed where they were, since moves would have changed many of
	// them: new ones joined their clusters, or each other.
	Held bool `json:"held,omitempty"`
	// Better is a granularity that scores at least half as much again as that of the model,
	// which an update keeps; nil where none does, or where none was looked for.
	Better *Granularity `json:"better,omitempty"`
	// Clusters is the number of clusters after the update, and Kept that of those which
	// were there before.
	Clusters int `json:"clusters"`
	Kept     int `json:"kept"`
	// Grown holds the old clusters that have got new samples.
	Grown []Cluster `json:"grown"`
	// Created holds the other clusters at least half of whose samples are new.
	Created []Cluster `json:"created"`
	// Merged holds the old clusters that are gone, and the cluster that most of their
	// samples went into.
	Merged []Transfer `json:"merged"`
	// Split holds the clusters Into that broke away from an old cluster From: most of
	// their samples are old, and most of these come from there.
	Split []Transfer `json:"split"`
}

// Cluster is a cluster after an update.
type Cluster struct {
	Label int `json:"label"`
	Size  int `json:"size"`
	New   int `json:"new"` // new samples among these
}

// Transfer counts the old samples that were in cluster From and are in cluster Into.
type Transfer struct {
	From    int `json:"from"`
	Into    int `json:"into"`
	Samples int `json:"samples"`
	Size    int `json:"size"` // of Into, after the update
}

// flow counts the old samples that went from an old cluster to a new one.
type flow struct{ from, to, samples int }

// name gives each cluster that was found the number of the old cluster that it continues,
// or a new number, from next on. It notes what has changed. The first samples of found are
// the old ones.
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
			c.Merged = append(c.Merged, Transfer{f.from, label[f.to], f.samples, size[f.to]})
		case source[f.to] == f.from && heir[f.from] != f.to && 2*news[f.to] < size[f.to]:
			c.Split = append(c.Split, Transfer{f.from, label[f.to], f.samples, size[f.to]})
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

// flowsOf counts the old samples by their old and new cluster, the largest flow first.
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
