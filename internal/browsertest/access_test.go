package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mvclust/mvclust"
)

// The checks of axe-core find nothing: MVCLUST_AXE names its axe.min.js, as the npm package
// axe-core has it.
func TestAccessible(t *testing.T) {
	axe := axeScript(t)
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		file := page(t, preset)
		for _, l := range []look{desk, {width: 1280, height: 900, dark: true}, {width: 390, height: 844, touch: true}} {
			p := open(t, file, l)
			p.wait("the map is painted", painted)
			p.accessible(axe, fmt.Sprintf("%v, %d wide, dark %v", preset, l.width, l.dark))
		}
	}
}

// accessible runs axe-core on the page.
func (p *tab) accessible(axe, what string) {
	p.t.Helper()
	p.quiet() // axe-core says what it likes
	eval[any](p, axe+";1")
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range violations {
		p.t.Errorf("%s: %s, %s: %q", what, v.ID, v.Help, v.Nodes)
	}
}

// axeScript returns axe-core, or skips the test.
func axeScript(t testing.TB) string {
	t.Helper()
	path := os.Getenv("MVCLUST_AXE")
	if path == "" {
		t.Skip("MVCLUST_AXE does not name the file axe.min.js of the npm package axe-core")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// Without other tools: whatever can be operated has a name and can be reached by keys, and
// text stands out from what is behind it.
func TestNamesAndContrast(t *testing.T) {
	file := page(t, mvclust.Auto)
	for _, dark := range []bool{false, true} {
		p := open(t, file, look{width: 1280, height: 900, dark: dark})
		for _, bad := range eval[[]string](p, `[...document.querySelectorAll("button, input, canvas, [tabindex]")].filter(e => {
			const label = e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.title || (e.labels && e.labels.length) || e.querySelector("img[alt]");
			return !label || e.tabIndex < 0;
		}).map(e => e.outerHTML.slice(0, 120))`) {
			t.Errorf("dark %v: no name, or out of the reach of keys: %s", dark, bad)
		}
		if faint := eval[[]string](p, contrast); len(faint) > 0 {
			t.Errorf("dark %v: text that is too faint: %q", dark, fmt.Sprint(faint))
		}
		p.quiet()
	}
}

// contrast lists text whose contrast to the nearest opaque background is below 4.5 to 1.
const contrast = `(() => {
	const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
	const light = c => { const f = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; return .2126 * f(c[0]) + .7152 * f(c[1]) + .0722 * f(c[2]); };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
	const out = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility() || ["SCRIPT", "NOSCRIPT", "TITLE", "DESC"].includes(e.tagName.toUpperCase())) continue;
		const style = getComputedStyle(e), a = light(rgb(e instanceof SVGElement ? style.fill : style.color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) out.add(e.tagName + "." + (e.className.baseVal ?? e.className) + " " + ratio.toFixed(2) + " " + walk.currentNode.data.trim().slice(0, 20));
	}
	return [...out].slice(0, 8);
})()`
