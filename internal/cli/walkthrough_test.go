package cli

import (
	"os/exec"
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
	for page, least := range map[string]int{"tables.md": 6, "report.md": 4, "constraints.md": 7, "explain.md": 6, "suggest.md": 4, "predict.md": 7, "levels.md": 11, "review.md": 9} {
		t.Run(page, func(t *testing.T) {
			if commands := walk(t, read(t, "..", "..", "docs", page)); commands < least {
				t.Errorf("only %d commands were found", commands)
			}
		})
	}
}

// walk runs the commands of a page and returns their number.
func walk(t *testing.T, page string) int {
	t.Helper()
	dir := t.TempDir()
	commands := 0
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
