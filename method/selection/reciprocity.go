package selection

import (
	"slices"

	"github.com/mvclust/mvclust/method/refine"
)

const (
	// walked is the number of neighbours of a sample that the random walk may go to, unless
	// classes are smaller than that.
	walked = 10
	// tiny is the number of classmates up to which classes are tiny.
	tiny = 4
	// fall is by how much reciprocity must fall beyond the size of classes. Without classes of
	// one size it rises steadily, up to noise.
	fall = 0.02
)

// classmates returns how many classmates a sample has where classes are tiny and nearly of one
// size, and walked elsewhere. With R(k) the share of the pairs of i and one of its k nearest
// neighbours j in which i is among the k nearest of j, it is the first k at which R peaks. In
// tight classes of s samples that is s - 1: up to there neighbours are classmates and
// choose each other, and from there on they are chance.
func classmates(near *refine.Neighbourhoods) int {
	r := reciprocity(near, walked+2)
	for k := 1; k <= walked; k++ {
		if r[k] > r[k-1] && r[k] > r[k+1] && r[k]-min(r[k+1], r[k+2]) > fall {
			return k
		}
	}
	return walked
}

// reciprocity returns R(k) for k from 0 to most. R(0) is 0.
func reciprocity(near *refine.Neighbourhoods, most int) []float64 {
	both, all := make([]int, most+1), make([]int, most+1)
	for i := range near.Samples() {
		of, _ := near.Of(i)
		for rank, j := range of[:min(most, len(of))] {
			back, _ := near.Of(int(j))
			all[rank+1]++
			if at := slices.Index(back[:min(most, len(back))], int32(i)); at >= 0 {
				both[max(rank, at)+1]++
			}
		}
	}
	r := make([]float64, most+1)
	for k := 1; k <= most; k++ {
		both[k] += both[k-1]
		all[k] += all[k-1]
		if all[k] > 0 {
			r[k] = float64(both[k]) / float64(all[k])
		}
	}
	return r
}
