//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// interrupted starts mvclust, has reached called until it is true, with the process
// halted then, sends the signal and checks the end: the status and the word of it.
func interrupted(t *testing.T, dir string, reached func() bool, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mvclust", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	send := func(sig syscall.Signal) {
		t.Helper()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	for {
		send(syscall.SIGSTOP)
		if reached() {
			break
		}
		send(syscall.SIGCONT)
		time.Sleep(time.Millisecond)
	}
	send(syscall.SIGINT)
	send(syscall.SIGCONT)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != statusInterrupted {
		t.Errorf("ended with %v", err)
	}
	if !strings.HasSuffix(stderr.String(), "interrupted; nothing was written\n") {
		t.Errorf("said %q", stderr.String())
	}
}

// Writing a large file ends at once and leaves nothing of it.
func TestInterruptWriting(t *testing.T) {
	dir := t.TempDir()
	interrupted(t, dir, func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "out", ".synth.npz.*.tmp"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.Size() > 0 {
				return true
			}
		}
		return false
	}, "synth", "-o", "out", "--samples", "100000", "--classes", "2", "--dims", "200")
	wantNames(t, dir)
}

// Reading a file of 100 GB ends at once. It takes no place on the disk, having never
// been written but for its start.
func TestInterruptReading(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	const n, width = 100_000, 1_000_000
	head := fmt.Sprintf("{'descr': '|S%d', 'fortran_order': False, 'shape': (%d,), }\n", width, n)
	head = "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head
	write(t, dir, "ids.npy", []byte(head))
	if err := os.Truncate(filepath.Join(dir, "ids.npy"), int64(len(head))+n*width); err != nil {
		t.Skipf("no such large file here: %v", err)
	}
	polls := 0
	begun := func() bool {
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			polls++
		}
		return polls > 20 // the folder is made just before the reading
	}
	interrupted(t, dir, begun, "fit", "synth.npz", "--id", "ids.npy", "-o", "out")
	wantNames(t, dir, "ids.npy", "synth.npz")
}
