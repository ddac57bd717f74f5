package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/review"
	"github.com/mvclust/mvclust/synth"
)

// reviewed serves a review of made data, of hostile ids, and returns its address and folder.
func reviewed(t testing.TB) (address, dir string) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 8, Noise: []float64{1.2}, Missing: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	result, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(result.Labels))
	for i := range ids {
		ids[i] = fmt.Sprint(evil, i)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 20))); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	s, err := review.Open(t.Context(), mvclust.NewModel(set.Views, result, ids), review.Options{
		Title: "Things <b>", Folder: dir, Columns: []string{"words", evil},
		Rows: func(i int) []string { return []string{fmt.Sprint("sample ", i), evil} },
		Pictures: func(_ context.Context, samples []int, take func(int, []byte, error)) error {
			take(samples[0], picture.Bytes(), nil)
			return nil
		},
		Apply: func(_ context.Context, r *review.Revision, told func(string, float64)) (*mvclust.Model, error) {
			told("working", 0.5)
			next := *r.Model
			next.Labels, next.Constraints, next.Retired, next.Level = r.Labels, r.Constraints, 0, r.Level
			return &next, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := review.NewServer(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- v.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
		s.Close()
	})
	return v.URL(), dir
}

const asked = `document.getElementById("pair").textContent`

// From the first question to an applied result, by keys alone.
func TestReview(t *testing.T) {
	for _, l := range []look{desk, {width: 390, height: 844, dark: true, touch: true}} {
		t.Run(fmt.Sprint(l.width), func(t *testing.T) {
			address, dir := reviewed(t)
			p := visit(t, address, "#pair figure", l)
			if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("the page is %v pixels wider than its window", over)
			}
			for k, key := range []string{"s", "d", "k", "d"} {
				before := eval[string](p, asked)
				p.do(chromedp.KeyEvent(key))
				p.wait(key+" answers", fmt.Sprintf("%s !== %q", asked, before))
				text, err := os.ReadFile(filepath.Join(dir, review.AnswersFile))
				if err != nil || strings.Count(string(text), evil[:5]) == 0 || bytes.Count(text, []byte("\n")) != k+1 {
					t.Fatalf("after %d answers the file is %q, %v", k+1, text, err)
				}
			}
			before := eval[string](p, asked)
			p.do(chromedp.KeyEvent("u"))
			p.wait("undo leads back", fmt.Sprintf(`%s !== %q && document.getElementById("if-undo").textContent.startsWith("3 ")`, asked, before))
			clusters := eval[float64](p, "document.querySelectorAll('.group').length")
			p.do(chromedp.Focus(chromedp.CSS(".group:first-child .group-tools button")), chromedp.KeyEvent("\r"))
			p.wait("a cluster is split", fmt.Sprintf("document.querySelectorAll('.group').length === %v", clusters+1))
			eval[bool](p, `(() => { const s = document.querySelector(".group:first-child select"); s.value = s.options[1].value; s.dispatchEvent(new Event("change")); return true; })()`)
			p.wait("clusters are joined", fmt.Sprintf("document.querySelectorAll('.group').length === %v", clusters))
			p.do(chromedp.Focus(chromedp.CSS(".group:first-child input")), chromedp.KeyEvent("cats \r"))
			p.wait("a cluster has a name", `document.querySelector(".group:first-child input").value === "cats"`)
			eval[bool](p, "document.activeElement.blur() || true")
			p.do(chromedp.KeyEvent("a"))
			p.wait("the answers are applied", `/^Done: /.test(document.getElementById("changes").textContent) && document.getElementById("undo").disabled`)
			p.quiet()
		})
	}
}

