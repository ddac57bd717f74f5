package cli

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color" //nolint:misspell // its name
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// victim is a file that is damaged, and the command that reads it.
type victim struct {
	name string // with the extension, in a folder of its own
	text []byte
	args []string // BAD stands for the file, DIR for its folder, IN for the inputs, OUT for the output
	// outputs are files of a success; nil where none are written.
	outputs []string
	beside  map[string][]byte // other files in the folder of the file
	inPlace bool              // whether a success changes the folder of the file
}

// soakFiles damages files of every format and gives them to the command.
func soakFiles(t *testing.T, _ []*scene) (round, error) {
	in := t.TempDir()
	list, err := victims(t, in)
	if err != nil {
		return nil, err
	}
	dir := t.TempDir()
	return func(number uint64, random *rand.Rand, seen counts) error {
		v := list[random.IntN(len(list))]
		if *soakTime == 0 { // each in its turn
			v = list[int(number%uint64(len(list)))]
		}
		other := list[random.IntN(len(list))]
		at := filepath.Join(dir, fmt.Sprint(number))
		keep := false
		defer func() {
			if !keep {
				_ = os.RemoveAll(at)
			}
		}()
		err := v.try(t, in, at, damage(random, v.name, v.text, other.text), random, seen)
		if keep = err != nil; keep {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("mvclust-soak-%d", number))
			if os.RemoveAll(kept) == nil && os.Rename(at, kept) == nil {
				return fmt.Errorf("%w; the file is in %s", err, kept)
			}
		}
		return err
	}, nil
}

// mostTime is how long processors may work on a damaged file. A busy machine takes longer, so that
// only a run that takes many times as long by the clock is said to hang.
const (
	mostTime = 2 * time.Minute
	hangs    = 10 * mostTime
)

// try gives a damaged file to the command and judges what it says and leaves.
func (v *victim) try(t *testing.T, in, at string, text []byte, random *rand.Rand, seen counts) error {
	out, bad := filepath.Join(at, "out"), filepath.Join(at, "in", v.name)
	if err := os.MkdirAll(filepath.Dir(bad), 0o777); err != nil {
		return err
	}
	files := map[string][]byte{v.name: text}
	maps.Copy(files, v.beside)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(at, "in", name), text, 0o666); err != nil {
			return err
		}
	}
	replace := strings.NewReplacer("BAD", bad, "DIR", filepath.Dir(bad), "IN", in, "OUT", out)
	var args []string
	for _, a := range v.args {
		args = append(args, replace.Replace(a))
	}
	args = append(args, v.more(random)...)
	before, err := digestTree(filepath.Join(at, "in"))
	if err != nil {
		return err
	}
	o, memory, err := bounded(t, args)
	if err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	seen[fmt.Sprintf("%-8s status %d", v.kind(), o.status)]++
	seen["largest memory, MiB"] = max(seen["largest memory, MiB"], int(memory>>20))
	if err := v.judge(o, out); err != nil {
		return fmt.Errorf("mvclust %s: %w", quoted(args), err)
	}
	if memory > mostMemory {
		return fmt.Errorf("mvclust %s: it takes %d MiB", quoted(args), memory>>20)
	}
	after, err := digestTree(filepath.Join(at, "in"))
	if _, held := files[journalName]; err != nil || held || v.inPlace && o.status == statusDone {
		return err // a journal may be obeyed
	}
	if len(after) != len(before) {
		return fmt.Errorf("mvclust %s: the folder of the input holds %d files, not %d", quoted(args), len(after), len(before))
	}
	for path, digest := range before {
		if after[path] != digest {
			return fmt.Errorf("mvclust %s: %s was changed", quoted(args), path)
		}
	}
	return nil
}

// kind is the extension, or the name of a report.
func (v *victim) kind() string {
	if strings.HasPrefix(v.name, "bad.") {
		return v.name[len("bad."):]
	}
	return v.name
}

