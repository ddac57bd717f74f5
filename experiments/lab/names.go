package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/internal/words"
)

// Named returns those of all whose name is among the wanted, or all where none is.
func Named[T any](all []T, name func(T) string, wanted []string) ([]T, error) {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, fmt.Errorf("there is no set %q%s; choose among %s", w, words.DidYouMean(w, names), strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
		}
	}
	return slices.DeleteFunc(all, func(x T) bool { return len(wanted) > 0 && !slices.Contains(wanted, name(x)) }), nil
}

// Ten lists the sets of the first collection that aims are about.
func Ten() []string {
	return []string{
		"Handwritten", "100Leaves", "100Leaves_aligned", "BBCSport_tfidf", "BUAA",
		"MSRC", "ORL", "CUB", "LandUse-21", "WebKB-course",
	}
}
