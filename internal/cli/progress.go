package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress tells on stderr what is being done: on a terminal in one line that is
// redrawn ten times a second, elsewhere in a line when a stage begins, one when
// it ends, and one every half minute between. A nil *progress says nothing.
type progress struct {
	mu     sync.Mutex
	w      io.Writer
	width  func() int // columns of the terminal; nil where w is none
	colour bool
	now    func() time.Time

	stage       string
	unit        string
	done, total int
	begun       time.Time
	running     bool
	drawn       bool

	stop    chan struct{}
	stopped sync.WaitGroup
}

// newProgress begins to report to w. The caller must close it.
func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now, stop: make(chan struct{})}
	p.colour = os.Getenv("NO_COLOR") == "" //nolint:misspell // the name that others have agreed on
	every := 30 * time.Second
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		every = 100 * time.Millisecond
		p.width = func() int {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
				return width
			}
			return 80
		}
	}
	p.stopped.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.tick()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// update says how far a stage is. A stage begins with its first update and ends
// with the first that has done equal to total.
func (p *progress) update(stage, unit string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if stage != p.stage {
		p.stage, p.unit, p.begun, p.running = stage, unit, p.now(), true
		p.line(stage)
	}
	p.done, p.total = done, total
	if p.running && done >= total {
		p.running = false
		p.line(fmt.Sprintf("%s: done in %s", stage, short(p.now().Sub(p.begun))))
	}
}

// note writes a remark on a line of its own.
func (p *progress) note(sentence string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	say(p.w, "note: "+oneLine(sentence)+"\n")
}

// close ends the reports and leaves an empty line for what comes.
func (p *progress) close() {
	if p == nil {
		return
	}
	select {
	case <-p.stop:
		return
	default:
	}
	close(p.stop)
	p.stopped.Wait()
	p.clear()
}

// tick shows how far the stage is.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running {
		return
	}
	if p.width == nil {
		p.line(p.stage + ": " + p.state())
		return
	}
	p.draw()
}

// line writes a whole line where w is no terminal.
func (p *progress) line(s string) {
	if p.width == nil {
		say(p.w, s+"\n")
	}
}

// state says in words how far the stage is.
func (p *progress) state() string {
	elapsed := p.now().Sub(p.begun)
	if p.total <= 1 || p.done == 0 {
		return short(elapsed)
	}
	rate := float64(p.done) / max(elapsed.Seconds(), 1e-3)
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
	return fmt.Sprintf("%d%%, %.3g %s/s, %s left", 100*p.done/p.total, rate, p.unit, short(left))
}

// draw redraws the line of a terminal.
func (p *progress) draw() {
	const cells = 24
	text := p.stage + "  "
	if p.total > 1 {
		full := cells * p.done / p.total
		text += "[" + strings.Repeat("#", full) + strings.Repeat("-", cells-full) + "] "
	}
	text += p.state()
	// One column stays free, lest the terminal wraps the line.
	text = text[:min(len(text), max(0, p.width()-1))]
	if name := min(len(p.stage), len(text)); p.colour {
		text = "\x1b[1m" + text[:name] + "\x1b[0m" + text[name:]
	}
	say(p.w, "\r"+text+"\x1b[K")
	p.drawn = true
}

// clear removes the line of a terminal.
func (p *progress) clear() {
	if p.drawn {
		say(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// short writes a duration for people.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
