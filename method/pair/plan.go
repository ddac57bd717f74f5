package pair

// Bound returns the number of pairs that Union finds where every sample has the given number
// of neighbours in each view and no two views have a pair in common. It never finds more.
func Bound(samples, neighbours, views int) int64 {
	return int64(samples) * int64(neighbours) * int64(views)
}

// Footprint returns how many bytes a Set holds, and how many Union holds at most beside the
// lists, given Bound.
func Footprint(pairs int64) int64 { return 4 * pairs }

// Cost estimates the time of Union, in nanoseconds on two processors.
func Cost(pairs float64) float64 { return 50 * pairs }
