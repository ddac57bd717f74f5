// Package ueaf is Unified Embedding Alignment with missing views inFerring.
package ueaf

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "UEAF", Source: "Wen, Zhang, Xu, Zhang, Fei and Liu, Unified embedding alignment with missing views inferring for incomplete multi-view clustering, 2019",
		Told: true, Samples: 3000,
		Note: "each row of S is where the objective is least, of which the authors' program takes another point, and F improves in every round where the program computes all eigenvectors anew; " +
			"the embedding has no more dimensions than the narrowest view",
		Default: system.Settings{"lambda1": 0.01, "lambda2": 0.1, "lambda3": 1e-5},
		Grid: system.Product(
			[]system.Settings{{"lambda1": 0.01}, {"lambda1": 1}},
			[]system.Settings{{"lambda2": 0.001}, {"lambda2": 0.1}, {"lambda2": 10}},
		),
		Cluster: Cluster,
	}
}

// Cluster parts the samples into the given number of clusters: it finds one embedding P of which
// every view is a rotation, and on the way what missing rows would be. With the samples in columns,
// of unit length, it minimises
//
//	sum_v a_v^3 (|X_v + E_v W_v - U_v P|^2 + lambda1 trace(E_v' L_v E_v) + lambda2 trace(P M P'))
//	+ lambda3 trace(F' L F)
//
// over U_v with orthonormal columns, the columns E_v of samples that lack view v, which W_v puts in
// their places, P, S with rows on the simplex, F with orthonormal columns, and weights a on the
// simplex. L_v is the Laplacian of the 7 nearest neighbours of the features, L that of S and M that
// of the squares in S. The columns of P, at unit length, go to k-means. It is the method of
//
//	Wen, Zhang, Xu, Zhang, Fei and Liu, "Unified embedding alignment with missing views inferring
//	for incomplete multi-view clustering", 2019.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	s, err := start(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := s.descend(ctx); err != nil {
		return nil, err
	}
	system.UnitRows(s.place)
	return system.KMeans(ctx, s.place, in.Clusters, in)
}

const (
	rounds  = 50
	power   = 3
	nearest = 7    // features
	still   = 1e-5 // change of the objective, over the size of the data, that is none
	least   = 1e-10
	refines = 3 // of F in a round
)

// state is what is optimised. Unlike in the formula, samples are in rows.
type state struct {
	parts                     []*part
	weight                    []float64
	place                     *mat.Dense // P'
	graph                     *mat.Dense // S
	spectral                  *mat.Dense // F
	lambda1, lambda2, lambda3 float64
	size                      float64 // of all data
}

// part is a view: its rows, with what was inferred, and the matrix U_v.
type part struct {
	rows      *mat.Dense
	turn      *mat.Dense
	missing   []int
	laplacian *mat.SymDense // of the features
	smooth    mat.Cholesky  // of 1 + lambda1 times that
	cost      float64       // what a_v^3 multiplies
}

func start(ctx context.Context, in *system.Input) (*state, error) {
	set := in.Settings
	s := &state{lambda1: set["lambda1"], lambda2: set["lambda2"], lambda3: set["lambda3"]}
	random := in.Random()
	n, dims := in.Samples(), in.Clusters
	for _, v := range in.Views {
		dims = min(dims, v.Dims)
	}
	for _, v := range in.Views {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := newPart(v, s.lambda1)
		if err != nil {
			return nil, err
		}
		first := mat.NewDense(v.Dims, dims, nil)
		for i := range first.RawMatrix().Data {
			first.RawMatrix().Data[i] = random.Float64()
		}
		if p.turn, err = system.Polar(first); err != nil {
			return nil, err
		}
		s.size += system.Inner(p.rows, p.rows)
		s.parts = append(s.parts, p)
	}
	s.weight = slices.Repeat([]float64{1 / float64(len(s.parts))}, len(s.parts))
	s.graph = mat.NewDense(n, n, nil)
	for i := range n {
		row := s.graph.RawRowView(i)
		for j := range row {
			if j != i {
				row[j] = 1 / float64(n-1)
			}
		}
	}
	guess := mat.NewDense(n, min(in.Clusters, n), nil)
	for i := range guess.RawMatrix().Data {
		guess.RawMatrix().Data[i] = random.NormFloat64()
	}
	var err error
	s.spectral, err = system.Polar(guess)
	return s, err
}

