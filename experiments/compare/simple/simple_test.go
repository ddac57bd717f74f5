package simple

import (
	"testing"

	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestSystems(t *testing.T) {
	for _, s := range Systems() {
		in, truth := systemtest.Input(t, s, 120, 4, 2, 0.3, 0.2)
		systemtest.Finds(t, s, in, truth, 0.85)
	}
}
