package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWithSection(t *testing.T) {
	const a, b = "<!-- a: begin -->\n# A\n<!-- a: end -->\n", "<!-- b: begin -->\n# B\n<!-- b: end -->\n"
	for _, c := range []struct{ name, page, command, text, want string }{
		{"no page", "", "a", "\n# A\n\n", a},
		{"another's page", "Text\n\n\n", "a", "# A", "Text\n\n" + a},
		{"again", a, "a", "# A", a},
		{"beside another", a, "b", "# B", a + "\n" + b},
		{"in its place", "x\n<!-- a: begin -->\nold\n<!-- a: end -->\n\ny\n" + b, "a", "# A", "x\n" + a + "\ny\n" + b},
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if c.page != "" {
			if err := os.WriteFile(path, []byte(c.page), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := withSection(path, c.command, c.text)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q and error %v, want %q", c.name, got, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("<!-- a: begin -->\n# A\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := withSection(path, "a", "# A"); err == nil {
		t.Error("a section without an end is replaced, and all after it")
	}
}
