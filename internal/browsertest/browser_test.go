package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browserPath returns where a browser is, or skips the test.
func browserPath(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium or Chrome here to open the page in; install one to run this test")
	return ""
}

// look is how a page is looked at.
type look struct {
	width, height int64
	dark, touch   bool
}

var desk = look{width: 1280, height: 900}

// tab is an open page.
type tab struct {
	t       testing.TB
	ctx     context.Context
	address string

	mu       sync.Mutex
	requests []string
	console  []string
}

// open opens a file in a browser of its own.
func open(t testing.TB, file string, l look) *tab {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return visit(t, "file://"+path, "#legend", l)
}

// visit opens an address in a browser of its own, and waits for an element. The page may ask for
// what is below the address alone.
func visit(t testing.TB, address, ready string, l look) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(browserPath(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Headless, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, address: address}
	if err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			p.mu.Lock()
			p.requests = append(p.requests, e.Request.URL)
			p.mu.Unlock()
		}
	}); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.console = append(p.console, m.String())
			p.mu.Unlock()
		}
	}()
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	var opts []chromedp.EmulateViewportOption
	if l.touch {
		opts = append(opts, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.do(chromedp.EmulateViewport(l.width, l.height, opts...), chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS(ready)))
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns what a JavaScript expression comes to.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%.80s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (p *tab) wait(what, expression string) {
	p.t.Helper()
	for range 100 {
		if eval[bool](p, expression) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Errorf("%s: %s is not true in five seconds", what, expression)
}

// local are the beginnings of addresses of what is in the page itself.
var local = []string{"data:", "blob:", "about:srcdoc"}

// quiet fails the test if the page has written to the console or asked for anything but
// itself.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.console {
		p.t.Errorf("the console says: %s", m)
	}
	for _, url := range p.requests {
		if !strings.HasPrefix(url, p.address) && !slices.ContainsFunc(local, func(scheme string) bool { return strings.HasPrefix(url, scheme) }) {
			p.t.Errorf("the page asks for %s", url)
		}
	}
	if len(p.requests) == 0 {
		p.t.Error("not even the page itself was seen to be asked for")
	}
}

// shot saves a picture of the whole page.
func (p *tab) shot(path string) {
	p.t.Helper()
	b, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
