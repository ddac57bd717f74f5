package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/labtest"
)

// Digests are written, found the same again, and found others where the data is another. A file
// that is refused has a digest too.
func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command, and runs it several times")
	}
	folder := filepath.Join(t.TempDir(), "sets")
	labtest.Write(t, folder, "a.npz", 2, 0.5, 1)
	if err := os.WriteFile(filepath.Join(folder, "junk.npz"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	l := labtest.New(t, folder)
	l.Program = filepath.Join(l.Scratch, "mvclust")
	if err := l.Build(t.Context(), filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	digests := filepath.Join(t.TempDir(), "golden.json")
	compare := func(write bool, want error, words ...string) {
		t.Helper()
		var out bytes.Buffer
		if err := Compare(t.Context(), l, []string{folder}, digests, write, &out); !errors.Is(err, want) {
			t.Fatalf("the error is %v, want %v", err, want)
		}
		for _, w := range words {
			if !strings.Contains(out.String(), w) {
				t.Errorf("it does not say %q but\n%s", w, &out)
			}
		}
	}
	compare(false, os.ErrNotExist)
	compare(true, nil, "sets/a auto: ", ", was not known\n", "sets/junk paper: refused, was not known\n", "4 compared, 4 differ\n")
	compare(false, nil, "4 compared, 0 differ\n")
	labtest.Write(t, folder, "a.npz", 2, 2, 2)
	compare(false, ErrDiffers, "sets/a auto: ", "sets/a paper: ", "4 compared, 2 differ\n")
	if err := Compare(t.Context(), l, []string{t.TempDir()}, digests, false, os.Stdout); err == nil || !strings.Contains(err.Error(), "holds no .npz files") {
		t.Errorf("the error is %v", err)
	}
}

// There are digests of both folders, by both presets.
func TestKept(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]string
	if err := json.Unmarshal(text, &kept); err != nil || len(kept) < 100 || kept["datasets/ORL auto"] == "" || kept["datasets2/NGs paper"] == "" {
		t.Errorf("%d digests, error %v", len(kept), err)
	}
}
