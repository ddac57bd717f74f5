package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const pngMark = "\x89PNG\r\n\x1a\n"

// gather returns what Each says of samples, a file's bytes or an error.
func gather(t *testing.T, arg string, ids []string, samples int, wanted ...int) map[int]string {
	t.Helper()
	return gatherIn(t, arg, "", ids, samples, wanted...)
}

// gatherIn is gather with a root.
func gatherIn(t *testing.T, arg, root string, ids []string, samples int, wanted ...int) map[int]string {
	t.Helper()
	p, err := OpenPictures(t.Context(), arg, root, ids, samples)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := map[int]string{}
	err = p.Each(t.Context(), wanted, func(sample int, file []byte, problem error) {
		if _, twice := got[sample]; twice {
			t.Errorf("sample %d comes twice", sample)
		}
		got[sample] = string(file)
		if problem != nil {
			got[sample] = "error: " + problem.Error()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func hold(t *testing.T, got map[int]string, want map[int]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d samples are answered, want %d", len(got), len(want))
	}
	for i, w := range want {
		if g, ok := got[i]; !ok || g != w && !(strings.HasPrefix(w, "error: ") && strings.Contains(g, w[7:]) && strings.HasPrefix(g, "error: ")) {
			t.Errorf("sample %d: %q, want %q", i, g, w)
		}
	}
}

func TestPicturesInFolder(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "in", "a.jpg"), "A")
	save(t, filepath.Join(dir, "in", "b.WEBP"), "B")
	save(t, filepath.Join(dir, "in", "c.png"), "C")
	save(t, filepath.Join(dir, "in", "sub", "d.gif"), "D")
	save(t, filepath.Join(dir, "in", "1.jpeg"), "one")
	save(t, filepath.Join(dir, "out.jpg"), "secret")
	if err := os.Mkdir(filepath.Join(dir, "in", "e.jpg"), 0o777); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in")
	ids := []string{"a", "b", "c.png", "sub/d", "../out", "e", "none", "a\x00"}
	hold(t, gather(t, in, ids, len(ids), 0, 1, 2, 3, 4, 5, 6, 7), map[int]string{
		0: "A", 1: "B", 2: "C", 3: "D", 4: "error: cannot be read", 5: "error: there is no e.jpg", 6: "error: there is no none.jpg", 7: "error: ",
	})
	hold(t, gather(t, in, nil, 3, 2, 1), map[int]string{1: "one", 2: "error: there is no 2.jpg"})
}

func TestPicturesByPath(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "p", "x.png"), "X")
	save(t, filepath.Join(dir, "t.csv"), "id,file\nu,p/x.png\nv,p/none.png\nw,\nx,p\ny,"+filepath.Join(dir, "p", "x.png")+"\n")
	arg := filepath.Join(dir, "t.csv") + ":file"
	want := map[int]string{0: "X", 1: "error: p/none.png cannot be read", 2: "error: there is none", 3: "error: p is no ordinary file", 4: "X"}
	hold(t, gather(t, arg, nil, 5, 0, 1, 2, 3, 4), want)
	// By ids, in another order, with one that the table lacks.
	hold(t, gather(t, arg, []string{"y", "stranger", "w"}, 3, 0, 1, 2), map[int]string{0: "X", 1: "error: there is none", 2: "error: there is none"})
}

