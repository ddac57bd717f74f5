package imccp

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/experiments/compare/single"
)

// tensor is a list of parameters, with the gradient and the moments of it that Adam keeps.
type tensor struct{ value, slope, first, second []float32 }

func newTensor(n int) *tensor {
	return &tensor{make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)}
}

// block is a layer of a network. It ends either with a batch normalisation and max(0, x), or with
// a bias and a softmax: a bias before a normalisation would change nothing.
type block struct {
	in, out     int
	weight      *tensor
	gain, shift *tensor // of the normalisation
	bias        *tensor // where there is none

	mean, variance []float32 // running ones, for what is not training

	// What the last batch left for its gradient; scale is 1 over the deviations, and back the
	// gradient by the input.
	x, hat, y, back *single.Matrix
	scale           []float32
	work            *single.Multiplier
}

const (
	momentum = 0.1
	epsilon  = 1e-5
)

func newBlock(in, out int, soft bool, work *single.Multiplier, random *rand.Rand) *block {
	b := &block{in: in, out: out, weight: newTensor(in * out), work: work}
	first := func(t *tensor) {
		for i := range t.value {
			t.value[i] = float32((2*random.Float64() - 1) / math.Sqrt(float64(in)))
		}
	}
	first(b.weight)
	if soft {
		b.bias = newTensor(out)
		first(b.bias)
		return b
	}
	b.gain, b.shift = newTensor(out), newTensor(out)
	b.mean, b.variance = make([]float32, out), make([]float32, out)
	for c := range out {
		b.gain.value[c], b.variance[c] = 1, 1
	}
	return b
}

func (b *block) parameters() []*tensor {
	if b.bias != nil {
		return []*tensor{b.weight, b.bias}
	}
	return []*tensor{b.weight, b.gain, b.shift}
}

// weights are the block's, a row for every input.
func (b *block) weights() *single.Matrix {
	return &single.Matrix{Rows: b.in, Columns: b.out, Data: b.weight.value}
}

// forward returns what the block makes of the rows of x. It holds until the next call.
func (b *block) forward(x *single.Matrix, training bool) *single.Matrix {
	y := b.work.Multiply(b.y, single.Rows(x), single.Columns(b.weights()))
	b.x, b.y = x, y
	if b.bias != nil {
		for i := range y.Rows {
			b.soften(y.Row(i))
		}
		return y
	}
	mean, variance := b.mean, b.variance
	if training {
		mean, variance = b.moments(y)
	}
	b.scale = make([]float32, b.out)
	for c, v := range variance {
		b.scale[c] = float32(1 / math.Sqrt(float64(v)+epsilon))
	}
	b.hat = b.hat.Sized(y.Rows, y.Columns)
	single.Spread(y.Rows, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row, hat := y.Row(i), b.hat.Row(i)
			scale, gain, shift := b.scale[:len(row)], b.gain.value[:len(row)], b.shift.value[:len(row)]
			for c, v := range row {
				h := (v - mean[c]) * scale[c]
				hat[c] = h
				row[c] = max(0, h*gain[c]+shift[c])
			}
		}
	})
	return y
}

// soften adds the bias, and makes the row positive with the sum 1, as the exponentials are.
func (b *block) soften(row []float32) {
	most := float32(math.Inf(-1))
	for c := range row {
		row[c] += b.bias.value[c]
		most = max(most, row[c])
	}
	sum := 0.0
	for c, v := range row {
		e := math.Exp(float64(v - most))
		row[c] = float32(e)
		sum += e
	}
	for c := range row {
		row[c] /= float32(sum)
	}
}

// moments returns the means and the variances of the columns, and moves the running ones.
func (b *block) moments(y *single.Matrix) (mean, variance []float32) {
	mean, variance = make([]float32, b.out), make([]float32, b.out)
	n := float32(y.Rows)
	single.Spread(b.out, 256, func(_, lo, hi int) {
		mean, variance := mean[lo:hi], variance[lo:hi]
		for i := range y.Rows {
			for c, v := range y.Row(i)[lo:hi] {
				mean[c] += v
			}
		}
		for c := range mean {
			mean[c] /= n
		}
		for i := range y.Rows {
			for c, v := range y.Row(i)[lo:hi] {
				variance[c] += (v - mean[c]) * (v - mean[c])
			}
		}
		for c, v := range variance {
			variance[c] = v / n
			b.mean[lo+c] += momentum * (mean[c] - b.mean[lo+c])
			b.variance[lo+c] += momentum * (v/max(1, n-1) - b.variance[lo+c])
		}
	})
	return mean, variance
}

