package view

import (
	"fmt"

	"github.com/mvclust/mvclust/internal/enum"
)

// Version is what of the rows is compared under Mixed. Its zero value is Joined.
type Version int

const (
	// Joined is all three versions of a row, side by side.
	Joined Version = iota
	// Given is the row as it is.
	Given
	// Ranged is the row under MinMax.
	Ranged
	// Standard is the row with every feature brought to mean 0 and variance 1.
	Standard
)

var versions = enum.Type[Version]{Noun: "version", Names: []string{"joined", "given", "ranged", "standard"}}

// String returns the version's name, as UnmarshalText reads it.
func (v Version) String() string { return versions.String(v) }

// MarshalText writes the version's name, and fails where it has none.
func (v Version) MarshalText() ([]byte, error) { return versions.Marshal(v) }

// UnmarshalText reads a version's name. It leaves *v alone where it fails.
func (v *Version) UnmarshalText(text []byte) error { return versions.Unmarshal(v, text) }

// Versions lists what can be compared of the rows that s scales: Joined, and under Mixed the versions
// that have a weight.
func (s *Scaler) Versions() []Version {
	all := []Version{Joined}
	for part, w := range s.Weights {
		if s.Scale == Mixed && w > 0 {
			all = append(all, Given+Version(part))
		}
	}
	return all
}

// Only returns the scaler that leaves the other versions 0, or s itself for Joined. It is an error if
// Versions does not list the version.
func (s *Scaler) Only(v Version) (*Scaler, error) {
	if v == Joined {
		return s, nil
	}
	part := int(v - Given)
	if s.Scale != Mixed || part < 0 || part >= len(s.Weights) || !(s.Weights[part] > 0) {
		return nil, fmt.Errorf("the scaler has no version %d of the rows; take one that Versions lists", v)
	}
	out := *s
	out.Weights = [3]float64{}
	out.Weights[part] = s.Weights[part]
	return &out, nil
}
