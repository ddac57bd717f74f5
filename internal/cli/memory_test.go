package cli

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/report"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4096": 4096, "12b": 12, "12 B": 12, " 7 ": 7,
		"8GiB": 8 << 30, "8gib": 8 << 30, "8Gi": 8 << 30, "8g": 8 << 30, "8G": 8 << 30, "8 GiB": 8 << 30,
		"8GB": 8e9, "8gb": 8e9, "512MiB": 512 << 20, "512m": 512 << 20, "512MB": 512e6,
		"3k": 3 << 10, "3kB": 3000, "3KiB": 3 << 10, "2t": 2 << 40, "2TB": 2e12, "2TiB": 2 << 40,
		"1.5GiB": 3 << 29, ".5k": 512, "1.": 1, "0.0015kB": 1,
		"8388607T": 8388607 << 40,
	} {
		var s size
		if err := s.Set(text); err != nil || int64(s) != want {
			t.Errorf("%q: %d, %v; want %d", text, int64(s), err, want)
		}
	}
	for _, text := range []string{
		"", " ", "0", "0GiB", "0.5", "-1", "-8GiB", "+8GiB", "8GiBs", "GiB", "g", "8 g b", "8,5GiB", "1.5.5g", ".", "1e3", "0x10", "1_000",
		"inf", "nan", "8388608T", "99999999999999999999", "8GiB8", "8%", "٨GiB",
	} {
		s := size(5)
		if err := s.Set(text); err == nil || s != 5 {
			t.Errorf("%q: %d, %v; want an error", text, int64(s), err)
		}
	}
}

func TestSizeString(t *testing.T) {
	for n, want := range map[size]string{
		0: "", 1: "1", 1023: "1023", 1024: "1KiB", 1025: "1.1KiB", 64 << 20: "64MiB", 64<<20 + 1: "64.1MiB",
		200<<20 + 1: "201MiB", 1023 << 20: "1023MiB", 1023<<20 + 1: "1GiB", 8 << 30: "8GiB", 5 << 50: "5120TiB",
	} {
		if got := n.String(); got != want {
			t.Errorf("%d: %q, want %q", int64(n), got, want)
		}
	}
}

// What is written, as a remedy, is enough, and not much more.
func checkSizeString(t *testing.T, n int64) {
	s, again := size(n), size(0)
	if err := again.Set(s.String()); err != nil || again < s || float64(again) > 1.1*float64(s)+1 {
		t.Errorf("%d is written %s and read as %d, %v", n, &s, int64(again), err)
	}
}

func TestSizeRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		checkSizeString(t, 1+r.Int64N(1<<r.IntN(50)))
	}
}

func FuzzSize(f *testing.F) {
	for _, text := range []string{"8GiB", "8 gb", "1.5m", "4096", "-1", "1e9", "", "٣k", "9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s size
		if err := s.Set(text); err != nil {
			if s != 0 {
				t.Errorf("%q: %d with the error %v", text, int64(s), err)
			}
			return
		}
		if s < 1 {
			t.Fatalf("%q: %d", text, int64(s))
		}
		if s < 1<<50 {
			checkSizeString(t, int64(s))
		}
		var again size
		if err := again.Set(strings.ToUpper(text)); err != nil || again != s {
			t.Errorf("%q: %d, and in capitals %d, %v", text, int64(s), int64(again), err)
		}
	})
}

// A run that needs more than its budget is refused before the values are read: there
// are 51 GB of them here, zeros throughout, which would be an error of another kind.
// They take no place on the disk, having never been written.
func TestMemoryRefused(t *testing.T) {
	dir := t.TempDir()
	const n, dims = 100_000_000, 128
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n", n, dims)
	head = "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head
	write(t, dir, "large.npy", []byte(head))
	if err := os.Truncate(filepath.Join(dir, "large.npy"), int64(len(head))+4*n*dims); err != nil {
		t.Skipf("no such large file here: %v", err)
	}
	o := command(t, dir, "fit", "large.npy", "--quiet", "--memory", "8GiB", "-o", "new/out")
	want := regexp.MustCompile(`^mvclust: --memory: 8GiB is too little for 100000000 samples in 1 view, which take ([0-9.]+[GT]iB); give --memory ([0-9.]+[GT]iB), or fewer --neighbors, or less of --param candidates\n$`)
	said := want.FindStringSubmatch(o.stderr)
	if o.status != statusFailed || o.stdout != "" || said == nil {
		t.Fatalf("status %d, %q", o.status, o.stderr)
	}
	var need size
	if err := need.Set(said[2]); err != nil || said[1] != said[2] || need < 2*4*n*dims {
		t.Errorf("the figures are %s and %s", said[1], said[2])
	}
	wantNames(t, dir, "large.npy")
}

