package probability

import (
	"errors"
	"fmt"
)

// Functions are the views' probability functions, as Learn and Calibrate return them.
// Others may be made by hand: fusion needs ByView, MPC's asymmetric fusion also BaseRate,
// view completion also Cross.
type Functions struct {
	// Settings are the settings that were used, with all defaults filled in.
	Settings Settings
	// ByView holds f^(m), by view. It has no points where no training pair has the
	// view.
	ByView []Function
	// Cross holds, at [m][b], the function from similarity in view m to the probability
	// in view b: Fcross^(m)-(b). It is nil on the diagonal and where no training
	// pair has both views.
	Cross [][]*Function
	// BaseRate is the mean of f^(m) over the training pairs, by view: the
	// function's own estimate of P(e=1) among them; 0.5 where there are none.
	BaseRate []float64
	// Curve is the loss before every epoch, and after the last; nil where no loss
	// was lowered.
	Curve []Losses
	// Kept is the place in Curve of the least loss, that of ByView.
	Kept int
}

// Validate reports the first thing that makes the model unusable for the given
// number of views: other than one function per view, a function whose similarities
// do not rise strictly or whose probabilities leave [0, 1], and a BaseRate or a
// Cross that is there and does not fit the views. Views are counted from 0.
func (m *Functions) Validate(views int) error {
	if m == nil {
		return errors.New("there are no probability functions; give one per view")
	}
	if len(m.ByView) != views {
		return fmt.Errorf("the model has %d functions for %d views; give one per view", len(m.ByView), views)
	}
	for v := range m.ByView {
		if err := m.ByView[v].check(); err != nil {
			return fmt.Errorf("the function of view %d %w", v, err)
		}
	}
	if m.BaseRate != nil && len(m.BaseRate) != views {
		return fmt.Errorf("the model has %d base rates for %d views; give one per view, or none", len(m.BaseRate), views)
	}
	for v, p := range m.BaseRate {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("the base rate of view %d is %v; it is a probability, between 0 and 1", v, p)
		}
	}
	if m.Cross != nil && len(m.Cross) != views {
		return fmt.Errorf("the model has cross functions from %d of %d views; give a row per view, or none", len(m.Cross), views)
	}
	for v, row := range m.Cross {
		if len(row) != views {
			return fmt.Errorf("the model has cross functions from view %d to %d of %d views; give one per view, nil where there is none", v, len(row), views)
		}
		for b, f := range row {
			if f == nil {
				continue
			}
			if err := f.check(); err != nil {
				return fmt.Errorf("the cross function from view %d to %d %w", v, b, err)
			}
		}
	}
	return nil
}
