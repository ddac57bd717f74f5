package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
)

// write runs the command for this system and returns the archive and what stands in it, by name.
func write(t *testing.T) ([]byte, map[string][]byte) {
	t.Helper()
	system := runtime.GOOS + "/" + runtime.GOARCH
	if runtime.GOOS == "windows" || !slices.Contains(systems, system) {
		t.Skipf("the test reads no archive for %s", system)
	}
	dir := t.TempDir()
	if err := run(t.Context(), []string{"-o", dir, system}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("mvclust-%s-%s-%s", mvclust.Version, runtime.GOOS, runtime.GOARCH)
	archive, err := os.ReadFile(filepath.Join(dir, folder+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	digests, err := os.ReadFile(filepath.Join(dir, checksums))
	if want := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive), folder); err != nil || string(digests) != want {
		t.Errorf("%v: the digests are %q, want %q", err, digests, want)
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return archive, files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(h.Name, folder+"/")
		if !inside {
			t.Errorf("%s is not in the folder %s", h.Name, folder)
		}
		if files[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// An archive holds a command that runs, the manual page of every command, and completions; the
// next one is the same byte for byte.
func TestArchive(t *testing.T) {
	archive, files := write(t)
	path := filepath.Join(t.TempDir(), "mvclust")
	if err := os.WriteFile(path, files["mvclust"], 0o755); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), path, "version").Output()
	if err != nil || !strings.HasPrefix(string(said), "mvclust "+mvclust.Version+" ") {
		t.Errorf("the command says %q: %v", said, err)
	}
	for name, holds := range map[string]string{
		"man/mvclust.1": ".SH SYNOPSIS", "man/mvclust-fit.1": "--neighbors", "man/mvclust-levels.1": "mvclust levels",
		"completions/mvclust.bash": "bash completion V2 for mvclust", "completions/_mvclust": "#compdef mvclust",
		"completions/mvclust.fish": "complete -c mvclust", "completions/mvclust.ps1": "Register-ArgumentCompleter",
		"LICENSE": "Apache License", "README.md": "# mvclust", "CITATION.cff": "cff-version", "CHANGELOG.md": "# Changelog",
	} {
		// The manual writes a minus with a backslash.
		if got := strings.ReplaceAll(string(files[name]), `\-`, "-"); !strings.Contains(got, holds) {
			t.Errorf("%s does not hold %q", name, holds)
		}
	}
	if again, _ := write(t); !bytes.Equal(again, archive) {
		t.Error("two runs give two archives")
	}
}

func TestUnknownSystem(t *testing.T) {
	err := run(t.Context(), []string{"-o", t.TempDir(), "plan9/386"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `there is no archive for "plan9/386"`) {
		t.Errorf("the error is %v", err)
	}
}
