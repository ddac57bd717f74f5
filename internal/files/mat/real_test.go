package mat

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The shapes and the sums of v[k]*(k%7+1) over the values v, in column-major
// order and without NaN, as scipy.io.loadmat has them:
//
//	v = v.ravel(order="F").astype("f4").astype("f8")
//	np.nansum(v * (np.arange(v.size) % 7 + 1))
func TestRealFiles(t *testing.T) {
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	type want struct {
		name  string
		shape []int
		sum   float64
	}
	for name, arrays := range map[string][]want{
		"100Leaves.mat": {
			{"truelabel{1}", []int{1600, 1}, 322997.0},
			{"truelabel{2}", []int{1600, 1}, 322997.0},
			{"truelabel{3}", []int{1600, 1}, 322997.0},
			{"data{1}", []int{64, 1600}, 6402.773961006198},
			{"data{2}", []int{64, 1600}, 247.67608694286537},
			{"data{3}", []int{64, 1600}, 6384.568318405247},
		},
		"BBCSport_incomplete.mat": {
			{"data{1}", []int{3183, 737}, 240284.0},
			{"data{2}", []int{3203, 737}, 233008.0},
			{"index{1}", []int{644, 1}, 949294.0},
			{"index{2}", []int{637, 1}, 948205.0},
			{"truelabel{1}", []int{737, 1}, 8912.0},
			{"truelabel{2}", []int{737, 1}, 8912.0},
		},
		"BBCSport_sparse.mat": {
			{"X{1}", []int{3183, 544}, 204915.0},
			{"X{2}", []int{3203, 544}, 197175.0},
			{"Y", []int{544, 1}, 6588.0},
		},
		"MSRC.mat": {
			{"X1", []int{210, 24}, 1718029.4711771011},
			{"X2", []int{210, 576}, 59957.42492716783},
			{"X3", []int{210, 512}, 20009.648352927063},
			{"X4", []int{210, 256}, 169841716.0},
			{"X5", []int{210, 254}, 46045127.0},
			{"Y", []int{1, 210}, 3388.0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "mat", name)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("real data not present: %v", err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := parse(t, b)
			infos := f.Arrays()
			if len(infos) != len(arrays) {
				t.Fatalf("lists %d arrays, want %d", len(infos), len(arrays))
			}
			for i, w := range arrays {
				if infos[i].Name != w.name || !slices.Equal(infos[i].Shape, w.shape) {
					t.Errorf("lists %s %d, want %s %d", infos[i].Name, infos[i].Shape, w.name, w.shape)
				}
				values, err := f.Float32(i)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for k, x := range values {
					if x == x {
						sum += float64(x) * float64(k%7+1)
					}
				}
				if math.Abs(sum-w.sum) > 1e-9*math.Abs(w.sum) {
					t.Errorf("%s sums to %.15g, want %.15g", w.name, sum, w.sum)
				}
			}
		})
	}
}
