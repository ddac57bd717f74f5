package mvclust_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/synth"
)

// opened returns the model of a file whose rows stay there.
func opened(t testing.TB, file []byte) *mvclust.Model {
	t.Helper()
	m, err := mvclust.OpenModel(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wideModel returns the file of a model whose rows take several blocks, and how many rows a block of
// its first view has.
func wideModel(t testing.TB) (file []byte, rows [][]float32, block int) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 60, Classes: 3, Views: 2, Dims: []int{2500, 4}, Missing: 0.2, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		rows = append(rows, set.Views[0].Row(i))
		if !set.Views[0].Has(i) {
			rows[i] = nil
		}
	}
	r, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 5})
	if err != nil {
		t.Fatal(err)
	}
	return modelFile(t, mvclust.NewModel(set.Views, r, nil)), rows, npy.BlockRows(2500)
}

// Samples compare by the rows in the file as they do by those in memory.
func TestOpenModel(t *testing.T) {
	for name, opt := range modelCases {
		t.Run(name, func(t *testing.T) {
			_, _, m := modelOf(t, opt, true)
			file := modelFile(t, m)
			apart := opened(t, file)
			if v := &apart.Views[0]; len(v.Rows.Data) > 0 || !v.HasRows() || apart.Usable() != nil {
				t.Errorf("%d values of the rows are in memory; there are rows: %v; %v", len(v.Rows.Data), v.HasRows(), apart.Usable())
			}
			for first := 0; first < m.Samples(); first += 30 {
				samples := []int{first, m.Samples() - 1, 7, first}
				want, err := m.SpacesOf(t.Context(), samples, 1)
				if err != nil {
					t.Fatal(err)
				}
				got, err := apart.SpacesOf(t.Context(), samples, 2)
				if err != nil {
					t.Fatal(err)
				}
				for v := range want {
					for a := range samples {
						if got[v].Has(a) != want[v].Has(a) {
							t.Fatalf("view %d, sample %d: there is a row: %v", v, samples[a], got[v].Has(a))
						}
						for b := range samples {
							x, y := got[v].Similarity(a, b), want[v].Similarity(a, b)
							if math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
								t.Fatalf("view %d, samples %d and %d: %v, not %v", v, samples[a], samples[b], x, y)
							}
						}
					}
				}
			}
			for i := range m.Samples() {
				index, probability, err := apart.Nearest(i)
				if err != nil {
					t.Fatal(err)
				}
				wantIndex, want, err := m.Nearest(i)
				if err != nil || !slices.Equal(index, wantIndex) || !slices.Equal(probability, want) {
					t.Fatalf("sample %d has the neighbours %v, not %v; %v", i, index, wantIndex, err)
				}
			}
			if apart.HasNearest() != m.HasNearest() || apart.Neighbourhoods != nil {
				t.Error("the neighbours are not left in the file")
			}
			if _, _, err := apart.Nearest(m.Samples()); err == nil {
				t.Error("a sample that is not there has neighbours")
			}
			if _, err := apart.SpacesOf(t.Context(), []int{m.Samples()}, 1); err == nil {
				t.Error("a sample that is not there has a space")
			}
			if _, err := apart.Spaces(t.Context(), 1); err == nil {
				t.Error("there are spaces of all samples")
			}
		})
	}
}

