package probability

import (
	"math"
	"testing"
)

func TestValidate(t *testing.T) {
	w := gaussian(2000, 3, 0.3, 1)
	for name, change := range map[string]func(m *Functions){
		"": func(*Functions) {},
		"the model has 2 functions for 3 views; give one per view":                                                             func(m *Functions) { m.ByView = m.ByView[:2] },
		"the function of view 1 has 2 similarities and 1 probabilities; give as many of each":                                  func(m *Functions) { m.ByView[1] = Function{[]float64{1, 2}, []float64{1}} },
		"the function of view 0 has similarity 1 at point 1, after 1; similarities must rise from point to point":              func(m *Functions) { m.ByView[0] = Function{[]float64{1, 1}, []float64{0, 1}} },
		"the function of view 2 has similarity NaN at point 0; give finite numbers":                                            func(m *Functions) { m.ByView[2].X[0] = math.NaN() },
		"the function of view 2 has similarity +Inf at point 1; give finite numbers":                                           func(m *Functions) { m.ByView[2].X[1] = math.Inf(1) },
		"the function of view 2 has probability NaN at point 0; probabilities lie between 0 and 1":                             func(m *Functions) { m.ByView[2].P[0] = math.NaN() },
		"the function of view 2 has probability -0.1 at point 0; probabilities lie between 0 and 1":                            func(m *Functions) { m.ByView[2].P[0] = -0.1 },
		"the function of view 2 has probability 1.1 at point 1; probabilities lie between 0 and 1":                             func(m *Functions) { m.ByView[2].P[1] = 1.1 },
		"the model has 2 base rates for 3 views; give one per view, or none":                                                   func(m *Functions) { m.BaseRate = m.BaseRate[1:] },
		"the base rate of view 0 is 2; it is a probability, between 0 and 1":                                                   func(m *Functions) { m.BaseRate[0] = 2 },
		"the model has cross functions from 2 of 3 views; give a row per view, or none":                                        func(m *Functions) { m.Cross = m.Cross[1:] },
		"the model has cross functions from view 1 to 0 of 3 views; give one per view, nil where there is none":                func(m *Functions) { m.Cross[1] = nil },
		"the cross function from view 1 to 2 has similarity 2 at point 1, after 3; similarities must rise from point to point": func(m *Functions) { m.Cross[1][2] = &Function{[]float64{3, 2}, []float64{0, 1}} },
		"the cross function from view 0 to 1 has probability 7 at point 0; probabilities lie between 0 and 1":                  func(m *Functions) { m.Cross[0][1] = &Function{[]float64{3}, []float64{7}} },
	} {
		model := learn(t, w, Settings{Segments: 20, Epochs: 1})
		change(model)
		if err := model.Validate(3); name == "" && err != nil || name != "" && (err == nil || err.Error() != name) {
			t.Errorf("got  %v\nwant %s", err, name)
		}
	}
	// What a model can do without; a falling function is one's own business.
	least := &Functions{ByView: []Function{{}, {[]float64{0, 1}, []float64{1, 0}}}}
	if err := least.Validate(2); err != nil {
		t.Error(err)
	}
}