// A run keeps to the budget that it says it needs.
func TestMemoryKept(t *testing.T) {
	if testing.Short() || raceDetector() {
		t.Skip("takes seconds, and the race detector memory")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process takes")
	}
	for _, c := range []struct {
		format, preset string
		samples        int // enough that the program itself is not most of the budget
	}{{"npz", "auto", 6_000}, {"parquet", "paper", 10_000}} {
		dir := t.TempDir()
		large(t, dir, c.samples, "--format", c.format)
		fit := []string{"fit", "synth." + c.format, "--preset", c.preset, "--quiet"}
		refused := command(t, dir, append(fit, "--memory", "1MiB")...)
		_, remedy, _ := strings.Cut(refused.stderr, "give --memory ")
		remedy, _, _ = strings.Cut(remedy, ",")
		var budget size
		if err := budget.Set(remedy); err != nil {
			t.Fatalf("%q: %v", refused.stderr, err)
		}
		cmd := exec.CommandContext(t.Context(), "mvclust", append(fit, "--memory", remedy, "-o", "out")...)
		cmd.Dir = dir
		if peak := peakOf(t, cmd); peak > budget || peak < size(2*4*c.samples*64) {
			t.Errorf("%s: it took %s of %s", c.format, &peak, &budget)
		}
		for _, name := range []string{"labels.csv", "model.mvclust", "report.html", "run.json"} {
			if !exists(filepath.Join(dir, "out", name)) {
				t.Errorf("%s: there is no %s", c.format, name)
			}
		}
	}
}

// peakOf runs a command and returns the most memory that its program had.
func peakOf(t *testing.T, cmd *exec.Cmd) (peak size) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return peak
		case <-time.After(5 * time.Millisecond):
			// The peak so far, of this program alone: what wait tells counts its parent in.
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			_, text, _ := strings.Cut(string(status), "\nVmHWM:")
			text, _, _ = strings.Cut(text, " kB")
			if kilobytes, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
				peak = max(peak, size(kilobytes<<10))
			}
		}
	}
}

// The limit is that of the budget, or of the need; a need beyond the budget is
// refused with a figure that is then accepted.
func TestLimitMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetMemoryLimit(-1)
	const n = 1_000_000
	dims := []int{128, 128}
	limit := func(budget size) (int64, error) {
		_, release, err := limitMemory(budget, memory.Limit{Bytes: 1 << 50}, new(mvclust.Options), &demand{samples: n, dims: dims})
		at := debug.SetMemoryLimit(-1)
		if err == nil {
			release()
		}
		if now := debug.SetMemoryLimit(-1); now != before {
			t.Fatalf("the limit %d is left behind, where it was %d", now, before)
		}
		return at, err
	}
	free, err := limit(0)
	if err != nil {
		t.Fatal(err)
	}
	if free < 4*n*256 || free > 40*4*n*256 {
		t.Errorf("without a budget the limit is %d", free)
	}
	if at, err := limit(1 << 50); err != nil || at <= free || at > 1<<50 {
		t.Errorf("with a large budget the limit is %d, the error %v", at, err)
	}
	_, err = limit(1 << 30)
	if err == nil || !strings.HasPrefix(err.Error(), "--memory: 1GiB is too little for 1000000 samples in 2 views, which take ") {
		t.Fatalf("the error is %v", err)
	}
	_, remedy, _ := strings.Cut(err.Error(), "give --memory ")
	remedy, _, _ = strings.Cut(remedy, ",")
	var enough size
	if err := enough.Set(remedy); err != nil {
		t.Fatal(err)
	}
	if at, err := limit(enough); err != nil || at > int64(enough) {
		t.Errorf("with %s the limit is %d, the error %v", remedy, at, err)
	}
	// Somebody's own limit stays.
	defer debug.SetMemoryLimit(before)
	before = 1 << 40 // for limit, above
	debug.SetMemoryLimit(before)
	if at, err := limit(1 << 50); err != nil || at != before {
		t.Errorf("the limit is %d, not %d; the error is %v", at, before, err)
	}
}

