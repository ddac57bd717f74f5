package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// shared is a folder for all tests.
var shared string

func TestMain(m *testing.M) {
	var err error
	if shared, err = os.MkdirTemp("", "mvclust-web-"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(shared)
	os.Exit(status)
}

// build makes the page that clusters, index.html, and the command, mvclust, in the shared folder,
// but for what MVCLUST_WEB and MVCLUST_COMMAND name.
var build = sync.OnceValue(func() error {
	for name, args := range map[string][]string{
		"MVCLUST_WEB": {"run", "./web", "-o", shared}, "MVCLUST_COMMAND": {"build", "-o", filepath.Join(shared, "mvclust"), "./cmd/mvclust"},
	} {
		if os.Getenv(name) != "" {
			continue
		}
		build := exec.CommandContext(context.Background(), "go", args...)
		build.Dir = filepath.Join("..", "..")
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, said)
		}
	}
	return nil
})

// webPage returns the folder of the page, or skips the test where there is no browser.
func webPage(t testing.TB) string {
	t.Helper()
	browserPath(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return cmp.Or(os.Getenv("MVCLUST_WEB"), shared)
}

// command runs a command line in a folder and returns what it says on standard error. It computes
// by the loops that browsers have too.
func command(t testing.TB, folder string, args ...string) (said string, err error) {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("MVCLUST_COMMAND"), filepath.Join(shared, "mvclust")), args...)
	var b bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = folder, &b, append(os.Environ(), "MVCLUST_KERNEL=go")
	err = cmd.Run()
	return b.String(), err
}

// drop drags files onto the page.
func (p *tab) drop(paths ...string) {
	p.t.Helper()
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		event := input.DispatchDragEventParams{Type: kind, X: 150, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}}
		if _, err := chromedp.Call(p.ctx, input.DispatchDragEvent, event); err != nil {
			p.t.Fatal(err)
		}
	}
	p.wait("the files are listed", fmt.Sprintf(`document.querySelectorAll("#files tr").length >= %d && !document.body.classList.contains("over")`, len(paths)))
}

