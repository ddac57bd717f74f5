//go:build unix

package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe is refused before it is opened: nobody may ever write to it.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "v.npy", "t.csv"} {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skip(err)
		}
	}
	save(t, filepath.Join(dir, "list.csv"), "n,file\n1,a.png\n2,empty.png\n")
	save(t, filepath.Join(dir, "empty.png"), "")
	hold(t, gather(t, dir, []string{"a"}, 1, 0), map[int]string{0: "error: a.png is no ordinary file"})
	hold(t, gather(t, filepath.Join(dir, "list.csv")+":file", nil, 2, 0, 1), map[int]string{0: "error: a.png is no ordinary file", 1: "error: empty.png is empty"})
	for _, arg := range []string{"v.npy", "t.csv"} {
		path := filepath.Join(dir, arg)
		_, views := Load(t.Context(), []string{path}, Options{})
		_, labels := Labels(t.Context(), path, nil, 0)
		_, pictures := OpenPictures(t.Context(), path+":x", "", nil, 1)
		for what, err := range map[string]error{"view": views, "labels": labels, "pictures": pictures} {
			if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("%s as %s: %v", arg, what, err)
			}
		}
	}
	if _, err := Load(t.Context(), []string{"/dev/zero"}, Options{}); err == nil || !strings.Contains(err.Error(), "/dev/zero: is not a regular file") {
		t.Errorf("a device: %v", err)
	}
}
