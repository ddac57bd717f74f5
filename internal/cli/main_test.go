package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the command: tests find it on the
// PATH under its own name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mvclust": func() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script. Beside testscript's own commands there is
//
//	refused STATUS ARG...
//
// which runs mvclust and wants that exit status, nothing on standard output and
// one line on standard error, which the script then looks at; and the condition
// [race], which is true under the race detector, many times slower.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name != "race" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return raceDetector(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"refused": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 1 {
					ts.Fatalf("usage: refused status arg...")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec("mvclust", args[1:]...)
				got := 0
				if failed, ok := errors.AsType[*exec.ExitError](err); ok {
					got = failed.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
				if out := ts.ReadFile("stdout"); out != "" {
					ts.Fatalf("standard output is not empty: %q", out)
				}
				if stderr := ts.ReadFile("stderr"); !isLine(stderr) {
					ts.Fatalf("standard error is not one line: %q", stderr)
				}
			},
		},
	})
}

// raceDetector says whether the tests, and the command that they stand in for, run
// under the race detector.
func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// isLine reports whether s is one line that ends with the only newline.
func isLine(s string) bool { return len(s) > 1 && strings.Index(s, "\n") == len(s)-1 }

// outcome is what a run of the command left.
type outcome struct {
	status         int
	stdout, stderr string
}

// command runs mvclust in a folder.
func command(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mvclust", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// succeed is command for runs that must not fail.
func succeed(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := command(t, dir, args...)
	if o.status != 0 {
		t.Fatalf("mvclust %s: exit status %d\n%s", strings.Join(args, " "), o.status, o.stderr)
	}
	return o
}

// small writes dir/synth.npz: 300 samples of 6 classes in 2 views, of which a fifth
// of the samples lacks one.
func small(t *testing.T, dir string) {
	t.Helper()
	err := run(t.Context(), []string{"synth", "-o", dir, "--samples", "300", "--classes", "6", "--dims", "8", "--noise", "0.5", "--missing", "0.2"}, new(bytes.Buffer), new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
}

// large writes dir/synth.npz, or as more flags say: samples in 2 views of 64
// dimensions.
func large(t *testing.T, dir string, samples int, more ...string) {
	t.Helper()
	args := []string{"synth", "-o", dir, "--samples", strconv.Itoa(samples), "--classes", strconv.Itoa(samples / 50), "--dims", "64", "--noise", "0.5"}
	err := run(t.Context(), append(args, more...), new(bytes.Buffer), new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
}

// quick are flags of fit for a run that takes a moment.
func quick(args ...string) []string {
	return append([]string{"fit", "--preset", "paper", "--param", "epochs=20", "--neighbors", "20"}, args...)
}

// names lists a folder, hidden files included.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", filepath.Base(dir), got, want)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// lines returns a text of the numbered lines that line makes.
func lines(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, line(i))
	}
	return b.String()
}
