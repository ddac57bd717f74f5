package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write the golden files anew")

var nan = math.NaN()

// node is an element of a parsed drawing.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

// attr returns the value of an attribute, or "".
func (n node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// find returns all elements below n with the given name and class; an empty
// class is any.
func (n node) find(name, class string) []node {
	var list []node
	for _, c := range n.Nodes {
		if c.XMLName.Local == name && (class == "" || c.attr("class") == class) {
			list = append(list, c)
		}
		list = append(list, c.find(name, class)...)
	}
	return list
}

// texts returns what the text elements below n say.
func (n node) texts() []string {
	var list []string
	for _, t := range n.find("text", "") {
		list = append(list, t.Text)
	}
	return list
}

// draw returns the bytes of a chart and its elements.
func draw(t *testing.T, write func(io.Writer) error) ([]byte, node) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	var root node
	if err := xml.Unmarshal(b.Bytes(), &root); err != nil {
		t.Fatalf("not well-formed: %v\n%s", err, &b)
	}
	return b.Bytes(), root
}

// small is a chart with a little of everything.
func small() Line {
	return Line{
		Title: "Score against λ",
		X:     Axis{Label: "λ", Log: true},
		Y:     Axis{Label: "score", Min: 0, Max: 1},
		Series: []Series{
			{Name: "accuracy", X: []float64{0.01, 0.1, 1, 10}, Y: []float64{0.5, 0.75, 0.875, 0.75}, Error: []float64{0.125, 0.0625, nan, 0.5}},
			{Name: "NMI & ARI", X: []float64{0.01, 0.1, 1, 10}, Y: []float64{0.25, nan, 0.5, 1.5}},
		},
	}
}

func TestGolden(t *testing.T) {
	got, _ := draw(t, small().WriteSVG)
	file := filepath.Join("testdata", "small.svg")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the drawing changed; look at it, then run go test -update\n%s", got)
	}
}

func TestSameBytes(t *testing.T) {
	panels := []Line{small(), small(), small()}
	for i := range panels {
		for k := range 12 {
			panels[i].Series = append(panels[i].Series, Series{Name: fmt.Sprint(i, k), X: []float64{1, 2}, Y: []float64{1, 2}})
		}
	}
	write := func(w io.Writer) error { return Grid(w, 2, "grid", panels) }
	first, _ := draw(t, write)
	for range 10 {
		if again, _ := draw(t, write); !bytes.Equal(first, again) {
			t.Fatal("the same chart gave other bytes")
		}
	}
}

func TestAccessible(t *testing.T) {
	_, root := draw(t, small().WriteSVG)
	if root.attr("role") != "img" {
		t.Error("the drawing is not marked as an image")
	}
	if root.Nodes[0].XMLName.Local != "title" || root.Nodes[0].Text != "Score against λ" {
		t.Errorf("the first element is %v", root.Nodes[0])
	}
	want := "score from 0 to 1 against λ from 0.01 to 10. accuracy: 4 points, 0.5 at 0.01 to 0.75 at 10. NMI & ARI: 3 points, 0.25 at 0.01 to 1.5 at 10."
	if got := root.Nodes[1]; got.XMLName.Local != "desc" || got.Text != want {
		t.Errorf("the description is %q, want %q", got.Text, want)
	}
	_, root = draw(t, Line{Series: []Series{{X: []float64{1}, Y: []float64{2}}, {Name: "none"}}}.WriteSVG)
	if root.Nodes[0].Text == "" {
		t.Error("a chart without a title has no name for screen readers")
	}
	want = "Y from 1 to 3 against X from 0.5 to 1.5. the line: 2 at 1. none: no points."
	if got := root.Nodes[1].Text; got != want {
		t.Errorf("the description is %q, want %q", got, want)
	}
}

