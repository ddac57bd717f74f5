package similarity

import "github.com/mvclust/mvclust/internal/parallel"

// Footprint returns how many bytes the rows of a Space hold beside those of its view:
// under Cosine a copy, unless the view's own rows are overwritten.
func (m Metric) Footprint(samples, dims int, overwrite bool) int64 {
	if m != Cosine || overwrite {
		return 0
	}
	return 4 * int64(samples) * int64(dims)
}

// Cost estimates the time to prepare a Space, in nanoseconds on two processors, by the
// number of values in its rows.
func Cost(values float64) float64 { return 0.3 * values }

// LazyFootprint returns how many bytes a space that Lazy makes holds beside the view, compared in so
// many threads, given the dimensions of its rows.
func LazyFootprint(samples, dims, threads int) int64 {
	return 32*int64(samples) + int64(parallel.Threads(threads))*int64(kept(samples, dims, threads))*int64(4*dims+8)
}

// KeptFootprint returns how many bytes the space holds that Kept makes of it.
func KeptFootprint(samples, dims int) int64 { return 4*int64(samples)*int64(dims) + 8*int64(samples) }
