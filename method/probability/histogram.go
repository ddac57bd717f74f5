package probability

// Histogram counts similarities in steps of equal width.
type Histogram struct {
	// Low and High are the least and the largest similarity, 0 where there is none.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Count holds the similarities in each of the steps from Low to High.
	Count []int `json:"count"`
	// Missing counts the pairs that lack the view.
	Missing int `json:"missing"`
}

// mostSteps bounds the steps of a histogram.
const mostSteps = 1 << 16

// NewHistogram counts a view's similarities in the given number of steps, at least one and at
// most 65,536. NaN counts as missing.
func NewHistogram(similarities []float32, steps int) Histogram {
	h := Histogram{Count: make([]int, min(max(1, steps), mostSteps))}
	found := 0
	low, high := float32(0), float32(0)
	for _, x := range similarities {
		if x != x {
			continue
		}
		if found == 0 {
			low, high = x, x
		}
		low, high = min(low, x), max(high, x)
		found++
	}
	h.Low, h.High, h.Missing = float64(low), float64(high), len(similarities)-found
	scale := 0.0
	if high > low {
		scale = float64(len(h.Count)) / (h.High - h.Low)
	}
	for _, x := range similarities {
		if x == x {
			h.Count[min(max(0, int((float64(x)-h.Low)*scale)), len(h.Count)-1)]++
		}
	}
	return h
}
