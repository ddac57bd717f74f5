package words

import "strings"

// DidYouMean returns " (did you mean ...?)" with the choice nearest to word, or nothing
// where none is near. Capitals count as small letters.
func DidYouMean(word string, choices []string) string {
	word = strings.ToLower(word)
	best, least := "", 3
	for _, choice := range choices {
		c := strings.ToLower(choice)
		d := max(len(word)-len(c), len(c)-len(word)) // the distance is at least this
		if d < least {
			d = distance(word, c)
		}
		if len(word) > 1 && strings.HasPrefix(c, word) {
			d = min(d, 1)
		}
		if d < least {
			best, least = choice, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is the least number of letters to insert, delete or replace that
// makes b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
