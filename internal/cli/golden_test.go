package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/kernel"
)

// goldenCases are runs on data that "mvclust synth" makes, by name: the arguments of synth, and
// those of fit. DIR stands for the folder of the data.
var goldenCases = []struct {
	name, synth, fit string
}{
	{"small", "--samples 60 --classes 3 --views 2", ""},
	{"usual", "--samples 400 --classes 8 --views 2 --noise 0.8", ""},
	{"one view", "--samples 300 --classes 6 --views 1", ""},
	{"five views", "--samples 300 --classes 5 --views 5 --noise 1", ""},
	{"uneven", "--samples 600 --classes 12 --views 2 --imbalance 0.8 --noise 0.6", ""},
	{"missing views", "--samples 400 --classes 8 --views 3 --missing 0.4", ""},
	{"approximate", "--samples 1500 --classes 20 --views 2", "--param neighbor-search=approximate"}, //nolint:misspell // spelt as --neighbors is
	{"minmax and another seed", "--samples 300 --classes 6 --views 2 --seed 3", "--param scale=minmax --seed 5"},
	{"other metric", "--samples 300 --classes 6 --views 2", "--metric l2"},
	{"few neighbours", "--samples 300 --classes 6 --views 2", "--neighbors 12"},
	{"constraints", "--samples 400 --classes 8 --views 2 --noise 1.2", "--must-link DIR/must.csv --cannot-link DIR/cannot.csv"},
}

// Both presets write the labels.csv, byte for byte, that testdata/golden.json has the digests
// of: a change of the code that is to leave results alone is held to that here. Where results are
// meant to change, the test says what to put there. The assembly rounds otherwise than the loops
// in Go, so there are digests for both.
func TestGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" || fused() {
		t.Skip("compilers for this processor round sums in one step, where the digests are of two")
	}
	if raceDetector() {
		t.Skip("the race detector does not change results, and takes ten times as long")
	}
	kernels := "assembly"
	if kernel.Best().Name == "go" {
		kernels = "go"
	}
	var want map[string]map[string]string
	text, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	execute := func(args []string) {
		t.Helper()
		var stderr bytes.Buffer
		if err := run(t.Context(), args, io.Discard, &stderr); err != nil {
			t.Fatalf("%v: %v %s", args, err, &stderr)
		}
	}
	got := make(map[string]string)
	for _, c := range goldenCases {
		dir := t.TempDir()
		execute(append([]string{"synth", "-o", dir}, strings.Fields(c.synth)...))
		write(t, dir, "must.csv", []byte("0,1\n2,3\n5,11\n"))
		write(t, dir, "cannot.csv", []byte("0,2\n1,9\n20,30\n"))
		for _, preset := range []string{"auto", "paper"} {
			out := filepath.Join(dir, preset)
			args := []string{"fit", filepath.Join(dir, "synth.npz"), "--preset", preset, "-o", out, "--quiet"}
			execute(append(args, strings.Fields(strings.ReplaceAll(c.fit, "DIR", dir))...))
			labels, err := os.ReadFile(filepath.Join(out, "labels.csv"))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(labels)
			name := c.name + ", " + preset
			got[name] = hex.EncodeToString(sum[:])
			if got[name] != want[kernels][name] {
				t.Errorf("%s: labels.csv is another than before", name)
			}
		}
	}
	if t.Failed() {
		text, _ := json.MarshalIndent(map[string]any{kernels: got}, "", "  ")
		t.Logf("the digests are now:\n%s", text)
	}
}

// fused reports whether the tests were built with GOAMD64=v3 or v4.
func fused() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "GOAMD64" && (s.Value == "v3" || s.Value == "v4")
	})
}