func TestGaps(t *testing.T) {
	_, root := draw(t, Line{Series: []Series{{
		X: []float64{0, 1, 2, 3, 4, 5, 6, 7},
		Y: []float64{nan, 1, 3, nan, nan, 2, nan, 4},
	}}}.WriteSVG)
	line := root.find("path", "line")
	if len(line) != 1 || strings.Count(line[0].attr("d"), "M") != 1 {
		t.Errorf("one stretch of two points gave %v", line)
	}
	if got := strings.Count(root.find("path", "mark")[0].attr("d"), "M"); got != 4 {
		t.Errorf("%d markers for 4 points", got)
	}
}

func TestLongSeries(t *testing.T) {
	var s Series
	for i := range 1000 {
		s.X = append(s.X, float64(i))
		s.Y = append(s.Y, math.Sin(float64(i)/100))
		s.Error = append(s.Error, 0.1)
	}
	s.Y[1], s.Y[3], s.Y[500] = nan, nan, nan
	got, root := draw(t, Line{Series: []Series{s}}.WriteSVG)
	if d := root.find("path", "whisker")[0].attr("d"); strings.Count(d, "V") != 2 {
		t.Errorf("two single points gave the whiskers %s", d)
	}
	if d := root.find("path", "band")[0].attr("d"); strings.Count(d, "M") != 2 || strings.Count(d, "z") != 2 {
		t.Errorf("two stretches gave the band %s", d)
	}
	// Points 0 and 2 have no neighbours, so that only a marker shows them.
	if d := root.find("path", "mark")[0].attr("d"); strings.Count(d, "M") != 2 {
		t.Errorf("two single points gave the markers %s", d)
	}
	if len(got) > 8000 {
		t.Errorf("a smooth line takes %d bytes", len(got))
	}
}

func TestOutsideIsCutOff(t *testing.T) {
	l := Line{Y: Axis{Min: 0, Max: 1}, Series: []Series{{X: []float64{0, 1, 2}, Y: []float64{0.5, 2, 1}, Error: []float64{0.1, 0.1, 0.1}}}}
	_, root := draw(t, l.WriteSVG)
	if n := len(root.find("svg", "")); n != 1 {
		t.Errorf("%d inner drawings, want 1", n)
	}
	if d := root.find("path", "mark")[0].attr("d"); strings.Count(d, "M") != 2 {
		t.Errorf("two points inside gave the markers %s", d)
	}
	// Two caps below and one above: the other is above the axis.
	if d := root.find("path", "whisker")[0].attr("d"); strings.Count(d, "h6") != 3 || strings.Count(d, "V") != 2 {
		t.Errorf("whiskers %s", d)
	}
	l.Y = Axis{}
	if _, root = draw(t, l.WriteSVG); len(root.find("svg", "")) != 0 {
		t.Error("an inner drawing where nothing is outside")
	}
}

func TestWhiskerBelowLogAxis(t *testing.T) {
	l := Line{Y: Axis{Log: true}, Series: []Series{{X: []float64{1, 2}, Y: []float64{0.1, 10}, Error: []float64{0.5, 1}}}}
	_, root := draw(t, l.WriteSVG)
	if d := root.find("path", "whisker")[0].attr("d"); strings.Count(d, "h6") != 3 {
		t.Errorf("a whisker that reaches below 0 gave %s", d)
	}
	if got := root.Nodes[1].Text; !strings.HasPrefix(got, "Y from 0.1 to 20 ") {
		t.Errorf("description %q", got)
	}
}

