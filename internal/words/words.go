// Package words writes numbers of things, names and lists of names as a sentence has them,
// and finds the word that was meant.
package words

import (
	"fmt"
	"strings"
)

// Count returns "1 noun" or "2 nouns".
func Count[T int | int64 | uint64](n T, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, noun))
}

// Plural returns noun as it stands behind the number n: "class" behind 1, else
// "classes".
func Plural[T int | int64 | uint64](n T, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "s"):
		return noun + "es"
	}
	return noun + "s"
}

// List returns "a", "a and b" or "a, b and c", and "nothing" for no names. Of more than
// twelve it returns the first twelve and how many more there are. Each is written as by Name.
func List(names []string) string {
	const limit = 12
	n := len(names)
	names = Names(names[:min(n, limit)])
	switch {
	case n == 0:
		return "nothing"
	case n == 1:
		return names[0]
	case n > limit:
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), n-limit)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
