package imccp

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// tensor is a list of parameters, with the gradient and the moments of it that Adam keeps.
type tensor struct{ value, slope, first, second []float64 }

func newTensor(n int) *tensor {
	return &tensor{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// The activations at the end of a block.
type activation int

const (
	rectify activation = iota // max(0, x)
	softmax
)

// block is a layer of a network: a linear map, a batch normalisation, where there is one, and an
// activation.
type block struct {
	in, out                   int
	weight, bias, gain, shift *tensor // the last two nil without normalisation
	end                       activation
	mean, variance            []float64 // running ones, for what is not training

	// What the last training batch left for its gradient.
	x, hat, y *mat.Dense
	deviation []float64
}

const (
	momentum = 0.1
	epsilon  = 1e-5
)

func newBlock(in, out int, normal bool, end activation, random *rand.Rand) *block {
	b := &block{in: in, out: out, end: end, weight: newTensor(in * out), bias: newTensor(out)}
	for _, t := range []*tensor{b.weight, b.bias} {
		for i := range t.value {
			t.value[i] = (2*random.Float64() - 1) / math.Sqrt(float64(in))
		}
	}
	if normal {
		b.gain, b.shift = newTensor(out), newTensor(out)
		b.mean, b.variance = make([]float64, out), make([]float64, out)
		for c := range out {
			b.gain.value[c], b.variance[c] = 1, 1
		}
	}
	return b
}

func (b *block) parameters() []*tensor {
	if b.gain == nil {
		return []*tensor{b.weight, b.bias}
	}
	return []*tensor{b.weight, b.bias, b.gain, b.shift}
}

// forward returns what the block makes of the rows of x.
func (b *block) forward(x *mat.Dense, training bool) *mat.Dense {
	n, _ := x.Dims()
	y := new(mat.Dense)
	y.Mul(x, mat.NewDense(b.in, b.out, b.weight.value))
	for i := range n {
		floats.Add(y.RawRowView(i), b.bias.value)
	}
	if b.gain != nil {
		b.normalise(y, training)
	}
	for i := range n {
		row := y.RawRowView(i)
		if b.end == softmax {
			floats.AddConst(-floats.LogSumExp(row), row)
			for c, v := range row {
				row[c] = math.Exp(v)
			}
			continue
		}
		for c, v := range row {
			row[c] = max(0, v)
		}
	}
	if training {
		b.x, b.y = x, y
	}
	return y
}

// normalise gives every column the mean and the deviation that the block has learned.
func (b *block) normalise(y *mat.Dense, training bool) {
	n, _ := y.Dims()
	mean, variance := b.mean, b.variance
	if training {
		mean, variance = make([]float64, b.out), make([]float64, b.out)
		for i := range n {
			floats.AddScaled(mean, 1/float64(n), y.RawRowView(i))
		}
		for i := range n {
			for c, v := range y.RawRowView(i) {
				variance[c] += (v - mean[c]) * (v - mean[c]) / float64(n)
			}
		}
		for c := range mean {
			b.mean[c] += momentum * (mean[c] - b.mean[c])
			b.variance[c] += momentum * (variance[c]*float64(n)/float64(max(1, n-1)) - b.variance[c])
		}
	}
	deviation := make([]float64, b.out)
	for c, v := range variance {
		deviation[c] = math.Sqrt(v + epsilon)
	}
	for i := range n {
		row := y.RawRowView(i)
		floats.Sub(row, mean)
		floats.Div(row, deviation)
	}
	if training {
		b.hat, b.deviation = mat.DenseCopyOf(y), deviation
	}
	for i := range n {
		row := y.RawRowView(i)
		floats.Mul(row, b.gain.value)
		floats.Add(row, b.shift.value)
	}
}

// backward takes the gradient by the output of the last training batch, adds those by the
// parameters, and returns that by the input.
func (b *block) backward(dy *mat.Dense) *mat.Dense {
	n, _ := dy.Dims()
	d := mat.DenseCopyOf(dy)
	for i := range n {
		row, out := d.RawRowView(i), b.y.RawRowView(i)
		if b.end == softmax {
			floats.AddConst(-floats.Dot(row, out), row)
			floats.Mul(row, out)
			continue
		}
		for c := range row {
			if out[c] <= 0 {
				row[c] = 0
			}
		}
	}
	if b.gain != nil {
		b.unnormalise(d)
	}
	for i := range n {
		floats.Add(b.bias.slope, d.RawRowView(i))
	}
	var dw, dx mat.Dense
	dw.Mul(b.x.T(), d)
	floats.Add(b.weight.slope, dw.RawMatrix().Data)
	dx.Mul(d, mat.NewDense(b.in, b.out, b.weight.value).T())
	return &dx
}

// unnormalise turns the gradient by the result of normalise into that by its input.
func (b *block) unnormalise(d *mat.Dense) {
	n, _ := d.Dims()
	sum, along := make([]float64, b.out), make([]float64, b.out)
	for i := range n {
		row, hat := d.RawRowView(i), b.hat.RawRowView(i)
		for c, v := range row {
			sum[c] += v
			along[c] += v * hat[c]
		}
	}
	floats.Add(b.shift.slope, sum)
	floats.Add(b.gain.slope, along)
	for i := range n {
		row, hat := d.RawRowView(i), b.hat.RawRowView(i)
		for c := range row {
			row[c] = b.gain.value[c] / b.deviation[c] * (row[c] - sum[c]/float64(n) - hat[c]*along[c]/float64(n))
		}
	}
}

// network is blocks one after the other.
type network []*block

// newNetwork has blocks between layers of the given sizes. All are normalised and rectified; where
// soft is true, the last one is a softmax without normalisation instead.
func newNetwork(sizes []int, soft bool, random *rand.Rand) network {
	var net network
	for i := range len(sizes) - 1 {
		last := soft && i == len(sizes)-2
		end := rectify
		if last {
			end = softmax
		}
		net = append(net, newBlock(sizes[i], sizes[i+1], !last, end, random))
	}
	return net
}

func (net network) forward(x *mat.Dense, training bool) *mat.Dense {
	for _, b := range net {
		x = b.forward(x, training)
	}
	return x
}

func (net network) backward(d *mat.Dense) *mat.Dense {
	for _, b := range slices.Backward(net) {
		d = b.backward(d)
	}
	return d
}

func (net network) parameters() []*tensor {
	var all []*tensor
	for _, b := range net {
		all = append(all, b.parameters()...)
	}
	return all
}

// The constants of Adam.
const (
	decay1  = 0.9
	decay2  = 0.999
	tiniest = 1e-8
)

// adam moves the parameters by their gradients, in step number t from 1 on, at a rate, and clears
// these.
func adam(all []*tensor, t int, rate float64) {
	bias1, bias2 := 1-math.Pow(decay1, float64(t)), 1-math.Pow(decay2, float64(t))
	for _, p := range all {
		for i, g := range p.slope {
			p.first[i] += (1 - decay1) * (g - p.first[i])
			p.second[i] += (1 - decay2) * (g*g - p.second[i])
			p.value[i] -= rate * p.first[i] / bias1 / (math.Sqrt(p.second[i]/bias2) + tiniest)
			p.slope[i] = 0
		}
	}
}
