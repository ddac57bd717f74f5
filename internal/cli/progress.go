package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/mvclust/mvclust/internal/words"
)

// progress reports the stages of a run on stderr. On a terminal it redraws one line ten
// times a second; elsewhere it prints a line when a stage begins, when it ends, and every
// half minute in between. As JSON, it prints a progressReport as a line when a stage begins
// and ends and ten times a second. The time left is that of the whole run where it can be
// estimated, otherwise that of the stage. A nil *progress prints nothing.
type progress struct {
	mu     sync.Mutex
	w      io.Writer
	json   bool
	width  func() int // columns of the terminal; nil if w is not a terminal, and as JSON
	colour bool
	now    func() time.Time

	stage       string
	unit        string
	done, total int
	begun       time.Time
	told        time.Time // when the last line of JSON was printed
	running     bool
	drawn       bool
	run         estimate

	stop    chan struct{}
	ending  sync.Once
	stopped sync.WaitGroup
}

// progressReport says how far a run is, as a line of JSON.
type progressReport struct {
	Stage string  `json:"stage"`
	Done  int     `json:"done"`
	Total int     `json:"total"`
	Unit  string  `json:"unit"`  // what done and total count
	Share float64 `json:"share"` // of the whole run's work, from 0 to 1
	// SecondsLeft of the whole run is absent where it cannot be estimated.
	SecondsLeft *float64 `json:"seconds_left,omitempty"`
}

// progressNote is a note, as a line of JSON.
type progressNote struct {
	Note string `json:"note"`
}

// jsonEvery is the time between two lines of JSON, but at the ends of stages.
const jsonEvery = 100 * time.Millisecond

// leastShare is the share of a run's work after which its duration is estimated.
const leastShare = 0.03

// estimate estimates when a run will end.
type estimate struct {
	begun, told time.Time
	share       float64       // of the work that is done
	whole       time.Duration // from begun to the end, smoothed; 0 before the first estimate
}

// left returns the time to the end of the run, and whether it can be estimated.
func (e *estimate) left(now time.Time) (time.Duration, bool) {
	if e.share < leastShare || e.share > 1 {
		return 0, false
	}
	elapsed := now.Sub(e.begun)
	whole := time.Duration(float64(elapsed) / e.share)
	if e.whole > 0 {
		// Exponential smoothing over a tenth of the time that has passed, or that
		// is left if that is less.
		old := math.Exp(-10 * float64(now.Sub(e.told)) / float64(max(min(elapsed, whole-elapsed), 1)))
		whole += time.Duration(old * float64(e.whole-whole))
	}
	e.whole, e.told = whole, now
	return max(whole-elapsed, 0), true
}

// newProgress starts to report to w, or with asJSON as lines of JSON. The caller must close it.
func newProgress(w io.Writer, asJSON bool) *progress {
	p := &progress{w: w, json: asJSON, now: time.Now, stop: make(chan struct{})}
	p.colour = os.Getenv("NO_COLOR") == "" //nolint:misspell // the name that others have agreed on
	every := 30 * time.Second
	if asJSON {
		every = jsonEvery
	} else if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
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

// update reports how far a stage is. A stage begins with its first update and ends with
// the first at which done equals total. share, from 0 to 1, is how much of the whole run's
// work is done; the run begins with the last stage that begins at share 0.
func (p *progress) update(stage, unit string, done, total int, share float64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.run.share = done, total, share
	if stage != p.stage {
		p.stage, p.unit, p.begun, p.running = stage, unit, p.now(), true
		if share == 0 {
			p.run = estimate{begun: p.begun}
		}
		p.line(stage)
	}
	if p.running && done >= total {
		p.running = false
		p.line(fmt.Sprintf("%s: done in %s", stage, short(p.now().Sub(p.begun))))
	} else if p.json && p.running && p.now().Sub(p.told) >= jsonEvery {
		p.line("") // in a browser, there are no ticks while the only thread computes
	}
}

// note prints a note on a line of its own.
func (p *progress) note(sentence string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		p.encode(progressNote{sentence})
		return
	}
	p.clear()
	say(p.w, "note: "+words.Printable(sentence)+"\n")
}

// close ends the reports and clears the line.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.ending.Do(func() {
		close(p.stop)
		p.stopped.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
	})
}

// tick reports how far the stage is.
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

// line prints a line if w is not a terminal. As JSON, it is the report.
func (p *progress) line(s string) {
	switch {
	case p.json:
		r := progressReport{Stage: p.stage, Done: p.done, Total: p.total, Unit: p.unit, Share: p.run.share}
		if left, known := p.run.left(p.now()); known {
			seconds := left.Seconds()
			r.SecondsLeft = &seconds
		}
		p.told = p.now()
		p.encode(r)
	case p.width == nil:
		say(p.w, s+"\n")
	}
}

// encode prints a line of JSON.
func (p *progress) encode(report any) {
	if line, err := json.Marshal(report); err == nil {
		say(p.w, string(line)+"\n")
	}
}

// state describes how far the stage is.
func (p *progress) state() string {
	now := p.now()
	elapsed := now.Sub(p.begun)
	var s string
	whole, known := p.run.left(now)
	switch {
	case p.total <= 1 || p.done == 0:
		s = short(elapsed)
	default:
		speed := float64(p.done) / max(elapsed.Seconds(), 1e-3)
		s = fmt.Sprintf("%d%%, %s", int(100*float64(p.done)/float64(p.total)), rate(speed, p.unit))
		if !known {
			left := time.Duration(float64(p.total-p.done) / speed * float64(time.Second))
			s += ", " + long(left) + " left of this step"
		}
	}
	if known {
		s += ", " + long(whole) + " left"
	}
	return s
}

// draw redraws the line of a terminal.
func (p *progress) draw() {
	const cells = 16
	text := p.stage + "  "
	if p.total > 1 {
		full := int(cells * float64(p.done) / float64(p.total))
		text += "[" + strings.Repeat("#", full) + strings.Repeat("-", cells-full) + "] "
	}
	text += p.state()
	// One column stays free, so that the terminal does not wrap the line.
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

// short formats a duration.
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

// long formats the time left, rounded up.
func long(d time.Duration) string {
	s := max(1, int(math.Ceil(d.Seconds())))
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 60*60:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", s/(60*60), s/60%60)
	}
}

// rate formats a number per second, to three digits.
func rate(speed float64, unit string) string {
	prefix := ""
	if unit == "bytes" {
		unit = "B"
		for _, p := range []string{"k", "M", "G"} {
			if speed >= 1000 {
				speed, prefix = speed/1000, p
			}
		}
	}
	digits := fmt.Sprintf("%.3g", speed)
	if speed >= 999.5 {
		unit10 := math.Pow(10, math.Floor(math.Log10(speed))-2)
		digits = strconv.FormatFloat(math.Round(speed/unit10)*unit10, 'f', 0, 64)
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + "," + digits[i:]
		}
	}
	return digits + " " + prefix + unit + "/s"
}
