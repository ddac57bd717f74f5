package param

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
)

var update = flag.Bool("update", false, "write the table of the settings into docs/method.md")

// table returns the settings as a table in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| `--param` | field of `Options` | default | may be | preset | equation | meaning |\n|---|---|---|---|---|---|---|\n")
	for _, p := range new(mvclust.Options).Parameters() {
		preset := "both"
		if p.PaperOnly {
			preset = "paper"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s | %s |\n", p.Name, p.Field, p.Value.Default(), p.Value.Allowed(), preset, p.Equation, p.Meaning)
	}
	return b.String()
}

// TestDocs holds the table in docs/method.md to be the one of the code.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/method.md", "<!-- settings, written by go test ./internal/param -update -->\n", "<!-- end of settings -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	written, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the settings", path)
	}
	if written == table() {
		return
	}
	if !*update {
		t.Fatalf("the settings in %s are not those of the code; run go test ./internal/param -update", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+table()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
