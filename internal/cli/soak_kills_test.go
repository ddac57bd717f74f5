package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// soakKills ends the command itself at random points, by a kill or a signal, up to three
// times in a row, or runs two of it at a time.
func soakKills(t *testing.T, list []*scene) (round, error) {
	dir := t.TempDir()
	return func(number uint64, random *rand.Rand, seen counts) error {
		s := list[random.IntN(len(list))]
		out := filepath.Join(dir, fmt.Sprint(number), "out")
		defer func() { _ = os.RemoveAll(filepath.Dir(out)) }()
		if err := s.begin(out); err != nil {
			return err
		}
		err := s.kill(t, out, random, seen)
		if err == nil && random.IntN(4) == 0 {
			err = s.race(t, out, seen)
		}
		if err == nil {
			err = s.unchanged()
		}
		return err
	}, nil
}

// kill ends the command once or more, and judges the folder.
func (s *scene) kill(t *testing.T, out string, random *rand.Rand, seen counts) error {
	for try := range 1 + random.IntN(3) {
		sig := os.Kill
		if runtime.GOOS != "windows" && random.IntN(3) == 0 {
			sig = []os.Signal{os.Interrupt, syscall.SIGTERM}[random.IntN(2)]
		}
		after := time.Duration(random.Float64() * 1.1 * float64(s.took))
		ended, err := s.cut(t, out, sig, after, random.IntN(2) == 0)
		if err != nil {
			return err
		}
		seen[ended]++
		state, err := s.judge(out, true)
		_, unfinished := os.Lstat(filepath.Join(out, journalName))
		if unfinished == nil {
			seen["left with a journal"]++
		} else if err != nil {
			return fmt.Errorf("%s, %s after %v: %w", s.name, ended, after, err)
		}
		if sig != os.Kill && try == 0 {
			if state, err = s.judge(out, false); err != nil {
				return fmt.Errorf("%s, %s after %v: %w", s.name, ended, after, err)
			}
		}
		if state == "new" {
			break
		}
	}
	state, err := s.settle(t, out, random)
	if err == nil {
		seen["folder is the "+state+" one"]++
	}
	return err
}

// cut starts the command and ends it, after a time or when there is a journal, and says how
// it ended.
func (s *scene) cut(t *testing.T, out string, sig os.Signal, after time.Duration, journal bool) (string, error) {
	cmd := exec.CommandContext(t.Context(), "mvclust", s.command(out)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	left := exists(filepath.Join(out, journalName)) // by a kill before
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	late := time.After(after)
wait:
	for {
		select {
		case <-ended:
			break wait
		case <-late:
			break wait
		default:
			if journal && exists(filepath.Join(out, journalName)) {
				break wait
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	_ = cmd.Process.Signal(sig)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-ended
		return "", fmt.Errorf("%s: it goes on for a minute after %v", s.name, sig)
	}
	switch status := cmd.ProcessState.ExitCode(); {
	case status == statusDone:
		return "ended before", nil
	case status == statusInterrupted && isLine(s.last(stderr.String())):
		return fmt.Sprintf("ended by %v", sig), nil
	case status == statusFailed && strings.Contains(stderr.String(), "nothing was added"):
		return "refused, since the killed run before was completed first", nil
	case sig == os.Kill && status == -1:
		return "killed", nil
	case status == -1 && stderr.Len() == 0 && (left || !exists(filepath.Join(out, journalName))):
		return "ended before it listens for signals", nil
	default:
		return "", fmt.Errorf("%s: status %d after %v: %q", s.name, status, sig, stderr.String())
	}
}

// last returns what a command says in the end: of demo, which shows its progress, the last line.
func (s *scene) last(said string) string {
	if s.steps {
		return said[1+strings.LastIndex(strings.TrimSuffix(said, "\n"), "\n"):]
	}
	return said
}

// race runs a fit twice at a time into one folder, with two seeds. One or both succeed, and
// the folder has all files of one that does.
func (s *scene) race(t *testing.T, out string, seen counts) error {
	if s.name != "fit" {
		return nil
	}
	type end struct {
		status int
		said   string
	}
	ends := make(chan end, 2)
	for _, seed := range []string{"7", "8"} {
		go func() {
			cmd := exec.CommandContext(t.Context(), "mvclust", append(s.command(out), "--seed", seed)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run()
			ends <- end{cmd.ProcessState.ExitCode(), stderr.String()}
		}()
	}
	won := 0
	for range 2 {
		switch e := <-ends; {
		case e.status == statusDone:
			won++
		case e.status != statusFailed || !isLine(e.said) || !strings.Contains(e.said, "another run"):
			return fmt.Errorf("two at a time: status %d, %q", e.status, e.said)
		}
	}
	seen[fmt.Sprintf("two at a time, of which %d succeed", won)]++
	got, err := contents(out)
	if err != nil || won == 0 || len(got) != len(s.after) {
		return fmt.Errorf("two at a time: %d succeed, and the folder holds %d files: %w", won, len(got), err)
	}
	return quietly(t, "explain", out, "0") // which compares the digests
}
