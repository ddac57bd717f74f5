package predict_test

import (
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/synth"
)

// BenchmarkPredict has 10,000 new samples in 2 views of 128 dimensions for a model of
// 100,000, whose granularity is given so that it is found in less time.
func BenchmarkPredict(b *testing.B) {
	const known, fresh = 100_000, 10_000
	set := made(b, synth.Config{Samples: known + fresh, Classes: 100, Dims: []int{128}})
	m := fitted(b, take(set.Views, span(0, known)), mvclust.Options{Neighbours: 80, Resolution: 1})
	p, err := predict.New(b.Context(), m, 0)
	if err != nil {
		b.Fatal(err)
	}
	views := take(set.Views, span(known, known+fresh))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Predict(b.Context(), views, nil, 0, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(fresh*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}