// A table can only name files in its own folder, or in the root.
func TestPicturesStayInside(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	save(t, filepath.Join(dir, "out.png"), "secret")
	save(t, filepath.Join(dir, "in", "p", "x.png"), "X")
	for link, to := range map[string]string{"leak.png": filepath.Join("..", "out.png"), "up": "..", "fine.png": filepath.Join("p", "x.png")} {
		if err := os.Symlink(to, filepath.Join(in, link)); err != nil {
			t.Skip(err)
		}
	}
	rows := []string{"../out.png", filepath.Join(dir, "out.png"), "p/../../out.png", "leak.png", "up/out.png", "fine.png", "p/../p/x.png", "../in/p/x.png", filepath.Join(in, "p", "x.png")}
	save(t, filepath.Join(in, "t.csv"), strings.ReplaceAll("n,file\n0,"+strings.Join(rows, "\n0,")+"\n", "\\", "/"))
	arg := filepath.Join(in, "t.csv") + ":file"
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	outside := "error: is outside the folder"
	hold(t, gather(t, arg, nil, len(rows), all...), map[int]string{
		0: outside, 1: outside, 2: outside, 3: "error: leak.png cannot be read", 4: "error: up/out.png cannot be read", 5: "X", 6: "X", 7: "X", 8: "X",
	})
	hold(t, gatherIn(t, arg, dir, nil, len(rows), all...), map[int]string{
		0: "secret", 1: "secret", 2: "secret", 3: "secret", 4: "secret", 5: "X", 6: "X", 7: "X", 8: "X",
	})
	hold(t, gatherIn(t, arg, filepath.Join(in, "p"), nil, len(rows), 0, 5, 6, 8), map[int]string{0: outside, 5: outside, 6: "X", 8: "X"})
	// The table's folder may itself be named by a link.
	hold(t, gather(t, filepath.Join(in, "up", "in", "t.csv")+":file", nil, len(rows), 0, 6, 7), map[int]string{0: "error: ", 6: "X", 7: "X"})

	if _, err := OpenPictures(t.Context(), arg, filepath.Join(dir, "none"), nil, len(rows)); err == nil || !strings.Contains(err.Error(), "none cannot be read") {
		t.Errorf("a root that is not there: %v", err)
	}
	if _, err := OpenPictures(t.Context(), in, dir, nil, 3); err == nil || !strings.Contains(err.Error(), "leave it out") {
		t.Errorf("a root for a folder: %v", err)
	}
}

func TestPicturesInParquet(t *testing.T) {
	type image struct {
		Bytes []byte `parquet:"bytes,optional"`
		Path  string `parquet:"path,optional"`
	}
	type row struct {
		ID    string `parquet:"id"`
		Image image  `parquet:"image"`
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "x.png"), "X")
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{
		{"a", image{Bytes: []byte(pngMark + "a")}}, {"b", image{Path: "x.png"}}, {"c", image{}}, {"d", image{Bytes: []byte("\x00junk")}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "t.parquet"), b.String())
	arg := filepath.Join(dir, "t.parquet") + ":image"
	hold(t, gather(t, arg, nil, 4, 3, 1, 0, 2), map[int]string{0: pngMark + "a", 1: "X", 2: "error: there is none", 3: "error: neither a picture"})
	hold(t, gather(t, arg, []string{"d", "new", "a"}, 3, 0, 1, 2), map[int]string{0: "error: neither a picture", 1: "error: there is none", 2: pngMark + "a"})
}

// A damaged page costs its pictures alone.
func TestPicturesInDamagedParquet(t *testing.T) {
	type row struct {
		Image []byte `parquet:"image"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for range 3 {
		if _, err := w.Write([]row{{[]byte(pngMark + strings.Repeat("x", 50))}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	whole, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	file[whole.Metadata().RowGroups[1].Columns[0].MetaData.DataPageOffset] = 0xff
	path := filepath.Join(t.TempDir(), "t.parquet")
	save(t, path, string(file))
	got := gather(t, path+":image", nil, 3, 0, 1, 2)
	if !strings.HasPrefix(got[0], pngMark) || !strings.Contains(got[1], "damaged") || !strings.Contains(got[2], "damaged") {
		t.Errorf("the pictures are %v", got)
	}
}

func TestPicturesErrors(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "t.csv"), "n,file\n1,a\n2,b\n")
	save(t, filepath.Join(dir, "t.npy"), string(npyOf(t)))
	for arg, want := range map[string]string{
		"none":       "no such file",
		"t.csv":      "say which holds the pictures",
		"t.csv:what": `no column "what"`,
		"t.csv:file": "2 pictures for 3 samples",
		"t.npy":      "is no table",
	} {
		if _, err := OpenPictures(t.Context(), filepath.Join(dir, arg), "", nil, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
	p, err := OpenPictures(t.Context(), filepath.Join(dir, "t.csv")+":file", "", nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Each(ctx, []int{0}, func(int, []byte, error) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// npyOf is a small .npy file.
func npyOf(t *testing.T) []byte {
	t.Helper()
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	return append(append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0), fmt.Sprint(header, "\x00\x00\x00\x00")...)
}
