// Package imccp is IMCCP, which its authors call COMPLETER.
package imccp

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/single"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/method/view"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "IMCCP", Source: "Lin, Gou, Liu, Li, Lv and Peng, COMPLETER: incomplete multi-view clustering via contrastive prediction, 2021",
		Told: true, Slow: true, Least: 2, Most: 2, Samples: 3000,
		Note: "the layers between have 256 units, a point of the grid alone the authors' 1,024, with which 2,000 samples take a processor 25 minutes in place of 3; features are mapped to [0, 1], " +
			"and the rest is what the authors' program has for the sets of their paper",
		Default: system.Settings{"width": 256, "code": 128, "epochs": 500, "rate": 1e-4},
		Grid:    []system.Settings{{"code": 64}, {"rate": 1e-3}, {"width": 1024}},
		Cluster: Cluster,
	}
}

// Cluster parts the samples into the given number of clusters. In both views, an autoencoder turns a
// row x into a code z, a probability of each of some states, and back into r; a network for each
// direction guesses one view's code from the other's as g. On samples that have both views, Adam
// minimises
//
//	sum_ij P_ij log(p_i^10 p_j^10 / P_ij) + 0.1 (|r_1 - x_1|^2 + |r_2 - x_2|^2)
//	+ 0.1 (|g_1 - z_1|^2 + |g_2 - z_2|^2)
//
// where P is the joint distribution of the two states, the mean of the products of codes made
// symmetric, p has the sums of its rows, and the squares are means over values. So the states agree, and
// all are used. The last part joins in after 100 rounds. Codes of missing views are guessed, and
// k-means clusters the two side by side. It is the method of
//
//	Lin, Gou, Liu, Li, Lv and Peng, "COMPLETER: incomplete multi-view clustering via contrastive
//	prediction", 2021.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	if len(in.Views) != 2 {
		return nil, errors.New("it takes two views")
	}
	m := newModel(in)
	var both []int
	for i := range in.Samples() {
		if in.Views[0].Has(i) && in.Views[1].Has(i) {
			both = append(both, i)
		}
	}
	if len(both) < 2 {
		return nil, errors.New("it needs samples that have both views")
	}
	if _, err := m.train(ctx, both, in); err != nil {
		return nil, err
	}
	return system.KMeans(ctx, m.codes(in.Views), in.Clusters, in)
}

const (
	entropy  = 9.0 // in favour of using all states
	lambda   = 0.1
	patience = 100 // rounds before codes are guessed
	batch    = 256
)

// model has, by view, the rows and the networks; guess[v] makes the code of the other view of that of
// view v.
type model struct {
	rows                   [2]*single.Matrix
	encode, decode, guess  [2]*network
	work                   single.Multiplier
	contrast, back, across float64 // the parts of the last objective
}

func newModel(in *system.Input) *model {
	random := in.Random()
	m := new(model)
	width, code := int(in.Settings["width"]), int(in.Settings["code"])
	for v, of := range in.Views {
		m.rows[v] = scaled(of)
		sizes := []int{of.Dims, width, width, width, code}
		m.encode[v] = newNetwork(sizes, true, &m.work, random)
		slices.Reverse(sizes)
		m.decode[v] = newNetwork(sizes, false, &m.work, random)
		m.guess[v] = newNetwork([]int{code, width / 2, width, width / 2, width, width / 2, code}, true, &m.work, random)
	}
	return m
}

// scaled maps the values of a view to [0, 1]; missing rows hold what does not matter.
func scaled(v *view.View) *single.Matrix {
	x := single.New(v.Samples, v.Dims)
	data := system.Dense(v).RawMatrix().Data
	low, high := slices.Min(data), slices.Max(data)
	for at, value := range data {
		if high > low {
			x.Data[at] = float32((value - low) / (high - low))
		}
	}
	return x
}

