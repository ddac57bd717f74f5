// Package markdown writes tables and quoted text in Markdown.
package markdown

import (
	"strings"
	"unicode"
)

// Table writes rows of equally many cells, of which the first row is the head and the
// first text columns are aligned left, the others right.
func Table(rows [][]string, text int) string {
	var b strings.Builder
	for i, cells := range rows {
		for _, s := range cells {
			b.WriteString("| " + strings.ReplaceAll(s, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", text) + strings.Repeat("|---:", len(cells)-text) + "|\n")
		}
	}
	return b.String()
}

// Text makes a quoted text harmless, in a table or outside: one line without marks.
func Text(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer("<", `\<`, "`", "\\`", "*", `\*`, "_", `\_`).Replace(s)
}
