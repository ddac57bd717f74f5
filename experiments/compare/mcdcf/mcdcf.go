// Package mcdcf is Multi-view Clustering via Deep Concept Factorisation.
package mcdcf

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/single"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "MCDCF", Source: "Chang, Hu, Li, Wang and Peng, Multi-view clustering via deep concept factorization, 2021", Told: true, Fills: true, Slow: true, Samples: 3000,
		Note:    "the objective is that of the kernel, which the steps lower, where its authors' program watches that of the rows",
		Default: system.Settings{"beta": 100, "width": 10, "layer1": 100, "layer2": 50},
		Grid: system.Product(
			[]system.Settings{{"beta": 1}, {"beta": 100}},
			[]system.Settings{{"width": 0.5}, {"width": 1}, {"width": 10}},
		),
		Cluster: Cluster,
	}
}

// Cluster parts the samples into the given number of clusters: in every view it describes the samples
// by layer1 mixtures of samples, these by layer2, and asks the views to agree on the last description.
// It minimises, over matrices without negative values,
//
//	sum_v |X_v - X_v W_1 V_1' W_2 V_2'|^2 + trace(V_1' L_v V_1) + 10 trace(V_2' L_v V_2)
//	+ beta / M |V_2 - V|^2
//
// where X_v are the M views in the space of the kernel exp(-|x-y|^2 / (2 width^2)), with samples of unit
// length in columns, W and V differ from view to view but for the common V, the mean of the V_2, and L_v
// is the Laplacian of the 5 nearest neighbours. Each step multiplies a matrix by the ratio of the two
// parts of the gradient. The rows of V go to k-means. It is the method of
//
//	Chang, Hu, Li, Wang and Peng, "Multi-view clustering via deep concept factorization", 2021.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	random := in.Random()
	var parts []*part
	for _, v := range in.Views {
		p, err := newPart(ctx, v, in.Settings, random)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	common, _, err := descend(ctx, parts, in.Settings["beta"])
	if err != nil {
		return nil, err
	}
	return system.KMeans(ctx, common, in.Clusters, in)
}

const (
	alpha1, alpha2 = 1, 10
	nearest        = 5
	starting       = 80 // rounds in which each layer is factorised by itself
	rounds         = 200
	patience       = 5 // rounds that change the objective by less than still end it
	still          = 1e-2
	least          = 1e-9
)

// part is a view: its kernel, its graph of neighbours, and its factors. kw1 and kv2 are the kernel
// times w1 and v2, which take most of the time.
type part struct {
	kernel         *kernel
	links          *opponent.Sparse
	degree         []float64
	w1, v1, w2, v2 *mat.Dense
	kw1, kv2       *mat.Dense
}

func newPart(ctx context.Context, v *view.View, set system.Settings, random *rand.Rand) (*part, error) {
	rows := system.Dense(v)
	system.UnitRows(rows)
	p := &part{kernel: gaussian(rows, set["width"])}
	p.links, p.degree = graph(rows)
	var err error
	if p.w1, p.v1, err = factorise(ctx, p.kernel, int(set["layer1"]), random); err != nil {
		return nil, err
	}
	even(p.v1, p.w1)
	if p.w2, p.v2, err = factorise(ctx, gaussian(p.v1, set["width"]), int(set["layer2"]), random); err != nil {
		return nil, err
	}
	even(p.v2, p.w2)
	p.kw1 = p.kernel.times(p.w1)
	return p, nil
}

// kernel is a symmetric matrix, one row for each sample. Its products take most of the time, and are
// made in single precision.
type kernel struct {
	values *single.Matrix
	work   single.Multiplier
}

func gaussian(rows *mat.Dense, width float64) *kernel {
	far := system.SquaredDistances(rows)
	n := far.SymmetricDim()
	k := &kernel{values: single.New(n, n)}
	for i := range n {
		row := k.values.Row(i)
		for j := range row {
			row[j] = float32(math.Exp(-far.At(i, j) / (2 * width * width)))
		}
	}
	return k
}

// times returns the product with a matrix.
func (k *kernel) times(m *mat.Dense) *mat.Dense {
	n, columns := m.Dims()
	right := single.New(n, columns)
	for i, x := range m.RawMatrix().Data {
		right.Data[i] = float32(x)
	}
	p := k.work.Multiply(nil, single.Columns(right), single.Rows(k.values))
	image := mat.NewDense(n, columns, nil)
	for c := range columns {
		for i, x := range p.Row(c) {
			image.Set(i, c, float64(x))
		}
	}
	return image
}