// newPart scales the rows of a view to unit length; those that are missing are 0.
func newPart(v *view.View, lambda1 float64) (*part, error) {
	p := &part{rows: system.Dense(v)}
	system.UnitRows(p.rows)
	for i := range v.Samples {
		if !v.Has(i) {
			p.missing = append(p.missing, i)
			clear(p.rows.RawRowView(i))
		}
	}
	if p.missing == nil {
		return p, nil
	}
	p.laplacian = features(p.rows)
	system := mat.NewSymDense(v.Dims, nil)
	system.ScaleSym(lambda1, p.laplacian)
	for i := range v.Dims {
		system.SetSym(i, i, system.At(i, i)+1)
	}
	if !p.smooth.Factorize(system) { //nolint:misspell // gonum's name
		return nil, errors.New("the graph of the features has no Cholesky decomposition")
	}
	return p, nil
}

// features returns the Laplacian of the graph of the features' nearest neighbours: an edge weighs 1
// where either is one of the other's.
func features(rows *mat.Dense) *mat.SymDense {
	_, d := rows.Dims()
	far := system.SquaredDistances(mat.DenseCopyOf(rows.T()))
	l := mat.NewSymDense(d, nil)
	others := make([]int, d)
	for i := range d {
		for j := range others {
			others[j] = j
		}
		slices.SortStableFunc(others, func(a, b int) int {
			switch x, y := far.At(i, a), far.At(i, b); {
			case a == i || x < y && b != i:
				return -1
			case b == i || y < x:
				return 1
			default:
				return 0
			}
		})
		for _, j := range others[1:min(d, nearest+1)] {
			l.SetSym(i, j, -1)
		}
	}
	for i := range d {
		sum := 0.0
		for j := range d {
			if j != i {
				sum -= l.At(i, j)
			}
		}
		l.SetSym(i, i, sum)
	}
	return l
}

// descend minimises, and returns the objective after every round.
func (s *state) descend(ctx context.Context) ([]float64, error) {
	var objective []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.embed(); err != nil {
			return nil, err
		}
		s.link()
		if err := s.spread(ctx); err != nil {
			return nil, err
		}
		if err := s.infer(); err != nil {
			return nil, err
		}
		objective = append(objective, s.weigh())
		if n := len(objective); n > 2 && math.Abs(objective[n-1]-objective[n-2]) < still*s.size {
			break
		}
	}
	return objective, nil
}

// influence returns the powers of the weights, and their sum.
func (s *state) influence() (powers []float64, sum float64) {
	for _, a := range s.weight {
		powers = append(powers, math.Pow(a, power))
	}
	return powers, floats.Sum(powers)
}

// embed finds P.
func (s *state) embed() error {
	var mean mat.Dense
	powers, sum := s.influence()
	for v, p := range s.parts {
		var turned mat.Dense
		turned.Mul(p.rows, p.turn)
		turned.Scale(powers[v]/sum, &turned)
		if v == 0 {
			mean.CloneFrom(&turned)
		} else {
			mean.Add(&mean, &turned)
		}
	}
	smooth := s.laplacian(func(x float64) float64 { return s.lambda2 * x * x })
	for i := range smooth.SymmetricDim() {
		smooth.SetSym(i, i, smooth.At(i, i)+1)
	}
	var c mat.Cholesky
	if !c.Factorize(smooth) { //nolint:misspell // gonum's name
		return errors.New("the graph of the samples has no Cholesky decomposition")
	}
	s.place = new(mat.Dense)
	return c.SolveTo(s.place, &mean)
}

// laplacian returns that of a function of S.
func (s *state) laplacian(f func(float64) float64) *mat.SymDense {
	n, _ := s.graph.Dims()
	l := mat.NewSymDense(n, nil)
	sums := make([]float64, n)
	for i := range n {
		for j := range i {
			w := (f(s.graph.At(i, j)) + f(s.graph.At(j, i))) / 2
			l.SetSym(i, j, -w)
			sums[i] += w
			sums[j] += w
		}
	}
	for i, x := range sums {
		l.SetSym(i, i, x)
	}
	return l
}

// link finds S: with p and q the squared distances of a sample's row in P and F from the others', each
// row minimises sum_j (a p_j s_j^2 + lambda3 q_j s_j) on the simplex, where a is lambda2 times the
// sum of the powers of the weights. That is s_j = max(0, h - lambda3 q_j / 2) / (a p_j) for the one h
// by which the sum is 1.
func (s *state) link() {
	n, _ := s.graph.Dims()
	near, far := system.SquaredDistances(s.place), system.SquaredDistances(s.spectral)
	_, a := s.influence()
	a *= s.lambda2
	cost, stiff := make([]float64, n), make([]float64, n)
	order := make([]int, 0, n)
	for i := range n {
		order = order[:0]
		for j := range n {
			cost[j], stiff[j] = s.lambda3*far.At(i, j)/2, a*max(near.At(i, j), least)
			if j != i {
				order = append(order, j)
			}
		}
		weightedSimplex(s.graph.RawRowView(i), cost, stiff, order)
	}
}

