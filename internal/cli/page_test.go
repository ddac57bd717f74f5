package cli

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// paint writes a small picture.
func paint(t *testing.T, path string, shade int) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 9, 9))
	for i := range m.Pix {
		m.Pix[i] = uint8(shade + i)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestPage(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	succeed(t, dir, quick("synth.npz", "--truth", "synth.npz:labels", "--quiet")...)
	page := read(t, dir, "mvclust-out", "report.html")
	for _, want := range []string{"<h1>synth.npz</h1>", "Against the known classes", "Learning curve", "in 300 samples, seen in 2 views"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// But for when it was made, the page is the same with any number of threads.
	succeed(t, dir, quick("synth.npz", "--truth", "synth.npz:labels", "--quiet", "--threads", "3", "-o", "again")...)
	made := regexp.MustCompile(`made on <b>[^<]*</b>`)
	if again := read(t, dir, "again", "report.html"); made.ReplaceAllString(again, "") != made.ReplaceAllString(page, "") {
		t.Error("the page depends on the threads")
	}
}

// Pictures stand in for ids, whether they are called as the samples are or a table
// names them; one that is not there is noted.
func TestThumbs(t *testing.T) {
	dir := t.TempDir()
	var table, list strings.Builder
	table.WriteString("id,a,b\n")
	list.WriteString("id,picture\n")
	if err := os.Mkdir(filepath.Join(dir, "pictures"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		fmt.Fprintf(&table, "s%d,%d,%d\n", i, i%3+i%7, 50-20*(i%3)+i%5)
		fmt.Fprintf(&list, "s%d,pictures/s%d.png\n", 29-i, 29-i) // in another order
		if i != 4 {
			paint(t, filepath.Join(dir, "pictures", fmt.Sprintf("s%d.png", i)), i)
		}
	}
	write(t, dir, "data.csv", []byte(table.String()))
	write(t, dir, "list.csv", []byte(list.String()))
	write(t, dir, "plain.csv", []byte("n,picture\n"+strings.Repeat("1,pictures/s1.png\n", 29)))

	for _, arg := range []string{"pictures", "list.csv:picture"} {
		o := succeed(t, dir, "fit", "data.csv", "--thumbs", arg)
		page := read(t, dir, "mvclust-out", "report.html")
		if n := strings.Count(page, "data:image/jpeg"); n != 29 {
			t.Errorf("--thumbs %s: %d pictures, want 29", arg, n)
		}
		if want := "1 of 30 pictures cannot be shown, and the ids stand in for them; the first is that of s4"; !strings.Contains(o.stderr, want) || !strings.Contains(read(t, dir, "mvclust-out", "run.json"), want) {
			t.Errorf("--thumbs %s: the note is missing:\n%s", arg, o.stderr)
		}
	}
	for arg, want := range map[string]string{
		"nowhere":           "there is no such file",
		"list.csv":          "say which holds the pictures by FILE:COLUMN",
		"list.csv:image":    `has no column "image"`,
		"plain.csv:picture": "29 pictures for 30 samples",
	} {
		o := command(t, dir, "fit", "data.csv", "--thumbs", arg, "-o", "none", "--quiet")
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "--thumbs") {
			t.Errorf("--thumbs %s: status %d, %q, want %q", arg, o.status, o.stderr, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
			t.Errorf("--thumbs %s leaves a folder behind", arg)
		}
	}
}

// A table names pictures outside its folder only where --thumbs-root allows it.
func TestThumbsRoot(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"pictures", "tables"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	var table strings.Builder
	table.WriteString("id,a,b,picture\n")
	for i := range 30 {
		fmt.Fprintf(&table, "s%d,%d,%d,../pictures/%d.png\n", i, i%3+i%7, 50-20*(i%3)+i%5, i)
		paint(t, filepath.Join(dir, "pictures", fmt.Sprintf("%d.png", i)), i)
	}
	write(t, filepath.Join(dir, "tables"), "data.csv", []byte(table.String()))
	fit := []string{"fit", "tables/data.csv", "--thumbs", "tables/data.csv:picture"}
	o := succeed(t, dir, fit...)
	if want := "30 of 30 pictures cannot be shown"; !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "by --thumbs-root") {
		t.Errorf("%q, want %q and the remedy", o.stderr, want)
	}
	succeed(t, dir, append(fit, "--thumbs-root", ".")...)
	if n := strings.Count(read(t, dir, "mvclust-out", "report.html"), "data:image/jpeg"); n != 30 {
		t.Errorf("%d pictures, want 30", n)
	}
	for want, args := range map[string][]string{
		"--thumbs-root: there is no --thumbs": {"fit", "tables/data.csv", "--thumbs-root", "."},
		"leave it out":                        {"fit", "tables/data.csv", "--thumbs", "pictures", "--thumbs-root", "."},
		"none cannot be read":                 append(fit, "--thumbs-root", "none"),
	} {
		if o := command(t, dir, append(args, "--quiet", "-o", "none-of-it")...); o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, want) {
			t.Errorf("status %d, %q, want %q", o.status, o.stderr, want)
		}
	}
}