// more returns flags that are added at random.
func (v *victim) more(random *rand.Rand) []string {
	if v.args[0] != "fit" {
		return nil
	}
	more := []string{"--memory", "600MiB", "--threads", "1"}
	if random.IntN(3) > 0 {
		more = append(more, "--preset", "paper", "--param", "epochs=5", "--neighbors", "5")
	}
	if random.IntN(8) == 0 {
		more = append(more, "--format", "parquet")
	}
	return more
}

// mostMemory bounds what a run on a damaged file may hold.
const mostMemory = 1200 << 20

// mostAddresses is the limit of addresses under which these runs are, in KiB.
const mostAddresses = "4000000"

// bounded runs mvclust with one processor, limited memory and limited time, and returns the
// most memory that it held.
func bounded(t *testing.T, args []string) (outcome, int64, error) {
	ctx, stop := context.WithTimeout(t.Context(), hangs)
	defer stop()
	cmd := exec.CommandContext(ctx, "mvclust", args...)
	if runtime.GOOS == "linux" {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", "ulimit -v " + mostAddresses + "; exec mvclust \"$@\"", "sh"}, args...)...)
	}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return outcome{}, 0, fmt.Errorf("mvclust %s: it has not ended after %v", quoted(args), hangs)
	}
	if worked := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); worked > mostTime {
		return outcome{}, 0, fmt.Errorf("mvclust %s: it takes %v of processor time", quoted(args), worked)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return outcome{}, 0, err
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, peak(cmd.ProcessState), nil
}

// longest is how many bytes a sentence may have.
const longest = 2000

// judge looks at what the command says and leaves.
func (v *victim) judge(o outcome, out string) error {
	switch o.status {
	case statusDone:
		left, err := contents(out)
		if err != nil {
			return err
		}
		for _, name := range v.outputs {
			if _, ok := left[name]; !ok && !(name == "labels.csv" && left["labels.parquet"] != "") {
				return fmt.Errorf("it succeeds, and there is no %s", name)
			}
		}
		for name := range left {
			if strings.HasPrefix(name, ".") {
				return fmt.Errorf("it leaves %s", name)
			}
		}
		return nil
	case statusFailed:
	default:
		return fmt.Errorf("status %d: %.2000q", o.status, o.stderr)
	}
	if !isLine(o.stderr) || !strings.HasPrefix(o.stderr, "mvclust: ") || len(o.stderr) > longest {
		return fmt.Errorf("not one sentence: %.2000q", o.stderr)
	}
	if i := strings.IndexFunc(strings.TrimSuffix(o.stderr, "\n"), unicode.IsControl); i >= 0 {
		return fmt.Errorf("a control character: %q", o.stderr)
	}
	if strings.Contains(o.stderr, "goroutine") || strings.Contains(o.stderr, "runtime error") {
		return fmt.Errorf("a crash: %q", o.stderr)
	}
	if o.stdout != "" {
		return fmt.Errorf("it prints %.200q", o.stdout)
	}
	if exists(out) {
		return fmt.Errorf("it leaves %q", names2(out))
	}
	return nil
}

