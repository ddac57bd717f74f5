package dataset

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realData returns the path of a data set that is kept beside the repository.
func realData(t *testing.T, file string) string {
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %v; set MVCLUST_DATA to the folder that holds them", err)
	}
	return path
}

func TestRealData(t *testing.T) {
	for _, c := range []struct {
		file    string
		index   string
		views   string
		n       int
		classes int
	}{
		{"Handwritten.npz", "", "[240 76 47 64]", 2000, 10},
		{"Handwritten6.npz", "", "[240 76 216 47 64 6]", 2000, 10},
		{"100Leaves.npz", "", "[64 64 64]", 1600, 100},
		{"100Leaves_aligned.npz", "", "[64 64 64]", 1600, 100},
		{"BBCSport.npz", "", "[3183 3203]", 544, 5},
		{"BBCSport_tfidf.npz", "", "[3183 3203]", 544, 5},
		{"BUAA.npz", "", "[100 100]", 1350, 150},
		{"MSRC.npz", "", "[24 576 512 256 254]", 210, 7},
		{"ORL.npz", "", "[512 59 864 254]", 400, 40},
		{"CUB.npz", "", "[1024 300]", 600, 10},
		{"LandUse-21.npz", "", "[20 59 40]", 2100, 21},
		{"WebKB-course.npz", "", "[1840 3000]", 1051, 2},
		{"Banking77_derived.npz", "", "[256 256]", 13083, 77},
		{"mat/MSRC.mat", "", "[24 576 512 256 254]", 210, 7},
		{"mat/100Leaves.mat", "", "[64 64 64]", 1600, 100},
		{"mat/BBCSport_sparse.mat", "", "[3183 3203]", 544, 5},
		{"mat/BBCSport_incomplete.mat", "", "[3183 of 644 3203 of 637]", 737, 5},
		{"mat/BBCSport_incomplete.mat", ":index", "[3183 of 644 3203 of 637]", 737, 5},
	} {
		t.Run(c.file+c.index, func(t *testing.T) {
			f := folder{t, ""}
			path := realData(t, c.file)
			opt := Options{}
			if c.index != "" {
				opt.Index = path + c.index
			}
			set := f.load(opt, path)
			var views []string
			for _, v := range set.Views {
				s := fmt.Sprint(v.Dims)
				if v.Count() < v.Samples {
					s += fmt.Sprintf(" of %d", v.Count())
				}
				views = append(views, s)
			}
			if got := fmt.Sprint(views); got != c.views || set.Views[0].Samples != c.n {
				t.Errorf("%d samples, views %s", set.Views[0].Samples, got)
			}
			truth, err := Labels(t.Context(), path, nil, c.n)
			if err != nil {
				t.Fatal(err)
			}
			if len(truth.Labels) != c.n || len(truth.Names) != c.classes {
				t.Errorf("%d labels of %d classes", len(truth.Labels), len(truth.Names))
			}
			t.Log(set.Notes)
		})
	}
}

// TestRealDataInTwoFormats compares the views of two files that hold the same
// samples in the same order.
func TestRealDataInTwoFormats(t *testing.T) {
	f := folder{t, ""}
	for file, views := range map[string]string{"MSRC": "0 1 2 3 4", "100Leaves": "1 2 0", "BBCSport": "0 1"} {
		mat := map[string]string{"BBCSport": "BBCSport_sparse"}[file]
		a := f.load(Options{}, realData(t, file+".npz"))
		b := f.load(Options{Views: strings.Fields(views)}, realData(t, "mat/"+cmp.Or(mat, file)+".mat"))
		for k, v := range a.Views {
			if !slices.Equal(v.Data, b.Views[k].Data) {
				t.Errorf("%s differs from %s", v.Name, b.Views[k].Name)
			}
		}
	}
}
