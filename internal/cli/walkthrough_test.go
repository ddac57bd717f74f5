package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The commands of the pages in docs that walk through something work and print what the
// page says: those after a "$ " in its blocks of console, in one folder, one after another.
func TestWalkthrough(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	if testing.Short() {
		t.Skip("whole runs of the command, one after another")
	}
	for page, least := range map[string]int{"tables.md": 6, "report.md": 4, "constraints.md": 7, "explain.md": 6, "suggest.md": 4, "predict.md": 7, "levels.md": 11, "review.md": 9, "links.md": 10, "web.md": 3} {
		t.Run(page, func(t *testing.T) {
			if commands := walk(t, read(t, "..", "..", "docs", page)); commands < least {
				t.Errorf("only %d commands were found", commands)
			}
		})
	}
}

// The commands of the page on single cells, on files that anndata writes.
func TestWalkthroughCells(t *testing.T) {
	if testing.Short() {
		t.Skip("whole runs of the command, one after another")
	}
	usePython(t, "anndata")
	if commands := walk(t, read(t, "..", "..", "docs", "cells.md")); commands < 4 {
		t.Errorf("only %d commands were found", commands)
	}
}

// usePython has python3 be Debian's, and skips the test where that lacks a package.
func usePython(t *testing.T, needs string) {
	t.Helper()
	const folder = "/usr/bin"
	if err := exec.CommandContext(t.Context(), folder+"/python3", "-c", "import "+needs).Run(); err != nil {
		t.Skipf("%s/python3 has no %s: %v", folder, needs, err)
	}
	dir := t.TempDir()
	if err := os.Symlink(folder+"/python3", filepath.Join(dir, "python3")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// walk runs the commands of a page and returns their number. The blocks of Python and awk that begin
// with a comment of a file's name are written to that file before.
func walk(t *testing.T, page string) int {
	t.Helper()
	dir := t.TempDir()
	commands := 0
	for _, script := range regexp.MustCompile("(?s)```(?:python|awk)\n# (\\w+\\.(?:py|awk))\n(.*?)```").FindAllStringSubmatch(page, -1) {
		write(t, dir, script[1], []byte(script[2]))
	}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(step, "\n")
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			commands++
			// Three dots stand for anything, within a line or as one.
			pattern := regexp.QuoteMeta(strings.TrimSpace(want))
			pattern = strings.ReplaceAll(pattern, `\.\.\.`, `(?s:.*?)`)
			if !regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(string(out))) {
				t.Errorf("$ %s\n%s\nwant\n%s", line, out, want)
			}
		}
	}
	return commands
}
