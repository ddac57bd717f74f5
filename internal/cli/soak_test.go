package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	soakTime = flag.Duration("soak", 0, "how long TestSoak looks for faults, all parts together; 0 stands for a few rounds")
	soakSeed = flag.Uint64("seed", 1, "number of the first round of each part of TestSoak")
)

// TestSoak looks for faults: a crash, a status other than 0, 2 and 130, a folder with parts
// of two results, files left behind. It goes on for the time that -soak gives:
//
//	go test ./internal/cli -run TestSoak -v -timeout 0 -soak 1h
//
// A round depends on its number alone, and a failure names it, so that
//
//	go test ./internal/cli -run TestSoak/files -seed 4711
//
// begins with round 4711 of that part. -v prints what was counted.
func TestSoak(t *testing.T) {
	parts := []struct {
		name  string
		few   int     // rounds without -soak
		share float64 // of the time
		begin func(t *testing.T, list []*scene) (round, error)
	}{
		{"calls", 60, 0.25, soakCalls},
		{"files", 60, 0.4, soakFiles},
		{"kills", 6, 0.25, soakKills},
		{"updates", 1, 0.1, soakUpdates},
	}
	list, err := scenes(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			do, err := p.begin(t, list)
			if err != nil {
				t.Fatal(err)
			}
			s := &soak{T: t, few: p.few, end: time.Now().Add(time.Duration(p.share * float64(*soakTime)))}
			s.run(do)
		})
	}
}

// round looks once, as its number says, and counts what it has seen. random has the number
// for its seed.
type round func(number uint64, random *rand.Rand, seen counts) error

// counts says how often something was seen.
type counts map[string]int

func (c counts) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "\n%9d %s", c[what], what)
	}
	return b.String()
}

// soak is one part of TestSoak.
type soak struct {
	*testing.T
	few int
	end time.Time
}

// mostFailures is how many rounds of a part may fail before it gives up.
const mostFailures = 20

func (s *soak) run(do round) {
	seen := counts{}
	failures, said := 0, time.Now()
	number := *soakSeed
	for i := 0; i < s.few || time.Now().Before(s.end); i++ {
		err := do(number, rand.New(rand.NewPCG(number, 1)), seen)
		if seen["rounds"]++; err != nil {
			s.Errorf("round %d: %v\nagain: go test ./internal/cli -run %s -seed %d", number, err, s.Name(), number)
			if failures++; failures == mostFailures {
				break
			}
		}
		if number++; time.Since(said) > 5*time.Minute {
			s.Logf("so far:%s", seen)
			said = time.Now()
		}
	}
	s.Logf("rounds from %d, %d failed:%s", *soakSeed, failures, seen)
}

// scene is a command that writes to a folder, and what is there before and after.
type scene struct {
	name   string
	args   []string          // OUT stands for the folder
	before map[string]string // nil where there is no folder
	after  map[string]string
	report string // the file that has the digests of the others; empty where there is none
	steps  bool   // whether a part of the files may be there: the command is several
	inputs string // a folder that must stay as it is
	held   map[string]string
	took   time.Duration
}

// scenes returns a scene for every way to write files, in a folder of inputs.
func scenes(t *testing.T) ([]*scene, error) {
	t.Helper()
	in := t.TempDir()
	for name, seed := range map[string]string{"data": "1", "new": "2"} {
		succeed(t, in, "synth", "-o", name, "--samples", "60", "--classes", "4", "--dims", "6", "--noise", "0.4", "--missing", "0.2", "--seed", seed)
	}
	data, batch := filepath.Join(in, "data", "synth.npz"), filepath.Join(in, "new", "synth.npz")
	fit := func(seed string) []string { return quick(data, "-o", "OUT", "--quiet", "--seed", seed) }
	list := []*scene{
		{name: "fit", args: fit("2"), report: runFile},
		{name: "fit again", args: fit("3"), report: runFile},
		{name: "fit as Parquet", args: append(fit("4"), "--format", "parquet"), report: runFile},
		{name: "update", args: []string{"update", "OUT", batch, "-o", "OUT", "--quiet"}, report: updateFile},
		{name: "update elsewhere", args: []string{"update", filepath.Join(in, "model"), batch, "-o", "OUT", "--quiet"}, report: updateFile},
		{name: "predict", args: []string{"predict", "OUT", batch, "-o", "OUT", "--quiet"}},
		{name: "predict elsewhere", args: []string{"predict", filepath.Join(in, "model"), batch, "-o", "OUT", "--quiet"}},
		{name: "cut", args: []string{"cut", "OUT", "--clusters", "6", "--quiet"}, report: runFile},
		{name: "cut to a level", args: []string{"cut", "OUT", "--level", "0", "--quiet"}, report: runFile},
		{name: "suggest", args: []string{"suggest", filepath.Join(in, "model"), "-o", "OUT"}},
		{name: "synth", args: []string{"synth", "-o", "OUT", "--samples", "300", "--dims", "30", "--classes", "4"}},
		{name: "synth again", args: []string{"synth", "-o", "OUT", "--samples", "300", "--dims", "30", "--classes", "4"}},
	}
	if *soakTime > 0 { // takes seconds
		list = append(list, &scene{name: "demo", args: []string{"demo", "-o", "OUT"}, report: runFile, steps: true})
	}
	succeed(t, in, fill2(fit("1"), filepath.Join(in, "model"))...)
	model, err := contents(filepath.Join(in, "model"))
	if err != nil {
		return nil, err
	}
	model["mine.txt"] = "mine"
	succeed(t, in, "fit", data, "-o", filepath.Join(in, "auto"), "--quiet")
	auto, err := contents(filepath.Join(in, "auto"))
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		s.inputs = in
		switch s.name {
		case "fit again", "fit as Parquet", "update", "predict", "cut":
			s.before = model
		case "cut to a level":
			s.before = auto
		case "synth again":
			s.before = map[string]string{"synth.npz": "old"}
		}
	}
	for _, s := range list {
		out := filepath.Join(t.TempDir(), "out")
		if err := s.begin(out); err != nil {
			return nil, err
		}
		start := time.Now()
		succeed(t, in, s.command(out)...)
		s.took = time.Since(start)
		if s.after, err = contents(out); err != nil {
			return nil, err
		}
	}
	held, err := digestTree(in)
	for _, s := range list {
		s.held = held
	}
	return list, err
}

