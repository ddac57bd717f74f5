package predict

import (
	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/separation"
)

// Footprint returns how many bytes New and Predict take at their peak, at most, with the model as
// mvclust.OpenCurrent reads it and the rows of so many new samples. The Go runtime comes on top.
// threads is that of New.
func Footprint(i *mvclust.ModelInfo, samples, threads int) int64 {
	if i == nil {
		return 0
	}
	return i.CurrentFootprint() + 150*int64(i.Samples) + searching(i, i.Samples, samples, min(samples, batchSize), threads, true)
}

// searching returns the bytes of the rows of a model as they are compared, of their indexes, of all new
// rows, and of a batch of them. Rows may stay in the file where that is allowed.
func searching(i *mvclust.ModelInfo, n, samples, batch, threads int, apart bool) int64 {
	all, largest := int64(0), int64(0)
	near := int64(i.Candidates)*9/8 + 5
	for _, v := range i.Views {
		dims, compared := v.Compared(n)
		packed := 4 * int64(n) * int64(dims)
		making := packed / 2 // on the way to an index
		if apart && v.Apart {
			packed = 4 * int64(n) * int64(v.Axes)
			compared, making = 0, 2*packed
		}
		largest = max(largest, making+40*int64(n))
		all += compared + packed + 36*int64(n)
		all += 4*int64(samples)*int64(v.Dims) + int64(batch)*(16*int64(dims)+(24+4*int64(len(i.Views)))*near+4*int64(v.Probes)+256)
	}
	return all + largest + 8*int64(n) + int64(parallel.Threads(threads))*(24*int64(n)+56*int64(i.Clusters))
}

// UpdateFootprint is Footprint for Update, and for writing the new model.
func UpdateFootprint(i *mvclust.ModelInfo, samples, threads int) int64 {
	if i == nil {
		return 0
	}
	n, all := int64(i.Samples), int64(i.Samples)+int64(samples)
	sum := i.Footprint() + searching(i, int(all), samples, samples, threads, false)
	for _, v := range i.Views {
		sum += all * (4*int64(v.Dims) + 8) // of both models
	}
	room := int64(max(i.Nearest, i.Neighbours)) + 1
	edges := int64(i.Edges)/2 + 2*int64(samples)*int64(i.Candidates)
	sum += 16*all*room + 300*all + 24*int64(samples)*int64(i.Candidates)*int64(len(i.Views)) + refine.Footprint(2*edges)
	if i.Chosen > 0 && float64(all) >= (1+grown)*float64(min(int64(i.Chosen), n)) { // the granularity is chosen again
		sum += selection.Settings{MaxNeighbours: i.Neighbours}.Footprint(int(all), edges, parallel.Threads(threads))
		var dims []int
		for _, v := range i.Views {
			dims = append(dims, v.Dims)
		}
		sum += separation.Footprint(int(all), dims)
	}
	return sum
}
