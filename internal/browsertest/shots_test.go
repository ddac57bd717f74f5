package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Pictures of any page, to look at: MVCLUST_PAGE names its file, or the address of a review, and
// MVCLUST_SHOTS the folder for them.
func TestShots(t *testing.T) {
	page, dir := os.Getenv("MVCLUST_PAGE"), os.Getenv("MVCLUST_SHOTS")
	if page == "" || dir == "" {
		t.Skip("MVCLUST_PAGE and MVCLUST_SHOTS do not say which page to take pictures of, and where to put them")
	}
	name := strings.TrimSuffix(filepath.Base(page), filepath.Ext(page))
	show := func(l look) *tab { return open(t, page, l) }
	if strings.HasPrefix(page, "http://") {
		name, show = "review", func(l look) *tab { return visit(t, page, "#pair figure", l) }
	}
	for kind, l := range map[string]look{
		"light": desk, "dark": {width: 1280, height: 900, dark: true},
		"phone": {width: 390, height: 844, touch: true}, "phone-dark": {width: 390, height: 844, dark: true, touch: true},
	} {
		p := show(l)
		p.shot(filepath.Join(dir, name+"-"+kind+".png"))
		if kind == "dark" {
			b, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+".pdf"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: the page was there after %.0f ms", kind, eval[float64](p, "performance.timing.loadEventEnd - performance.timing.navigationStart"))
		p.quiet()
	}
}