func names2(path string) []string {
	var list []string
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// victims makes files of every format, with what belongs to them in a folder, and takes those
// of other programs from the tests of the readers. With -soak, the sets of MVCLUST_DATA are
// used, too.
func victims(t *testing.T, in string) ([]*victim, error) {
	t.Helper()
	succeed(t, in, "synth", "-o", "data", "--samples", "60", "--classes", "4", "--dims", "6", "--noise", "0.4", "--missing", "0.2")
	succeed(t, in, "synth", "-o", "new", "--samples", "9", "--classes", "4", "--dims", "6", "--noise", "0.4", "--seed", "1")
	succeed(t, in, "synth", "-o", "data", "--format", "parquet", "--samples", "60", "--classes", "4", "--dims", "6")
	succeed(t, in, quick("data/synth.npz", "-o", "model", "--quiet")...)
	succeed(t, in, "fit", "data/synth.npz", "-o", "auto", "--quiet")
	succeed(t, in, "fit", "data/synth.npz", "-o", "updated", "--quiet")
	succeed(t, in, "update", "updated", "new/synth.npz", "-o", "updated", "--quiet")
	file := func(path ...string) []byte { return []byte(read(t, append([]string{in}, path...)...)) }
	foreign := func(path ...string) []byte { return []byte(read(t, append([]string{"..", "files"}, path...)...)) }
	fit := func(more ...string) []string { return append([]string{"fit", "BAD", "-o", "OUT", "--quiet"}, more...) }
	with := func(flag string) []string {
		return []string{"fit", "IN/data/synth.npz", "-o", "OUT", "--quiet", flag, "BAD"}
	}
	result := []string{"labels.csv", modelFile, runFile, pageName}
	grid := npyFile(t, values(nil), rows, cols)
	table := []byte("id,x,y,z\n" + lines(rows, func(i int) string { return fmt.Sprintf("s%d,%d,%d,%g", i, i%7, i%5, float64(i)/8) }))
	classes := []byte("id,class\n" + lines(60, func(i int) string { return fmt.Sprintf("%d,c%d", i, i%4) }))
	pairs := []byte("a,b\n" + lines(12, func(i int) string { return fmt.Sprintf("%d,%d", i, i+13) }))
	groups := []byte("photo\n" + lines(60, func(i int) string { return fmt.Sprint("p", i/2) }))
	list := []*victim{
		{name: "bad.npy", text: grid, args: fit(), outputs: result},
		{name: "bad.npz", text: file("data", "synth.npz"), args: fit(), outputs: result},
		{name: "bad.csv", text: table, args: fit(), outputs: result},
		{name: "bad.tsv", text: bytes.ReplaceAll(table, []byte(","), []byte("\t")), args: fit(), outputs: result},
		{name: "bad.parquet", text: file("data", "synth.parquet"), args: fit(), outputs: result},
		{name: "bad.mat", text: mat5("X", rows, cols, values(nil)), args: fit(), outputs: result},
		{name: "bad.csv", text: classes, args: with("--truth"), outputs: result},
		{name: "bad.csv", text: pairs, args: with("--must-link"), outputs: result},
		{name: "bad.csv", text: pairs, args: with("--cannot-link"), outputs: result},
		{name: "bad.csv", text: groups, args: []string{"fit", "IN/data/synth.npz", "-o", "OUT", "--quiet", "--distinct", "BAD:photo"}, outputs: result},
		{name: "bad.parquet", text: pairsFile(t, "3", "4"), args: with("--must-link"), outputs: result},
		{name: "bad.npy", text: npyFile(t, make([]int64, 60), 60), args: with("--truth"), outputs: result},
		{name: "bad.csv", text: classes, args: with("--examples"), outputs: result},
		{name: "bad.csv", text: classes, args: []string{"eval", "IN/model/labels.csv", "--truth", "BAD"}},
	}
	for _, name := range []string{"small.h5ad", "small-latest.h5ad", "small.h5mu"} {
		list = append(list, &victim{name: "bad" + filepath.Ext(name), text: foreign("anndata", "testdata", name), args: fit(), outputs: result})
	}
	for _, name := range []string{"polars.arrow", "polars-lz4.arrow", "polars-categories.arrow", "javascript.arrow", "polars-zstd.arrows"} {
		list = append(list, &victim{name: "bad" + filepath.Ext(name), text: foreign("arrow", "testdata", name), args: fit(), outputs: result})
	}
	for _, name := range []string{"duckdb.parquet", "duckdb-v2.parquet", "duckdb-array.parquet", "polars.parquet"} {
		list = append(list, &victim{name: "bad.parquet", text: foreign("parquet", "testdata", name), args: fit(), outputs: result})
	}
	for _, name := range []string{"v5.mat", "v73.mat"} {
		args := slices.Clone(fit())
		args[1] = "BAD:grid"
		list = append(list, &victim{name: "bad.mat", text: foreign("mat", "testdata", name), args: args, outputs: result})
	}
	for _, folder := range []string{"model", "auto", "updated"} {
		text := file(folder, modelFile)
		list = append(list,
			&victim{name: "bad.mvclust", text: text, args: []string{"predict", "BAD", "IN/new/synth.npz", "-o", "OUT", "--quiet"}, outputs: []string{"predictions.csv"}},
			&victim{name: "bad.mvclust", text: text, args: []string{"update", "BAD", "IN/new/synth.npz", "-o", "OUT", "--quiet"}, outputs: []string{"labels.csv", modelFile, updateFile}},
			&victim{name: "bad.mvclust", text: text, args: []string{"suggest", "BAD", "-o", "OUT"}, outputs: []string{"questions.csv"}},
			&victim{name: "bad.mvclust", text: text, args: []string{"levels", "BAD"}},
			&victim{name: "bad.mvclust", text: text, args: []string{"explain", "BAD", "7"}},
			&victim{name: "bad.mvclust", text: text, args: []string{"explain", "BAD", "7", "40", "--json"}})
	}
	beside := map[string][]byte{}
	for _, name := range []string{modelFile, runFile, updateFile} {
		beside[name] = file("updated", name)
	}
	for _, name := range []string{runFile, updateFile} {
		list = append(list, &victim{name: name, text: beside[name], args: []string{"explain", "DIR", "7"}, beside: without(beside, name)})
	}
	for _, name := range []string{runFile, modelFile, "known.csv"} {
		folder := map[string][]byte{runFile: file("auto", runFile), modelFile: file("auto", modelFile), "known.csv": classes}
		cut := []string{"cut", "DIR", "--examples", "DIR/known.csv", "--clusters", "5", "--quiet"}
		list = append(list, &victim{name: name, text: folder[name], args: cut, beside: without(folder, name), inPlace: true})
	}
	list = append(list, journalVictim(beside), pictureVictim("bad.png"), pictureVictim("bad.jpg"), pictureVictim("bad.gif"))
	return append(list, realVictims(result)...), nil
}

func without(files map[string][]byte, name string) map[string][]byte {
	rest := map[string][]byte{}
	for n, text := range files {
		if n != name {
			rest[n] = text
		}
	}
	return rest
}

// journalVictim is the journal of a run that was killed before it gave its model its name.
func journalVictim(files map[string][]byte) *victim {
	beside := without(files, "")
	hidden := hiddenName(modelFile, "tmp")
	beside[hidden] = files[modelFile]
	text, _ := json.Marshal(journal{[]change{{Name: modelFile, New: hidden, Old: hiddenName(modelFile, "old"), SHA256: sha(string(files[modelFile]))}}})
	return &victim{name: journalName, text: text, args: []string{"explain", "DIR", "7"}, beside: beside}
}

// pictureVictim is a picture of a sample.
func pictureVictim(name string) *victim {
	picture := image.NewPaletted(image.Rect(0, 0, 24, 20), color.Palette{color.White, color.Black}) //nolint:misspell // its name
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i % 3 % 2)
	}
	var b bytes.Buffer
	switch filepath.Ext(name) {
	case ".png":
		_ = png.Encode(&b, picture)
	case ".jpg":
		_ = jpeg.Encode(&b, picture, nil)
	default:
		_ = gif.Encode(&b, picture, nil)
	}
	return &victim{
		name: "3" + filepath.Ext(name), text: b.Bytes(), outputs: []string{"labels.csv", modelFile, runFile, pageName},
		args: []string{"fit", "IN/data/synth.npz", "-o", "OUT", "--quiet", "--thumbs", "DIR"},
	}
}