// graph returns the graph of nearest neighbours, normalised by the degrees from both sides, and the
// sums of its rows. An edge between neighbours weighs exp(-d / (2 t^2)), where t is the mean distance.
func graph(rows *mat.Dense) (*opponent.Sparse, []float64) {
	n, _ := rows.Dims()
	lists := system.Nearest(rows, nearest)
	far := system.SquaredDistances(rows)
	mean := 0.0
	for i := range n {
		for j := range i {
			mean += 2 * math.Sqrt(far.At(i, j)) / float64(n) / float64(n)
		}
	}
	weight := mat.NewSymDense(n, nil)
	degree := make([]float64, n)
	for i, list := range lists {
		for _, near := range list {
			weight.SetSym(i, int(near.Index), math.Exp(-math.Sqrt(near.Distance)/(2*mean*mean+least)))
		}
	}
	for i := range n {
		for j := range n {
			degree[i] += weight.At(i, j)
		}
	}
	s := &opponent.Sparse{Index: make([][]int32, n), Value: make([][]float64, n)}
	sums := make([]float64, n)
	for i := range n {
		for j := range n {
			if x := weight.At(i, j); x > 0 {
				x /= math.Sqrt(degree[i] * degree[j])
				s.Index[i], s.Value[i] = append(s.Index[i], int32(j)), append(s.Value[i], x)
				sums[i] += x
			}
		}
	}
	return s, sums
}

// factorise returns the factors of a kernel K, by which trace(K) - 2 trace(K W V') + trace(V W'K W V')
// is low.
func factorise(ctx context.Context, k *kernel, concepts int, random *rand.Rand) (w, v *mat.Dense, err error) {
	n := k.values.Rows
	w, v = positive(n, concepts, random), positive(n, concepts, random)
	kw := k.times(w)
	for range starting {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		scale(w, k.times(v), product(kw, product(v.T(), v)))
		kw = k.times(w)
		scale(v, kw, product(v, product(w.T(), kw)))
	}
	return w, v, nil
}

func positive(rows, columns int, random *rand.Rand) *mat.Dense {
	m := mat.NewDense(rows, columns, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = random.Float64()
	}
	return m
}

func product(a, b mat.Matrix) *mat.Dense {
	m := new(mat.Dense)
	m.Mul(a, b)
	return m
}

// scale multiplies m by the ratios of two matrices.
func scale(m, up, down *mat.Dense) {
	n, _ := m.Dims()
	for i := range n {
		row, a, b := m.RawRowView(i), up.RawRowView(i), down.RawRowView(i)
		for c := range row {
			row[c] *= a[c] / max(b[c], least)
		}
	}
}

// even gives the columns of v unit length, and those of others what they lose.
func even(v *mat.Dense, others ...*mat.Dense) {
	n, k := v.Dims()
	length := make([]float64, k)
	for c := range k {
		for i := range n {
			length[c] += v.At(i, c) * v.At(i, c)
		}
		length[c] = max(math.Sqrt(length[c]), 1e-15)
	}
	for i := range n {
		floats.Div(v.RawRowView(i), length)
		for _, w := range others {
			floats.Mul(w.RawRowView(i), length)
		}
	}
}

// descend minimises, and returns the common matrix of the best round and the objective after every
// round.
func descend(ctx context.Context, parts []*part, beta float64) (*mat.Dense, []float64, error) {
	share := 1 / float64(len(parts))
	common := mean(parts)
	best, lowest, calm := common, math.Inf(1), 0
	var objective []float64
	for range rounds {
		for _, p := range parts {
			if err := p.step(ctx, common, beta*share); err != nil {
				return nil, nil, err
			}
		}
		common = mean(parts)
		sum := 0.0
		for _, p := range parts {
			x, err := p.cost(ctx, common, beta*share)
			if err != nil {
				return nil, nil, err
			}
			sum += x
		}
		objective = append(objective, sum)
		if n := len(objective); n > 1 && math.Abs(sum-objective[n-2]) < still {
			calm++
		}
		if sum < lowest {
			best, lowest = common, sum
		}
		if calm == patience {
			break
		}
	}
	return best, objective, nil
}