// backward takes the gradient d by the output of the last training batch, which it overwrites, sets
// those by the parameters, and returns that by the input, which holds until the next call.
func (b *block) backward(d *single.Matrix) *single.Matrix {
	if b.bias != nil {
		b.unsoften(d)
	} else {
		b.unnormalise(d)
	}
	b.work.Multiply(&single.Matrix{Rows: b.in, Columns: b.out, Data: b.weight.slope}, single.Columns(b.x), single.Columns(d))
	b.back = b.work.Multiply(b.back, single.Rows(d), single.Rows(b.weights()))
	return b.back
}

func (b *block) unsoften(d *single.Matrix) {
	clear(b.bias.slope)
	for i := range d.Rows {
		row, out := d.Row(i), b.y.Row(i)
		along := float32(0)
		for c, v := range row {
			along += v * out[c]
		}
		for c := range row {
			row[c] = (row[c] - along) * out[c]
			b.bias.slope[c] += row[c]
		}
	}
}

// unnormalise turns the gradient by the output into that by what the normalisation got.
func (b *block) unnormalise(d *single.Matrix) {
	clear(b.shift.slope)
	clear(b.gain.slope)
	n := float32(d.Rows)
	single.Spread(b.out, 256, func(_, lo, hi int) {
		sum, along := b.shift.slope[lo:hi], b.gain.slope[lo:hi]
		for i := range d.Rows {
			row, out, hat := d.Row(i)[lo:hi], b.y.Row(i)[lo:hi], b.hat.Row(i)[lo:hi]
			for c, v := range row {
				if out[c] <= 0 {
					v, row[c] = 0, 0
				}
				sum[c] += v
				along[c] += v * hat[c]
			}
		}
		gain, scale := b.gain.value[lo:hi], b.scale[lo:hi]
		for i := range d.Rows {
			row, hat := d.Row(i)[lo:hi], b.hat.Row(i)[lo:hi]
			for c, v := range row {
				row[c] = gain[c] * scale[c] * (v - (sum[c]+hat[c]*along[c])/n)
			}
		}
	})
}

// network is blocks one after the other, and the number of times that it has learned.
type network struct {
	blocks []*block
	steps  int
}

// newNetwork has blocks between layers of the given sizes. All are normalised, but where soft is
// true for the last one, which ends with a softmax.
func newNetwork(sizes []int, soft bool, work *single.Multiplier, random *rand.Rand) *network {
	net := new(network)
	for i := range len(sizes) - 1 {
		net.blocks = append(net.blocks, newBlock(sizes[i], sizes[i+1], soft && i == len(sizes)-2, work, random))
	}
	return net
}

func (net *network) forward(x *single.Matrix, training bool) *single.Matrix {
	for _, b := range net.blocks {
		x = b.forward(x, training)
	}
	return x
}

func (net *network) backward(d *single.Matrix) *single.Matrix {
	for _, b := range slices.Backward(net.blocks) {
		d = b.backward(d)
	}
	return d
}

// The constants of Adam.
const (
	decay1  = 0.9
	decay2  = 0.999
	tiniest = 1e-8
)

// adam moves the parameters against their gradients, at a rate.
func (net *network) adam(rate float64) {
	net.steps++
	bias1, bias2 := 1-math.Pow(decay1, float64(net.steps)), 1-math.Pow(decay2, float64(net.steps))
	length, least := float32(rate/bias1*math.Sqrt(bias2)), float32(tiniest*math.Sqrt(bias2))
	for _, b := range net.blocks {
		for _, p := range b.parameters() {
			single.Spread(len(p.value), 1<<16, func(_, lo, hi int) {
				value, first, second := p.value[lo:hi], p.first[lo:hi], p.second[lo:hi]
				for i, g := range p.slope[lo:hi] {
					f := first[i] + (1-decay1)*(g-first[i])
					s := second[i] + (1-decay2)*(g*g-second[i])
					first[i], second[i] = f, s
					value[i] -= length * f / (float32(math.Sqrt(float64(s))) + least)
				}
			})
		}
	}
}