// realVictims are sets of real data, which take longer.
func realVictims(outputs []string) []*victim {
	if *soakTime == 0 {
		return nil
	}
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	var list []*victim
	for _, pattern := range []string{"*.npz", "mat/*.mat"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err == nil && len(text) < 3<<20 {
				list = append(list, &victim{name: "bad" + filepath.Ext(path), text: text, args: []string{"fit", "BAD", "-o", "OUT", "--quiet"}, outputs: outputs})
			}
		}
	}
	return list[:min(len(list), 12)]
}

// damage changes a file in one or a few places: its bytes, or what is packed in it.
func damage(random *rand.Rand, name string, text, other []byte) []byte {
	if random.IntN(2) == 0 {
		switch filepath.Ext(name) {
		case ".npz", ".mvclust":
			if changed, err := damageArchive(random, text, other); err == nil {
				return changed
			}
		case ".mat":
			if changed, err := damageMat(random, text, other); err == nil {
				return changed
			}
		case ".json", ".journal":
			if changed, err := damageJSON(random, text); err == nil {
				return changed
			}
		}
	}
	return damageBytes(random, text, other)
}

// edges are numbers at which things overflow.
var edges = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0x7f800000, 0x7fc00000}

func damageBytes(random *rand.Rand, text, other []byte) []byte {
	b := slices.Clone(text)
	for range []int{1, 1, 1, 2, 4, 16}[random.IntN(6)] {
		if len(b) == 0 {
			return b
		}
		at := random.IntN(len(b))
		switch random.IntN(5) { // headers and footers more often
		case 0, 1:
			at = random.IntN(min(len(b), 600))
		case 2:
			at = len(b) - 1 - random.IntN(min(len(b), 1200))
		}
		switch random.IntN(8) {
		case 0:
			b[at] ^= 1 << random.IntN(8)
		case 1:
			b = b[:at]
		case 2:
			b[at] = byte(random.Uint32())
		case 3:
			number := binary.LittleEndian.AppendUint64(nil, edges[random.IntN(len(edges))])[:1<<(1+random.IntN(3))]
			if random.IntN(3) == 0 {
				slices.Reverse(number)
			}
			copy(b[at:], number)
		case 4:
			b = slices.Delete(b, at, min(len(b), at+1+random.IntN(64)))
		case 5:
			b = slices.Insert(b, at, bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(40))...)
		case 6:
			copy(b[at:min(len(b), at+200)], b[random.IntN(len(b)):])
		case 7:
			from := random.IntN(max(1, len(other)))
			copy(b[at:], other[from:min(len(other), from+1+random.IntN(4000))])
		}
	}
	return b
}

