package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/front"
)

// The page holds the program as it is, asks for nothing, and its policy lets no other script run.
func TestAssemble(t *testing.T) {
	program := bytes.Repeat([]byte("\x00asm <script>"), 1000)
	page, err := assemble(program, "// glue\n")
	if err != nil {
		t.Fatal(err)
	}
	engine := regexp.MustCompile(`(?s)<script type="text/plain" id="engine">(.*?)</script>`).FindSubmatch(page)
	if engine == nil {
		t.Fatal("the page has no program")
	}
	packed, err := base64.StdEncoding.DecodeString(string(engine[1]))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, program) {
		t.Errorf("the program in the page is another: %v", err)
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindSubmatch(page)
	if script == nil || string(script[1]) != front.WebScript() {
		t.Error("the script in the page is not that of its digest")
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="(.*?)"`).FindSubmatch(page)
	if policy == nil {
		t.Fatal("there is no policy")
	}
	for _, want := range []string{"default-src 'none';", "'" + digest(front.WebScript()) + "'", "'" + digest(front.ReportScript()) + "'", "worker-src blob:;", "form-action 'none'"} {
		if rules := html.UnescapeString(string(policy[1])); !strings.Contains(rules, want) {
			t.Errorf("the policy is %s, without %s", rules, want)
		}
	}
	if loads := regexp.MustCompile(`(?i)(src|href)="(?:[^d]|d[^a])[^"]*"|https?://`).FindAll(page[:bytes.Index(page, script[1])], -1); loads != nil {
		t.Errorf("the page speaks of other addresses: %q", loads)
	}
	again, err := assemble(program, "// glue\n")
	if err != nil || !bytes.Equal(again, page) {
		t.Error("the same parts make another page")
	}
}

func TestAssembleRefuses(t *testing.T) {
	if _, err := assemble(nil, `"</SCRIPT>"`); err == nil || !strings.Contains(err.Error(), "worker") {
		t.Errorf("a script that ends early: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-o", t.TempDir(), "more"}, {"--no-such-flag"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for _, content := range []string{"first", "second"} {
		if err := write(filepath.Join(dir, "index.html"), []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are there, %v", len(left), err)
	}
}
