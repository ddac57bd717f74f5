package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oldSet and newSet are two results. The second has a file more, and the first one that
// stays.
func oldSet() map[string]string {
	return map[string]string{"labels.csv": "old labels", "model.mvclust": "old model", "run.json": "old run", "mine.txt": "mine"}
}

func newSet() map[string]string {
	return map[string]string{"labels.csv": "new labels", "model.mvclust": "new model", "run.json": "new run", "report.html": "new page"}
}

// attempt writes the new set to a folder. After a kill the lock is free but its file stays.
func attempt(t *testing.T, fsys *faulty, path string) error {
	t.Helper()
	f, err := openFolder(on(t, fsys), path)
	if err != nil {
		return err
	}
	set := newSet()
	for _, name := range []string{"labels.csv", "report.html", "model.mvclust", "run.json"} {
		if err = f.stage(t.Context(), name, text1(set[name])); err != nil {
			break
		}
	}
	if err == nil {
		err = f.commit()
	}
	if fsys.dead > 0 && fsys.calls >= fsys.dead {
		_ = f.lock.file.Close()
		f.lock = nil
	}
	f.close()
	return err
}

// holds returns what a folder holds.
func holds(t *testing.T, path string) map[string]string {
	t.Helper()
	set := map[string]string{}
	for _, name := range names(t, path) {
		set[name] = read(t, path, name)
	}
	return set
}

// begun returns a folder with the old set, or an empty one.
func begun(t *testing.T, rerun bool) string {
	t.Helper()
	path := t.TempDir()
	if rerun {
		for name, text := range oldSet() {
			write(t, path, name, []byte(text))
		}
	}
	return path
}

// recovered opens and closes a folder, as the next command does, and returns which set it
// holds: old or new.
func recovered(t *testing.T, path string, rerun bool) string {
	t.Helper()
	f, err := openFolder(t.Context(), path)
	if err != nil {
		t.Error(err)
		return ""
	}
	f.close()
	before, after := map[string]string{}, newSet()
	if rerun {
		before = oldSet()
		after["mine.txt"] = before["mine.txt"]
	}
	switch got := holds(t, path); {
	case maps.Equal(got, before):
		return "old"
	case maps.Equal(got, after):
		return "new"
	default:
		t.Errorf("the folder holds %q", got)
		return ""
	}
}

// each calls do for a first run and for one over an old result, with and without links.
func each(t *testing.T, do func(t *testing.T, rerun bool, calls int, fsys func() *faulty)) {
	t.Helper()
	for _, rerun := range []bool{false, true} {
		for _, linkless := range []bool{false, true} {
			fsys := func() *faulty { return &faulty{linkless: linkless, short: true} }
			counter, path := fsys(), begun(t, rerun)
			if err := attempt(t, counter, path); err != nil {
				t.Fatal(err)
			}
			if got := recovered(t, path, rerun); got != "new" || counter.calls < 20 {
				t.Fatalf("without a fault the set is %s after %d calls", got, counter.calls)
			}
			do(t, rerun, counter.calls, fsys)
		}
	}
}

// stride takes one in seven pairs of calls; all of them take half a minute.
const stride = 7

// A run that is killed at any call leaves one set or the other, once the next has recovered
// the folder; both are seen.
func TestKilledAtEveryCall(t *testing.T) {
	each(t, func(t *testing.T, rerun bool, calls int, fsys func() *faulty) {
		seen := map[string]int{}
		for n := 1; n <= calls; n++ {
			path, f := begun(t, rerun), fsys()
			f.dead = n
			err := attempt(t, f, path)
			got := recovered(t, path, rerun)
			if seen[got]++; err == nil && got != "new" || t.Failed() {
				t.Fatalf("killed at call %d of %d, rerun %v: %v, %s", n, calls, rerun, err, got)
			}
		}
		if seen["old"] < 5 || seen["new"] < 5 {
			t.Errorf("seen: %v", seen)
		}
	})
}

// A run one of whose calls fails leaves the old set if it says so, or else the new one. It
// leaves one of them, too, when it is killed at a later call.
func TestFailedAtEveryCall(t *testing.T) {
	each(t, func(t *testing.T, rerun bool, calls int, fsys func() *faulty) {
		for n := 1; n <= calls; n++ {
			path, f := begun(t, rerun), fsys()
			f.fail = n
			err := attempt(t, f, path)
			got := recovered(t, path, rerun)
			if (err == nil) != (got == "new") || t.Failed() {
				t.Fatalf("failed at call %d of %d, rerun %v: %v, %s", n, calls, rerun, err, got)
			}
			for dead := n + 1 + n%stride; rerun && dead <= f.calls; dead += stride {
				path, f := begun(t, rerun), fsys()
				f.fail, f.dead = n, dead
				_ = attempt(t, f, path)
				if recovered(t, path, rerun); t.Failed() {
					t.Fatalf("failed at call %d, killed at %d of %d, rerun %v", n, dead, calls, rerun)
				}
			}
		}
	})
}

