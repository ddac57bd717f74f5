package posterior

// Footprint returns how many bytes the fused probabilities of all pairs hold, with the
// similarities of those pairs that are fused at a time.
func Footprint(pairs int64, atATime, views int) int64 {
	return 4*pairs + min(pairs, int64(atATime))*4*int64(views+1)
}

// Cost estimates the time to compare and fuse pairs, in nanoseconds on two processors.
func Cost(pairs float64, views int) float64 { return 20 * pairs * float64(1+views) }
