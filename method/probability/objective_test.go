package probability

import (
	"fmt"
	"math"
	"testing"
)

// lossSettings holds both losses, with every term switched off in turn.
func lossSettings() map[string]Settings {
	all := map[string]Settings{}
	for loss, name := range map[Loss]string{Mixed: "mixed", Direct: "direct"} {
		for _, constraint := range []bool{true, false} {
			for _, off := range []string{"nothing", "single", "cross", "both"} {
				all[fmt.Sprintf("%s, without %s, constraint %t", name, off, constraint)] = Settings{
					Segments: 12, Low: 3, High: 2, Loss: loss,
					WithoutConstraint: !constraint,
					WithoutSingle:     off == "single" || off == "both",
					WithoutCross:      off == "cross" || off == "both",
				}
			}
		}
	}
	return all
}

// forEachObjective runs a test on 1 to 4 views, all absences and all losses.
func forEachObjective(t *testing.T, do func(t *testing.T, w [][]float32, o *objective)) {
	for views := 1; views <= 4; views++ {
		for _, a := range absences {
			w := gaussian(300, views, 0, 3)
			a.take(w)
			for name, set := range lossSettings() {
				t.Run(fmt.Sprintf("%d views/%s/%s", views, a.name, name), func(t *testing.T) {
					do(t, w, objectiveOf(t, w, resolved(t, set), 2))
				})
			}
		}
	}
}