// The next command may be killed in its turn while it recovers the folder.
func TestRecoveryKilled(t *testing.T) {
	each(t, func(t *testing.T, rerun bool, calls int, fsys func() *faulty) {
		for n := 1; n <= calls; n++ {
			for again := 1 + n%stride; rerun; again += stride {
				path, f := begun(t, rerun), fsys()
				f.dead = n
				_ = attempt(t, f, path)
				next := fsys()
				next.dead = again
				if open, err := openFolder(on(t, next), path); err == nil {
					open.close()
				}
				if recovered(t, path, rerun); t.Failed() {
					t.Fatalf("killed at call %d of %d and at %d of the next, rerun %v", n, calls, again, rerun)
				}
				if next.calls < again {
					break
				}
			}
		}
	})
}

// A file that cannot be replaced leaves the old set, at once.
func TestStuckFile(t *testing.T) {
	for name := range oldSet() {
		if name == "mine.txt" {
			continue
		}
		for _, linkless := range []bool{false, true} {
			path := begun(t, true)
			err := attempt(t, &faulty{stuck: name, linkless: linkless}, path)
			if err == nil || !strings.Contains(err.Error(), filepath.Join(path, name)) || !strings.HasSuffix(err.Error(), "are unchanged") {
				t.Errorf("%s: the error is %v", name, err)
			}
			if got := holds(t, path); !maps.Equal(got, oldSet()) {
				t.Errorf("%s: the folder holds %q", name, got)
			}
		}
	}
}

// A folder that a run writes to cannot be opened by another, and then it can be.
func TestFolderBusy(t *testing.T) {
	path := t.TempDir()
	first, err := openFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.stage(t.Context(), "one", text1("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := openFolder(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("the error is %v", err)
	}
	if err := first.commit(); err != nil {
		t.Fatal(err)
	}
	first.close()
	second, err := openFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	second.close()
	wantNames(t, path, "one")
}

// A journal names files of its folder alone.
func TestJournalHostile(t *testing.T) {
	for _, text := range []string{
		"", "[]", `{"files":[{"name":"../x","new":".../x.mvclust-0000000000000000.tmp"}]}`,
		`{"files":[{"name":"x","new":"../x"}]}`, `{"files":[{"name":"x","new":".x.mvclust-0000000000000000.tmp","old":"y"}]}`,
	} {
		path := t.TempDir()
		write(t, path, journalName, []byte(text))
		if f, err := openFolder(t.Context(), path); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: %v, the error is %v", text, f, err)
		}
		wantNames(t, path, journalName)
	}
}

// Only the hidden files of mvclust are swept.
func TestSweep(t *testing.T) {
	path := t.TempDir()
	keep := []string{".labels.csv.0123456789abcdef.tmp", ".x.tmp", "x.mvclust-0123456789abcdef.tmp"}
	for _, name := range append(slices.Clone(keep), ".x.mvclust-0123456789abcdef.tmp", ".y.z.mvclust-0123456789abcdef.old") {
		write(t, path, name, nil)
	}
	f, err := openFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f.close()
	wantNames(t, path, keep...)
}

// A command that reads a folder recovers it first; a mixed folder is refused, and the model
// file itself is not. A fit spares every one of its inputs.
func TestMixedFolder(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	fit := func(more ...string) error {
		t.Helper()
		return run(t.Context(), quick(append([]string{filepath.Join(dir, "synth.npz"), "--quiet"}, more...)...), io.Discard, io.Discard)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, err := range []error{fit("-o", a), fit("-o", b, "--seed", "7")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	explain := func(path string) error {
		return run(t.Context(), []string{"explain", path, "0"}, io.Discard, io.Discard)
	}
	if err := explain(a); err != nil {
		t.Fatal(err)
	}
	// As after a kill in the midst of a commit of b's files to a.
	r := &replacement{fs: disk{}, folder: a}
	for _, name := range []string{"labels.csv", "report.html", "model.mvclust", "run.json"} {
		text := read(t, b, name)
		c := change{Name: name, New: hiddenName(name, "tmp"), Old: hiddenName(name, "old")}
		c.SHA256, _ = digest(strings.NewReader(text))
		r.files = append(r.files, c)
		write(t, a, c.New, []byte(text))
	}
	if err := r.record(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(a, r.files[0].New), filepath.Join(a, "labels.csv")); err != nil {
		t.Fatal(err)
	}
	if err := explain(a); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(holds(t, a), holds(t, b)) {
		t.Error("explain has not recovered the folder")
	}
	if err := fit("-o", a, "--seed", "9"); err != nil {
		t.Fatal(err)
	}
	write(t, a, "model.mvclust", []byte(read(t, b, "model.mvclust")))
	if err := explain(a); err == nil || !strings.Contains(err.Error(), "run.json") || !strings.Contains(err.Error(), "fit") {
		t.Errorf("the error for a mixed folder is %v", err)
	}
	if err := explain(filepath.Join(a, "model.mvclust")); err != nil {
		t.Error(err)
	}
	var table strings.Builder
	table.WriteString("id,path\n")
	for i := range 300 {
		fmt.Fprintf(&table, "%d,none%d.png\n", i, i)
	}
	c := filepath.Join(dir, "c")
	if err := os.Mkdir(c, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, c, "labels.csv", []byte(table.String()))
	if err := fit("-o", c, "--thumbs", filepath.Join(c, "labels.csv")+":path"); err == nil || !strings.Contains(err.Error(), "would replace the input") {
		t.Errorf("the error for a table of pictures is %v", err)
	}
	wantNames(t, c, "labels.csv")
}
