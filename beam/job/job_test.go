package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

func TestMain(m *testing.M) {
	Register()
	beam.Init()
	os.Exit(m.Run())
}

// made returns samples in two views, some of which are missing.
func made(t *testing.T, samples int) *synth.Set {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: samples, Classes: 6, Views: 2, Dims: []int{8}, Missing: 0.1, Noise: []float64{0.3}, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// writeShards writes the samples in so many shards, in an order of their own.
func writeShards(t *testing.T, set *synth.Set, shards int) string {
	t.Helper()
	dir, n := t.TempDir(), len(set.Labels)
	order := rand.New(rand.NewPCG(uint64(shards), 1)).Perm(n)
	for s := range shards {
		part := order[s*n/shards : (s+1)*n/shards]
		writeShard(t, filepath.Join(dir, fmt.Sprintf("%d.parquet", s)), set, part)
	}
	return filepath.Join(dir, "*.parquet")
}

func writeShard(t *testing.T, path string, set *synth.Set, part []int, more ...parquet.Column) {
	t.Helper()
	ids := make([]string, len(part))
	columns := []parquet.Column{{Name: "id", Data: ids}}
	for at, i := range part {
		ids[at] = fmt.Sprint("sample ", i)
	}
	for m, v := range set.Views {
		lists := parquet.Lists{Dims: v.Dims}
		for _, i := range part {
			if v.Has(i) {
				lists.Data = append(lists.Data, v.Row(i)...)
			} else {
				lists.Data = append(lists.Data, slices.Repeat([]float32{nan}, v.Dims)...)
			}
		}
		columns = append(columns, parquet.Column{Name: fmt.Sprint("view", m), Data: lists})
	}
	for _, c := range more {
		at := slices.IndexFunc(columns, func(x parquet.Column) bool { return x.Name == c.Name })
		if columns[at] = c; c.Data == nil {
			columns = slices.Delete(columns, at, at+1)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(parquet.Write(f, columns...), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// readLabels returns the labels by sample.
func readLabels(t *testing.T, dir string, samples int) []int {
	t.Helper()
	labels := slices.Repeat([]int{-1}, samples)
	files, err := filepath.Glob(filepath.Join(dir, "labels-*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		o, err := openShard(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := o.table.Text(o.table.Array("id"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := o.table.Int64(o.table.Array("label"))
		if err := errors.Join(err, o.close()); err != nil {
			t.Fatal(err)
		}
		for row, id := range ids {
			i := 0
			if _, err := fmt.Sscanf(id, "sample %d", &i); err != nil || labels[i] >= 0 {
				t.Fatalf("%s: the id %q is there again, or is none; %v", path, id, err)
			}
			labels[i] = int(found[row])
		}
	}
	return labels
}

// small divides few samples so that there are several cells, pieces and rounds.
func small(input, output string) Options {
	return Options{Input: input, Output: output, CellRows: 150, Nearest: 3, PieceRows: 120, WorkerNodes: 200, MaxNeighbours: 14}
}

// TestRun runs the job on Beam's own runner, with the samples in several shards and on one processor
// and several.
func TestRun(t *testing.T) {
	const samples = 400
	set := made(t, samples)
	var want []int
	for _, test := range []struct{ shards, processors int }{{1, 1}, {5, 4}} {
		runtime.GOMAXPROCS(test.processors)
		out := filepath.Join(t.TempDir(), "out")
		report, err := Run(t.Context(), small(writeShards(t, set, test.shards), out), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		got := readLabels(t, out, samples)
		s, err := score.Compare(set.Labels, got)
		if err != nil || s.ARI < 0.95 {
			t.Errorf("ARI %v with the classes, %v", s.ARI, err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d shards on %d processors have other labels than one on one", test.shards, test.processors)
		}
		if report.Choice.Nodes >= samples/2 || report.Config.Cells < 4 || len(report.Config.Pieces) < 2 || report.Config.Pieces[0] < 3 {
			t.Errorf("%d nodes were left, %d cells, %v pieces: the test tries nothing", report.Choice.Nodes, report.Config.Cells, report.Config.Pieces)
		}
		report.check(t, samples)
	}
	t.Cleanup(func() { runtime.GOMAXPROCS(0) })
}

// check holds that what went through the shuffles was counted.
func (r *Report) check(t *testing.T, samples int) {
	t.Helper()
	counted := map[string]Shuffle{}
	for _, s := range r.Shuffles {
		counted[s.Name] = s
	}
	for name, records := range map[string]int64{"places": int64(samples), "links.0": int64(samples), "labels.0": int64(samples)} {
		if got := counted[name].Records; got != records {
			t.Errorf("%d records went through %s, want %d", got, name, records)
		}
	}
	// Each row goes to three cells and has 8 bytes of key and 64 of values, a tenth of them missing.
	if got := counted["cells"].BytesPerSample; got < 3*60 || got > 3*90 {
		t.Errorf("%v bytes of rows were counted per sample", got)
	}
	for _, name := range []string{"learn", "near", "scales", "training", "lists", "neighbourhoods", "nodes", "moved.0", "folded.0", "moved.1", "folded.1", "labels"} {
		if counted[name].Bytes == 0 || counted[name].Chunks == 0 || counted[name].Records < counted[name].Chunks {
			t.Errorf("%s was counted as %+v", name, counted[name])
		}
	}
}

// TestRefused holds that a shard that cannot be used is named, and that nothing is left behind.
func TestRefused(t *testing.T) {
	set := made(t, 60)
	rows := func(n int, x float32) parquet.Lists {
		l := parquet.Lists{Dims: 8}
		for i := range n * 8 {
			l.Data = append(l.Data, float32(i%7)+1)
		}
		l.Data[5] = x
		return l
	}
	part := []int{30, 31, 32}
	for name, test := range map[string]struct {
		columns []parquet.Column
		cut     int64
		want    string
	}{
		"truncated": {nil, 40, "bad.parquet"},
		"width":     {[]parquet.Column{{Name: "view1", Data: parquet.Lists{Dims: 3, Data: make([]float32, 9)}}}, 0, "lists of 3 numbers where the first shard has 8"},
		"column":    {[]parquet.Column{{Name: "view1"}}, 0, "no column \"view1\""},
		"no ids":    {[]parquet.Column{{Name: "id"}}, 0, "no column of ids"},
		"NaN":       {[]parquet.Column{{Name: "view1", Data: rows(3, nan)}}, 0, "row 0"},
		"infinite":  {[]parquet.Column{{Name: "view0", Data: rows(3, float32(math.Inf(1)))}}, 0, "row 0"},
		"same id":   {[]parquet.Column{{Name: "id", Data: []string{"a", "b", "a"}}}, 0, "rows 0 and 2"},
		"empty id":  {[]parquet.Column{{Name: "id", Data: []string{"a", "", "c"}}}, 0, "row 1"},
		"no view": {[]parquet.Column{
			{Name: "view0", Data: parquet.Lists{Dims: 8, Data: slices.Repeat([]float32{nan}, 24)}},
			{Name: "view1", Data: parquet.Lists{Dims: 8, Data: slices.Repeat([]float32{nan}, 24)}},
		}, 0, "has no view"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeShard(t, filepath.Join(dir, "a.parquet"), set, []int{0, 1, 2, 3, 4, 5})
			bad := filepath.Join(dir, "bad.parquet")
			writeShard(t, bad, set, part, test.columns...)
			if test.cut > 0 {
				info, err := os.Stat(bad)
				if err == nil {
					err = os.Truncate(bad, info.Size()-test.cut)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := Run(t.Context(), small(filepath.Join(dir, "*.parquet"), filepath.Join(dir, "out")), io.Discard)
			wrong, is := errors.AsType[*InputError](err)
			if !is || !strings.Contains(wrong.Sentence(), test.want) || !strings.Contains(wrong.Sentence(), "bad.parquet") || strings.Contains(wrong.Sentence(), "\n") {
				t.Errorf("the error is %v, want one about %q", err, test.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "out*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestRefusedBefore holds that a bad shard is refused before a row of any shard goes to a shuffle.
func TestRefusedBefore(t *testing.T) {
	set, dir := made(t, 60), t.TempDir()
	writeShard(t, filepath.Join(dir, "a.parquet"), set, []int{0, 1, 2, 3, 4, 5})
	bad := parquet.Lists{Dims: 8, Data: slices.Repeat([]float32{1}, 24)}
	bad.Data[3] = nan
	writeShard(t, filepath.Join(dir, "bad.parquet"), set, []int{30, 31, 32}, parquet.Column{Name: "view1", Data: bad})
	o := small(filepath.Join(dir, "*.parquet"), filepath.Join(dir, "out"))
	shards, s, err := survey(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.config(shards, s)
	if err != nil {
		t.Fatal(err)
	}
	p := beam.NewPipeline()
	Build(p.Root(), c, shards)
	result, err := ptest.RunWithMetrics(p)
	if err == nil {
		t.Fatal("the job succeeds")
	}
	if result != nil {
		for _, x := range shuffles(result, 9) {
			t.Errorf("%d bytes went to the shuffle %s", x.Bytes, x.Name)
		}
	}
}

func TestTwiceAcrossShards(t *testing.T) {
	set, dir := made(t, 60), t.TempDir()
	writeShard(t, filepath.Join(dir, "a.parquet"), set, []int{0, 1, 2, 3, 4, 5})
	writeShard(t, filepath.Join(dir, "b.parquet"), set, []int{30, 4, 32})
	_, err := Run(t.Context(), small(filepath.Join(dir, "*.parquet"), filepath.Join(dir, "out")), io.Discard)
	if wrong, is := errors.AsType[*InputError](err); !is || !strings.Contains(wrong.Sentence(), "same id") {
		t.Errorf("the error is %v", err)
	}
}

func TestOutputExists(t *testing.T) {
	out := t.TempDir()
	_, err := Run(t.Context(), small(writeShards(t, made(t, 20), 2), out), io.Discard)
	if _, is := errors.AsType[*InputError](err); !is {
		t.Errorf("the error is %v", err)
	}
}

// local is an engine in memory, which makes every call of a step twice: at first it stops listening
// after some of the output, as if the worker had failed. Groups and what is in them come in an order
// drawn at random.
type local struct {
	t      *testing.T
	conf   Config
	paths  []string
	random *rand.Rand
	calls  int
}

// records are by destination.
type records map[int64][][]byte

func (e *local) none() records { return records{0: {nil}} }

func (e *local) value(of records) records { return of }

func (e *local) gather(in ...records) records {
	out := records{}
	for _, r := range in {
		for key, chunks := range r {
			out[key] = append(out[key], chunks...)
		}
	}
	for _, key := range sortedKeys(out) {
		e.random.Shuffle(len(out[key]), func(a, b int) { out[key][a], out[key][b] = out[key][b], out[key][a] })
	}
	return out
}

// once is the side input of one value.
func once(value []byte) func(*[]byte) bool {
	done := false
	return func(b *[]byte) bool {
		*b = value
		done = !done
		return done
	}
}

var errLost = errors.New("the worker is lost")

// twice calls a step twice, on one instance and with what the failed call has left behind.
func (e *local) twice(call func(ctx context.Context, first, second func(int64, []byte)) error) (records, records) {
	e.t.Helper()
	e.calls++
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(errLost) {
				panic(r)
			}
		}()
		left := 1 + e.calls%2
		lose := func(int64, []byte) {
			if left--; left == 0 {
				panic(errLost)
			}
		}
		if err := call(e.t.Context(), lose, lose); err != nil {
			e.t.Fatal(err)
		}
	}()
	out := [2]records{{}, {}}
	to := func(r records) func(int64, []byte) {
		return func(key int64, chunk []byte) { r[key] = append(r[key], slices.Clone(chunk)) }
	}
	if err := call(e.t.Context(), to(out[0]), to(out[1])); err != nil {
		e.t.Fatal(err)
	}
	return out[0], out[1]
}

func (e *local) shards(step string, side records, to [2]string) (records, records) {
	f := &shardFn{Step: step, To: to, Conf: e.conf}
	var first, second []records
	for _, i := range e.random.Perm(len(e.paths)) {
		a, b := e.twice(func(ctx context.Context, x, y func(int64, []byte)) error {
			return f.ProcessElement(ctx, fmt.Sprint(i, " ", e.paths[i]), once(side[0][0]), x, y)
		})
		first, second = append(first, a), append(second, b)
	}
	return e.gather(first...), e.gather(second...)
}

func (e *local) groups(step string, round int, side records, to [2]string, in records) (records, records) {
	f := &groupFn{Step: step, Round: round, To: to, Conf: e.conf, Shards: e.paths}
	var first, second []records
	keys := sortedKeys(in)
	e.random.Shuffle(len(keys), func(a, b int) { keys[a], keys[b] = keys[b], keys[a] })
	for _, key := range keys {
		a, b := e.twice(func(ctx context.Context, x, y func(int64, []byte)) error {
			at := 0
			values := func(chunk *[]byte) bool {
				if at == len(in[key]) {
					return false
				}
				*chunk = in[key][at]
				at++
				return true
			}
			return f.ProcessElement(ctx, key, values, once(side[0][0]), x, y)
		})
		first, second = append(first, a), append(second, b)
	}
	return e.gather(first...), e.gather(second...)
}

// TestRetried holds that calls that fail half way and are made again change nothing, nor does the
// order in which records arrive.
func TestRetried(t *testing.T) {
	const samples = 400
	set := made(t, samples)
	run := func(shards int, seed uint64) []int {
		out := filepath.Join(t.TempDir(), "out")
		o := small(writeShards(t, set, shards), out)
		found, s, err := survey(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.config(found, s)
		if err != nil {
			t.Fatal(err)
		}
		c.Partial = out
		e := &local{t: t, conf: *c, random: rand.New(rand.NewPCG(seed, 3))}
		for _, shard := range found {
			e.paths = append(e.paths, shard.Path)
		}
		wire(e, c)
		return readLabels(t, out, samples)
	}
	want, got := run(3, 1), run(4, 2)
	if !slices.Equal(got, want) {
		t.Error("the labels differ")
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), small(writeShards(t, set, 2), out), io.Discard); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(readLabels(t, out, samples), want) {
		t.Error("the labels of Beam's runner differ")
	}
}

// TestNullShard holds that no sample of a shard need have a view.
func TestNullShard(t *testing.T) {
	set, dir := made(t, 60), t.TempDir()
	null := parquet.Column{Name: "view1", Data: parquet.Lists{Dims: 8, Data: slices.Repeat([]float32{nan}, 16)}}
	part := []int{}
	for i := 0; len(part) < 2; i++ {
		if set.Views[0].Has(i) {
			part = append(part, i)
		}
	}
	writeShard(t, filepath.Join(dir, "a.parquet"), set, part, null)
	writeShard(t, filepath.Join(dir, "b.parquet"), set, []int{30, 31, 32})
	o := small(filepath.Join(dir, "*.parquet"), "")
	shards, s, err := survey(t.Context(), &o)
	if err != nil || !slices.Equal(s.Dims, []int{8, 8}) || len(shards) != 2 || shards[0].Rows != 2 {
		t.Fatalf("%+v, %+v, %v", shards, s, err)
	}
	got, err := readShard(t.Context(), &Config{schema: s}, shards[0].Path)
	if err != nil || got.views[1].Count() != 0 || got.views[0].Count() != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