func TestGradient(t *testing.T) {
	forEachObjective(t, func(t *testing.T, _ [][]float32, o *objective) {
		f, gradient := interior(o, 5), o.zeros()
		for m := range gradient {
			for i := range gradient[m] {
				gradient[m][i] = math.NaN() // eval has to overwrite it
			}
		}
		if _, err := o.eval(t.Context(), f, gradient); err != nil {
			t.Fatal(err)
		}
		at := func(m, i int, x float64) float64 {
			before := f[m][i]
			defer func() { f[m][i] = before }()
			f[m][i] = x
			loss, err := o.eval(t.Context(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			return loss.Total
		}
		const h = 1e-5
		for m := range f {
			for i, x := range f[m] {
				want := (at(m, i, x+h) - at(m, i, x-h)) / (2 * h)
				if got := gradient[m][i]; !near(got, want, 1e-5*math.Abs(want)+1e-8) {
					t.Errorf("view %d, segment %d: derivative %v, by differences %v", m, i, got, want)
				}
			}
		}
	})
}

// naive transcribes the equations, one loop over all pairs for every estimate.
// Where pairs lack views, a mean is taken over those that have them.
type naive struct {
	w   [][]float32
	f   [][]float64
	set Settings
}

// segment returns the segment of pair t in view m by counting the pairs that are
// less similar, or -1; it takes for granted that no two are equal.
func (n *naive) segment(m, t int) int {
	if math.IsNaN(float64(n.w[m][t])) {
		return -1
	}
	below, pairs := 0, 0
	for _, x := range n.w[m] {
		if x < n.w[m][t] {
			below++
		}
		if x == x {
			pairs++
		}
	}
	i := 0
	for (i+1)*pairs/n.set.Segments <= below {
		i++
	}
	return i
}

// each calls do for all pairs of segment i of view m.
func (n *naive) each(m, i int, do func(t int)) {
	for t := range n.w[m] {
		if n.segment(m, t) == i {
			do(t)
		}
	}
}

// cross is Eq. f_cross.
func (n *naive) cross(m, b, i int) float64 {
	sum, pairs := 0.0, 0.0
	n.each(m, i, func(t int) {
		if j := n.segment(b, t); j >= 0 {
			sum += n.f[b][j]
			pairs++
		}
	})
	return sum / pairs
}

// multi is Eq. f_multi with Eq. f_joint.
func (n *naive) multi(m, i int) float64 {
	sum, pairs := 0.0, 0.0
	n.each(m, i, func(t int) {
		yes, no := 1.0, 1.0
		for b := range n.f {
			if j := n.segment(b, t); j >= 0 {
				yes *= n.f[b][j]
				no *= 1 - n.f[b][j]
			}
		}
		sum += yes / (yes + no)
		pairs++
	})
	return sum / pairs
}

// others returns Fcross at segment i of view m for every other view that it is
// known for.
func (n *naive) others(m, i int) (cross []float64) {
	for b := range n.f {
		if b == m {
			continue
		}
		if x := n.cross(m, b, i); x == x {
			cross = append(cross, x)
		}
	}
	return cross
}

// mix is Eq. f_mix.
func (n *naive) mix(m, i int) float64 {
	sum, cross := n.f[m][i], n.others(m, i)
	for _, x := range cross {
		sum += x
	}
	return math.Sqrt(n.multi(m, i) * sum / float64(1+len(cross)))
}

// loss is Eq. loss_all.
func (n *naive) loss() Losses {
	d := func(x, y float64) float64 { return (x - y) * (x - y) }
	var l Losses
	views := float64(len(n.f))
	for m := range n.f {
		segments := len(n.f[m])
		for i, single := range n.f[m] {
			multi, mix, cross := n.multi(m, i), n.mix(m, i), n.others(m, i)
			if n.set.Loss == Mixed { // Eq. loss_1
				l.Single += 1 / views * 1 / views * 1 / float64(segments) * d(single, mix)
				for _, x := range cross {
					l.Cross += 1 / views * 1 / views * 1 / float64(segments) * d(x, mix)
				}
			} else { // Eq. loss_fz
				l.Single += 1 / views * 1 / float64(segments) * d(single, multi)
				for _, x := range cross {
					l.Cross += 1 / views * 1 / float64(segments) * d(single, x)
				}
			}
			for _, x := range append(cross, single, multi) { // Eq. loss_2
				quarter := max(1, segments/4) // the most that either end has
				if segments > 1 && i+1 <= min(n.set.Low, quarter) {
					l.Constraint += d(x, 0)
				}
				if indj := min(n.set.High, quarter) - 1; segments > 1 && i+1 >= segments-indj {
					l.Constraint += d(x, 1)
				}
			}
		}
	}
	if n.set.WithoutSingle {
		l.Single = 0
	}
	if n.set.WithoutCross {
		l.Cross = 0
	}
	if n.set.WithoutConstraint {
		l.Constraint = 0
	}
	l.Total = n.set.Lambda*(l.Single+l.Cross) + l.Constraint
	return l
}

func TestEquations(t *testing.T) {
	const tolerance = 1e-12
	for views := 1; views <= 4; views++ {
		for _, a := range absences {
			t.Run(fmt.Sprintf("%d views/%s", views, a.name), func(t *testing.T) {
				w := gaussian(150, views, 0, 8)
				a.take(w)
				set := resolved(t, Settings{Segments: 8, Low: 2, High: 3, Lambda: 7})
				o := objectiveOf(t, w, set, 1)
				f := interior(o, 9)
				n := &naive{w, f, set}
				multi, err := o.multi(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				unknown := 0
				for m := range f {
					e := o.estimates(m, f, multi[m])
					for i := range f[m] {
						mean, _ := e.mean(i)
						for name, pair := range map[string][2]float64{
							"Fsingle": {e.single[i], f[m][i]},
							"Fmulti":  {e.multi[i], n.multi(m, i)},
							"Fmix":    {mix(e.multi[i], mean), n.mix(m, i)},
						} {
							if !near(pair[0], pair[1], tolerance) {
								t.Errorf("%s of view %d, segment %d is %v, not %v", name, m, i, pair[0], pair[1])
							}
						}
						cross := map[int]float64{}
						for k, b := range o.partners[m] {
							cross[b] = e.cross[k][i]
						}
						for b := range f {
							got, ok := cross[b]
							if !ok {
								got = math.NaN()
							}
							if b != m && got != got {
								unknown++
							}
							if want := n.cross(m, b, i); b != m && !near(got, want, tolerance) {
								t.Errorf("Fcross from view %d to %d, segment %d is %v, not %v", m, b, i, got, want)
							}
						}
					}
				}
				if gaps := views > 1 && (a.name == "gap" || a.name == "apart"); gaps != (unknown > 0) {
					t.Errorf("Fcross is unknown in %d places", unknown)
				}
			})
		}
	}
}

func TestLossEquations(t *testing.T) {
	for views := 1; views <= 4; views++ {
		for _, a := range absences {
			w := gaussian(120, views, 0, 8)
			a.take(w)
			for name, set := range lossSettings() {
				t.Run(fmt.Sprintf("%d views/%s/%s", views, a.name, name), func(t *testing.T) {
					set.Segments = 7
					o := objectiveOf(t, w, resolved(t, set), 1)
					f := interior(o, 10)
					got, err := o.eval(t.Context(), f, nil)
					if err != nil {
						t.Fatal(err)
					}
					want := (&naive{w, f, o.set}).loss()
					if !near(got.Single, want.Single, 1e-12) || !near(got.Cross, want.Cross, 1e-12) ||
						!near(got.Constraint, want.Constraint, 1e-11) || !near(got.Total, want.Total, 1e-11) {
						t.Errorf("loss is %+v, not %+v", got, want)
					}
				})
			}
		}
	}
}

// The limits of functions are 0 and 1, where products and roots vanish.
func TestLossAtTheBounds(t *testing.T) {
	for _, a := range absences {
		for name, set := range lossSettings() {
			for bound := range 3 {
				w := gaussian(300, 3, 0, 4)
				a.take(w)
				o := objectiveOf(t, w, resolved(t, set), 1)
				f, gradient := o.zeros(), o.zeros()
				for m := range f {
					for i := range f[m] {
						f[m][i] = [...]float64{0, 1, float64(m % 2)}[bound]
					}
				}
				loss, err := o.eval(t.Context(), f, gradient)
				if err != nil {
					t.Fatal(err)
				}
				if l := loss.Total; !(l >= 0 && l <= 1e6) {
					t.Errorf("%s, %s: loss %v", a.name, name, l)
				}
				for m := range gradient {
					for i, g := range gradient[m] {
						if !(math.Abs(g) <= 1e6) {
							t.Fatalf("%s, %s: derivative %v at view %d, segment %d", a.name, name, g, m, i)
						}
					}
				}
			}
		}
	}
}

// objectiveOf is newObjective without an error.
func objectiveOf(t testing.TB, similarities [][]float32, set Settings, threads int) *objective {
	t.Helper()
	o, err := newObjective(t.Context(), similarities, set, threads)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