// damageArchive changes one file of an archive, whose sums are right afterwards.
func damageArchive(random *rand.Rand, text, other []byte) ([]byte, error) {
	from, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	target := from.File[random.IntN(len(from.File))].Name
	for _, f := range from.File {
		if f.Name == "manifest.json" && random.IntN(3) == 0 {
			target = f.Name
		}
	}
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		file, err := f.Open()
		if err != nil {
			return nil, err
		}
		member, err := io.ReadAll(file)
		if err != nil {
			return nil, err
		}
		if f.Name == target {
			member = damageMember(random, f.Name, member, other)
			if random.IntN(30) == 0 {
				continue
			}
		}
		w, err := to.CreateRaw(&zip.FileHeader{ // as models are: not packed, and the sizes before the bytes
			Name: f.Name, CRC32: crc32.ChecksumIEEE(member),
			CompressedSize64: uint64(len(member)), UncompressedSize64: uint64(len(member)),
		})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(member); err != nil {
			return nil, err
		}
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// A damaged archive is one still, and so is a MATLAB file: what is in it is looked at.
func TestDamage(t *testing.T) {
	archive := npzFile(t, named{"view0", []int{rows, cols}, values(nil)}, named{"view1", []int{rows, cols}, values(nil)})
	mat := mat5("X", rows, cols, values(nil))
	changed := 0
	for n := range 50 {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		b, err := damageArchive(random, archive, mat)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("round %d: %s: %v", n, f.Name, err)
			}
		}
		if !bytes.Equal(b, archive) {
			changed++
		}
		if b, err := damageMat(random, mat, archive); err != nil || len(b) < 128 || bytes.Equal(b, mat) {
			t.Errorf("round %d: a MATLAB file of %d bytes, %v", n, len(b), err)
		}
	}
	if changed < 40 {
		t.Errorf("%d archives of 50 were changed", changed)
	}
}

