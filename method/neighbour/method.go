package neighbour

import "fmt"

// Method is a way to search. Its zero value is Auto.
type Method int

const (
	// Auto chooses Approximate where that is expected to be faster, and else Exact.
	Auto Method = iota
	// Exact compares every sample with every other one.
	Exact
	// Approximate compares samples that lie in the same part of the space, and the
	// neighbours of neighbours.
	Approximate
)

var methodNames = [...]string{"auto", "exact", "approximate"}

// ParseMethod returns the method named "auto", "exact" or "approximate".
func ParseMethod(name string) (Method, error) {
	for m, s := range methodNames {
		if s == name {
			return Method(m), nil
		}
	}
	return 0, fmt.Errorf("unknown search method %q; choose auto, exact or approximate", name)
}

// String returns the method's name, as ParseMethod reads it.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("method(%d)", int(m))
	}
	return methodNames[m]
}

// MarshalText writes the method's name, and fails where it has none.
func (m Method) MarshalText() ([]byte, error) {
	if _, err := ParseMethod(m.String()); err != nil {
		return nil, err
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads a method's name. It leaves m alone where it fails.
func (m *Method) UnmarshalText(text []byte) error {
	parsed, err := ParseMethod(string(text))
	if err == nil {
		*m = parsed
	}
	return err
}
