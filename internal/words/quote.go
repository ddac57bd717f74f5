package words

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How many characters of a text a sentence shows at most, and how many of them at its end.
const (
	shown = 80
	tail  = 16
)

// Quote returns s in double quotes, as a sentence has it: control characters and bytes that
// are not UTF-8 are escaped as in Go, and of a long text the middle is left out.
func Quote(s string) string {
	head, end, cut := shorten(s)
	if !cut {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q...%q (%d bytes)", head, end, len(s))
}

// Name is Quote without the quotes, and without escapes for the quotes and backslashes in s:
// for names of files, views and samples in running text.
func Name(s string) string {
	head, end, cut := shorten(s)
	if !cut {
		return Printable(s)
	}
	return fmt.Sprintf("%s...%s (%d bytes)", Printable(head), Printable(end), len(s))
}

// Names is Name of each.
func Names(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = Name(s)
	}
	return out
}

// Printable returns s with every character escaped, as Go does it, that a terminal could
// take for a command or not show: control characters, marks that turn the direction of
// writing, and bytes that are not UTF-8.
func Printable(s string) string {
	var b strings.Builder
	for i, width := 0, 0; i < len(s); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 || !strconv.IsPrint(r) && !space(r) {
			quoted := strconv.Quote(s[i : i+width])
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteString(s[i : i+width])
	}
	return b.String()
}

// space reports whether r is one of the spaces that are shown as they are, beside ' '.
func space(r rune) bool { return r == '\u00a0' || r == '\u3000' || r == '\u202f' }

// shorten returns the beginning and the end of s, and whether something is between them.
func shorten(s string) (head, end string, cut bool) {
	if len(s) <= shown || utf8.RuneCountInString(s) <= shown {
		return s, "", false
	}
	from, to := 0, len(s)
	for range shown - tail {
		_, width := utf8.DecodeRuneInString(s[from:])
		from += width
	}
	for range tail {
		_, width := utf8.DecodeLastRuneInString(s[:to])
		to -= width
	}
	return s[:from], s[to:], true
}
