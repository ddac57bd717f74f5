package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/report"
)

// The page of 13,083 samples with their levels is below 7 MB, and shows them all.
func TestRealPage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	path := filepath.Join(dir, "Banking77_derived.npz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %v; set MVCLUST_DATA to the folder that holds them", err)
	}
	browserPath(t)
	set, err := dataset.Load(t.Context(), []string{path}, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := dataset.Labels(t.Context(), path, nil, set.Views[0].Samples)
	if err != nil {
		t.Fatal(err)
	}
	result, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.New(t.Context(), result, report.Options{Views: set.Views, Truth: truth.Labels, Classes: truth.Names})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	stat, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if stat.Size() > 7e6 {
		t.Errorf("the page has %d bytes", stat.Size())
	}
	p := open(t, file, desk)
	p.wait("the map is painted", painted)
	t.Logf("%d bytes, there after %.0f ms", stat.Size(), eval[float64](p, "performance.timing.loadEventEnd - performance.timing.navigationStart"))
	p.quiet()
}
