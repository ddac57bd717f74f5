package option

import "slices"

// Parameter is a setting: all that the library, the command and the docs say of it.
type Parameter struct {
	// Field is the path of the Go field within the struct that has it.
	Field string
	// Name is what --param calls it.
	Name string
	// Value has the type, the default and the range, and points to the field.
	Value Value
	// PaperOnly says that the automatic preset decides it by itself.
	PaperOnly bool
	// Equation is where the paper has it.
	Equation string
	// Meaning says what it does.
	Meaning string
}

// Resolve fills in the defaults of settings that are left at zero and checks all ranges.
// The first error is returned, an *Error.
func Resolve(parameters []Parameter) error {
	for _, p := range parameters {
		if err := p.Value.resolve(); err != nil {
			return Errorf(p.Field, "%v", err)
		}
	}
	return nil
}

// Join returns the settings of a struct as those of the struct that holds it in the field
// parent.
func Join(parent string, parameters []Parameter) []Parameter {
	joined := slices.Clone(parameters)
	for i := range joined {
		joined[i].Field = parent + "." + joined[i].Field
	}
	return joined
}
