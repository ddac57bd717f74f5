package chart

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode"
)

// textSize is the size of the text in the drawing's units, and smallScreenSize
// the size where the drawing is shown much smaller than it is. The layout leaves
// room for the latter.
const (
	textSize        = 14
	smallScreenSize = 17
)

// heading is the size of the title relative to other text.
const heading = 1.15

// escape returns s as XML text. What XML cannot hold becomes U+FFFD.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer never fails
	return b.String()
}

// textWidth estimates the width of s, rather too large, for the reader's font is
// not known.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth estimates the width of one character.
func runeWidth(r rune) float64 {
	em := 0.58
	switch {
	case unicode.Is(unicode.Mn, r): // accents on the character before
		em = 0
	case r >= 0x1100 && (r < 0x2000 || r > 0x2fff): // East Asian letters, emoji
		em = 1.05
	case strings.ContainsRune("ijl|!'.,:;It()[]fr-/ ⁰¹²³⁴⁵⁶⁷⁸⁹⁻", r):
		em = 0.4
	case strings.ContainsRune("mwMW@%—", r):
		em = 0.95
	case unicode.IsUpper(r):
		em = 0.7
	}
	return em * smallScreenSize
}

// fit returns s, shortened if need be to the given width.
func fit(s string, most float64) string {
	w, cut := 0.0, 0
	for i, r := range s {
		if w+textWidth("…") <= most {
			cut = i
		}
		if w += runeWidth(r); w > most {
			return strings.TrimRight(s[:cut], " ") + "…"
		}
	}
	return s
}

// wrap breaks s into lines of at most the given width, between words.
func wrap(s string, most float64) []string {
	var lines []string
	for word := range strings.FieldsSeq(s) {
		if n := len(lines) - 1; n >= 0 && textWidth(lines[n]+" "+word) <= most {
			lines[n] += " " + word
		} else {
			lines = append(lines, fit(word, most))
		}
	}
	return lines
}
