package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/labtest"
)

// command runs the command in a folder beside the checkout's, and returns its status and what it
// printed.
func command(ctx context.Context, args ...string) (status int, out, stderr string) {
	var o, e bytes.Buffer
	status = run(ctx, args, &o, &e)
	return status, o.String(), e.String()
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every experiment writes its page and its records, and leaves other sections alone.
func TestExperiments(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command, and runs all experiments")
	}
	data, dir := t.TempDir(), t.TempDir()
	labtest.Write(t, data, "MSRC.npz", 3, 0.3, 1)
	labtest.Write(t, data, "other.npz", 2, 0.3, 1)
	results := filepath.Join(dir, "docs", "results.md")
	t.Chdir(checkout(t))
	for _, c := range []struct {
		args string
		want []string
	}{
		{"sets --quick", []string{"<!-- experiments sets: begin -->\n# Results on real data\n", "| MSRC |"}},
		{"auto other", []string{"<!-- experiments sets: begin -->", "<!-- experiments auto: begin -->\n# The default mode", "| other |"}},
		{"speed --quick", []string{"<!-- experiments sets: begin -->", "<!-- experiments auto: begin -->", "# Speed and memory"}},
	} {
		args := append(strings.Fields(c.args), "--data", data, "-o", results)
		status, out, stderr := command(t.Context(), args...)
		if status != 0 || !strings.Contains(out, "the page is "+results) {
			t.Fatalf("%s: status %d, %s%s", c.args, status, out, stderr)
		}
		page := read(t, results)
		for _, want := range append(c.want, "    go -C experiments run . "+c.args+" --data "+filepath.Base(data)+" -o results.md\n") {
			if !strings.Contains(page, want) {
				t.Errorf("%s: there is no %q", c.args, want)
			}
		}
		if strings.Contains(page, dir) || strings.Contains(page, data) {
			t.Errorf("%s: the page has a path of this machine", c.args)
		}
	}
	if read(t, "part", "sets.json") == "" || read(t, dir, "docs", "speed", "stages.svg") == "" {
		t.Error("there are no records, or no figures")
	}

	// The page of comparisons has a file with the same figures beside it.
	compared := filepath.Join(dir, "compare.md")
	if status, _, stderr := command(t.Context(), "compare", "other", "--page-only", "--data", data, "-o", compared); status != 0 {
		t.Fatal(stderr)
	}
	if !strings.Contains(read(t, compared), "# mvclust beside other methods") || !strings.Contains(read(t, dir, "compare", "compare.json"), `"set": "other"`) {
		t.Error("there is no page of comparisons, or no figures beside it")
	}

	// What is there is not run again, but with --fresh.
	page := filepath.Join(dir, "paper.md")
	args := []string{"paper", "--quick", "--data", data, "-o", page}
	for _, c := range []struct {
		more string
		runs bool
	}{{"--page-only", false}, {"--data=" + data, true}, {"--data=" + data, false}, {"--fresh", true}} {
		status, _, stderr := command(t.Context(), append(args, c.more)...)
		if status != 0 || strings.Contains(stderr, ", seed 0: ") != c.runs {
			t.Errorf("%s: status %d, it says %q", c.more, status, stderr)
		}
	}
	if text := read(t, page); !strings.Contains(text, "**This is a quick run**") {
		t.Error(text)
	}
	if _, out, stderr := command(t.Context(), append(args, "--quiet")...); out+stderr != "" {
		t.Errorf("%q, %q", out, stderr)
	}
	if err := os.WriteFile(filepath.Join("part", "paper.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := command(t.Context(), args...); status != 2 || !strings.Contains(stderr, "--fresh") {
		t.Errorf("status %d, it says %q", status, stderr)
	}
}

// checkout returns a folder like experiments/, whose parent has the sources.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "experiments" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Skip("there are no links here")
		}
	}
	work := filepath.Join(dir, "experiments")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	return work
}

// What cannot be used is one line, and an interruption says so.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"half.md": "<!-- experiments sets: begin -->\n", "a.npz": "junk"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"sets -o " + filepath.Join(dir, "half.md"):                   "mend it",
		"sets -o " + filepath.Join(dir, "a.npz"):                     "does not end in .md",
		"speed --quick --full":                                       "exclude each other",
		"compare --truth x":                                          "name the files of the views",
		"compare " + filepath.Join(dir, "a.npz"):                     "is a file; name that of its known classes by --truth",
		"compare none.npz --truth x":                                 "there is no such file",
		"paper sets":                                                 "unknown command",
		"nothing":                                                    `unknown command "nothing"`,
		"sets --what":                                                "unknown flag: --what",
		"golden --data " + filepath.Join(dir, "none"):                "holds no .npz files",
		"sets --data " + filepath.Join(dir, "none"):                  "cannot be read",
		"auto --data " + dir + " b":                                  `there is no set "b"`,
		"auto --data " + dir + " a -o " + filepath.Join(dir, "x.md"): "nothing could be run: ",
	} {
		status, out, stderr := command(t.Context(), strings.Fields(args)...)
		if status != 2 || out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 && !strings.Contains(args, " a ") {
			t.Errorf("%s: status %d, %q, want %q", args, status, stderr, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, _, stderr := command(ctx, "golden", "--data", dir); status != 130 || !strings.HasPrefix(stderr, "interrupted") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
