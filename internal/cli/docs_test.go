package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module, seen from this package.
var root = filepath.Join("..", "..")

// Links between the pages lead to files and headings that exist, and so do the paths of the
// repository that the pages name.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 {
		t.Errorf("only %d pages were found in docs", len(pages))
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	path := regexp.MustCompile("`((?:cmd|docs|experiments|explain|internal|method|predict|report|score|synth)/[\\w./*-]*)`")
	links, paths := 0, 0
	for _, page := range pages {
		text := withoutBlocks(read(t, page))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if regexp.MustCompile(`^[a-z]+:`).MatchString(m[1]) {
				continue
			}
			links++
			file, heading, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			} else if heading != "" && !slices.Contains(headings(read(t, target)), heading) {
				t.Errorf("%s links to %s, but %s has no such heading", page, m[1], target)
			}
		}
		if strings.HasSuffix(page, "CHANGELOG.md") {
			continue // it names what is gone
		}
		for _, m := range path.FindAllStringSubmatch(text, -1) {
			paths++
			if found, err := filepath.Glob(filepath.Join(root, m[1])); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if links < 50 || paths < 20 {
		t.Errorf("only %d links and %d paths were found", links, paths)
	}
}

// withoutBlocks returns a page without its fenced blocks.
func withoutBlocks(page string) string {
	return regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, "")
}

// headings returns the fragments by which links name the headings of a page.
func headings(page string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutBlocks(page), -1) {
		slug := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(slug, " ", "-"))
	}
	return all
}

// The program in the README runs, and prints what the README says.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	m := regexp.MustCompile("(?s)```go\n(package main.*?)```.*?```\n(.*?)```").FindStringSubmatch(read(t, root, "README.md"))
	if m == nil {
		t.Fatal("the README has no program followed by its output")
	}
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(m[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	var problem bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "run", program)
	cmd.Dir, cmd.Stderr = root, &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &problem)
	}
	if string(out) != m[2] {
		t.Errorf("the program in the README prints\n%s\nwant\n%s", out, m[2])
	}
}