// patiently waits until a run has done something.
func (p *tab) patiently(what, expression string) {
	p.t.Helper()
	for range 900 {
		if eval[bool](p, expression) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Fatalf("%s: %s is not true; the page says: %s", what, expression, eval[string](p, "document.body.innerText"))
}

// tabTo presses the tabulator until the named element has the focus.
func (p *tab) tabTo(id string) {
	p.t.Helper()
	for range 20 {
		if eval[string](p, "document.activeElement.id || document.activeElement.textContent") == id {
			return
		}
		p.do(chromedp.KeyEvent("\t"))
	}
	p.t.Fatalf("the tabulator does not lead to %s", id)
}

// saveAll saves every file that the page offers, and returns their contents.
func (p *tab) saveAll() map[string][]byte {
	p.t.Helper()
	dir := p.t.TempDir()
	allow := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir}
	if _, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, allow); err != nil {
		p.t.Fatal(err)
	}
	saved := map[string][]byte{}
	for _, name := range eval[[]string](p, `[...document.querySelectorAll("#saves a")].map(a => a.textContent)`) {
		eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll("#saves a")].find(a => a.textContent === %q).click() || true`, name))
		for range 100 {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && len(b) > 0 {
				saved[name] = b
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if saved[name] == nil {
			p.t.Errorf("%s was not saved", name)
		}
	}
	return saved
}

// sound checks that the page fits its window, that its text stands out, and with axe-core.
func (p *tab) sound(what string) {
	p.t.Helper()
	if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.t.Errorf("%s: the page is %v pixels wider than its window", what, over)
	}
	if faint := eval[[]string](p, contrast); len(faint) > 0 {
		p.t.Errorf("%s: text that is too faint: %q", what, faint)
	}
	if os.Getenv("MVCLUST_AXE") != "" {
		p.accessible(axeScript(p.t), what)
	}
	if dir := os.Getenv("MVCLUST_SHOTS"); dir != "" {
		p.shot(filepath.Join(dir, "web-"+strings.ReplaceAll(what, " ", "-")+".png"))
	}
}

const (
	isRunning  = `!document.getElementById("running").hidden && document.querySelectorAll("#stages li").length > 1`
	isDone     = `!document.getElementById("done").hidden`
	isChoosing = `!document.getElementById("choosing").hidden`
	problem    = `(document.getElementById("problem").hidden ? "" : document.getElementById("problem-words").textContent)`
	inReport   = `document.getElementById("report").contentDocument`
)

// The example, from disk and by keys alone: it is stopped, run again, and its labels are those of
// the command.
func TestWebExample(t *testing.T) {
	p := visit(t, "file://"+filepath.Join(webPage(t), "index.html"), "#drop", desk)
	p.sound("start desk light")
	p.tabTo("example")
	p.do(chromedp.KeyEvent("\r"))
	p.patiently("the run is under way", isRunning)
	p.sound("running desk light")
	p.tabTo("stop")
	p.do(chromedp.KeyEvent("\r"))
	p.wait("it is stopped", isChoosing+` && document.activeElement.id === "example" && document.querySelector(".state").textContent.startsWith("Stopped")`)
	p.do(chromedp.KeyEvent("\r"))
	p.patiently("the example is done", isDone)
	p.patiently("the report is there", inReport+`.querySelectorAll("#legend button").length > 0`)
	p.wait("its map is painted", strings.Replace(painted, "document.", inReport+".", 1))
	if n := eval[float64](p, inReport+`.querySelectorAll(".levels button").length`); n < 2 {
		t.Errorf("there are %v levels", n)
	}
	p.tabTo("labels.csv")
	saved := p.saveAll()

	dir := t.TempDir()
	if said, err := command(t, dir, "demo", "-o", dir); err != nil {
		t.Fatal(err, said)
	}
	for _, name := range []string{"labels.csv", "levels.csv", "report.html", "run.json", "model.mvclust"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if same := bytes.Equal(saved[name], want); saved[name] == nil || !same && strings.HasSuffix(name, ".csv") {
			t.Errorf("%s has %d bytes, and differs from the %d bytes of the command", name, len(saved[name]), len(want))
		}
	}
	p.tabTo("again")
	eval[bool](p, inReport+`.querySelector(".skip").click() || true`)
	p.wait("the report's own links lead into it", inReport+`.activeElement.id === "clusters"`)
	eval[bool](p, inReport+`.getElementById("theme").click() || true`)
	p.wait("the page is dark with its report", `document.documentElement.dataset.theme === "dark"`)
	p.do(chromedp.Focus(chromedp.CSS("#again")), chromedp.KeyEvent("\r"))
	p.wait("one can begin anew", isChoosing+` && document.activeElement.id === "choose"`)
	p.quiet()
}

// Files from a server, on a phone and in the dark: they are dropped, and what they are is chosen;
// what cannot be read is told in the words of the command, and what does not fit before it starts.
func TestWebFiles(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(webPage(t))))
	defer server.Close()
	dir := t.TempDir()
	if said, err := command(t, dir, "synth", "-o", ".", "--samples", "300", "--classes", "6", "--noise", "0.6", "--missing", "0.1"); err != nil {
		t.Fatal(err, said)
	}
	large := append([]byte("\x93NUMPY\x01\x00\x76\x00"), fmt.Sprintf("%-117s\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (4000000, 2), }")...)
	for name, content := range map[string][]byte{
		"bad.csv": []byte("id,x,y\na,1,2\nb,3,4\nc,5,6\nd,7,oops\n"), "large.npy": append(large, make([]byte, 8_000_000)...),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := visit(t, server.URL+"/", "#drop", look{width: 390, height: 844, dark: true, touch: true})
	p.sound("start phone dark")

	p.drop(filepath.Join(dir, "bad.csv"))
	p.do(chromedp.Click(chromedp.CSS("#go")))
	p.patiently("the fault is told", problem+` !== ""`)
	said, _ := command(t, dir, "fit", "bad.csv", "--progress-json")
	if got := eval[string](p, problem); !strings.Contains(said, "mvclust: "+got+"\n") || !strings.Contains(got, "oops") {
		t.Errorf("the page says %q, the command %q", got, said)
	}
	p.sound("error phone dark")
	p.do(chromedp.Click(chromedp.CSS("#files button")))
	p.drop(filepath.Join(dir, "large.npy"))
	p.do(chromedp.Click(chromedp.CSS("#go")))
	p.patiently("it is too large", problem+`.includes("4000000 samples in 1 view take")`)
	if got := eval[string](p, `document.getElementById("instead").innerText`); !strings.Contains(got, "mvclust fit large.npy") {
		t.Errorf("instead, the page says: %q", got)
	}
	p.do(chromedp.Click(chromedp.CSS("#files button")))
	p.drop(filepath.Join(dir, "synth.npz"))
	p.do(chromedp.SetValue(chromedp.CSS("#files select"), "both"))
	eval[bool](p, `document.querySelector("#files select").dispatchEvent(new Event("change"))`)
	if got, want := eval[string](p, `document.getElementById("line").textContent`), "mvclust fit synth.npz --truth synth.npz:labels"; got != want {
		t.Errorf("the command line is %q, want %q", got, want)
	}
	p.sound("files phone dark")
	p.do(chromedp.Click(chromedp.CSS("#go")))
	p.patiently("it is done", isDone)
	p.patiently("the report is there", inReport+`.querySelectorAll("#legend button").length > 0`)
	saved := p.saveAll()
	if said, err := command(t, dir, "fit", "synth.npz", "--quiet"); err != nil {
		t.Fatal(err, said)
	}
	if want, err := os.ReadFile(filepath.Join(dir, "mvclust-out", "labels.csv")); err != nil || !bytes.Equal(saved["labels.csv"], want) {
		t.Errorf("the labels differ from those of the command, %v", err)
	}
	p.quiet()
	p.sound("done phone dark")
}

// Whatever a script in the page may try, nothing leaves it.
func TestWebSendsNothing(t *testing.T) {
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	files := http.FileServer(http.Dir(webPage(t)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || r.Method != http.MethodGet {
			asked.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	p := visit(t, server.URL+"/", "#drop", desk)
	blocked, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](`(async () => {
		let blocked = 0;
		document.addEventListener("securitypolicyviolation", () => blocked++);
		for (const to of ["`+elsewhere.URL+`", location.origin + "/data"]) {
			const tries = [
				() => fetch(to), () => { const x = new XMLHttpRequest(); x.open("POST", to); x.send("data"); }, () => navigator.sendBeacon(to, "data"),
				() => new WebSocket(to.replace("http", "ws")), () => new EventSource(to), () => { new Image().src = to; },
				() => import(to + "/x.js"), () => { const f = document.createElement("form"); f.action = to; document.body.append(f); f.submit(); },
				...["script", "iframe", "embed", "video"].map(tag => () => { const e = document.createElement(tag); e.src = to; document.body.append(e); }),
				() => { const e = document.createElement("link"); e.rel = "stylesheet"; e.href = to; document.head.append(e); },
				() => { document.body.style.backgroundImage = "url(" + to + ")"; },
				() => new Promise(then => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('" + to + "').catch(() => 0).then(() => postMessage(0))"]))); w.onmessage = then; }),
			];
			for (const attempt of tries) { try { await attempt(); } catch {} }
		}
		await new Promise(then => setTimeout(then, 300));
		return blocked;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests have left the page", n)
	}
	if blocked < 20 {
		t.Errorf("the policy has stopped only %v attempts", blocked)
	}
}
