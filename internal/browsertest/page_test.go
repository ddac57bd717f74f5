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
	"github.com/mvclust/mvclust/report"
	"github.com/mvclust/mvclust/synth"
)

// evil is an id that acts wherever it is taken for anything but text.
const evil = `</script><img src=x onerror="console.error('taken')"><script>console.error("taken")</script>"'<!--`

// page writes a report of synthetic data, with hostile names, and returns its path.
func page(t testing.TB, preset mvclust.Preset) string {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 600, Classes: 20, Noise: []float64{0.6}, Missing: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	result, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{Preset: preset})
	if err != nil {
		t.Fatal(err)
	}
	opt := report.Options{Title: "Things <b>", Views: set.Views, Truth: set.Labels, Notes: []string{evil}, Facts: []report.Fact{{Name: evil, Value: evil}}}
	for i := range set.Labels {
		opt.IDs = append(opt.IDs, fmt.Sprint("thing", i))
	}
	opt.IDs[3] = evil
	for c := range 20 {
		opt.Classes = append(opt.Classes, fmt.Sprint("class", c))
	}
	opt.Classes[0] = evil
	opt.Pictures = func(_ context.Context, samples []int, take func(int, []byte, error)) error {
		var b bytes.Buffer
		m := image.NewGray(image.Rect(0, 0, 20, 20))
		m.Pix[63] = 255
		if err := png.Encode(&b, m); err != nil {
			return err
		}
		for _, i := range samples {
			if i%2 == 0 { // the others keep their ids
				take(i, b.Bytes(), nil)
			}
		}
		return nil
	}
	r, err := report.New(t.Context(), result, opt)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// painted says whether the map shows anything.
const painted = `(() => { const c = document.getElementById("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] !== d[0]; return n > 1000; })()`

func TestRenders(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		for _, l := range []look{desk, {width: 390, height: 844, dark: true, touch: true}} {
			t.Run(fmt.Sprint(preset, " ", l.width), func(t *testing.T) {
				p := open(t, page(t, preset), l)
				p.wait("the map is painted", painted)
				if title := eval[string](p, `document.querySelector("h1").textContent`); title != "Things <b>" {
					t.Errorf("the title is %q", title)
				}
				if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("the page is %v pixels wider than its window", over)
				}
				dark := eval[bool](p, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0] < 100`)
				if dark != l.dark {
					t.Errorf("the page is dark: %v", dark)
				}
				p.do(chromedp.Click(chromedp.CSS("#theme")))
				p.wait("the theme changes", fmt.Sprintf(`(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0] < 100) === %v`, !l.dark))
				p.quiet()
			})
		}
	}
}

func TestHover(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), desk)
	p.wait("the map is painted", painted)
	p.do(chromedp.ScrollIntoView(chromedp.CSS("#canvas")))
	box := eval[[]float64](p, `(() => { const b = document.getElementById("canvas").getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()`)
	said := ""
	for k := 0; k < 400 && said == ""; k++ {
		x, y := box[0]+box[2]*float64(k%20+1)/22, box[1]+box[3]*float64(k/20+1)/22
		p.do(chromedp.MouseEvent("mouseMoved", x, y))
		said = eval[string](p, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent`)
	}
	for _, want := range []string{"cluster ", "confidence ", "view", "neighbours: "} {
		if !strings.Contains(said, want) {
			t.Errorf("pointing at a sample shows %q, without %q", said, want)
		}
	}
	const picture = `document.getElementById("canvas").toDataURL().length`
	before := eval[float64](p, picture)
	p.do(chromedp.Click(chromedp.CSS("#in")))
	p.wait("a closer look is another one", fmt.Sprintf("%s !== %v", picture, before))
	p.quiet()
}

func TestSorts(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), desk)
	const column = `[...document.querySelectorAll("#table tbody:not([hidden]) tr")].map(r => Number(r.cells[%d].dataset.v))`
	for k, name := range map[int]string{1: "Size", 2: "Cohesion", 3: "Confidence", 4: "Class", 7: "Pull"} {
		button := fmt.Sprintf("#table thead th:nth-child(%d) button", k+1)
		if got := eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", button)); got != name {
			t.Errorf("column %d is %q, want %q", k, got, name)
		}
		for _, order := range []string{"descending", "ascending"} {
			p.do(chromedp.Click(chromedp.CSS(button)))
			if got := eval[string](p, fmt.Sprintf(`document.querySelector(%q).closest("th").getAttribute("aria-sort")`, button)); got != order {
				t.Errorf("%s says it is %s, want %s", name, got, order)
			}
			values := eval[[]float64](p, fmt.Sprintf(column, k))
			for i := 1; i < len(values); i++ {
				if values[i] != values[i-1] && (values[i] > values[i-1]) != (order == "ascending") {
					t.Errorf("%s, %s: %v", name, order, values)
					break
				}
			}
			if len(values) < 10 {
				t.Errorf("the table has %d rows", len(values))
			}
		}
	}
	if hidden := eval[float64](p, `[...document.querySelectorAll("#table tbody:not([hidden]) tr")].filter(r => r.hidden).length`); hidden == 0 {
		t.Error("all rows are shown at once")
	}
	p.do(chromedp.Click(chromedp.CSS("#all")))
	if hidden := eval[float64](p, `[...document.querySelectorAll("#table tbody:not([hidden]) tr")].filter(r => r.hidden).length`); hidden != 0 {
		t.Errorf("%v rows stay hidden", hidden)
	}
	p.quiet()
}

