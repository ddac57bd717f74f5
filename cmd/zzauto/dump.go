package main

import (
	"fmt"
	"os"
	"sort"

	"github.com/mvclust/mvclust"
)

func dump(r *mvclust.Result) {
	if os.Getenv("DUMP") == "" {
		return
	}
	t := r.Trace.Tried
	sort.Slice(t, func(a, b int) bool { return t[a].Score > t[b].Score })
	for _, c := range t[:12] {
		fmt.Printf("   K%d g%.3f k%d P %.2f A %.2f C %.3f score %.4f\n", c.Neighbours, c.Resolution, c.Clusters, c.Plateau, c.Agreement, c.Compression, c.Score)
	}
	for _, c := range t {
		if c.Clusters > 1 && c.Clusters < 5 && c.Neighbours > 20 {
			fmt.Printf("   K%d g%.3f k%d P %.2f A %.2f C %.3f score %.4f\n", c.Neighbours, c.Resolution, c.Clusters, c.Plateau, c.Agreement, c.Compression, c.Score)
		}
	}
}
