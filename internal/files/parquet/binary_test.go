package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// shelf is a row as datasets of pictures have it.
type shelf struct {
	ID      int64    `parquet:"id"`
	Image   *picture `parquet:"image,optional"`
	Raw     []byte   `parquet:"raw,optional"`
	Name    string   `parquet:"name,dict"`
	Numbers []int32  `parquet:"numbers,list"`
}

type picture struct {
	Width int32   `parquet:"width"`
	Bytes []byte  `parquet:"bytes,optional"`
	Path  *string `parquet:"path,optional"`
}

// shelves is a file of n such rows in several row groups and pages.
func shelves(t testing.TB, n int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[shelf](&b, append(options, parquet.PageBufferSize(64))...)
	for i := range n {
		row := shelf{ID: int64(i), Name: fmt.Sprint("n", i%3), Numbers: []int32{1, 2}}
		path := fmt.Sprint("p", i)
		switch i % 4 {
		case 0:
			row.Image = &picture{Bytes: fmt.Append(nil, "b", i)}
		case 1:
			row.Image = &picture{Bytes: fmt.Append(nil, "b", i), Path: &path}
		case 2:
			row.Image = &picture{Path: &path}
		}
		if i%2 == 0 {
			row.Raw = fmt.Append(nil, "r", i)
		}
		if _, err := w.Write([]shelf{row}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rowsOf returns some rows of a column.
func rowsOf(b []byte, name string, rows []int) (map[int]string, error) {
	col, err := OpenBinary(bytes.NewReader(b), int64(len(b)), name)
	if err != nil {
		return nil, err
	}
	got := map[int]string{}
	return got, col.Each(rows, func(row int, value string) error {
		got[row] = value
		return nil
	})
}

func TestBinary(t *testing.T) {
	image := map[int]string{0: "b0", 1: "b1", 2: "p2", 24: "b24", 25: "b25", 34: "p34"}
	raw := map[int]string{0: "r0", 2: "r2", 24: "r24", 34: "r34"}
	name := map[int]string{0: "n0", 1: "n1", 2: "n2", 3: "n0", 24: "n0", 25: "n1", 27: "n0", 34: "n1"}
	rows := []int{0, 1, 2, 3, 24, 25, 27, 34}
	for what, options := range map[string][]parquet.WriterOption{
		"version 1": {parquet.DataPageVersion(1)},
		"version 2": {parquet.DataPageVersion(2)},
		"packed":    {parquet.Compression(&parquet.Zstd)},
	} {
		b := shelves(t, 35, options...)
		for column, want := range map[string]map[int]string{"image": image, "raw": raw, "name": name} {
			got, err := rowsOf(b, column, rows)
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: %s has %v, want %v; %v", what, column, got, want, err)
			}
		}
		if got, err := rowsOf(b, "raw", nil); err != nil || len(got) != 0 {
			t.Errorf("%s: no rows are %v, %v", what, got, err)
		}
	}
}

func TestBinaryErrors(t *testing.T) {
	b := shelves(t, 12)
	for column, want := range map[string]string{"none": `holds no column "none"`, "id": "neither bytes, nor text", "numbers": "neither bytes, nor text"} {
		if _, err := rowsOf(b, column, []int{1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", column, err, want)
		}
	}
	col, err := OpenBinary(bytes.NewReader(b), int64(len(b)), "raw")
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	if err := col.Each([]int{0, 2}, func(int, string) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the error of take is %v", err)
	}
	if col.Rows() != 12 {
		t.Errorf("%d rows", col.Rows())
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(shelves(f, 12))
	f.Add(shelves(f, 25, parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{"image", "raw", "name"} {
			got, err := rowsOf(b, name, []int{0, 3, 11, 20})
			if err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Errorf("the error says %q", err)
			}
			for row := range got {
				if !slices.Contains([]int{0, 3, 11, 20}, row) {
					t.Errorf("row %d was not asked for", row)
				}
			}
		}
	})
}

// Pages that take more than the memory for them are not read.
func TestBinaryMost(t *testing.T) {
	b := shelves(t, 35)
	c, err := OpenBinary(bytes.NewReader(b), int64(len(b)), "raw")
	if err != nil {
		t.Fatal(err)
	}
	none := func(int, string) error { return nil }
	for most, refused := range map[int64]bool{0: false, 1: true, 1 << 20: false} {
		c.Most = most
		if err := c.Each([]int{0, 2}, none); (err != nil) != refused || refused && !strings.Contains(err.Error(), "--memory") {
			t.Errorf("with %d bytes for pages: %v", most, err)
		}
	}
}