// All that a mouse can do, keys can.
func TestKeyboard(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), desk)
	p.wait("the map is painted", painted)
	p.do(chromedp.Focus(chromedp.CSS("#canvas")), chromedp.KeyEvent("\r"))
	p.wait("Enter tells of a sample", `/cluster \d+, confidence/.test(document.getElementById("said").textContent)`)
	first := eval[string](p, `document.getElementById("said").textContent`)
	p.do(chromedp.KeyEvent("\r"))
	p.wait("Enter goes on to the next", fmt.Sprintf(`document.getElementById("said").textContent !== %q`, first))
	p.do(chromedp.KeyEvent("\x1b"))
	p.wait("Escape ends it", `document.getElementById("tip").hidden && document.getElementById("said").textContent === ""`)
	hash := `document.getElementById("canvas").toDataURL().length`
	for _, key := range []string{"+", "ArrowLeft", "ArrowUp", "-", "ArrowRight", "ArrowDown"} {
		before := eval[float64](p, hash)
		eval[bool](p, fmt.Sprintf(`document.getElementById("canvas").dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true}))`, key))
		p.wait(key+" moves the map", fmt.Sprintf("%s !== %v", hash, before))
	}
	p.do(chromedp.Focus(chromedp.CSS("#q")), chromedp.KeyEvent("thing17\r"))
	p.wait("a sample is found", `document.querySelector("#tip b").textContent === "thing17"`)
	p.do(chromedp.SetValue(chromedp.CSS("#q"), "no such thing"), chromedp.Focus(chromedp.CSS("#q")), chromedp.KeyEvent("\r"))
	p.wait("none is found", `document.getElementById("said").textContent.startsWith("No sample")`)
	p.do(chromedp.SetValue(chromedp.CSS("#q"), evil), chromedp.Focus(chromedp.CSS("#q")), chromedp.KeyEvent("\r"))
	p.wait("a hostile id is shown as it is", fmt.Sprintf(`document.querySelector("#tip b").textContent === %q`, evil))
	p.do(chromedp.Click(chromedp.CSS("#table tbody:not([hidden]) tr:nth-child(2) .pick")))
	p.wait("a cluster is highlighted", `document.getElementById("said").textContent.startsWith("Cluster 1 is highlighted")`)
	p.do(chromedp.Click(chromedp.CSS("#legend button:nth-child(2)")))
	p.wait("and no more", `document.getElementById("said").textContent === ""`)
	p.quiet()
}

func TestPictures(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), desk)
	got := eval[[]float64](p, `(() => { const b = [...document.querySelectorAll(".id")]; return [b.filter(x => x.querySelector("img") && x.querySelector("img").naturalWidth > 0).length, b.filter(x => x.textContent.trim()).length]; })()`)
	if got[0] < 20 || got[1] < 20 {
		t.Errorf("%v members have pictures, %v ids", got[0], got[1])
	}
	p.quiet()
}

func TestPrints(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), look{width: 1280, height: 900, dark: true})
	p.wait("the map is painted", painted)
	b, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil || !bytes.HasPrefix(b, []byte("%PDF")) || len(b) < 20_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	p.wait("and is dark again", `getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0] < 100`)
	p.quiet()
}
