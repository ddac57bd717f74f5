package mvclust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// ModelInfo says what a model file holds, before any of its arrays is read.
type ModelInfo struct {
	// Samples is the number of samples, Clusters at least that of the clusters, and Edges and Nearest
	// are those of the links, from both ends, and of the neighbours that are stored for every sample.
	Samples, Clusters int
	Edges, Nearest    int
	// Neighbours and Candidates are those of ModelSettings, and Chosen, too.
	Neighbours, Candidates, Chosen int
	// Views says how the rows of each view are compared.
	Views []ViewInfo

	levels, pairs int
	manifest      int64
	apart         bool // whether the neighbours can stay in the file
}

// ViewInfo says how the rows of a view are compared.
type ViewInfo struct {
	Dims   int
	Metric similarity.Metric
	Scale  view.Scale
	// Axes is the number of axes of the Index, and Probes that of its cells that a new row is compared with; 0
	// where it has none. Apart says that OpenCurrent leaves the rows in the file.
	Axes, Probes int
	Apart        bool

	stays bool // whether the rows can stay in the file
}

// Compared returns the length of a row as it is compared, and the bytes that so many of them take
// beside those as given.
func (v ViewInfo) Compared(samples int) (dims int, bytes int64) {
	scaled := v.Scale.Footprint(samples, v.Dims)
	return v.Scale.Dims(v.Dims), scaled + v.Metric.Footprint(samples, v.Scale.Dims(v.Dims), scaled > 0)
}

// StatModel returns what a model file of size bytes holds. It reads manifest.json and the sizes of the
// arrays. The errors are those of ReadModel that these show.
func StatModel(r io.ReaderAt, size int64) (*ModelInfo, error) {
	h, length, err := readManifest(r, size)
	if err != nil {
		return nil, err
	}
	file, err := npy.Open(r, size)
	if err != nil {
		return nil, damaged(err)
	}
	n := h.Samples
	i := &ModelInfo{
		Samples: n, Clusters: min(max(0, h.Clusters, h.Retired), maxNumbers(n)), levels: len(h.Levels), manifest: int64(length),
		Neighbours: min(max(0, h.Settings.Neighbours), n), Candidates: min(max(0, h.Settings.Candidates), n), Chosen: h.Settings.Chosen,
	}
	f := openMembers(file)
	for k := range h.Views {
		v := &h.Views[k]
		if f.checkView(h, k); f.err != nil {
			return nil, damaged(f.err)
		}
		probes := 0
		if v.Index != nil {
			probes = min(max(0, v.Index.Probes), n)
		}
		i.Views = append(i.Views, ViewInfo{v.Dims, v.Metric, v.Scaler.Scale, f.axes(v, k), probes, f.searched(v, k), f.rowsStay(v, k)})
	}
	for _, a := range f.infos {
		switch {
		case a.Name == "graph/index":
			i.Edges = a.Len()
		case a.Name == "neighbors/index" && len(a.Shape) == 2:
			i.Nearest = a.Shape[1]
			i.apart = f.nearestStay(h, i.Nearest)
		case strings.HasPrefix(a.Name, "constraints/"):
			i.pairs += a.Len()
		}
	}
	return i, nil
}

// axes returns how many axes the index of view k has.
func (f *modelMembers) axes(v *modelViewHeader, k int) int {
	if at, ok := f.place[fmt.Sprintf("view%d/index/axes", k)]; ok && v.Index != nil {
		return f.infos[at].Len() / v.Scaler.Scale.Dims(v.Dims)
	}
	return 0
}

// searched says whether view k is searched without its rows: by the axes of its index.
func (f *modelMembers) searched(v *modelViewHeader, k int) bool {
	return v.Metric == similarity.Cosine && f.axes(v, k) > 0 && f.rowsStay(v, k)
}

// readManifest reads manifest.json, and returns its length, too.
func readManifest(r io.ReaderAt, size int64) (h *modelHeader, length int, err error) {
	if r == nil {
		return nil, 0, errors.New("there is nothing to read a model from; pass a file")
	}
	err = npy.CheckStored(r, size)
	var text []byte
	if err == nil {
		text, err = npy.ReadFile(r, size, modelManifest)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("it is no whole model of mvclust: %w; run \"mvclust fit\" again, or copy the file again from where it came", err)
	}
	h = &modelHeader{}
	err = json.Unmarshal(text, h)
	if h.Format != modelFormat {
		return nil, 0, errors.New("it is no model of mvclust: its manifest.json is another's; name the model.mvclust that \"mvclust fit\" has written")
	}
	if h.Version > modelVersion {
		return nil, 0, fmt.Errorf("it is a model of version %d, and this program reads versions up to %d; use a newer mvclust", h.Version, modelVersion)
	}
	if err == nil {
		err = h.check(text)
	}
	if err != nil {
		return nil, 0, damaged(err)
	}
	return h, len(text), nil
}

// Footprint returns how many bytes ReadModel takes at its peak, at most, and the model afterwards. It is
// the largest int64 for more than that. The Go runtime comes on top, with what it has not collected yet.
func (i *ModelInfo) Footprint() int64 { return i.footprint(whole) }

// CurrentFootprint is Footprint for OpenCurrent.
func (i *ModelInfo) CurrentFootprint() int64 { return i.footprint(current) }

// OpenFootprint is Footprint for OpenModel.
func (i *ModelInfo) OpenFootprint() int64 { return i.footprint(apart) }

func (i *ModelInfo) footprint(much extent) int64 {
	n, k := float64(i.Samples), float64(i.Nearest)
	// Labels, confidences, offsets and levels are read in another type than they are kept in.
	sum := (72+16*float64(i.levels)+8*float64(len(i.Views)))*n + 8*float64(i.Edges) + 24*float64(i.pairs) + 6*float64(i.manifest)
	if much != whole {
		sum += 8 << 20 // blocks
	}
	switch first := min(k, float64(i.Neighbours)); {
	case k == 0 || much == apart && i.apart:
	case much == current && i.apart:
		sum += 16*n*(first+1) + 40*n
	case much == current:
		sum += 8*n*(first+1) + 16*n // the first of all
		fallthrough
	default:
		sum += 16*n*(k+1) + 40*n // as stored, and as they are kept
	}
	for _, v := range i.Views {
		if much == apart && v.stays {
			continue
		}
		if sum += 5 * n; much != current || !v.Apart {
			sum += 4 * n * float64(v.Dims+v.Axes)
		}
	}
	return bounded(sum)
}

// bounded returns x as a number of bytes.
func bounded(x float64) int64 {
	if !(x < math.MaxInt64/2) {
		return math.MaxInt64 / 2
	}
	return int64(x)
}
