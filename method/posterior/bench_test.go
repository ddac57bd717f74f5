package posterior

import (
	"fmt"
	"testing"
)

func BenchmarkPairs(b *testing.B) {
	for _, views := range []int{2, 4} {
		for _, completion := range []bool{false, true} {
			b.Run(fmt.Sprintf("100k pairs, %d views, completion %t", views, completion), func(b *testing.B) {
				model, w := sample(b, 100_000, views)
				e := estimator(b, model, Settings{Completion: completion})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := e.Pairs(b.Context(), w, 0, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
