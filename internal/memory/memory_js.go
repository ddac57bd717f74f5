package memory

// limits returns what programs in browsers can count on. Their addresses end at 4 GiB, and
// not every browser gives that much to a page.
func limits() []Limit { return []Limit{{2 << 30, "as much as a page in a browser can count on"}} }