// Damage within the rows is found when the block is used that has it, and only then.
func TestOpenModelDamagedBlock(t *testing.T) {
	file, rows, block := wideModel(t)
	victim := block + 1
	for rows[victim] == nil {
		victim++
	}
	value := binary.LittleEndian.AppendUint32(nil, math.Float32bits(rows[victim][17]))
	for _, x := range rows[victim][18:30] {
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(x))
	}
	at := bytes.Index(file, value)
	if at < 0 {
		t.Fatal("the row is not in the file")
	}
	bad := bytes.Clone(file)
	bad[at] ^= 1
	if _, err := mvclust.ReadModel(bytes.NewReader(bad), int64(len(bad))); err == nil {
		t.Error("the file is read whole")
	}
	m := opened(t, bad)
	for i := range rows {
		_, err := m.SpacesOf(t.Context(), []int{0, i}, 1)
		switch damaged := i/block == victim/block; {
		case damaged && (err == nil || !strings.Contains(err.Error(), "do not have their checksum")):
			t.Errorf("sample %d, of the damaged block: %v", i, err)
		case !damaged && err != nil:
			t.Errorf("sample %d, of another block: %v", i, err)
		}
	}
	// The file ends, or cannot be read any more, after it was opened.
	for want, reader := range map[string]*cutReader{"are not all there": {b: file}, "cannot be read": {b: file, err: errors.New("the disk is gone")}} {
		m, err := mvclust.OpenModel(reader, int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		reader.b = file[:100]
		if _, err := m.SpacesOf(t.Context(), []int{victim}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// Neighbours that are damaged, or cannot be, are found where they are needed.
func TestOpenModelDamagedNeighbours(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, false)
	file, k := modelFile(t, m), m.Neighbourhoods.K()
	near, _ := m.Neighbourhoods.Of(5)
	for want, change := range map[string]struct {
		member string
		at     int
		value  uint32
		sum    bool // whether the checksum is made to fit
	}{
		"rows 0 to 149 of the neighbours do not have their checksum": {"index", 0, 0, false},
		"has neighbour 150 ":                      {"index", 0, 150, true},
		"has neighbour -2 ":                       {"index", 0, math.MaxUint32 - 1, true},
		"has neighbour 5 ":                        {"index", 0, 5, true},
		fmt.Sprintf("has neighbour %d ", near[0]): {"index", 1, uint32(near[0]), true},
		"with probability NaN":                    {"probability", 0, math.Float32bits(float32(math.NaN())), true},
		"with probability 1.5":                    {"probability", 0, math.Float32bits(1.5), true},
		"with probability 0,":                     {"probability", 0, 0, true},
		"with probability 0.999,":                 {"probability", 1, math.Float32bits(0.999), true},
	} {
		var sum uint32
		bad := rewritten(t, file, func(name string, content []byte) []byte {
			content = bytes.Clone(content)
			switch name {
			case "neighbors/" + change.member + ".npy":
				values := content[len(content)-4*k*m.Samples():]
				at := values[4*(5*k+change.at):]
				binary.LittleEndian.PutUint32(at, change.value)
				sum = crc32.Checksum(values, crc32.MakeTable(crc32.Castagnoli))
			case "neighbors/" + change.member + "_sums.npy":
				if change.sum {
					binary.LittleEndian.PutUint64(content[len(content)-8:], uint64(sum))
				}
			}
			return content
		})
		if _, _, err := opened(t, bad).Nearest(5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// cutReader reads b, and then fails by err, or ends where that is nil.
type cutReader struct {
	b   []byte
	err error
}

func (r *cutReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(r.b).ReadAt(p, min(off, int64(len(r.b))))
	if err != nil && r.err != nil {
		err = r.err
	}
	return n, err
}

// A file without checksums of blocks, as older versions wrote it, is read whole; figures of blocks that
// cannot be are refused.
func TestOpenModelOlderAndHostile(t *testing.T) {
	_, _, m := modelOf(t, modelCases["constraints"], false)
	file := modelFile(t, m)
	less := rewritten(t, patched(t, file, "views.0.block", "0"), func(name string, content []byte) []byte {
		if name == "view1/sums.npy" {
			return nil
		}
		return content
	})
	old := opened(t, less)
	for v := range old.Views {
		if len(old.Views[v].Rows.Data) == 0 || old.Validate() != nil {
			t.Errorf("view %d of an older file is not read whole", v)
		}
	}
	for path, want := range map[string]string{
		"views.0.block": "has blocks of -1 rows", "views.1.block": "view1/sums has the shape [1]",
	} {
		bad := patched(t, file, path, map[string]string{"views.0.block": "-1", "views.1.block": "1"}[path])
		if _, err := mvclust.OpenModel(bytes.NewReader(bad), int64(len(bad))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
	for want, value := range map[string]float64{"holds +Inf": math.Inf(1), "has 1 NaN among its 6 values": math.NaN()} {
		var sum uint32
		bad := rewritten(t, file, func(name string, content []byte) []byte {
			content = bytes.Clone(content)
			switch name {
			case "view0/rows.npy":
				values := content[len(content)-4*6*m.Samples():]
				clear(values[:4*6])
				binary.LittleEndian.PutUint32(values, math.Float32bits(float32(value)))
				sum = crc32.Checksum(values, crc32.MakeTable(crc32.Castagnoli))
			case "view0/sums.npy":
				binary.LittleEndian.PutUint64(content[len(content)-8:], uint64(sum))
			}
			return content
		})
		if _, err := opened(t, bad).SpacesOf(t.Context(), []int{9, 0}, 1); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "row 0") {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// The current granularity alone is that of the whole model, and damage is found.
func TestOpenCurrent(t *testing.T) {
	for name, opt := range modelCases {
		_, _, m := modelOf(t, opt, true)
		file := modelFile(t, m)
		read := func(file []byte) (*mvclust.Model, error) {
			return mvclust.OpenCurrent(bytes.NewReader(file), int64(len(file)))
		}
		now, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		want := m.Current()
		if len(now.Levels) > 0 || now.Level != -1 || !slices.Equal(now.Labels, want.Labels) || now.Validate() != nil || now.HasNearest() != want.HasNearest() {
			t.Errorf("%s: the model is another, or none: %v", name, now.Validate())
		}
		for i := 0; i < m.Samples() && m.Neighbourhoods != nil; i++ {
			a, p := want.Neighbourhoods.Of(i)
			b, q := now.Neighbourhoods.Of(i)
			if !slices.Equal(a, b) || !slices.Equal(p, q) {
				t.Fatalf("%s: sample %d has the neighbours %v, not %v", name, i, b, a)
			}
		}
		old, err := read(patched(t, file, "block", "0"))
		if err != nil || m.Neighbourhoods != nil && old.Neighbourhoods.K() != m.Neighbourhoods.K() {
			t.Errorf("%s: a file without checksums of blocks: %v", name, err)
		}
		if m.Neighbourhoods == nil {
			continue
		}
		bad := rewritten(t, file, func(name string, content []byte) []byte {
			if name == "neighbors/index.npy" {
				content = bytes.Clone(content)
				content[len(content)-4*m.Neighbourhoods.K()] ^= 1
			}
			return content
		})
		if _, err := read(bad); err == nil || strings.Count(err.Error(), "the model is damaged") != 1 || !strings.Contains(err.Error(), "do not have their checksum") {
			t.Errorf("%s: damaged neighbours: %v", name, err)
		}
	}
}

// What a file holds is known before it is read, and hostile sizes are refused.
func TestStatModel(t *testing.T) {
	_, _, m := modelOf(t, modelCases["constraints"], false)
	file := modelFile(t, m)
	i, err := mvclust.StatModel(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if i.Samples != m.Samples() || i.Clusters != m.Clusters() || i.Edges != len(m.Graph.Index) || i.Nearest != m.Neighbourhoods.K() || len(i.Views) != 2 || i.Views[1].Dims != 9 {
		t.Errorf("the file holds %+v", i)
	}
	if all, part := i.Footprint(), i.OpenFootprint(); all < int64(len(file)) || part <= 0 {
		t.Errorf("reading takes %d bytes, and opening %d, of a file of %d", all, part, len(file))
	}
	for path, want := range map[string]string{
		"views.0.dims": "view0/rows has the shape [150 6]", "samples": "view0/rows has the shape [150 6]",
	} {
		bad := patched(t, file, path, "1000000000")
		if _, err := mvclust.StatModel(bytes.NewReader(bad), int64(len(bad))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}

// To open a model takes memory for all but its rows.
func BenchmarkOpenModel(b *testing.B) {
	file, _, _ := wideModel(b)
	for name, read := range map[string]func() (*mvclust.Model, error){
		"read": func() (*mvclust.Model, error) { return mvclust.ReadModel(bytes.NewReader(file), int64(len(file))) },
		"open": func() (*mvclust.Model, error) { return mvclust.OpenModel(bytes.NewReader(file), int64(len(file))) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := read()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := m.SpacesOf(b.Context(), []int{3, 5}, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
