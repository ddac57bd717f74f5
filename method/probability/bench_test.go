package probability

import (
	"fmt"
	"testing"
)

func BenchmarkLearn(b *testing.B) {
	for _, views := range []int{2, 4} {
		b.Run(fmt.Sprintf("100k pairs, %d views", views), func(b *testing.B) {
			w := gaussian(100_000, views, 0.1, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Learn(b.Context(), w, Settings{}, 0, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
