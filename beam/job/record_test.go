package job

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestRecords holds that records are read as they were written, and that those that are cut short
// or made of anything are errors and nothing worse.
func TestRecords(t *testing.T) {
	dims := []int{2, 3}
	sample := &row{key: 1 << 60, cells: []int{300, 0}, values: [][]float32{nil, {1, -2, 3}}}
	neighbours := &list{key: 7, home: 200, near: []neighbourOf{{8, 9, 0.5}, {1 << 62, 1 << 20, 0.25}}}
	contracted := &node{key: 5, home: 3, samples: 12, shard: 2, row: 700, newKey: 4, newHome: 9, within: []uint64{1 << 40, 0}, edges: []edge{{6, 2, []uint64{1, 2}}}}
	for name, test := range map[string]struct {
		record []byte
		read   func(r *reader) any
		want   any
	}{
		"row":  {sample.encode(), func(r *reader) any { return readRow(r, dims) }, sample},
		"list": {neighbours.encode(), func(r *reader) any { return readList(r) }, neighbours},
		"node": {contracted.encode(), func(r *reader) any { return readNode(r, 2) }, contracted},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{b: test.record[1:]}
			if got := test.read(r); r.err() != nil || len(r.b) > 0 || !reflect.DeepEqual(got, test.want) {
				t.Errorf("read %+v, want %+v; %v, %d bytes left", got, test.want, r.err(), len(r.b))
			}
			for n := 1; n < len(test.record); n++ {
				r := &reader{b: test.record[1:n]}
				if test.read(r); r.err() == nil {
					t.Errorf("%d bytes of %d are read as a whole", n, len(test.record))
				}
			}
			random := rand.New(rand.NewPCG(1, 1))
			for range 200 {
				b := slices.Clone(test.record[1:])
				b[random.IntN(len(b))] = byte(random.Uint32())
				test.read(&reader{b: b})
			}
		})
	}
}

// TestBatch holds that chunks hold all records in order, and are counted as they are.
func TestBatch(t *testing.T) {
	var b batch
	want := map[int64][]string{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		to, record := int64(random.IntN(3)), make([]byte, random.IntN(2000))
		for i := range record {
			record[i] = byte(random.Uint32())
		}
		b.to(to, record)
		want[to] = append(want[to], string(record))
	}
	got, keys := map[int64][]string{}, []int64{}
	all := 0
	bytes, chunks, records := b.flush(func(key int64, chunk []byte) {
		keys = append(keys, key)
		all += 1 + 3 + len(chunk) // of a small key, and of a length below 2^21
		if err := each(chunk, func(r *reader) error { got[key] = append(got[key], string(r.b)); return nil }); err != nil {
			t.Error(err)
		}
	})
	if !reflect.DeepEqual(got, want) || !slices.IsSorted(keys) {
		t.Error("the records are others, or not in order")
	}
	if int(bytes) > all || int(bytes) < all-len(keys) || chunks != int64(len(keys)) || records != 500 || len(keys) < 4 {
		t.Errorf("%d bytes, %d chunks and %d records were counted, of %d, %d and 500", bytes, chunks, records, all, len(keys))
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct{ samples, cells, rounds int }{{100, 1, 0}, {100_000, 250, 0}, {10_000_000, 5386, 3}, {1_000_000_000, 116_041, 6}} {
		o := Options{}
		got, err := o.config([]Shard{{"a", c.samples}}, schema{"id", []string{"a", "b"}, []int{4, 4}})
		if err != nil || got.Cells != c.cells || got.Rounds != c.rounds || len(got.Pieces) != max(1, c.rounds) {
			t.Errorf("%d samples: %+v, %v, want %+v", c.samples, got, err, c)
		}
	}
	o := Options{}
	if _, err := o.config([]Shard{{"a", 2}}, schema{"id", []string{"a"}, []int{4}}); err == nil {
		t.Error("two samples are accepted")
	}
}