func TestGrid(t *testing.T) {
	a := Series{Name: "A", X: []float64{1, 2}, Y: []float64{1, 2}}
	b := Series{Name: "B", X: []float64{1, 2}, Y: []float64{2, 1}}
	for _, c := range []struct {
		name    string
		columns int
		panels  [][]Series
		legends string // the legend entries in their order
		classes string // how the series look, in the order of drawing
		width   string
	}{
		{"shared", 2, [][]Series{{a, b}, {a, b}, {a, b}}, "A B", "s0 s1 s0 s1 s0 s1", "600"},
		{"shared in another order", 2, [][]Series{{a, b}, {b, a}}, "A B", "s0 s1 s1 s0", "600"},
		{"own", 3, [][]Series{{a}, {a, b}, {b}}, "A A B B", "s0 s0 s1 s1", "900"},
		{"more columns than panels", 4, [][]Series{{a}}, "A", "s0", "600"},
	} {
		var panels []Line
		for _, s := range c.panels {
			panels = append(panels, Line{Series: s})
		}
		_, root := draw(t, func(w io.Writer) error { return Grid(w, c.columns, "", panels) })
		var names, classes []string
		for _, s := range root.texts() {
			if s == "A" || s == "B" {
				names = append(names, s)
			}
		}
		for _, p := range root.Nodes {
			for _, g := range p.Nodes {
				if class := g.attr("class"); regexp.MustCompile(`^s\d+$`).MatchString(class) && len(g.find("path", "line")) == 1 && strings.Contains(g.find("path", "line")[0].attr("d"), " ") {
					classes = append(classes, class)
				}
			}
		}
		if got := strings.Join(names, " "); got != c.legends {
			t.Errorf("%s: legends %q, want %q", c.name, got, c.legends)
		}
		if got := strings.Join(classes, " "); got != c.classes {
			t.Errorf("%s: styles %q, want %q", c.name, got, c.classes)
		}
		if got := root.attr("width"); got != c.width {
			t.Errorf("%s: %s wide, want %s", c.name, got, c.width)
		}
	}
}

func TestStylesDiffer(t *testing.T) {
	seen := make(map[style]int)
	for i := range len(styles) * len(styles) {
		s := styleOf(i)
		if k, ok := seen[s]; ok {
			t.Errorf("series %d and %d look the same", k, i)
		}
		seen[s] = i
	}
	for i := range styles {
		for k := range i {
			a, b := styles[i], styles[k]
			if a.light == b.light || a.dark == b.dark || a.marker == b.marker || a.dash == b.dash {
				t.Errorf("styles %d and %d have something in common", k, i)
			}
		}
	}
}

// TestContrast checks what the comment of styles says, against white and the
// black of a dark page.
func TestContrast(t *testing.T) {
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(v) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	contrast := func(a, b string) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	for i, s := range styles {
		if c := contrast(s.light, "#ffffff"); i < 5 && c < 3 {
			t.Errorf("style %d: contrast %.2f on white", i, c)
		}
		if c := contrast(s.dark, "#0d1117"); c < 3 {
			t.Errorf("style %d: contrast %.2f on black", i, c)
		}
	}
}

