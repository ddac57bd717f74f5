package pair

// Most returns how many pairs Union finds at most, where every sample has so many
// neighbours in each view and no two views have a pair in common.
func Most(samples, neighbours, views int) int64 {
	return int64(samples) * int64(neighbours) * int64(views)
}

// Footprint returns how many bytes so many pairs hold. Union holds no more beside the
// lists, where Most gives the number.
func Footprint(pairs int64) int64 { return 4 * pairs }

// Cost estimates the time of Union, in nanoseconds on two processors.
func Cost(pairs float64) float64 { return 50 * pairs }
