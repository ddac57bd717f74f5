package sfmc

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
)

const (
	rounds = 50
	start  = 0.1 // of the weight of the parts
	ahead  = 10  // what the places of anchors are multiplied by in the first round
)

// parts looks for the graph P nearest to A that has so many parts.
type parts struct {
	like, likeColumns []system.Row // A, and its transpose
	graph             []system.Row // P
	anchors           int
	u, v              *mat.Dense // places of the samples and of the anchors
	lambda            float64
	random            *rand.Rand
}

func newParts(a []system.Row, in *system.Input) *parts {
	m := 0
	for _, r := range a {
		for _, j := range r.Index {
			m = max(m, int(j)+1)
		}
	}
	return &parts{like: a, likeColumns: transposed(a, m), graph: a, anchors: m, lambda: start, random: in.Random()}
}

// find returns the part of each sample in a graph of k parts, or near that number, by minimising
//
//	|S - A|^2 + |T - A|^2 + 2 l trace(F' L_P F)
//
// in turn, where S has rows and T columns on the simplex, P = (S + T) / 2, F = [U; V] has
// orthonormal columns, L_P is the normalised Laplacian of the graph, and l is doubled while it has
// too few parts and halved while it has too many.
func (p *parts) find(ctx context.Context, k int) ([]int, error) {
	labels, count := p.components()
	if count >= k {
		return labels, nil
	}
	rows, columns, err := p.embed(ctx, k)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i] = 1
	}
	for j := range columns {
		columns[j] = ahead
	}
	for range rounds {
		p.learn(rows, columns)
		if rows, columns, err = p.embed(ctx, k); err != nil {
			return nil, err
		}
		if labels, count = p.components(); count == k {
			break
		}
		if count < k {
			p.lambda *= 2
		} else {
			p.lambda /= 2
		}
	}
	return labels, nil
}

// components returns the part of each sample, numbered from 0, and the number of parts.
func (p *parts) components() ([]int, int) {
	n := len(p.graph)
	all := make([]system.Row, n)
	for i, r := range p.graph {
		all[i].Value = r.Value
		for _, j := range r.Index {
			all[i].Index = append(all[i].Index, int32(n)+j)
		}
	}
	labels, count := system.Components(n+p.anchors, all)
	return labels[:n], count
}

// learn sets P from A and the places of samples and anchors, times the factors.
func (p *parts) learn(rows, columns []float64) {
	pull := func(i, j int) float64 {
		sum := 0.0
		v := p.v.RawRowView(j)
		for c, x := range p.u.RawRowView(i) {
			d := rows[i]*x - columns[j]*v[c]
			sum += d * d
		}
		return p.lambda / 2 * sum
	}
	s := project(p.like, pull)
	t := transposed(project(p.likeColumns, func(j, i int) float64 { return pull(i, j) }), len(p.graph))
	p.graph = fuse([][]system.Row{s, t}, []float64{0.5, 0.5})
}

// project moves the rows of a, less the pull, to the simplex.
func project(a []system.Row, pull func(i, j int) float64) []system.Row {
	out := make([]system.Row, len(a))
	for i, r := range a {
		value := make([]float64, len(r.Value))
		for at, j := range r.Index {
			value[at] = r.Value[at] - pull(i, int(j))
		}
		system.Simplex(value)
		out[i] = system.Row{Index: r.Index, Value: value}
	}
	return out
}

// embed sets U and V to the k leading singular vectors of D_r^-1/2 P D_c^-1/2, over the root of 2,
// and returns the diagonals of D_r^-1/2 and D_c^-1/2.
func (p *parts) embed(ctx context.Context, k int) (rows, columns []float64, err error) {
	rows, columns = make([]float64, len(p.graph)), make([]float64, p.anchors)
	for i, r := range p.graph {
		for at, j := range r.Index {
			rows[i] += r.Value[at]
			columns[j] += r.Value[at]
		}
	}
	for _, list := range [][]float64{rows, columns} {
		for i, x := range list {
			list[i] = 0
			if x > 0 {
				list[i] = 1 / math.Sqrt(x)
			}
		}
	}
	scaled := make([]system.Row, len(p.graph))
	for i, r := range p.graph {
		scaled[i] = system.Row{Index: r.Index, Value: make([]float64, len(r.Value))}
		for at, j := range r.Index {
			scaled[i].Value[at] = rows[i] * r.Value[at] * columns[j]
		}
	}
	square := &square{rows: scaled, columns: transposed(scaled, p.anchors)}
	values, v, err := opponent.Leading(ctx, square, min(k, p.anchors), 0, p.random)
	if err != nil {
		return nil, nil, err
	}
	_, width := v.Dims()
	u := mat.NewDense(len(p.graph), width, nil)
	times(u, scaled, v)
	for c, x := range values {
		for i := range len(scaled) {
			u.Set(i, c, u.At(i, c)/math.Sqrt(max(x, 1e-12)))
		}
	}
	u.Scale(math.Sqrt2/2, u)
	v.Scale(math.Sqrt2/2, v)
	p.u, p.v = u, v
	return rows, columns, nil
}

// transposed returns the columns of a graph as rows.
func transposed(a []system.Row, columns int) []system.Row {
	out := make([]system.Row, columns)
	for i, r := range a {
		for at, j := range r.Index {
			out[j].Index, out[j].Value = append(out[j].Index, int32(i)), append(out[j].Value, r.Value[at])
		}
	}
	return out
}

// square is B'B of a matrix.
type square struct{ rows, columns []system.Row }

// Size is the number of rows of B'B.
func (s *square) Size() int { return len(s.columns) }

// Times sets y to B'B x.
func (s *square) Times(ctx context.Context, y, x *mat.Dense, _ int) error {
	_, k := x.Dims()
	t := mat.NewDense(len(s.rows), k, nil)
	times(t, s.rows, x)
	times(y, s.columns, t)
	return ctx.Err()
}

// times sets y to a x.
func times(y *mat.Dense, a []system.Row, x *mat.Dense) {
	for i, r := range a {
		sum := y.RawRowView(i)
		clear(sum)
		for at, j := range r.Index {
			floats.AddScaled(sum, r.Value[at], x.RawRowView(int(j)))
		}
	}
}