func TestErrors(t *testing.T) {
	ok := Series{Name: "ok", X: []float64{1, 2}, Y: []float64{1, 2}}
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		line Line
		want string
	}{
		{"no series", Line{}, `chart "": nothing to draw; give at least one point whose Y is not NaN`},
		{"only gaps", Line{Series: []Series{{X: []float64{1}, Y: []float64{nan}}}}, "nothing to draw"},
		{"short Y", Line{Title: "T", Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1}}}}, `chart "T": series "s": 2 X and 1 Y; give one Y per X`},
		{"short Error", Line{Series: []Series{{X: []float64{1}, Y: []float64{1}, Error: []float64{}}}}, "1 Y and 0 Error"},
		{"negative Error", Line{Series: []Series{{X: []float64{1}, Y: []float64{1}, Error: []float64{-1}}}}, "Error[0] is -1"},
		{"infinite Error", Line{Series: []Series{{X: []float64{1}, Y: []float64{1}, Error: []float64{inf}}}}, "Error[0] is +Inf"},
		{"NaN X", Line{Series: []Series{{X: []float64{nan}, Y: []float64{1}}}}, "X[0] is NaN"},
		{"infinite Y", Line{Series: []Series{{X: []float64{1}, Y: []float64{-inf}}}}, "Y[0] is -Inf"},
		{"huge Y", Line{Series: []Series{{X: []float64{1}, Y: []float64{2e300}}}}, "Y[0] is 2e+300"},
		{"log X", Line{X: Axis{Log: true}, Series: []Series{{X: []float64{1, 0}, Y: []float64{1, 1}}}}, "X[1] is 0; a logarithmic axis needs positive values"},
		{"log Y", Line{Y: Axis{Log: true}, Series: []Series{{X: []float64{1}, Y: []float64{-1}}}}, "Y[0] is -1; a logarithmic axis needs positive values, or NaN"},
		{"log Min", Line{Y: Axis{Log: true, Max: 1}, Series: []Series{ok}}, "axis Y: starts at 0"},
		{"backwards", Line{X: Axis{Min: 2, Max: 1}, Series: []Series{ok}}, "axis X: runs from 2 to 1"},
		{"no length", Line{X: Axis{Min: 1, Max: 1 + 1e-15}, Series: []Series{ok}}, "make Max clearly larger"},
		{"NaN end", Line{X: Axis{Min: nan, Max: 1}, Series: []Series{ok}}, "axis X: runs from NaN to 1"},
		{"one name twice", Line{Series: []Series{ok, ok}}, `two series have the name "ok"`},
	} {
		var b bytes.Buffer
		err := c.line.WriteSVG(&b)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %d bytes", c.name, b.Len())
		}
	}
	good := Line{Series: []Series{ok}}
	for _, c := range []struct {
		columns int
		panels  []Line
		want    string
	}{
		{0, []Line{good}, `chart "G": 0 columns; give at least 1`},
		{1, nil, `chart "G": nothing to draw`},
		{2, []Line{good, {Title: "bad"}}, `chart "G": panel 1 (counted from 0), "bad": nothing to draw`},
	} {
		if err := Grid(io.Discard, c.columns, "G", c.panels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if err := good.WriteSVG(full{}); !errors.Is(err, errFull) {
		t.Errorf("a writer's error came back as %v", err)
	}
}

var errFull = errors.New("no space left")

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestSimplify(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		list := make([]point, 2+r.IntN(200))
		for i := range list {
			list[i] = point{float64(i) / 4, 50*math.Sin(float64(i)/20) + r.Float64()*0.3}
		}
		before := append([]point(nil), list...)
		after := simplify(list)
		if after[0] != before[0] || after[len(after)-1] != before[len(before)-1] {
			t.Fatal("an end moved")
		}
		for _, p := range before {
			best := math.Inf(1)
			for i := range len(after) - 1 {
				best = min(best, distance(p, after[i], after[i+1]))
			}
			if best > 0.1 {
				t.Fatalf("%v is %v away from the line", p, best)
			}
		}
	}
	straight := []point{{0, 0}, {1, 1}, {2, 2}, {3, 3.05}}
	if got := simplify(straight); len(got) != 2 {
		t.Errorf("a straight line keeps %v", got)
	}
	still := []point{{1, 1}, {1, 1}, {1, 1}}
	if got := simplify(still); len(got) != 2 {
		t.Errorf("a point keeps %v", got)
	}
}

func TestFitAndWrap(t *testing.T) {
	if got := fit("accuracy", 200); got != "accuracy" {
		t.Errorf("a short name became %q", got)
	}
	long := strings.Repeat("näher ", 50)
	got := fit(long, 200)
	if !strings.HasSuffix(got, "…") || textWidth(got) > 200 || len(got) < 10 {
		t.Errorf("a long name became %q", got)
	}
	for _, line := range wrap(long+strings.Repeat("x", 300), 200) {
		if textWidth(line) > 200 {
			t.Errorf("line %q is too wide", line)
		}
	}
	if got := strings.Join(wrap("one  two\nthree four", 75), "|"); got != "one two|three|four" {
		t.Errorf("wrapped to %s", got)
	}
}

func TestNum(t *testing.T) {
	for v, want := range map[float64]string{0: "0", math.Copysign(0, -1): "0", -0.04: "0", 0.05: "0.1", 12.34: "12.3", -7: "-7", 599.96: "600"} {
		if got := num(v); got != want {
			t.Errorf("num(%v) = %s, want %s", v, got, want)
		}
	}
}

