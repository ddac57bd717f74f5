package words_test

import (
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/words"
)

func TestQuote(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	for s, want := range map[string]string{
		"":                         `""`,
		"a \"b\"":                  `"a \"b\""`,
		"Müller":                   `"Müller"`,
		"M\xfcller":                `"M\xfcller"`,
		"\x1b[31mred\r\n":          `"\x1b[31mred\r\n"`,
		strings.Repeat("ä", 80):    `"` + strings.Repeat("ä", 80) + `"`,
		long:                       `"` + strings.Repeat("ä", 64) + `"..."` + strings.Repeat("ä", 16) + `" (2097152 bytes)`,
		strings.Repeat("\xff", 81): `"` + strings.Repeat(`\xff`, 64) + `"..."` + strings.Repeat(`\xff`, 16) + `" (81 bytes)`,
	} {
		if got := words.Quote(s); got != want {
			t.Errorf("%.100q: %.400s, want %.400s", s, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for s, want := range map[string]string{
		"":                         "",
		`a "b" c\d`:                `a "b" c\d`,
		"Müller\u00a0日本":           "Müller\u00a0日本",
		"\x1b[2Jx\r\n\t\x7f\u0085": `\x1b[2Jx\r\n\t\x7f\u0085`,
		"a\u202eb\xffc\u200b":      `a\u202eb\xffc\u200b`,
		strings.Repeat("x", 100):   strings.Repeat("x", 64) + "..." + strings.Repeat("x", 16) + " (100 bytes)",
	} {
		if got := words.Name(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	if got, want := words.List([]string{"a\x1b", strings.Repeat("b", 1<<20)}), `a\x1b and `; !strings.HasPrefix(got, want) || len(got) > 200 {
		t.Errorf("%.300s", got)
	}
}

// What is shown of a text has nothing left to escape, whatever the text is.
func FuzzName(f *testing.F) {
	f.Add("a\x1b[0m\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{words.Name(s), words.Quote(s)} {
			if words.Printable(got) != got || len(got) > 1200 {
				t.Errorf("%q of %q", got, s)
			}
		}
	})
}
