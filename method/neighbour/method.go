package neighbour

import "github.com/mvclust/mvclust/internal/enum"

// Method is a way to search. Its zero value is Auto.
type Method int

const (
	// Auto chooses Approximate where that is expected to be faster, and else Exact.
	Auto Method = iota
	// Exact compares every sample with every other one.
	Exact
	// Approximate compares samples of nearby cells, and the neighbours of neighbours.
	Approximate
)

var methods = enum.Type[Method]{Noun: "search method", Names: []string{"auto", "exact", "approximate"}}

// String returns the method's name, as UnmarshalText reads it.
func (m Method) String() string { return methods.String(m) }

// MarshalText writes the method's name, and fails where it has none.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText reads a method's name. It leaves *m alone where it fails.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }
