package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mvclust/mvclust"
)

// Map, table and figures follow the level that is chosen, by mouse, by keys, and in the figure of
// the granularities.
func TestLevels(t *testing.T) {
	p := open(t, page(t, mvclust.Auto), desk)
	p.wait("the map is painted", painted)
	const counts = `[...document.querySelectorAll(".levels button")].map(b => Number(b.querySelector("b").textContent))`
	const rows = `document.querySelectorAll("#table tbody:not([hidden]) tr").length`
	const shown = `document.querySelector('[data-tile="Clusters"] .value').textContent`
	const picture = `document.getElementById("canvas").toDataURL()`
	clusters := eval[[]float64](p, counts)
	if len(clusters) < 2 {
		t.Fatalf("there are only the levels of %v clusters", clusters)
	}
	own := eval[float64](p, `[...document.querySelectorAll(".levels button")].findIndex(b => b.getAttribute("aria-pressed") === "true")`)
	before := eval[string](p, picture)
	for at, n := range clusters {
		if float64(at) == own {
			continue
		}
		p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.levels [data-level="%d"]`, at))))
		p.wait("the table follows", fmt.Sprintf("%s === Math.min(1000, %v) && Number(%s) === %v", rows, n, shown, n))
		p.wait("the map follows", picture+" !== "+fmt.Sprintf("%q", before))
		p.wait("one button is pressed", fmt.Sprintf(`[...document.querySelectorAll(".levels [aria-pressed=true]")].map(b => b.dataset.level).join() === "%d"`, at))
		if n := eval[float64](p, `document.querySelectorAll("#clusters figure:not([hidden])").length`); n != 1 {
			t.Errorf("%v figures of the sizes are shown", n)
		}
	}
	dot := fmt.Sprintf(`circle[data-level="%v"]`, own)
	eval[bool](p, fmt.Sprintf(`document.querySelector(%q).focus() || true`, dot))
	p.do(chromedp.KeyEvent("\r"))
	p.wait("a dot leads back", fmt.Sprintf("Number(%s) === %v", shown, clusters[int(own)]))
	p.wait("the map is as before", fmt.Sprintf("%s === %q", picture, before))
	p.quiet()
}