// weightedSimplex sets row, at the places in order, which it sorts, to the point of the simplex
// where sum_j (stiff_j s_j^2 / 2 + cost_j s_j) is least.
func weightedSimplex(row, cost, stiff []float64, order []int) {
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case cost[a] < cost[b]:
			return -1
		case cost[a] > cost[b]:
			return 1
		default:
			return a - b
		}
	})
	room, level, height := 0.0, 1.0, math.Inf(1)
	for _, j := range order {
		if cost[j] >= height {
			break
		}
		room += 1 / stiff[j]
		level += cost[j] / stiff[j]
		height = level / room
	}
	clear(row)
	for _, j := range order {
		row[j] = max(0, height-cost[j]) / stiff[j]
	}
}

// spread improves F: in the space of F and of its image, it takes the directions where the objective
// is least. So it falls as long as F does not hold the lowest eigenvectors.
func (s *state) spread(ctx context.Context) error {
	l := s.laplacian(func(x float64) float64 { return x })
	all := mat.DenseCopyOf(l) // faster to multiply
	n, k := s.spectral.Dims()
	if 2*k > n {
		var err error
		_, s.spectral, err = system.Lowest(ctx, l, k)
		return err
	}
	for range refines {
		var image mat.Dense
		image.Mul(all, s.spectral)
		both := mat.NewDense(n, 2*k, nil)
		for i := range n {
			copy(both.RawRowView(i), s.spectral.RawRowView(i))
			copy(both.RawRowView(i)[k:], image.RawRowView(i))
		}
		opponent.Orthonormal(both)
		var small mat.Dense
		image.Reset()
		image.Mul(all, both)
		small.Mul(both.T(), &image)
		h := mat.NewSymDense(2*k, nil)
		for i := range 2 * k {
			for j := i; j < 2*k; j++ {
				h.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
			}
		}
		_, low, err := system.Lowest(ctx, h, k)
		if err != nil {
			return err
		}
		s.spectral.Mul(both, low)
	}
	return nil
}

// infer finds the matrices U_v, and then the rows of samples that lack a view.
func (s *state) infer() error {
	for _, p := range s.parts {
		var product mat.Dense
		product.Mul(p.rows.T(), s.place)
		var err error
		if p.turn, err = system.Polar(&product); err != nil {
			return err
		}
		if p.missing == nil {
			continue
		}
		_, d := p.rows.Dims()
		_, k := s.place.Dims()
		places := mat.NewDense(k, len(p.missing), nil)
		for c, i := range p.missing {
			places.SetCol(c, s.place.RawRowView(i))
		}
		raw, smooth := mat.NewDense(d, len(p.missing), nil), new(mat.Dense)
		raw.Mul(p.turn, places)
		if err := p.smooth.SolveTo(smooth, raw); err != nil {
			return err
		}
		for c, i := range p.missing {
			mat.Col(p.rows.RawRowView(i), c, smooth)
		}
	}
	return nil
}

// weigh finds the weights, and returns the objective.
func (s *state) weigh() float64 {
	rough := quadratic(s.place, s.laplacian(func(x float64) float64 { return x * x }))
	for _, p := range s.parts {
		var back mat.Dense
		back.Mul(s.place, p.turn.T())
		back.Sub(p.rows, &back)
		p.cost = system.Inner(&back, &back) + s.lambda2*rough
		if p.missing != nil {
			inferred := mat.NewDense(p.laplacian.SymmetricDim(), len(p.missing), nil)
			for c, i := range p.missing {
				inferred.SetCol(c, p.rows.RawRowView(i))
			}
			p.cost += s.lambda1 * quadratic(inferred, p.laplacian)
		}
	}
	sum := 0.0
	for v, p := range s.parts {
		s.weight[v] = math.Pow(max(p.cost, least), 1/(1.0-power))
		sum += s.weight[v]
	}
	floats.Scale(1/sum, s.weight)
	powers, _ := s.influence()
	objective := s.lambda3 * quadratic(s.spectral, s.laplacian(func(x float64) float64 { return x }))
	for v, p := range s.parts {
		objective += powers[v] * p.cost
	}
	return objective
}

// quadratic returns trace(x'l x).
func quadratic(x *mat.Dense, l *mat.SymDense) float64 {
	var image mat.Dense
	image.Mul(l, x)
	return system.Inner(x, &image)
}