// FuzzText checks that any text gives a well-formed drawing whose description
// holds the text, but for what XML cannot hold.
func FuzzText(f *testing.F) {
	f.Add("plain", "λ & μ")
	f.Add("</title><script>alert(1)</script>", `" onload="`)
	f.Add("]]>", "<!-- \x00 \xff")
	f.Add("a\nb\tc\r", "聚类\u202e")
	f.Fuzz(func(t *testing.T, title, name string) {
		l := Line{Title: title, X: Axis{Label: name}, Y: Axis{Label: title}, Series: []Series{{Name: name, X: []float64{1}, Y: []float64{2}}}}
		_, root := draw(t, func(w io.Writer) error { return Grid(w, 1, title, []Line{l, l}) })
		valid := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r != 0xfffe && r != 0xffff {
					return r
				}
				return unicode.ReplacementChar
			}, s)
		}
		if got := root.Nodes[0].Text; title != "" && got != valid(title) {
			t.Errorf("title %q became %q", title, got)
		}
		if got := root.Nodes[1].Text; !strings.Contains(got, valid(name)) {
			t.Errorf("description %q lacks the name %q", got, name)
		}
		known := map[string]bool{"title": true, "desc": true, "style": true, "g": true, "path": true, "text": true}
		var check func(n node)
		check = func(n node) {
			for _, c := range n.Nodes {
				if !known[c.XMLName.Local] {
					t.Errorf("the text made an element %q", c.XMLName.Local)
				}
				check(c)
			}
		}
		check(root)
	})
}

// coordinate finds the numbers of a path.
var coordinate = regexp.MustCompile(`-?[0-9]*\.?[0-9]+`)

// FuzzValues checks that any values give an error or a drawing of finite, short
// numbers, and that all that is drawn without cutting stays within the drawing.
func FuzzValues(f *testing.F) {
	f.Add(0.0, 1.0, 2.0, 0.5, 0.0, 0.0, false, false)
	f.Add(1e-300, 1e300, 1.0, 1e300, 0.0, 0.0, true, true)
	f.Add(-1e300, 1e300, -1e300, 1e300, 0.0, 0.0, false, false)
	f.Add(5e-324, 0.0, 1.0, 0.0, -1.0, 1.0, false, false)
	f.Add(1.0, 1.0, 1.0, 0.1, 1e-9, 1e9, false, true)
	f.Fuzz(func(t *testing.T, a, b, c, e, lo, hi float64, logX, logY bool) {
		l := Line{
			X:      Axis{Label: "x", Log: logX},
			Y:      Axis{Label: "y", Log: logY, Min: lo, Max: hi},
			Series: []Series{{X: []float64{a, b, c, a}, Y: []float64{b, c, a, c}, Error: []float64{e, 0, e, e}}},
		}
		var out bytes.Buffer
		if l.WriteSVG(&out) != nil {
			t.Skip()
		}
		_, root := draw(t, l.WriteSVG)
		if out.Len() > 20000 {
			t.Errorf("%d bytes", out.Len())
		}
		height, _ := strconv.ParseFloat(root.attr("height"), 64)
		cut := len(root.find("svg", "")) > 0
		for _, p := range root.find("path", "") {
			d := p.attr("d")
			if strings.Contains(d, "NaN") || strings.Contains(d, "Inf") {
				t.Errorf("path %s", d)
			}
			if cut && p.attr("class") == "line" {
				continue
			}
			for _, s := range coordinate.FindAllString(d, -1) {
				if v, err := strconv.ParseFloat(s, 64); err != nil || v < -10 || v > max(fullWidth, height) {
					t.Errorf("%s in path %s", s, d)
				}
			}
		}
		for _, s := range root.find("text", "") {
			if x, err := strconv.ParseFloat(s.attr("x"), 64); err != nil || x < 0 || x > fullWidth {
				t.Errorf("text %q at %s", s.Text, s.attr("x"))
			}
		}
	})
}

func BenchmarkGrid(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	panels := make([]Line, 4)
	for i := range panels {
		for _, name := range []string{"truth", "learned"} {
			s := Series{Name: name}
			for k := range 1000 {
				s.X = append(s.X, float64(k)/999)
				s.Y = append(s.Y, math.Tanh(s.X[k])+0.01*r.NormFloat64())
			}
			panels[i].Series = append(panels[i].Series, s)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Grid(io.Discard, 2, "grid", panels); err != nil {
			b.Fatal(err)
		}
	}
}
