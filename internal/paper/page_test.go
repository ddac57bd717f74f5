package paper

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/score"
)

var update = flag.Bool("update", false, "write testdata/page.md anew")

// made is a report on sample with numbers that were made up.
func made() *Report {
	p := &Plan{Experiments: sample()}
	r := &Report{experiments: p.Experiments, jobs: p.jobs(), results: NewResults()}
	add := func(s Setup, f, ari []float64, clusters int) {
		for seed := range f {
			run := &Run{Setup: s, Version: mvclust.Version, Trial: bench.Trial{Seed: uint64(seed), Seconds: 1.5, Scores: score.Scores{
				BCubedF: f[seed] / 100, ARI: ari[seed] / 100, Samples: 120, Clusters: clusters + seed,
			}}}
			r.results.add(run)
			j := r.jobs.of[s.key()]
			j.runs = append(j.runs, run)
		}
	}
	add(easy(), []float64{89, 93}, []float64{80, 82}, 7)
	add(easy().Lacking(0.25, 0.25), []float64{70, 70}, []float64{60, 60}, 9)
	add(easy("training=off"), []float64{90, 92}, []float64{82, 82}, 7)
	r.jobs.of[Setup{File: "gone.npz"}.key()].reason = "gone.npz is not in the folder"
	return r
}

// The parts of the page that are computed, against a file that was checked by hand.
func TestPage(t *testing.T) {
	const text = `{{.Summary}}
ARI of {{.Ours "main" "easy" "complete" "ari"}} and of {{.Ours "main" "gone" "complete" "ari"}}.
{{range .Sections}}
## {{.Title}}

{{.Table}}
{{.Notes}}
{{.Settings}}
{{.Figure}}
{{end}}`
	page, err := made().render(text, Made{}, "figures")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/page.md"
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if page != string(want) {
		t.Errorf("the page is\n%s\nand not that of %s", page, golden)
	}
	if _, err := made().render(`{{.Ours "main" "easy" "compete" "ari"}}`, Made{}, ""); err == nil {
		t.Error("a cell that is not there is passed over")
	}
}

// The whole page works for the real experiments, where most sets are not there.
func TestRealPage(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "MSRC.npz", 5, 0.5, 1)
	r := runs(t, &Plan{Folder: folder, Experiments: Experiments()}, NewResults())
	for _, quick := range []bool{false, true} {
		page, err := r.Page(Made{Command: "mvclust bench paper", Date: "2000-01-02", Version: "mvclust 9", Processors: 3, Quick: quick}, "paper")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"    mvclust bench paper\n", "on 2000-01-02 by", "with mvclust 9 on 3 processors", "\n## Summary\n",
			"The paper prints 57 different cells", "\n## Two views, complete\n", "- Humbi240: we do not have the set",
			"Handwritten.npz is not in the folder", "98.12 / –", "\n## Bounds\n",
			"`mvclust fit 100Leaves.npz --views 2,1 --neighbors 14 ",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("there is no %q", want)
			}
		}
		if strings.Contains(page, "quick run") != quick || strings.Contains(page, "\n## What to believe\n") == quick {
			t.Errorf("quick is %v", quick)
		}
		if strings.Contains(page, "\n\n\n") || strings.Contains(page, folder) || strings.Contains(page, "](paper/") {
			t.Error(page)
		}
		checkTables(t, page)
	}
}

// checkTables looks for rows that have not as many cells as their head.
func checkTables(t *testing.T, page string) {
	t.Helper()
	columns := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns == 0 {
			columns = n
		}
		if n != columns {
			t.Errorf("%d cells in place of %d: %s", n, columns, line)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := made().JSON(Made{Command: "c", Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Made  Made
		Cells []cellReport
		Runs  []Run
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Made != (Made{Command: "c", Processors: 2}) || len(got.Cells) != 7 || len(got.Runs) != 6 {
		t.Errorf("%s", text)
	}
	c := got.Cells[0]
	if c.Experiment != "main" || c.Setup.key() != easy().key() || c.Seeds != 2 || c.Paper[ARI] != 85.5 || c.Ours[ARI].String() != "81.0 ± 1.4" {
		t.Errorf("%+v", c)
	}
	if c := got.Cells[3]; c.Reason != "nobody has *it*" || c.Setup != nil || c.Ours != nil {
		t.Errorf("%+v", c)
	}
	if lines := bytes.Count(text, []byte("\n")); lines != 3+1+7+1+1+6+2 {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

// Every kind of figure is drawn, as XML that can be parsed.
func TestFigures(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 3, 0.7, 1)
	cells := []Cell{
		{Group: "g", Label: "10", Setup: easy(), Seeds: 2, X: 10},
		{Group: "g", Label: "20", Setup: easy("epochs=20"), Seeds: 1, X: 20},
		{Group: "h", Label: "truth", Setup: easy().By(Oracle), Seeds: 1, X: 30},
		{Group: "gone", Label: "gone", Setup: Setup{File: "gone.npz"}},
		{Group: "never", Label: "never", Reason: "never"},
	}
	var list []Experiment
	for _, p := range []Plot{NoPlot, ScorePlot, LossPlot, FunctionPlot} {
		list = append(list, Experiment{ID: fmt.Sprint("p", p), Title: "T", Columns: []Metric{ARI, NMI, Clusters, Seconds}, Cells: cells, Plot: p, XLabel: "x"})
	}
	list = append(list, Experiment{ID: "none", Cells: cells[3:], Plot: ScorePlot})
	r := runs(t, &Plan{Folder: folder, Experiments: list}, NewResults())
	for i, want := range []int{0, 2, 3, 3, 0} {
		panels := r.panels(&list[i])
		if len(panels) != want {
			t.Errorf("%s has %d panels", list[i].ID, len(panels))
		}
		if strings.Contains(r.section(&list[i], "f").Figure, "f/"+list[i].ID+".svg") != (want > 0) {
			t.Errorf("%s is not linked as it should be", list[i].ID)
		}
	}
	if s := r.panels(&list[1])[0].Series; len(s) != 2 || len(s[0].X) != 2 || s[0].X[1] != 20 {
		t.Errorf("%+v", s)
	}
	if s := r.panels(&list[2])[2].Series[0]; s.X[len(s.X)-1] != 20 {
		t.Errorf("the loss is not of the longest run: %v", s.X)
	}
	if s := r.panels(&list[3])[0].Series; len(s) != 3 || s[2].Name != "truth" {
		t.Errorf("%+v", s)
	}
	figures := r.Figures()
	if len(figures) != 3 || figures[0].Name != "p1.svg" {
		t.Fatalf("%+v", figures)
	}
	for _, f := range figures {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
}

func TestSigned(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", 0.04: "0.0", -0.04: "0.0", 0.06: "+0.1", -1.25: "−1.3", 12: "+12.0"} {
		if got := signed(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
