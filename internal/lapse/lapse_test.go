package lapse_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
)

func TestAfter(t *testing.T) {
	for _, questions := range []int{0, 1, 5} {
		ctx := lapse.After(t.Context(), questions)
		for asked := range questions {
			if err := ctx.Err(); err != nil {
				t.Errorf("question %d of %d: %v", asked, questions, err)
			}
		}
		for range 3 {
			if err := ctx.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("after %d questions: %v", questions, err)
			}
		}
	}
}