// Without a budget, a run that needs more than there is is refused with both figures; a budget
// is the user's word.
func TestMemoryAtHand(t *testing.T) {
	t.Setenv("GOGC", "")
	d := &demand{sources: []string{"in/a.npy"}, samples: 1_000_000, dims: []int{128, 128}}
	hand := memory.Limit{Bytes: 1 << 30, By: "what is left"}
	_, _, err := limitMemory(0, hand, new(mvclust.Options), d)
	said := regexp.MustCompile(`^a\.npy: 1000000 samples in 2 views take ([0-9.]+GiB) of memory where there are 1GiB, what is left; give fewer samples or features, .* or give --memory ([0-9.]+GiB) to try`)
	if err == nil || !said.MatchString(err.Error()) {
		t.Fatalf("the error is %v", err)
	}
	remedy := said.FindStringSubmatch(err.Error())
	var need size
	if err := need.Set(remedy[2]); err != nil || remedy[1] != remedy[2] || need < 1<<30 {
		t.Errorf("the figures are %s and %s", remedy[1], remedy[2])
	}
	for budget, at := range map[size]int64{need: hand.Bytes, 0: int64(need)} {
		_, release, err := limitMemory(budget, memory.Limit{Bytes: at}, new(mvclust.Options), d)
		if err != nil {
			t.Errorf("with a budget of %s and %d at hand: %v", &budget, at, err)
			continue
		}
		release()
	}
}

// Where scaled rows are too much, rows stay as they are given.
func TestLeanMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	d := &demand{samples: 5_000_000, dims: []int{128, 128}}
	for budget, want := range map[size]bool{24 << 30: true, 40 << 30: false, 0: true} {
		opt := mvclust.Options{Consume: true}
		_, release, err := limitMemory(budget, memory.Limit{Bytes: 24 << 30}, &opt, d)
		if err != nil {
			t.Fatal(err)
		}
		release()
		if opt.Lean != want {
			t.Errorf("with a budget of %s, rows are scaled when they are compared: %v, want %v", &budget, opt.Lean, want)
		}
	}
}

// Pictures get what the budget leaves, within bounds, and count as a part of what a run needs.
func TestPictureMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	d := &demand{samples: 100_000, dims: []int{128}, pictures: true}
	plain := mvclust.Options{Metrics: []similarity.Metric{similarity.L2}} // whose rows are not scaled
	run, err := d.bytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	const least, most = report.LeastPictureMemory, report.MostPictureMemory
	for _, c := range []struct{ budget, hand, want size }{
		{0, 1 << 50, most}, {0, run + least + 100, least + 100}, {0, run + least - 1, 0},
		{run + least - 1, 1 << 50, 0}, {run + least, 1 << 50, least}, {run + 2*least, 1 << 50, 2 * least}, {run + 3*most, 1 << 50, most},
	} {
		got, release, err := limitMemory(c.budget, memory.Limit{Bytes: int64(c.hand)}, &plain, d)
		if (err != nil) != (c.want == 0) || got != int64(c.want) {
			t.Errorf("budget %d, %d at hand: %d for a picture, %v; want %d", c.budget, c.hand, got, err, c.want)
		}
		if err == nil {
			release()
		}
	}
}