// mean returns the mean of the last factors.
func mean(parts []*part) *mat.Dense {
	m := mat.DenseCopyOf(parts[0].v2)
	for _, p := range parts[1:] {
		m.Add(m, p.v2)
	}
	m.Scale(1/float64(len(parts)), m)
	return m
}

// step improves each factor in turn, and evens out the columns of both layers.
func (p *part) step(ctx context.Context, common *mat.Dense, pull float64) error {
	for _, improve := range []func(context.Context) error{p.improveW1, p.improveV1} {
		if err := improve(ctx); err != nil {
			return err
		}
	}
	even(p.v1, p.w1, p.kw1)
	if err := p.improveW2(ctx); err != nil {
		return err
	}
	if err := p.improveV2(ctx, common, pull); err != nil {
		return err
	}
	even(p.v2, p.w2)
	return nil
}

func (p *part) improveW1(ctx context.Context) error {
	cross := product(p.v1.T(), p.w2) // V_1' W_2
	inner := product(product(cross, product(p.v2.T(), p.v2)), cross.T())
	p.kv2 = p.kernel.times(p.v2) // until v2 changes, in improveV2
	scale(p.w1, product(p.kv2, cross.T()), product(p.kw1, inner))
	p.kw1 = p.kernel.times(p.w1)
	return ctx.Err()
}

func (p *part) improveV1(ctx context.Context) error {
	core := product(p.w1.T(), p.kw1)
	up := product(p.w2, product(p.v2.T(), p.kw1))
	down := product(p.w2, product(product(p.v2.T(), p.v2), product(product(p.w2.T(), p.v1), core)))
	if err := p.smooth(ctx, p.v1, up, down, alpha1); err != nil {
		return err
	}
	scale(p.v1, up, down)
	return nil
}

func (p *part) improveW2(ctx context.Context) error {
	core := product(p.w1.T(), p.kw1)
	up := product(p.v1, product(p.w1.T(), p.kv2))
	down := product(p.v1, product(product(core, product(p.v1.T(), p.w2)), product(p.v2.T(), p.v2)))
	scale(p.w2, up, down)
	return ctx.Err()
}

func (p *part) improveV2(ctx context.Context, common *mat.Dense, pull float64) error {
	cross := product(p.v1.T(), p.w2)
	up := product(p.kw1, cross)
	down := product(p.v2, product(cross.T(), product(product(p.w1.T(), p.kw1), cross)))
	if err := p.smooth(ctx, p.v2, up, down, alpha2); err != nil {
		return err
	}
	n, _ := up.Dims()
	for i := range n {
		floats.AddScaled(up.RawRowView(i), pull, common.RawRowView(i))
		floats.AddScaled(down.RawRowView(i), pull, p.v2.RawRowView(i))
	}
	scale(p.v2, up, down)
	return nil
}

// smooth adds the two parts of the gradient of alpha trace(v'L v).
func (p *part) smooth(ctx context.Context, v, up, down *mat.Dense, alpha float64) error {
	near := mat.DenseCopyOf(v)
	if err := p.links.Times(ctx, near, v, 0); err != nil {
		return err
	}
	for i, d := range p.degree {
		floats.AddScaled(up.RawRowView(i), alpha, near.RawRowView(i))
		floats.AddScaled(down.RawRowView(i), alpha*d, v.RawRowView(i))
	}
	return nil
}

// cost returns the part of the objective that is the view's.
func (p *part) cost(ctx context.Context, common *mat.Dense, pull float64) (float64, error) {
	cross := product(p.v1.T(), p.w2)
	image := product(p.kw1, cross)
	sum := float64(p.kernel.values.Rows) // the trace of the kernel
	sum -= 2 * system.Inner(p.v2, image)
	sum += system.Inner(product(p.v2.T(), p.v2), product(cross.T(), product(product(p.w1.T(), p.kw1), cross)))
	for _, layer := range []struct {
		v     *mat.Dense
		alpha float64
	}{{p.v1, alpha1}, {p.v2, alpha2}} {
		near := mat.DenseCopyOf(layer.v)
		if err := p.links.Times(ctx, near, layer.v, 0); err != nil {
			return 0, err
		}
		for i, d := range p.degree {
			row := layer.v.RawRowView(i)
			sum += layer.alpha * (d*floats.Dot(row, row) - floats.Dot(row, near.RawRowView(i)))
		}
	}
	var off mat.Dense
	off.Sub(p.v2, common)
	return sum + pull*system.Inner(&off, &off), nil
}
