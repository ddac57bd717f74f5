package cli

import (
	"fmt"
	"strings"

	"github.com/mvclust/mvclust"
)

// levelsLine says in the summary of a fit what other granularities there are.
func levelsLine(levels []mvclust.Level) string {
	if len(levels) < 2 {
		return ""
	}
	var counts []string
	for _, l := range levels {
		counts = append(counts, fmt.Sprint(l.Clusters))
	}
	return fmt.Sprintf("levels of %s clusters, coarse to fine, are supported\n", strings.Join(counts, ", "))
}