// The memory of new samples is checked with that of their model, before that is read and after.
func TestNewcomersMemory(t *testing.T) {
	info := &mvclust.ModelInfo{Samples: 1000, Edges: 40000, Neighbours: 10, Nearest: 20, Candidates: 40, Views: []mvclust.ViewInfo{{Dims: 1000}}}
	d := &demand{sources: []string{"new.npy"}, samples: 1000, dims: []int{1000}}
	for _, footprint := range []func(*mvclust.ModelInfo, int, int) int64{predict.Footprint, predict.UpdateFootprint} {
		held := (*mvclust.ModelInfo).Footprint
		o := &newcomerOptions{footprint: footprint, held: held}
		need := footprint(info, 1000, 0) + program + 1000*perSample
		j := &job{}
		if err := o.limit(j, memory.Limit{Bytes: need}, info, d); err != nil {
			t.Error(err)
		}
		j.close()
		reading := *d // with the model, as much as what comes after it
		reading.scratch = footprint(info, 1000, 0) - held(info) - d.values()
		if err := o.limit(j, memory.Limit{Bytes: need}, info, &reading); err != nil {
			t.Errorf("while new samples are read: %v", err)
		}
		if reading.scratch++; o.limit(j, memory.Limit{Bytes: need}, info, &reading) == nil {
			t.Error("more is read than there is memory")
		}
		j.close()
		for want, d := range map[string]*demand{"new.npy: 1000 samples in 1 view and the model take": d, "new samples for a model of 1000 take": nil} {
			if err := o.limit(&job{}, memory.Limit{Bytes: footprint(info, 0, 0), By: "what is left"}, info, d); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("the error is %v", err)
			}
			o := &newcomerOptions{footprint: footprint, held: held, memory: size(footprint(info, 0, 0))}
			if err := o.limit(&job{}, memory.Limit{Bytes: math.MaxInt64}, info, d); err == nil || !strings.HasPrefix(err.Error(), "--memory: ") {
				t.Errorf("the error is %v", err)
			}
		}
	}
}

// A small file that stands for more numbers than any machine holds is refused before they are
// written out, whatever it is given as.
func TestSparseBomb(t *testing.T) {
	if memory.AtHand().Bytes > 64<<30 {
		t.Skip("this machine could hold it")
	}
	dir := t.TempDir()
	small(t, dir)
	write(t, dir, "bomb.mat", sparse(math.MaxInt32, 60)) // 515 GB in single precision
	write(t, dir, "tall.mat", sparse(math.MaxInt32, 1))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"bomb.mat: 2147483647 samples in 1 view take", []string{"fit", "bomb.mat", "--quiet", "-o", "out"}},
		{"of memory where there are", []string{"fit", "synth.npz", "--truth", "tall.mat:X", "--quiet", "-o", "out"}},
		{"of memory where there are", []string{"fit", "synth.npz", "--id", "tall.mat:X", "--quiet", "-o", "out"}},
		{"of memory where there are", []string{"fit", "synth.npz", "--index", "tall.mat:X", "--quiet", "-o", "out"}},
	} {
		o := command(t, dir, c.args...)
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, o.status, o.stderr, c.want)
		}
		wantNames(t, dir, "bomb.mat", "synth.npz", "tall.mat")
	}
}

// sparse returns a MATLAB file of version 5 with the sparse matrix X, in which one value is 1.
func sparse(rows, cols uint32) []byte {
	le := binary.LittleEndian
	element := func(typ uint32, words ...uint32) []byte {
		b := le.AppendUint32(le.AppendUint32(nil, typ), uint32(4*len(words)))
		for _, w := range words {
			b = le.AppendUint32(b, w)
		}
		return append(b, make([]byte, -len(b)&7)...)
	}
	starts := slices.Repeat([]uint32{1}, int(cols)+1)
	starts[0] = 0
	parts := slices.Concat(
		element(6, 5, 1),                     // sparse, room for one value
		element(5, rows, cols),               // dimensions
		[]byte{1, 0, 1, 0, 'X', 0, 0, 0},     // name
		element(5, 0), element(5, starts...), // the rows, and where columns start
		element(9, 0, 0x3ff00000), // 1.0
	)
	head := append([]byte("MATLAB 5.0"), make([]byte, 114)...)
	head = append(head, 0, 1, 'I', 'M')
	head = le.AppendUint32(le.AppendUint32(head, 14), uint32(len(parts)))
	return append(head, parts...)
}