// fill2 puts the folder into a command line.
func fill2(args []string, out string) []string {
	args = slices.Clone(args)
	for i, a := range args {
		if a == "OUT" {
			args[i] = out
		}
	}
	return args
}

// command returns the command line for a folder.
func (s *scene) command(out string) []string { return fill2(s.args, out) }

// begin makes a folder as it is before the command.
func (s *scene) begin(out string) error {
	if s.before == nil {
		return nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for name, text := range s.before {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// judge returns whether a folder is as before or after the command, or an error where it is
// neither. hidden says that hidden files do not matter.
func (s *scene) judge(out string, hidden bool) (string, error) {
	got, err := contents(out)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(got, func(name, _ string) bool { return hidden && strings.HasPrefix(name, ".") })
	if maps.Equal(got, s.before) {
		return "old", nil
	}
	if s.steps && len(got) < len(s.after) && got["synth.npz"] == s.after["synth.npz"] && len(got) == 1 {
		return "old", nil
	}
	if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(s.after)); !slices.Equal(a, b) {
		return "", fmt.Errorf("%s: the folder holds %q", s.name, a)
	}
	var report struct {
		Files map[string]string `json:"files"`
	}
	if s.report != "" {
		if err := json.Unmarshal([]byte(got[s.report]), &report); err != nil || len(report.Files) < 2 {
			return "", fmt.Errorf("%s: %s has no digests: %w", s.name, s.report, err)
		}
	}
	for name, text := range got {
		want := s.after[name]
		digest := report.Files[name]
		switch {
		case name == s.report:
		case digest != "" && digest != sha(text):
			return "", fmt.Errorf("%s: %s is not the one that %s names", s.name, name, s.report)
		case name == pageName && digest != "": // has the time
		case text != want:
			return "", fmt.Errorf("%s: %s is not as it should be", s.name, name)
		}
	}
	return "new", nil
}

// settle recovers a folder as the next command does, and judges it. The next command is one
// that reads it, or then, and in any case, one that writes to it.
func (s *scene) settle(t *testing.T, out string, random *rand.Rand) (string, error) {
	first := ""
	if random.IntN(2) == 0 && exists(filepath.Join(out, modelFile)) {
		next := []string{"explain", out, "0"}
		if random.IntN(2) == 0 && exists(filepath.Join(out, "labels.csv")) {
			next = []string{"eval", filepath.Join(out, "labels.csv"), "--truth", filepath.Join(out, "labels.csv")}
		}
		if err := quietly(t, next...); err != nil {
			return "", fmt.Errorf("%s: then %s: %w", s.name, next[0], err)
		}
		var err error
		if first, err = s.judge(out, true); err != nil {
			return "", err
		}
	}
	if !exists(out) {
		return s.judge(out, false)
	}
	f, err := openFolder(t.Context(), out)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.name, err)
	}
	f.close()
	state, err := s.judge(out, false)
	if err == nil && first != "" && first != state {
		err = fmt.Errorf("%s: the folder is %s to a reader and %s to a writer", s.name, first, state)
	}
	return state, err
}

// unchanged returns an error if the inputs of a scene are not what they were.
func (s *scene) unchanged() error {
	now, err := digestTree(s.inputs)
	if err == nil && !maps.Equal(now, s.held) {
		err = fmt.Errorf("%s: the inputs were changed", s.name)
	}
	return err
}

// contents returns the files of a folder; none where there is no folder.
func contents(path string) (map[string]string, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		set[e.Name()] = string(text)
	}
	return set, nil
}

// digestTree returns the digest of every file below a folder.
func digestTree(root string) (map[string]string, error) {
	set := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		set[path], err = digestOf(path)
		return err
	})
	return set, err
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
