package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leaves writes dir/100Leaves.npz, a set of which the experiments make a figure; it
// has nothing to do with leaves.
func leaves(t *testing.T, dir string) {
	t.Helper()
	args := []string{"synth", "-o", dir, "--samples", "160", "--classes", "4", "--views", "3", "--dims", "4", "--noise", "0.3"}
	if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "synth.npz"), filepath.Join(dir, "100Leaves.npz")); err != nil {
		t.Fatal(err)
	}
}

// interruptor is a standard error that cancels once a case has been run.
type interruptor struct {
	said   bytes.Buffer
	cancel func()
}

func (i *interruptor) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "ARI ") {
		i.cancel()
	}
	return i.said.Write(b)
}

// After Ctrl-C there are the results of what was done, and the same call does the
// rest, with the page and its figure.
func TestBenchPaperInterrupted(t *testing.T) {
	dir := t.TempDir()
	leaves(t, dir)
	o := benchPaperOptions{data: dir, output: filepath.Join(dir, "out", "page.md"), quick: true}
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &interruptor{cancel: cancel}
	err := benchPaperFunc(ctx, new(bytes.Buffer), stderr, o)
	if _, ok := errors.AsType[*keptError](err); !ok || !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	wantNames(t, filepath.Join(dir, "out"), "page.json")

	first, _, _ := strings.Cut(stderr.said.String(), " ")
	var again, out bytes.Buffer
	if err := benchPaperFunc(t.Context(), &out, &again, o); err != nil {
		t.Fatal(err)
	}
	wantNames(t, filepath.Join(dir, "out"), "page", "page.json", "page.md")
	wantNames(t, filepath.Join(dir, "out", "page"), "missing.svg")
	if !strings.Contains(out.String(), ", 1 of them from before, ") || strings.HasPrefix(again.String(), first+" ") {
		t.Errorf("%s was run again:\n%s%s", first, again.String(), out.String())
	}
	if !strings.Contains(read(t, dir, "out", "page.md"), "![Missing rates](page/missing.svg)") {
		t.Error("the figure is not on the page")
	}
}

// Before anything was run, nothing is left.
func TestBenchPaperCancelled(t *testing.T) {
	dir := t.TempDir()
	leaves(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := benchPaperOptions{data: dir, output: filepath.Join(dir, "out", "page.md")}
	if err := benchPaperFunc(ctx, new(bytes.Buffer), new(bytes.Buffer), o); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	wantNames(t, dir, "100Leaves.npz")
}
