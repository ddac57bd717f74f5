package imccp

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
	"github.com/mvclust/mvclust/method/view"
)

// small are settings for few samples.
func small() system.System {
	s := System()
	s.Default = system.Settings{"width": 16, "code": 8, "epochs": 150, "rate": 3e-3}
	return s
}

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.2} {
		in, truth := systemtest.Input(t, small(), 60, 3, 2, 0.2, missing)
		systemtest.Finds(t, small(), in, truth, 0.5)
	}
	in, _ := systemtest.Input(t, small(), 60, 3, 3, 0.2, 0)
	if _, err := Cluster(t.Context(), in); err == nil {
		t.Error("three views are taken")
	}
}

// layers does in double precision, and in the plainest way, what forward does in training.
func layers(net *network, x [][]float64) [][]float64 {
	for _, b := range net.blocks {
		y := make([][]float64, len(x))
		for i, row := range x {
			y[i] = make([]float64, b.out)
			for c := range y[i] {
				for d, v := range row {
					y[i][c] += v * float64(b.weight.value[d*b.out+c])
				}
				if b.bias != nil {
					y[i][c] = math.Exp(y[i][c] + float64(b.bias.value[c]))
				}
			}
			if b.bias != nil {
				floats.Scale(1/floats.Sum(y[i]), y[i])
			}
		}
		for c := 0; b.bias == nil && c < b.out; c++ {
			mean, variance := 0.0, 0.0
			for _, row := range y {
				mean += row[c] / float64(len(y))
			}
			for _, row := range y {
				variance += (row[c] - mean) * (row[c] - mean) / float64(len(y))
			}
			for _, row := range y {
				row[c] = max(0, (row[c]-mean)/math.Sqrt(variance+epsilon)*float64(b.gain.value[c])+float64(b.shift.value[c]))
			}
		}
		x = y
	}
	return x
}

// objective is what learn lowers, in double precision.
func objective(m *model, samples []int) float64 {
	var x, z [2][][]float64
	n, k := float64(len(samples)), 0
	sum := 0.0
	meanSquare := func(a, b [][]float64) float64 {
		s := 0.0
		for i := range a {
			s += math.Pow(floats.Distance(a[i], b[i], 2), 2)
		}
		return s / n / float64(len(a[0]))
	}
	for v := range x {
		for _, i := range samples {
			var row []float64
			for _, value := range m.rows[v].Row(i) {
				row = append(row, float64(value))
			}
			x[v] = append(x[v], row)
		}
		z[v] = layers(m.encode[v], x[v])
		sum += lambda * meanSquare(layers(m.decode[v], z[v]), x[v])
		k = len(z[v][0])
	}
	for v := range x {
		sum += lambda * meanSquare(layers(m.guess[v], z[v]), z[1-v])
	}
	joint, share := make([]float64, k*k), make([]float64, k)
	for i := range k {
		for j := range k {
			for s := range samples {
				joint[i*k+j] += (z[0][s][i]*z[1][s][j] + z[0][s][j]*z[1][s][i]) / (2 * n)
			}
			share[i] += joint[i*k+j]
		}
	}
	for i := range k {
		for j := range k {
			p := joint[i*k+j]
			sum += p * ((entropy+1)*(math.Log(share[i])+math.Log(share[j])) - math.Log(p))
		}
	}
	return sum
}

// The gradients are those that small moves of the parameters show in double precision.
func TestGradient(t *testing.T) {
	s := small()
	s.Default = system.Settings{"width": 6, "code": 4}
	in, _ := systemtest.Input(t, s, 12, 3, 2, 1, 0)
	m := newModel(in)
	samples := []int{0, 1, 2, 3, 5, 7, 8, 11}
	m.learn(samples, true)
	if got, want := m.contrast+m.back+m.across, objective(m, samples); math.Abs(got-want) > 1e-4*math.Abs(want) {
		t.Fatalf("the objective is %v, want %v", got, want)
	}
	off, count := 0, 0
	for _, net := range []*network{m.encode[0], m.encode[1], m.decode[0], m.decode[1], m.guess[0], m.guess[1]} {
		for _, b := range net.blocks {
			for _, p := range b.parameters() {
				for i := 0; i < len(p.value); i += 3 {
					was := p.value[i]
					p.value[i] = was + 2e-5
					above, up := p.value[i], objective(m, samples)
					p.value[i] = was - 2e-5
					want := (up - objective(m, samples)) / (float64(above) - float64(p.value[i]))
					p.value[i] = was
					if math.Abs(float64(p.slope[i])-want) > 1e-4+1e-2*math.Abs(want) {
						off++
					}
					count++
				}
			}
		}
	}
	if off > count/50 { // some units are at the bend of their activation
		t.Errorf("%d of %d gradients are wrong", off, count)
	}
}

// Training lowers the objective, and codes are on the simplex.
func TestTrain(t *testing.T) {
	in, _ := systemtest.Input(t, small(), 60, 3, 2, 0.5, 0)
	m := newModel(in)
	both := make([]int, 60)
	for i := range both {
		both[i] = i
	}
	objective, err := m.train(t.Context(), both, in)
	if err != nil {
		t.Fatal(err)
	}
	if first, last := floats.Sum(objective[:10]), floats.Sum(objective[140:]); !(last < first) {
		t.Errorf("the objective goes from %v to %v", first, last)
	}
	codes := m.codes(in.Views)
	for i := range 60 {
		systemtest.OnSimplex(t, codes.RawRowView(i)[:8])
		systemtest.OnSimplex(t, codes.RawRowView(i)[8:])
	}
}

func BenchmarkLearn(b *testing.B) {
	s := System()
	in := &system.Input{Settings: maps.Clone(s.Default), Clusters: 10}
	random := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{240, 76} {
		data := make([]float32, batch*dims)
		for i := range data {
			data[i] = random.Float32()
		}
		v, err := view.New("v", batch, dims, data)
		if err != nil {
			b.Fatal(err)
		}
		in.Views = append(in.Views, v)
	}
	for _, width := range []float64{256, 512, 1024} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			in.Settings["width"] = width
			in.Settings["epochs"] = patience + 1
			m := newModel(in)
			samples := make([]int, batch)
			for i := range samples {
				samples[i] = i
			}
			b.ReportAllocs()
			for b.Loop() {
				m.learn(samples, true)
				for v := range m.rows {
					m.encode[v].adam(1e-4)
					m.decode[v].adam(1e-4)
					m.guess[v].adam(1e-4)
				}
			}
		})
	}
}
