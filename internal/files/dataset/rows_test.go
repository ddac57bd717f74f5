package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadRows(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	save(t, path, "id,title,price\nb,\"Blue, dark\",2\na,Red,1.5\nz,None,\n")
	r, err := ReadRows(t.Context(), path, []string{"a", "b", "c"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Columns, []string{"title", "price"}) {
		t.Errorf("the columns are %q", r.Columns)
	}
	for i, want := range [][]string{{"Red", "1.5"}, {"Blue, dark", "2"}, nil} {
		if got := r.Of(i); !slices.Equal(got, want) {
			t.Errorf("sample %d: %q, want %q", i, got, want)
		}
	}
	if r, err = ReadRows(t.Context(), path, nil, 3); err != nil || r.Of(0)[0] != "Blue, dark" {
		t.Errorf("without ids: %v", err)
	}
	save(t, filepath.Join(dir, "only.csv"), "id\na\nb\n")
	for source, want := range map[string]string{
		path + ":title":                "takes no name",
		filepath.Join(dir, "none.csv"): "no such file",
		filepath.Join(dir, "only.csv"): "no column to show",
	} {
		if _, err := ReadRows(t.Context(), source, nil, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
	if _, err := ReadRows(t.Context(), path, nil, 5); err == nil || !strings.Contains(err.Error(), "3 rows for 5 samples") {
		t.Errorf("of other samples: %v", err)
	}
}
