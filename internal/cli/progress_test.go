package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// clock is a progress with a clock that the test sets, and no ticks of its own.
func clock(w *bytes.Buffer, width int, colour bool) (*progress, *time.Time) {
	now := time.Unix(0, 0)
	p := &progress{w: w, now: func() time.Time { return now }, colour: colour, stop: make(chan struct{})}
	if width > 0 {
		p.width = func() int { return width }
	}
	return p, &now
}

func TestProgressPlain(t *testing.T) {
	var b bytes.Buffer
	p, now := clock(&b, 0, true)
	p.tick() // before any stage
	p.update("reading", "files", 0, 1, 0)
	*now = now.Add(200 * time.Millisecond)
	p.update("reading", "files", 1, 1, 0)
	p.note("two\nlines")
	p.update("learning", "epochs", 0, 400, 0)
	*now = now.Add(30 * time.Second)
	p.tick()
	p.update("learning", "epochs", 100, 400, 0)
	p.tick()
	*now = now.Add(90 * time.Second)
	p.update("learning", "epochs", 400, 400, 0)
	p.update("learning", "epochs", 400, 400, 0) // a last report may come twice
	p.tick()
	p.update("nothing", "steps", 0, 0, 0)
	p.close()
	p.close()
	want := `reading
reading: done in 0.20s
note: two\nlines
learning
learning: 30s
learning: 25%, 3.33 epochs/s, 1 min 30 s left of this step
learning: done in 2m0s
nothing
nothing: done in 0.00s
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestProgressTerminal(t *testing.T) {
	var b bytes.Buffer
	p, now := clock(&b, 60, false)
	p.update("learning", "epochs", 0, 400, 0)
	*now = now.Add(2 * time.Second)
	p.update("learning", "epochs", 100, 400, 0)
	if b.Len() > 0 {
		t.Fatalf("wrote %q between ticks", b.String())
	}
	p.tick()
	if got, want := b.String(), "\rlearning  [####------------] 25%, 50 epochs/s, 6 s left of this step"[:60]+"\x1b[K"; got != want {
		t.Errorf("drew %q, want %q", got, want)
	}
	b.Reset()
	p.note("halt")
	if got, want := b.String(), "\r\x1b[Knote: halt\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	b.Reset()
	p.close()
	if b.Len() > 0 {
		t.Errorf("cleared a line that was clear: %q", b.String())
	}
}

// The time left is that of the whole run, from where it can be told: it follows the
// share of the work smoothly, whatever the stage, and the reading does not count.
func TestProgressWhole(t *testing.T) {
	var b bytes.Buffer
	p, now := clock(&b, 0, false)
	for _, step := range []struct {
		after       time.Duration
		stage, unit string
		done, total int
		share       float64
	}{
		{0, "reading", "bytes", 0, 3e9, 0},
		{4 * time.Second, "reading", "bytes", 1e9, 3e9, 0},
		{8 * time.Second, "reading", "bytes", 3e9, 3e9, 0},
		{time.Second, "preparing", "views", 0, 2, 0},
		{2 * time.Second, "finding", "rows", 0, 123456, 0.02},
		{2 * time.Second, "finding", "rows", 24691, 123456, 0.04},
		{20 * time.Second, "finding", "rows", 98765, 123456, 0.08},
		{26 * time.Second, "moving", "sweeps", 0, 30, 0.5},
		{50 * time.Second, "moving", "sweeps", 29, 30, 1},
	} {
		*now = now.Add(step.after)
		p.update(step.stage, step.unit, step.done, step.total, step.share)
		p.tick()
	}
	want := `reading
reading: 0.00s
reading: 33%, 250 MB/s, 8 s left of this step
reading: done in 12s
preparing
preparing: 0.00s
finding
finding: 0.00s
finding: 19%, 12,300 rows/s, 1 min 36 s left
finding: 80%, 4,490 rows/s, 4 min 36 s left
moving
moving: 0.00s, 52 s left
moving: 96%, 0.58 sweeps/s, 1 s left
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Where the work is done at an even rate the estimate is right, and one that is
// wrong for a while mends itself.
func TestEstimate(t *testing.T) {
	const whole = 100 * time.Second
	for _, c := range []struct {
		name   string
		share  func(x float64) float64 // of the share of the time
		factor float64                 // that the time left may be wrong by
	}{
		{"even", func(x float64) float64 { return x }, 1.001},
		{"slow start", func(x float64) float64 { return 0.7*x + 0.3*x*x }, 1.6},
		{"fast start", func(x float64) float64 { return 1.3*x - 0.3*x*x }, 1.6},
	} {
		e := estimate{begun: time.Unix(0, 0)}
		for ms := 100; ms < 100_000; ms += 100 {
			now := e.begun.Add(time.Duration(ms) * time.Millisecond)
			e.share = c.share(float64(ms) / 100_000)
			got, ok := e.left(now)
			if ok != (e.share >= leastShare) {
				t.Fatalf("%s: told at %v: %v", c.name, e.share, ok)
			}
			left := whole - now.Sub(e.begun)
			if f := got.Seconds() / left.Seconds(); ok && ms >= 20_000 && ms <= 99_000 && (f > c.factor || f < 1/c.factor) {
				t.Errorf("%s: after %d ms %v are told for %v", c.name, ms, got, left)
			}
		}
	}
}

func TestLong(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 1100 * time.Millisecond: "2 s", 59 * time.Second: "59 s", 59*time.Second + 1: "1 min 0 s",
		200 * time.Second: "3 min 20 s", time.Hour: "1 h 0 min", 26*time.Hour + 90*time.Second: "26 h 1 min",
	} {
		if got := long(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		speed float64
		unit  string
		want  string
	}{
		{0, "rows", "0 rows/s"}, {0.1234, "rows", "0.123 rows/s"}, {12.34, "rows", "12.3 rows/s"}, {999.4, "rows", "999 rows/s"},
		{999.6, "rows", "1,000 rows/s"}, {12345, "rows", "12,300 rows/s"}, {1234567, "rows", "1,230,000 rows/s"}, {999999, "rows", "1,000,000 rows/s"},
		{12, "bytes", "12 B/s"}, {1234, "bytes", "1.23 kB/s"}, {987.6e6, "bytes", "988 MB/s"}, {2.5e9, "bytes", "2.5 GB/s"},
	} {
		if got := rate(c.speed, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.speed, c.unit, got, c.want)
		}
	}
}