// train returns the mean objective of every round, without the part that joins in later.
func (m *model) train(ctx context.Context, both []int, in *system.Input) ([]float64, error) {
	both, random := slices.Clone(both), in.Random()
	var objective []float64
	for epoch := range int(in.Settings["epochs"]) {
		random.Shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })
		sum, count := 0.0, 0.0
		for from := range slices.Chunk(both, batch) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(from) < 2 {
				continue // has no deviation
			}
			guessing := epoch >= patience
			m.learn(from, guessing)
			for v := range m.rows {
				m.encode[v].adam(in.Settings["rate"])
				m.decode[v].adam(in.Settings["rate"])
				if guessing {
					m.guess[v].adam(in.Settings["rate"])
				}
			}
			sum += m.contrast + m.back
			count++
		}
		objective = append(objective, sum/count)
	}
	return objective, ctx.Err()
}

// learn finds the gradients of the objective on some samples.
func (m *model) learn(samples []int, guessing bool) {
	m.contrast, m.back, m.across = 0, 0, 0
	var code, slope [2]*single.Matrix
	for v, rows := range m.rows {
		x := single.New(len(samples), rows.Columns)
		for r, i := range samples {
			copy(x.Row(r), rows.Row(i))
		}
		code[v] = m.encode[v].forward(x, true)
		cost, d := squares(m.decode[v].forward(code[v], true), x)
		m.back += cost
		slope[v] = m.decode[v].backward(d)
	}
	var apart [2]*single.Matrix
	m.contrast, apart = m.contrasts(code)
	for v := range slope {
		add(slope[v], apart[v], 1)
	}
	if guessing {
		for v := range code {
			cost, d := squares(m.guess[v].forward(code[v], true), code[1-v])
			m.across += cost
			add(slope[1-v], d, -1)
			add(slope[v], m.guess[v].backward(d), 1)
		}
	}
	for v := range slope {
		m.encode[v].backward(slope[v])
	}
}

// add adds the multiple of b to a.
func add(a, b *single.Matrix, times float32) {
	for i, x := range b.Data {
		a.Data[i] += times * x
	}
}

// squares returns lambda times the mean square of the differences, and its gradient by the first.
func squares(a, b *single.Matrix) (float64, *single.Matrix) {
	d := single.New(a.Rows, a.Columns)
	cost, share := 0.0, lambda/float64(len(d.Data))
	for i, x := range a.Data {
		off := x - b.Data[i]
		cost += share * float64(off) * float64(off)
		d.Data[i] = float32(2*share) * off
	}
	return cost, d
}

// contrasts returns the first part of the objective, and its gradients by the codes. The sum of all
// products is the number of samples, whatever the codes.
func (m *model) contrasts(code [2]*single.Matrix) (float64, [2]*single.Matrix) {
	n, k := float64(code[0].Rows), code[0].Columns
	p := m.work.Multiply(nil, single.Columns(code[0]), single.Columns(code[1]))
	joint := func(i, j int) float64 { return (float64(p.Row(i)[j]) + float64(p.Row(j)[i])) / (2 * n) }
	logs := make([]float64, k)
	for i := range k {
		sum := 0.0
		for j := range k {
			sum += joint(i, j)
		}
		logs[i] = math.Log(max(sum, math.SmallestNonzeroFloat32))
	}
	cost, g := 0.0, single.New(k, k)
	for i := range k {
		row := g.Row(i)
		for j := range row {
			x := joint(i, j)
			own := math.Log(max(x, math.SmallestNonzeroFloat32))
			cost -= x * (own - (entropy+1)*(logs[i]+logs[j]))
			row[j] = float32((-(own + 1) + (entropy+1)*(logs[i]+logs[j]+2)) / n)
		}
	}
	var slope [2]*single.Matrix
	for v := range slope {
		slope[v] = m.work.Multiply(nil, single.Rows(code[1-v]), single.Rows(g)) // g is symmetric
	}
	return cost, slope
}

// codes returns the codes of both views side by side, those that are missing as they are guessed.
func (m *model) codes(views []*view.View) *mat.Dense {
	var own, guessed [2]*single.Matrix
	for v := range own {
		own[v] = m.encode[v].forward(m.rows[v], false)
		guessed[1-v] = m.guess[v].forward(own[v], false)
	}
	n, k := own[0].Rows, own[0].Columns
	both := mat.NewDense(n, 2*k, nil)
	for i := range n {
		for v := range own {
			from := own[v]
			if !views[v].Has(i) {
				from = guessed[v]
			}
			for c, x := range from.Row(i) {
				both.Set(i, v*k+c, float64(x))
			}
		}
	}
	return both
}