// The page steps through the levels by key, by button and by touch; the questions and the clusters
// follow, answers stay, and what is applied is the level.
func TestReviewLevels(t *testing.T) {
	for _, l := range []look{desk, {width: 390, height: 844, dark: true, touch: true}} {
		t.Run(fmt.Sprint(l.width), func(t *testing.T) {
			address, dir := reviewed(t)
			p := visit(t, address, "#pair figure", l)
			const clusters = `Number(document.getElementById("lead").textContent.replace(",", "").split(" ")[0])`
			const now = `[...document.querySelectorAll("#steps button")].findIndex(b => b.getAttribute("aria-pressed") === "true")`
			const active = `document.activeElement.id || document.activeElement.dataset.level || document.activeElement.tagName`
			counts := eval[[]float64](p, `[...document.querySelectorAll("#steps b")].map(b => Number(b.textContent))`)
			own := int(eval[float64](p, now))
			if len(counts) < 2 || own < 0 {
				t.Fatalf("the levels are %v, now %d", counts, own)
			}
			at := func(what string, level int) {
				t.Helper()
				p.wait(what, fmt.Sprintf("%s === %d && %s === %v && document.querySelectorAll('.group').length === Math.min(100, %v)", now, level, clusters, counts[level], counts[level]))
			}
			press := func(selector string) {
				t.Helper()
				if !l.touch {
					p.do(chromedp.Click(chromedp.CSS(selector)))
					return
				}
				box := eval[[]float64](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "nearest"}); const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2, b.width, b.height]; })()`, selector))
				if box[2] < 40 || box[3] < 40 {
					t.Errorf("%s has %v by %v pixels, too few for a finger", selector, box[2], box[3])
				}
				touch(p, box[0], box[1])
			}
			for level := own - 1; level >= 0; level-- {
				p.do(chromedp.KeyEvent("c"))
				at("c leads to fewer clusters", level)
			}
			if !eval[bool](p, `document.getElementById("coarser").disabled && !document.getElementById("finer").disabled`) {
				t.Error("the coarsest level has a coarser one")
			}
			p.do(chromedp.KeyEvent("c")) // leads nowhere
			p.do(chromedp.KeyEvent("f"))
			at("f leads to more", 1)
			press("#coarser")
			at("a button leads to fewer", 0)
			press(fmt.Sprintf(`#steps [data-level="%d"]`, len(counts)-1))
			at("a level is chosen", len(counts)-1)
			if got := eval[string](p, active); !l.touch && got != fmt.Sprint(len(counts)-1) {
				t.Errorf("then %s has the focus", got)
			}
			p.do(chromedp.KeyEvent("u"))
			at("undo leads back", 0)
			eval[bool](p, "document.getElementById('finer').focus() || true")
			for level := 1; level < len(counts); level++ {
				p.do(chromedp.KeyEvent("\r"))
				at("Enter leads to more", level)
			}
			if got := eval[string](p, active); got != fmt.Sprint(len(counts)-1) {
				t.Errorf("at the finest level %s has the focus", got)
			}
			before := eval[string](p, asked)
			p.do(chromedp.KeyEvent("d"))
			p.wait("an answer", fmt.Sprintf("%s !== %q", asked, before))
			p.do(chromedp.KeyEvent("c"))
			p.wait("the answer stays", fmt.Sprintf(`%s === %d && document.getElementById("pending").textContent.startsWith("1 answer and ")`, now, len(counts)-2))
			if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("the page is %v pixels wider than its window", over)
			}
			text, err := os.ReadFile(filepath.Join(dir, review.AnswersFile))
			if err != nil || !strings.HasSuffix(string(text), fmt.Sprintf(",different,%s\n,,level,%d\n", "merge", len(counts)-2)) {
				t.Errorf("the file ends with %q, %v", text[max(0, len(text)-60):], err)
			}
			p.do(chromedp.KeyEvent("a"))
			p.wait("it is applied", `/^Done: .*by 1 answer and \d+ steps between levels/.test(document.getElementById("changes").textContent) && document.getElementById("undo").disabled`)
			p.quiet()
		})
	}
}

// touch taps with a finger.
func touch(p *tab, x, y float64) {
	p.t.Helper()
	for _, e := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}}, {Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if _, err := chromedp.Call(p.ctx, input.DispatchTouchEvent, e); err != nil {
			p.t.Fatal(err)
		}
	}
}

// The checks of axe-core find nothing, and what can be operated has a name and stands out.
func TestReviewAccessible(t *testing.T) {
	address, _ := reviewed(t)
	for _, l := range []look{desk, {width: 1280, height: 900, dark: true}, {width: 390, height: 844, touch: true}} {
		p := visit(t, address, "#pair figure", l)
		for _, faint := range eval[[]string](p, contrast) {
			if !strings.Contains(faint, "undo") && !strings.Contains(faint, "nothing to") {
				t.Errorf("%d wide, dark %v: too faint: %s", l.width, l.dark, faint)
			}
		}
		if os.Getenv("MVCLUST_AXE") != "" {
			p.accessible(axeScript(t), fmt.Sprintf("review, %d wide, dark %v", l.width, l.dark))
		} else {
			p.quiet()
		}
	}
}