func damageMember(random *rand.Rand, name string, member, other []byte) []byte {
	if strings.HasSuffix(name, ".json") && random.IntN(5) > 0 {
		if changed, err := damageJSON(random, member); err == nil {
			return changed
		}
	}
	if strings.HasSuffix(name, ".npy") && len(member) > 136 && random.IntN(5) > 1 {
		member = slices.Clone(member)
		for range 1 + random.IntN(4) { // values alone
			copy(member[128+random.IntN(len(member)-128):], binary.LittleEndian.AppendUint64(nil, edges[random.IntN(len(edges))])[:1<<random.IntN(4)])
		}
		return member
	}
	return damageBytes(random, member, other)
}

// damageJSON changes values of a document.
func damageJSON(random *rand.Rand, text []byte) ([]byte, error) {
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	odd := []any{
		0, -1, 1, 2, 0.5, 1e308, -1e308, 1e-300, 1 << 31, 1<<31 - 1, 1 << 32, int64(1<<63 - 1), int64(-1 << 63), 1e9,
		nil, "", []any{}, map[string]any{}, "xxxxx", true, []any{1, 2}, []any{nil}, make([]int, 1000), "cosine", "l2", "NaN", strings.Repeat("long", 1000), "\x1b[2J\n",
	}
	for range 1 + random.IntN(3) {
		var set []func(any)
		var get []any
		var walk func(any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				keys := make([]string, 0, len(v))
				for k := range v {
					keys = append(keys, k)
				}
				slices.Sort(keys)
				for _, k := range keys {
					set, get = append(set, func(x any) { v[k] = x }), append(get, v[k])
					walk(v[k])
				}
			case []any:
				for i := range min(len(v), 6) {
					set, get = append(set, func(x any) { v[i] = x }), append(get, v[i])
					walk(v[i])
				}
			}
		}
		walk(doc)
		if len(set) == 0 {
			break
		}
		at := random.IntN(len(set))
		list, isList := get[at].([]any)
		number, isNumber := get[at].(float64)
		switch n := random.IntN(3); {
		case isList && n == 0:
			set[at](list[:len(list)/2])
		case isList && n == 1:
			set[at](append(slices.Clone(list), list...))
		case isNumber && n == 0:
			set[at](number * []float64{-1, 2, 1000, 0}[random.IntN(4)])
		default:
			set[at](odd[random.IntN(len(odd))])
		}
	}
	return json.Marshal(doc)
}

// damageMat packs the elements of a MATLAB file of version 5, one of them damaged.
func damageMat(random *rand.Rand, text, other []byte) ([]byte, error) {
	const head, packed = 128, 15
	if len(text) < head || bytes.Contains(text[:head], []byte("7.3")) {
		return nil, errors.New("another format")
	}
	type element struct {
		kind uint32
		data []byte
	}
	var list []element
	le := binary.LittleEndian
	for at := head; at+8 <= len(text); {
		kind, size := le.Uint32(text[at:]), int(le.Uint32(text[at+4:]))
		if at+8+size > len(text) {
			return nil, errors.New("cut")
		}
		list = append(list, element{kind, text[at+8 : at+8+size]})
		at += 8 + size
	}
	if len(list) == 0 {
		return nil, errors.New("empty")
	}
	target := random.IntN(len(list))
	out := slices.Clone(text[:head])
	for i, e := range list {
		if e.kind != packed {
			e = element{packed, pack(slices.Concat(le.AppendUint32(le.AppendUint32(nil, e.kind), uint32(len(e.data))), e.data))}
		}
		if i == target {
			r, err := zlib.NewReader(bytes.NewReader(e.data))
			if err != nil {
				return nil, err
			}
			raw, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			e.data = pack(damageBytes(random, raw, other))
		}
		out = append(le.AppendUint32(le.AppendUint32(out, e.kind), uint32(len(e.data))), e.data...)
	}
	return out, nil
}

func pack(raw []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.Bytes()
}
