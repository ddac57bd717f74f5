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
			next.Labels, next.Constraints, next.Retired, next.Level = r.Labels, r.Constraints, 0, -1
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
