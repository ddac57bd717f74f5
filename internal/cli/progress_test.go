package cli

import (
	"bytes"
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
	p.update("reading", "files", 0, 1)
	*now = now.Add(200 * time.Millisecond)
	p.update("reading", "files", 1, 1)
	p.note("two\nlines")
	p.update("learning", "epochs", 0, 400)
	*now = now.Add(30 * time.Second)
	p.tick()
	p.update("learning", "epochs", 100, 400)
	p.tick()
	*now = now.Add(90 * time.Second)
	p.update("learning", "epochs", 400, 400)
	p.update("learning", "epochs", 400, 400) // a last report may come twice
	p.tick()
	p.update("nothing", "steps", 0, 0)
	p.close()
	p.close()
	want := `reading
reading: done in 0.20s
note: two lines
learning
learning: 30s
learning: 25%, 3.33 epochs/s, 1m30s left
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
	p.update("learning", "epochs", 0, 400)
	*now = now.Add(2 * time.Second)
	p.update("learning", "epochs", 100, 400)
	if b.Len() > 0 {
		t.Fatalf("wrote %q between ticks", b.String())
	}
	p.tick()
	if got, want := b.String(), "\rlearning  [######------------------] 25%, 50 epochs/s, 6.0s left"[:60]+"\x1b[K"; got != want {
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

func TestProgressColour(t *testing.T) {
	for _, width := range []int{0, 1, 5, 40, 200} {
		var plain, bold bytes.Buffer
		for w, colour := range map[*bytes.Buffer]bool{&plain: false, &bold: true} {
			p, now := clock(w, max(1, width), colour)
			p.update("learning", "epochs", 3, 4)
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
	p.update("learning", "epochs", 0, 1)
	p.note("nothing")
	p.close()
}

// A buffer is no terminal, and the ticks end with close.
func TestNewProgress(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	p.update("reading", "files", 0, 1)
	p.close()
	if b.String() != "reading\n" {
		t.Errorf("wrote %q", b.String())
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
