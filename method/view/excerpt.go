package view

// Excerpt returns copies of the rows of the given samples, by view. The error is that of
// View.Check, or one for a sample that is not there.
func Excerpt(views []*View, samples []int) ([]*View, error) {
	excerpt := make([]*View, len(views))
	for m, v := range views {
		if err := v.Check(); err != nil {
			return nil, err
		}
		e := &View{Name: v.Name, Samples: len(samples), Dims: v.Dims, Data: make([]float32, len(samples)*v.Dims)}
		if v.Present != nil {
			e.Present = make([]bool, len(samples))
		}
		for at, i := range samples {
			if i < 0 || i >= v.Samples {
				return nil, &InputError{View: v.Name, Row: i, Problem: "is not there; choose among the samples"}
			}
			if e.Present != nil {
				e.Present[at] = v.Has(i)
			}
			if v.Has(i) {
				copy(e.Row(at), v.Row(i))
			}
		}
		excerpt[m] = e
	}
	return excerpt, nil
}
