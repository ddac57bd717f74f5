package predict_test

import (
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/synth"
)

// BenchmarkPredict has 10,000 new samples of 2 views of 128 dimensions for a model of
// 20,000, or with -timeout 20m and more patience of 100,000.
func BenchmarkPredict(b *testing.B) {
	for name, known := range map[string]int{"20k": 20_000, "100k": 100_000} {
		b.Run(name, func(b *testing.B) {
			set := made(b, synth.Config{Samples: known + 10_000, Classes: 100, Dims: []int{128}})
			m := fitted(b, take(set.Views, span(0, known)), mvclust.Options{})
			p, err := predict.New(b.Context(), m, 0)
			if err != nil {
				b.Fatal(err)
			}
			fresh := take(set.Views, span(known, known+10_000))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Predict(b.Context(), fresh, nil, 0, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
			b.Logf("%+v", p.Search())
		})
	}
}
