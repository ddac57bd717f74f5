package columntest

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/column"
)

// ReadErrors checks that an error of the reader beneath comes through unchanged, at
// whichever byte of the file b it happens. The file holds the columns emb and id.
func ReadErrors(t *testing.T, b []byte, open func(io.ReaderAt, int64) (*column.Table, error)) {
	t.Helper()
	broken := errors.New("broken")
	seen := false
	for at := range b {
		tab, err := open(&failing{b, int64(at), broken}, int64(len(b)))
		if err == nil {
			_, err = tab.Float32(tab.Array("emb"))
		}
		if err == nil {
			_, err = tab.Text(tab.Array("id"))
		}
		if err != nil && !errors.Is(err, broken) {
			t.Fatalf("byte %d: %v", at, err)
		}
		seen = seen || err != nil
	}
	if !seen {
		t.Error("no byte of the file is ever read")
	}
}

// failing fails to read one byte of b.
type failing struct {
	b   []byte
	at  int64
	err error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, f.err
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WantError checks that an error says each of some words.
func WantError(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error %v does not say %q", err, w)
		}
	}
}

// Same reports whether two slices hold the same numbers, where NaN is the same as NaN.
func Same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}
