package report

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/synth"
)

// fitted returns synthetic data and what comes of it.
func fitted(t testing.TB, conf synth.Config, opt mvclust.Options) (*synth.Set, *mvclust.Result) {
	t.Helper()
	set, err := synth.Generate(conf)
	if err != nil {
		t.Fatal(err)
	}
	result, err := mvclust.Fit(t.Context(), set.Views, opt)
	if err != nil {
		t.Fatal(err)
	}
	return set, result
}

func made(t testing.TB, result *mvclust.Result, opt Options) *Report {
	t.Helper()
	r, err := New(t.Context(), result, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// payload returns what the script of a page sees.
func payload(t testing.TB, page string) pageData {
	t.Helper()
	text := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	if text == nil {
		t.Fatal("the page has no data")
	}
	var d pageData
	if err := json.Unmarshal([]byte(text[1]), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func classes(labels []int) []string {
	var names []string
	for _, l := range labels {
		for len(names) <= l {
			names = append(names, "class "+string(rune('a'+len(names))))
		}
	}
	return names
}

var small = synth.Config{Samples: 120, Classes: 4, Noise: []float64{0.7}, Missing: 0.2}

func TestReport(t *testing.T) {
	set, result := fitted(t, small, mvclust.Options{})
	r := made(t, result, Options{Title: "Some things", Views: set.Views, Truth: set.Labels, Classes: classes(set.Labels), Facts: []Fact{{"by", "somebody"}}, Notes: []string{"mind the gap"}})
	if r.Samples != 120 || r.Number != len(result.Sizes) || len(r.Clusters) != r.Number || len(r.Map.Samples) != 120 {
		t.Errorf("%d samples, %d clusters, %d described, %d drawn", r.Samples, r.Number, len(r.Clusters), len(r.Map.Samples))
	}
	share, pairs := 0.0, 0
	for _, v := range r.Views {
		share += v.Share
		for _, n := range v.Similarities.Count {
			pairs += n
		}
		if v.Present >= 120 || v.Present < 60 || v.Dims == 0 {
			t.Errorf("%s: %d present, %d dimensions", v.Name, v.Present, v.Dims)
		}
	}
	if share < 0.999 || share > 1.001 || pairs == 0 {
		t.Errorf("the views' shares add up to %v, over %d pairs", share, pairs)
	}
	sum := 0
	for _, row := range r.Truth.Counts {
		for _, n := range row {
			sum += n
		}
	}
	if sum != 120 {
		t.Errorf("the table of classes has %d samples", sum)
	}
	page := written(t, r)
	for _, want := range []string{"Some things", "mind the gap", "somebody", "class a", "Against the known classes", "Choice of granularity", "None: the functions were not learned in epochs"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if d := payload(t, page); d.Drawn != 120 || len(d.Places) != 4*120 || len(d.Present) != 120 || len(d.Near) != 4*5*120 {
		t.Errorf("the script sees %d samples, %d bytes of places, %d of presence, %d of neighbours", d.Drawn, len(d.Places), len(d.Present), len(d.Near))
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("no JSON: %v", err)
	}
}

func TestPaperPreset(t *testing.T) {
	_, result := fitted(t, small, mvclust.Options{Preset: mvclust.Paper})
	page := written(t, made(t, result, Options{}))
	if !strings.Contains(page, "The loss falls from") || strings.Contains(page, "Choice of granularity") {
		t.Error("the page has no learning curve, or a choice that was not made")
	}
}

// A model of somebody else's making has functions, and need not have more.
func TestLearner(t *testing.T) {
	_, result := fitted(t, small, mvclust.Options{Preset: mvclust.Paper, Learner: func(_ context.Context, _ [][2]int32, _ [][]float32) (*probability.Functions, error) {
		return &probability.Functions{ByView: []probability.Function{{X: []float64{-1, 1}, P: []float64{0, 1}}, {}}}, nil
	}})
	page := written(t, made(t, result, Options{}))
	if !strings.Contains(page, "were not learned in epochs") || !strings.Contains(page, "No pairs to show.") {
		t.Error("the page has a learning curve, or a function without points")
	}
}

// Few samples, one view, one cluster, all alone: there is always a page.
func TestSmall(t *testing.T) {
	for _, n := range []int{3, 4, 5, 9} {
		for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
			rows := make([][]float32, n)
			for i := range rows {
				rows[i] = []float32{1, float32(i * i), float32(n - i)}
			}
			v, err := mvclust.ViewFromRows("v", rows)
			if err != nil {
				t.Fatal(err)
			}
			result, err := mvclust.Fit(t.Context(), []*mvclust.View{v}, mvclust.Options{Preset: preset})
			if err != nil {
				t.Fatal(err)
			}
			page := written(t, made(t, result, Options{Views: []*mvclust.View{v}, Truth: make([]int, n), Classes: []string{"all"}}))
			shown, _, _ := strings.Cut(page, "<script") // which has words of its own
			if d := payload(t, page); d.Drawn != n || strings.Contains(shown, "NaN") || strings.Contains(shown, "Inf") {
				t.Errorf("%d samples, %v: %d drawn, or a number that is none", n, preset, d.Drawn)
			}
		}
	}
}

// Whatever names hold, the page has the same elements as with plain ones.
func TestHostileNames(t *testing.T) {
	set, result := fitted(t, small, mvclust.Options{})
	hostile := []string{
		`</script><script>alert(1)</script>`, `<!--`, `"><img src=x onerror=alert(1)>`, "\u2028\u2029", `\u003c/script>`, `{{.}}`,
		`<svg onload=alert(1)>`, `javascript:alert(1)`, "a\x00b\xff", `'-alert(1)-'`, `]]>`, `&lt;b&gt;`,
	}
	plain := Options{Title: "t", Views: named(set.Views, "v"), Truth: set.Labels, Classes: []string{"c", "c", "c", "c"}, IDs: make([]string, 120), Notes: []string{"n"}, Facts: []Fact{{"f", "v"}}}
	evil := plain
	evil.Classes, evil.IDs = hostile[:4], make([]string, 120)
	for i := range evil.IDs {
		plain.IDs[i], evil.IDs[i] = "id", hostile[i%len(hostile)]
	}
	tags := regexp.MustCompile(`<[a-zA-Z!/]+`)
	for _, name := range hostile {
		evil.Title, evil.Views, evil.Notes, evil.Facts = name, named(set.Views, name), []string{name}, []Fact{{name, name}}
		good, bad := written(t, made(t, result, plain)), written(t, made(t, result, evil))
		// Its data is text to the browser up to the end of the element.
		cut := regexp.MustCompile(`(?s)(<script type="application/json" id="data">).*?(</script>)`)
		if !reflect.DeepEqual(tags.FindAllString(cut.ReplaceAllString(good, "$1$2"), -1), tags.FindAllString(cut.ReplaceAllString(bad, "$1$2"), -1)) {
			t.Errorf("%q changes the elements of the page", name)
		}
		d := payload(t, bad)
		if want := strings.ToValidUTF8(evil.IDs[0], "\ufffd"); d.IDs[0] != want {
			t.Errorf("the id %q is %q on the page", want, d.IDs[0])
		}
	}
}

func named(views []*mvclust.View, name string) []*mvclust.View {
	var out []*mvclust.View
	for _, v := range views {
		w := *v
		w.Name = name
		out = append(out, &w)
	}
	return out
}

// The page refers to nothing outside of it, and runs no script but its own.
func TestSelfContained(t *testing.T) {
	set, result := fitted(t, small, mvclust.Options{})
	page := written(t, made(t, result, Options{Views: set.Views}))
	if m := regexp.MustCompile(`(?i)(src|href)="[^#"][^"]*"|url\(|@import|//[a-z]+\.[a-z]`).FindString(page); m != "" {
		t.Errorf("the page refers to %q", m)
	}
	if !strings.Contains(page, `default-src 'none'; script-src 'sha256-`) {
		t.Error("the page does not forbid other scripts")
	}
}

func TestThreads(t *testing.T) {
	set, result := fitted(t, small, mvclust.Options{})
	one := written(t, made(t, result, Options{Views: set.Views, Threads: 1}))
	if many := written(t, made(t, result, Options{Views: set.Views, Threads: 5})); one != many {
		t.Error("the page depends on the threads")
	}
}

// picture returns a picture in a format.
func picture(t testing.TB, kind string, w, h int, alpha uint8) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(m.Pix[4*i:], []byte{uint8(i), 80, 160, alpha})
	}
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, m)
	case "jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "gif":
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestShrink(t *testing.T) {
	bomb := picture(t, "png", 3, 3, 255)
	copy(bomb[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 x 65,536, says its header
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"photo", "data:image/jpeg;base64,", picture(t, "jpeg", 300, 40, 255)},
		{"opaque", "data:image/jpeg;base64,", picture(t, "png", 10, 500, 255)},
		{"clear", "data:image/png;base64,", picture(t, "png", 80, 80, 100)},
		{"moving", "data:image/jpeg;base64,", picture(t, "gif", 20, 20, 255)},
		{"a point", "data:image/jpeg;base64,", picture(t, "png", 1, 1, 255)},
		{"a line", "data:image/jpeg;base64,", picture(t, "png", 2000, 1, 255)},
		{"text", "it is no picture", []byte("hello")},
		{"nothing", "it is no picture", nil},
		{"half", "it is damaged", picture(t, "jpeg", 300, 300, 255)[:900]},
		{"bomb", "pixels", bomb},
	} {
		uri, err := (&pictureBudget{MostPictureMemory, mostAllPixels, mostAllBytes}).shrink(c.file)
		if err != nil {
			uri = err.Error()
		}
		if !strings.Contains(uri, c.want) || len(uri) > 20_000 {
			t.Errorf("%s: %.60s (%d bytes), want %q", c.name, uri, len(uri), c.want)
		}
	}
}

// What a picture would take is known before it is decoded, and what all take is bounded.
func TestPictureBudget(t *testing.T) {
	grown := func(width, height uint32) []byte { // a picture of one pixel that says it has more
		file := picture(t, "png", 1, 1, 255)
		binary.BigEndian.PutUint32(file[16:], width)
		binary.BigEndian.PutUint32(file[20:], height)
		binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
		return file
	}
	for _, c := range []struct {
		name, want string
		budget     pictureBudget
		file       []byte
	}{
		{"above the pixels", "it has 7200 x 7200 pixels; give one of at most", pictureBudget{MostPictureMemory, mostAllPixels, mostAllBytes}, grown(7200, 7200)},
		{"above the memory", "of memory where there are 64 MiB", pictureBudget{LeastPictureMemory, mostAllPixels, mostAllBytes}, grown(5000, 5000)},
		{"within the memory", "it is damaged", pictureBudget{MostPictureMemory, mostAllPixels, mostAllBytes}, grown(5000, 5000)},
		{"above all pixels", errBudget.Error(), pictureBudget{MostPictureMemory, 24 << 20, mostAllBytes}, grown(5000, 5100)},
		{"above all bytes", errBudget.Error(), pictureBudget{MostPictureMemory, mostAllPixels, 10}, picture(t, "png", 1, 1, 255)},
	} {
		if _, err := c.budget.shrink(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// When the budget is spent, no more pictures are asked for, and the note tells the first.
func TestPicturesEnd(t *testing.T) {
	_, result := fitted(t, small, mvclust.Options{})
	file, large := picture(t, "png", 5, 5, 255), make([]byte, 64<<20) // which is no picture
	given := 0
	r := made(t, result, Options{Pictures: func(ctx context.Context, samples []int, take func(int, []byte, error)) error {
		for k, i := range samples {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			given++
			if k < 2 {
				take(i, file, nil)
			} else {
				take(i, large, nil)
			}
		}
		return nil
	}})
	if most := 2 + mostAllBytes>>26; given != most || len(r.thumbs) != 2 {
		t.Errorf("%d pictures were read and %d are shown, want %d and 2", given, len(r.thumbs), most)
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "118 of 120 pictures cannot be shown") {
		t.Errorf("notes: %q", r.Notes)
	}
}

func TestPictures(t *testing.T) {
	_, result := fitted(t, small, mvclust.Options{})
	file := picture(t, "jpeg", 100, 100, 255)
	asked := 0
	r := made(t, result, Options{Pictures: func(_ context.Context, samples []int, take func(int, []byte, error)) error {
		asked = len(samples)
		for _, i := range samples {
			switch i {
			case 7:
				take(i, nil, errors.New("it is lost"))
			case 9:
				take(i, file[:50], nil)
			default:
				take(i, file, nil)
			}
		}
		take(100_000, file, nil) // nobody asked for it
		return nil
	}})
	if asked != 120 || len(r.thumbs) != 118 {
		t.Errorf("%d were asked for, and %d are there", asked, len(r.thumbs))
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "2 of 120 pictures cannot be shown") {
		t.Errorf("notes: %q", r.Notes)
	}
	if d := payload(t, written(t, r)); len(d.Thumbs) != 118 {
		t.Errorf("the page has %d pictures", len(d.Thumbs))
	}
}

// What pictures take on the page is bounded, and the first that matter are kept.
func TestPicturesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	_, result := fitted(t, synth.Config{Samples: 1600, Classes: 5, Noise: []float64{0.3}}, mvclust.Options{Preset: mvclust.Paper})
	noise := image.NewNRGBA(image.Rect(0, 0, side, side)) // of which 250 are more than the page may hold
	random := rand.New(rand.NewPCG(1, 1))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(random.Uint32())
	}
	var large bytes.Buffer
	if err := png.Encode(&large, noise); err != nil {
		t.Fatal(err)
	}
	little := picture(t, "png", 1, 1, 100)
	asked := 0
	r := made(t, result, Options{Pictures: func(_ context.Context, samples []int, take func(int, []byte, error)) error {
		asked = len(samples)
		for k, i := range samples {
			if k < 250 {
				take(i, large.Bytes(), nil)
			} else {
				take(i, little, nil)
			}
		}
		return nil
	}})
	total := 0
	for _, uri := range r.thumbs {
		total += len(uri)
	}
	if asked > mostThumbs || asked < 1000 || len(r.thumbs) >= 250 || total > mostThumbBytes || r.thumbs[r.Clusters[0].Central[0]] == "" {
		t.Errorf("of %d pictures, %d of %d bytes are kept", asked, len(r.thumbs), total)
	}
}

func TestErrors(t *testing.T) {
	set, result := fitted(t, small, mvclust.Options{})
	lost := errors.New("lost")
	bad := *result
	bad.Confidence = bad.Confidence[1:]
	for _, c := range []struct {
		name   string
		result *mvclust.Result
		opt    Options
		want   string
	}{
		{"nothing", nil, Options{}, "there is no result"},
		{"empty", &mvclust.Result{}, Options{}, "there is no result"},
		{"half", &bad, Options{}, "119 confidences"},
		{"ids", result, Options{IDs: []string{"a"}}, "1 ids for 120"},
		{"truth", result, Options{Truth: []int{1}}, "1 classes for 120"},
		{"classes", result, Options{Truth: make([]int, 120)}, "sample 0 (counted from 0) is of class 0"},
		{"views", result, Options{Views: set.Views[:1]}, "1 views for a result of 2"},
		{"nil view", result, Options{Views: []*mvclust.View{set.Views[0], nil}}, "view 1"},
		{"pictures", result, Options{Pictures: func(context.Context, []int, func(int, []byte, error)) error { return lost }}, "lost"},
	} {
		if _, err := New(t.Context(), c.result, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for questions := 0; questions < 300; questions += 29 {
		if _, err := New(lapse.After(t.Context(), questions), result, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
	}
	full := errors.New("the disk is full")
	if err := made(t, result, Options{}).WriteHTML(failing{full}); !errors.Is(err, full) {
		t.Errorf("the error of writing is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Clusters that lie together differ in colour, where there are no more than colours.
func TestColours(t *testing.T) {
	_, result := fitted(t, synth.Config{Samples: 300, Classes: colours, Noise: []float64{0.4}}, mvclust.Options{})
	r := made(t, result, Options{})
	seen := map[int]bool{}
	for _, c := range r.Map.Colours[:min(colours, len(r.Map.Colours))] {
		seen[c] = true
	}
	if len(seen) < min(colours, r.Number)-1 {
		t.Errorf("%d clusters have the colours %v", r.Number, r.Map.Colours)
	}
}

func BenchmarkWriteHTML(b *testing.B) {
	_, result := fitted(b, synth.Config{Samples: 2000, Classes: 20}, mvclust.Options{Preset: mvclust.Paper})
	r := made(b, result, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if err := r.WriteHTML(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		want []string
	}{
		{axis{high: 1}, []string{"0", "0.5", "1"}},
		{axis{high: 5, whole: true}, []string{"0", "2", "4"}},
		{axis{low: -0.5, high: 0.5, whole: true}, []string{"0"}},
		{axis{high: 12_345}, []string{"0", "5000", "10k"}},
		{axis{low: -12, high: -1}, []string{"−10", "−5"}},
		{axis{low: 2, high: 300, log: true}, []string{"2", "5", "10", "20", "50", "100", "200"}},
		{axis{low: 1, high: 1e6, log: true}, []string{"1", "10", "100", "1000", "10k", "100k", "1M"}},
		{axis{low: 0, high: 5, log: true}, nil}, // what a file says need not make sense
		{axis{low: -1, high: 5, log: true}, nil},
		{axis{low: 2, high: 1}, nil},
		{axis{low: math.NaN(), high: 1}, nil},
		{axis{low: -math.MaxFloat64, high: math.MaxFloat64}, nil},
		{axis{low: 1, high: math.Inf(1), log: true}, nil},
	} {
		var got []string
		for _, v := range c.a.ticks(4) {
			got = append(got, tick(v))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v has the ticks %q, want %q", c.a, got, c.want)
		}
	}
}
