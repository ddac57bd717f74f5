package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// quietly runs a command in this process.
func quietly(t *testing.T, args ...string) error {
	return run(t.Context(), args, io.Discard, io.Discard)
}

// fate is what happens to one call of a command to the file system.
type fate string

const (
	failed  fate = "fails"
	cut     fate = "fails halfway"
	last    fate = "is the last"
	outage  fate = "is the last, and what was not synced is lost"
	another fate = "fails, and a later one is the last"
)

// point is a call of a command, and what happens to it.
type point struct {
	scene *scene
	fate  fate
	call  int
}

// soakCalls runs every command with a fault at every call that changes the file system. The
// rounds with the numbers from 1 to the number of points take each point once; later ones
// take two faults.
func soakCalls(t *testing.T, list []*scene) (round, error) {
	dir := t.TempDir()
	var points []point
	for _, s := range list {
		out := filepath.Join(t.TempDir(), "out")
		if err := s.begin(out); err != nil {
			return nil, err
		}
		counter := &faulty{}
		if err := run(on(t, counter), s.command(out), io.Discard, io.Discard); err != nil {
			return nil, err
		}
		if state, err := s.judge(out, false); err != nil || state != "new" {
			return nil, fmt.Errorf("%s without a fault: %s, %w", s.name, state, err)
		}
		step := 1
		if s.steps {
			step = 11 // takes seconds
		}
		for n := 1; n <= counter.calls; n += step {
			for _, f := range []fate{failed, cut, last, outage} {
				points = append(points, point{s, f, n})
			}
		}
	}
	return func(number uint64, random *rand.Rand, seen counts) error {
		// 7919 is a prime, so all points come up, the first rounds far from each other.
		p := points[number*7919%uint64(len(points))]
		if number > uint64(len(points)) {
			p.fate, p.call = another, 1+random.IntN(max(1, p.call))
		} else {
			seen[fmt.Sprintf("points of %d", len(points))]++
		}
		out := filepath.Join(dir, fmt.Sprint(number), "out")
		defer func() { _ = os.RemoveAll(filepath.Dir(out)) }()
		seen["call "+string(p.fate)]++
		state, err := p.run(t, out, random)
		if err == nil {
			err = p.scene.unchanged()
		}
		if err != nil {
			return fmt.Errorf("call %d %s: %w", p.call, p.fate, err)
		}
		seen["folder is the "+state+" one"]++
		return nil
	}, nil
}

// run runs the command with the fault, and judges what the next one finds.
func (p *point) run(t *testing.T, out string, random *rand.Rand) (string, error) {
	s, f := p.scene, &faulty{linkless: random.IntN(4) == 0}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return "", err
	}
	if err := s.begin(out); err != nil {
		return "", err
	}
	switch p.fate {
	case failed, cut:
		f.fail, f.short = p.call, p.fate == cut
	case last:
		f.dead = p.call
	case outage:
		f.dead, f.short, f.attic = p.call, true, filepath.Join(filepath.Dir(out), "attic")
		if err := os.Mkdir(f.attic, 0o777); err != nil {
			return "", err
		}
	case another:
		f.fail, f.short = p.call, random.IntN(2) == 0
		f.dead = p.call + 1 + random.IntN(30)
	}
	err := run(on(t, f), s.command(out), io.Discard, io.Discard)
	if err != nil && !errors.Is(err, errFault) {
		return "", fmt.Errorf("%s: another error: %w", s.name, err)
	}
	dead := f.killed()
	if dead && exists(out) { // the file of a lock stays, without the lock
		if err := os.WriteFile(filepath.Join(out, lockName), nil, 0o666); err != nil {
			return "", err
		}
	}
	if p.fate == outage {
		f.cutPower(random)
	}
	state, bad := s.settle(t, out, random)
	switch {
	case bad != nil:
		return state, bad
	case !dead && (err == nil) != (state == "new"):
		return state, fmt.Errorf("%s: the error is %w and the folder is the %s one", s.name, err, state)
	}
	return state, nil
}
