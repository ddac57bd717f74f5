package words_test

import (
	"fmt"
	"testing"

	"github.com/mvclust/mvclust/internal/words"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 samples": words.Count(0, "sample"),
		"1 sample":  words.Count(1, "sample"),
		"2 samples": words.Count(int64(2), "sample"),
		"1 class":   words.Count(1, "class"),
		"3 classes": words.Count(uint64(3), "class"),
		"pairs":     words.Plural(2, "pair"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestList(t *testing.T) {
	var names []string
	for n, want := range []string{"nothing", "0", "0 and 1", "0, 1 and 2"} {
		if got := words.List(names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		names = append(names, fmt.Sprint(n))
	}
	for n := len(names); n < 15; n++ {
		names = append(names, fmt.Sprint(n))
	}
	for n, want := range map[int]string{12: "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11", 15: "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more"} {
		if got := words.List(names[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
