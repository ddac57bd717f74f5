package explain

import "github.com/mvclust/mvclust"

// Footprint returns how many bytes New and one explanation take at their peak, at most, with the model
// as mvclust.OpenModel leaves it: of one sample, or of a pair of them. The Go runtime comes on top.
func Footprint(i *mvclust.ModelInfo, pair bool) int64 {
	if i == nil {
		return 0
	}
	n, edges := int64(i.Samples), int64(i.Edges)
	sum := i.OpenFootprint() + 24*n + 112*int64(i.Clusters)
	if i.Nearest > i.Neighbours {
		sum += 8 * n // where the neighbours are in memory, those of the current granularity are copied
	}
	some := 2 * (i.Neighbours + 1) // samples whose rows are compared
	for _, v := range i.Views {
		dims, _ := v.Compared(1)
		sum += int64(some) * (8*int64(dims) + 1<<16)
	}
	if pair {
		sum += 28*n + 20*edges // the strongest chain
	}
	return sum
}
