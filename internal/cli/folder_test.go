package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text1(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestFolder(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	path := filepath.Join(root, "a", "b")
	f, err := openFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"one": "1", "two": "22"} {
		if err := f.stage(ctx, name, text1(content)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names(t, path) {
		if !strings.HasPrefix(name, ".") {
			t.Errorf("%s is there before it is committed", name)
		}
	}
	if err := f.commit(); err != nil {
		t.Fatal(err)
	}
	f.close()
	wantNames(t, path, "one", "two")
	if got := read(t, path, "two"); got != "22" {
		t.Errorf("two holds %q", got)
	}
}

// What is not committed goes, with the folders that were made for it.
func TestFolderAbandoned(t *testing.T) {
	root := t.TempDir()
	f, err := openFolder(t.Context(), filepath.Join(root, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.stage(t.Context(), "one", text1("1")); err != nil {
		t.Fatal(err)
	}
	f.close()
	wantNames(t, root)
}

// An older result survives a run that fails, and so do the files of others in a
// folder that was made.
func TestFolderKeeps(t *testing.T) {
	root := t.TempDir()
	write(t, root, "one", []byte("old"))
	made := filepath.Join(root, "made")
	wrong := errors.New("wrong")
	for _, path := range []string{root, made} {
		f, err := openFolder(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if path == made {
			write(t, made, "other", nil)
		}
		err = f.stage(t.Context(), "one", func(io.Writer) error { return wrong })
		if !errors.Is(err, wrong) || !strings.Contains(err.Error(), filepath.Join(path, "one")) {
			t.Errorf("the error is %v", err)
		}
		f.close()
	}
	wantNames(t, root, "made", "one")
	wantNames(t, made, "other")
	if got := read(t, root, "one"); got != "old" {
		t.Errorf("one holds %q", got)
	}
}

func TestFolderCancelled(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	f, err := openFolder(t.Context(), filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	err = f.stage(ctx, "one", func(w io.Writer) error {
		cancel()
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return err
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	f.close()
	wantNames(t, root)
}

func TestFolderUnusable(t *testing.T) {
	root := t.TempDir()
	write(t, root, "file", nil)
	for _, path := range []string{"file", "file/below", "file/far/below", "new/\x00"} {
		_, err := openFolder(t.Context(), filepath.Join(root, path))
		if err == nil || !strings.Contains(err.Error(), "--output") {
			t.Errorf("%q: the error is %v", path, err)
		}
	}
	wantNames(t, root, "file")
}

func TestSpare(t *testing.T) {
	root := t.TempDir()
	write(t, root, "labels.csv", nil)
	write(t, root, "other.csv", nil)
	if err := os.Mkdir(filepath.Join(root, "run.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := openFolder(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	inputs := []string{filepath.Join(root, "gone"), filepath.Join(root, ".", "labels.csv")}
	for name, want := range map[string]string{"labels.csv": "would replace the input", "run.json": "no ordinary file", "other.csv": "", "new": ""} {
		switch err := f.spare(name, inputs); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