func TestProgressColour(t *testing.T) {
	for _, width := range []int{0, 1, 5, 40, 200} {
		var plain, bold bytes.Buffer
		for w, colour := range map[*bytes.Buffer]bool{&plain: false, &bold: true} {
			p, now := clock(w, max(1, width), colour)
			p.update("learning", "epochs", 3, 4, 0)
			*now = now.Add(time.Second)
			p.tick()
		}
		stripped := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(bold.String())
		if stripped != plain.String() {
			t.Errorf("width %d: %q in colour, %q without", width, bold.String(), plain.String())
		}
		if !strings.Contains(bold.String(), "\x1b[1m") || strings.Contains(plain.String(), "\x1b[1m") {
			t.Errorf("width %d: colour is not as asked: %q, %q", width, bold.String(), plain.String())
		}
		if n := len(plain.String()) - len("\r\x1b[K"); n >= max(1, width) && n > 0 {
			t.Errorf("width %d: the line has %d columns", width, n)
		}
	}
}

func TestProgressNil(t *testing.T) {
	var p *progress
	p.update("learning", "epochs", 0, 1, 0)
	p.note("nothing")
	p.close()
}

// A buffer is no terminal, and the ticks end with close.
func TestNewProgress(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, false)
	p.update("reading", "files", 0, 1, 0)
	p.close()
	if b.String() != "reading\n" {
		t.Errorf("wrote %q", b.String())
	}
}

// As JSON, the beginning and the end of a stage and every note are a line each.
func TestProgressJSON(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, json: true, now: time.Now, stop: make(chan struct{})}
	p.update("reading \"files\"", "bytes", 0, 2, 0)
	p.tick()
	p.note("a view is\nleft out")
	p.update("reading \"files\"", "bytes", 2, 2, 0.25)
	p.close()
	var got []map[string]any
	for line := range strings.Lines(b.String()) {
		var report map[string]any
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if left, ok := report["seconds_left"].(float64); ok && left < 0 {
			t.Errorf("%v seconds are left", left)
		}
		delete(report, "seconds_left")
		got = append(got, report)
	}
	begun := map[string]any{"stage": "reading \"files\"", "done": 0.0, "total": 2.0, "unit": "bytes", "share": 0.0}
	ended := map[string]any{"stage": "reading \"files\"", "done": 2.0, "total": 2.0, "unit": "bytes", "share": 0.25}
	if want := []map[string]any{begun, begun, {"note": "a view is\nleft out"}, ended}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Without ticks, as in a browser while it computes, updates print a line every 100 ms.
func TestProgressJSONWithoutTicks(t *testing.T) {
	var b bytes.Buffer
	p, now := clock(&b, 0, false)
	p.json = true
	for done := range 10 {
		p.update("reading", "bytes", done, 10, 0)
		*now = now.Add(40 * time.Millisecond)
	}
	p.update("reading", "bytes", 10, 10, 0)
	var got []int
	for line := range strings.Lines(b.String()) {
		var r progressReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, r.Done)
	}
	if want := []int{0, 3, 6, 9, 10}; !reflect.DeepEqual(got, want) {
		t.Errorf("lines at %v of 10, want %v", got, want)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.00s", 250 * time.Millisecond: "0.25s", 3 * time.Second: "3.0s", 61 * time.Second: "1m1s",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
