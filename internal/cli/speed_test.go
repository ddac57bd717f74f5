package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/speed"
)

// benchSpeed runs a quick measurement without any Python.
func benchSpeed(ctx context.Context, t *testing.T, o benchSpeedOptions) (out, stderr string, err error) {
	t.Helper()
	program, err := exec.LookPath("mvclust")
	if err != nil {
		t.Fatal(err)
	}
	passing := t.TempDir()
	t.Setenv("TMPDIR", passing)
	var stdout, said bytes.Buffer
	plan := &speed.Plan{Workload: speed.Quick(), Program: program, Threads: 2}
	err = benchSpeedFunc(ctx, &stdout, &said, plan, o)
	wantNames(t, passing)
	return stdout.String(), said.String(), err
}

// All of a quick run, on a page that another command has a section of.
func TestBenchSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all stages several times")
	}
	dir := t.TempDir()
	other := "<!-- mvclust bench sets: begin -->\n# Sets\n<!-- mvclust bench sets: end -->\n"
	write(t, dir, "results.md", []byte(other))
	o := benchSpeedOptions{output: filepath.Join(dir, "results.md"), quick: true, json: true}
	out, said, err := benchSpeed(t.Context(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, "results.md", "speed", "speed.json")
	page := read(t, dir, "results.md")
	for _, want := range []string{
		other + "\n<!-- mvclust bench speed: begin -->\n# Speed and memory\n", "**This is a quick run**", "- No Python here has numpy, faiss, sklearn",
		"![Time of a whole run and of its stages](speed/stages.svg)", "| 1,000 | ", "## A small set",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, dir) || strings.Contains(page, "through Python") {
		t.Error(page)
	}
	if numbers := read(t, dir, "speed.json"); numbers != out {
		t.Error("what is printed is not what is written")
	}
	var r speedReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 2 || len(r.Aims) == 0 || !r.Made.Quick {
		t.Fatalf("%+v", r)
	}
	run := r.Runs[1]
	// The run chooses K by itself.
	perNeighbour, promise := int64(1000*24*2), run.Promise-1000*2.5*4*256
	if run.Samples != 1000 || run.Classes != 20 || run.Growth == 0 || run.Scores.ARI < 0.1 || len(run.Stages) < 5 || promise%perNeighbour != 0 || promise < perNeighbour || promise > 80*perNeighbour {
		t.Errorf("%+v", run)
	}
	if s := r.Small; s == nil || s.Samples != 300 || s.Views != 4 || len(s.Seconds) != 1 || s.Ratio != 0 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(said, "1000 samples: ") {
		t.Errorf("it says %q", said)
	}
}

// A cancelled run leaves nothing, nor does a page that cannot be used.
func TestBenchSpeedCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := benchSpeedOptions{output: filepath.Join(dir, "out", "page.md"), quick: true}
	if _, _, err := benchSpeed(ctx, t, o); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	wantNames(t, dir)
	write(t, dir, "page.md", []byte("<!-- mvclust bench speed: begin -->\n"))
	o.output = filepath.Join(dir, "page.md")
	if _, _, err := benchSpeed(t.Context(), t, o); err == nil || !strings.Contains(err.Error(), "mend it") {
		t.Errorf("the error is %v", err)
	}
	wantNames(t, dir, "page.md")
}

func TestBenchSpeedFlags(t *testing.T) {
	for _, c := range []struct {
		o    benchSpeedOptions
		want string // the page, or a part of the error
	}{
		{benchSpeedOptions{}, resultsPage},
		{benchSpeedOptions{quick: true}, quickSpeedPage},
		{benchSpeedOptions{quick: true, output: "a/b.md"}, "a/b.md"},
		{benchSpeedOptions{output: "a/b.txt"}, "does not end in .md"},
		{benchSpeedOptions{output: ".md"}, "does not end in .md"},
		{benchSpeedOptions{quick: true, full: true}, "exclude each other"},
		{benchSpeedOptions{threads: maxThreads + 1}, "more than"},
	} {
		p, err := c.o.plan()
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %s", c.o, err, c.want)
			}
			continue
		}
		if c.o.output != c.want || p.Threads < 1 || p.Program == "" {
			t.Errorf("%+v: the page is %s, want %s", c.o, c.o.output, c.want)
		}
	}
	o := benchSpeedOptions{full: true, data: "/far/away/sets", output: filepath.Join("docs", "results.md"), threads: 2}
	if got, want := o.command(), "mvclust bench speed --full --data sets -o docs/results.md --threads 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
