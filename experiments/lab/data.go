package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
)

// Data is a set with known classes. It is read when it is first asked for.
type Data struct {
	// Path is that of its file.
	Path   string
	SHA256 string // empty where the set is synthetic
	index  string
	synth  *Synth

	views   []*mvclust.View
	labels  []int
	classes int
}

// Classes returns the number of classes, once the set was read.
func (d *Data) Classes() int { return d.classes }

// open finds the set of a setup.
func (l *Lab) open(s Setup) (*Data, error) {
	if d := l.sets[s.data()]; d != nil {
		return d, nil
	}
	d := &Data{synth: s.Synth}
	switch {
	case s.Synth != nil:
		d.Path = filepath.Join(l.Scratch, fmt.Sprintf("synth-%d-%d-%d", s.Synth.Samples, s.Synth.Views, s.Synth.Dims), "synth.npz")
	case s.File != "":
		d.Path, _ = l.path(s.File)
		var err error
		if d.SHA256, err = digest(d.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not in the folder", s.File)
		} else if err != nil {
			return nil, err
		}
		if s.Index != "" {
			d.index = d.Path + ":" + s.Index
		}
	}
	if l.sets == nil {
		l.sets = make(map[string]*Data)
	}
	l.sets[s.data()] = d
	return d, nil
}

// make makes the file of a synthetic set where it is not there yet.
func (l *Lab) make(ctx context.Context, d *Data) error {
	if d.synth == nil {
		return nil
	}
	if _, err := os.Stat(d.Path); err == nil {
		return nil
	}
	s := d.synth
	l.say("making %d samples", s.Samples)
	_, err := l.Mvclust(ctx, "synth", "-o", filepath.Dir(d.Path), "--samples", strconv.Itoa(s.Samples),
		"--classes", strconv.Itoa(s.Classes()), "--views", strconv.Itoa(s.Views),
		"--dims", strconv.Itoa(s.Dims), "--imbalance", fmt.Sprint(Imbalance), "--noise", fmt.Sprint(Noise))
	return err
}

// drop frees a synthetic set.
func (l *Lab) drop(s Setup) {
	if d := l.sets[s.data()]; d != nil && s.Synth != nil {
		_ = os.RemoveAll(filepath.Dir(d.Path))
		delete(l.sets, s.data())
	}
}

// digest returns the SHA-256 of a file.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Load reads the set of a setup: its views, the class of every sample and the number of
// classes. The error says nothing of where the folder is.
func (l *Lab) Load(ctx context.Context, s Setup) (views []*mvclust.View, labels []int, classes int, err error) {
	d, err := l.open(s)
	if err == nil {
		err = d.load(ctx)
	}
	if err != nil {
		return nil, nil, 0, l.portable(err)
	}
	return d.views, d.labels, d.classes, nil
}

// portable leaves out of an error where the folders are.
func (l *Lab) portable(err error) error {
	for _, folder := range l.Folders {
		if err != nil && folder != "" && strings.Contains(err.Error(), filepath.Clean(folder)) {
			err = errors.New(strings.ReplaceAll(err.Error(), filepath.Clean(folder)+string(filepath.Separator), ""))
		}
	}
	return err
}

func (d *Data) load(ctx context.Context) error {
	if d.views != nil {
		return nil
	}
	set, err := dataset.Load(ctx, []string{d.Path}, dataset.Options{Index: d.index})
	if err != nil {
		return err
	}
	truth, err := dataset.Labels(ctx, d.Path, set.IDs, set.Views[0].Samples)
	if err != nil {
		return err
	}
	d.views, d.labels, d.classes = set.Views, truth.Labels, len(truth.Names)
	return nil
}

// prepare returns the views that a setup chooses, with those it takes away and adds.
func (d *Data) prepare(s Setup, seed uint64) ([]*mvclust.View, error) {
	views := d.views
	if s.Views != nil {
		views = nil
		for _, v := range s.Views {
			if v < 0 || v >= len(d.views) {
				return nil, fmt.Errorf("there is no view %d; the set has %d", v, len(d.views))
			}
			views = append(views, d.views[v])
		}
	}
	masked, err := mask(views, s.Missing, seed)
	if err != nil {
		return nil, err
	}
	if s.Spare {
		giveBack(masked, views)
	}
	if s.Noise > 0 {
		noise, err := noiseView(views[0].Samples, s.Noise, seed)
		if err != nil {
			return nil, err
		}
		masked = append(slices.Clip(masked), noise)
	}
	return masked, nil
}

// mask returns the views without the given shares of the samples, drawn at random such
// that none loses two views. The views themselves are not changed. It is an error if there
// is not one share per view; nil takes nothing away.
func mask(views []*mvclust.View, missing []float64, seed uint64) ([]*mvclust.View, error) {
	if missing == nil {
		return views, nil
	}
	if len(missing) != len(views) {
		return nil, fmt.Errorf("has %d views, and the case is about %d", len(views), len(missing))
	}
	n := views[0].Samples
	order := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	masked := make([]*mvclust.View, len(views))
	share, from := 0.0, 0
	for m, v := range views {
		share += missing[m]
		to := int(math.Round(share * float64(n)))
		present := make([]bool, n)
		for i := range present {
			present[i] = v.Has(i)
		}
		for _, i := range order[from:to] {
			present[i] = false
		}
		from = to
		w := *v
		w.Present = present
		masked[m] = &w
	}
	return masked, nil
}

// giveBack gives the samples of masked that are left with nothing but rows of zeros, which
// have no cosine, the view that they had in views.
func giveBack(masked, views []*mvclust.View) {
	for i := range views[0].Samples {
		left := slices.ContainsFunc(masked, func(v *mvclust.View) bool {
			return v.Has(i) && slices.ContainsFunc(v.Row(i), func(x float32) bool { return x != 0 })
		})
		for m, v := range views {
			if !left && v.Has(i) {
				masked[m].Present[i] = true
			}
		}
	}
}

// The streams of random numbers, which mvclust.Fit and mask do not use.
const (
	pseudoStream = 100 + iota
	idealStream
	noiseStream
)

// noiseView returns a view of independent Gaussian values.
func noiseView(samples, dims int, seed uint64) (*mvclust.View, error) {
	random := rand.New(rand.NewPCG(seed, noiseStream))
	data := make([]float32, samples*dims)
	for i := range data {
		data[i] = float32(random.NormFloat64())
	}
	return mvclust.NewView("noise", samples, dims, data)
}

// incomplete counts the samples that lack a view.
func incomplete(views []*mvclust.View) int {
	n := 0
	for i := range views[0].Samples {
		if slices.ContainsFunc(views, func(v *mvclust.View) bool { return !v.Has(i) }) {
			n++
		}
	}
	return n
}

// small is the size of the largest file of a quick run.
const small = 1 << 20

// Small reports whether a file of the folders is small enough for a quick run.
func (l *Lab) Small(file string) bool {
	path, _ := l.path(file)
	info, err := os.Stat(path)
	return err == nil && info.Size() <= small
}

// path returns where a file is, and the place of its folder among the folders; in the first one
// and -1 where none has it.
func (l *Lab) path(file string) (string, int) {
	file = filepath.FromSlash(file)
	for i, folder := range l.Folders {
		path := filepath.Join(folder, file)
		if _, err := os.Stat(path); err == nil {
			return path, i
		}
	}
	return filepath.Join(append(slices.Clone(l.Folders[:min(1, len(l.Folders))]), file)...), -1
}

// Collection returns which folder has a file, counted from 0; -1 where none has it.
func (l *Lab) Collection(file string) int {
	_, at := l.path(file)
	return at
}

// Sets lists the .npz files of the folders; of these the named ones, or all. The errors are those
// of Files and Named.
func (l *Lab) Sets(names []string) ([]string, error) {
	files, _, err := l.Files()
	if err != nil {
		return nil, err
	}
	return Named(files, func(f string) string { return Setup{File: f}.Name() }, names)
}

// Files lists the .npz files of the folders, and the .mat files of their folders mat. It is an
// error if two have a file of one name.
func (l *Lab) Files() (npz, mat []string, err error) {
	for i, folder := range l.Folders {
		of := func(dir, ext string) []string {
			entries, e := os.ReadDir(filepath.Join(folder, dir))
			var names []string
			for _, entry := range entries {
				if !entry.IsDir() && filepath.Ext(entry.Name()) == ext {
					names = append(names, filepath.ToSlash(filepath.Join(dir, entry.Name())))
				}
			}
			if bad, ok := errors.AsType[*fs.PathError](e); ok && (dir == "." || !errors.Is(e, fs.ErrNotExist)) && err == nil {
				err = fmt.Errorf("--data: the folder %s cannot be read: %w; name a folder of data sets", folder, bad.Err)
			}
			return names
		}
		files, old := of(".", ".npz"), of("mat", ".mat")
		npz, mat = append(npz, files...), append(mat, old...)
		for _, file := range slices.Concat(files, old) {
			if at := l.Collection(file); at != i && err == nil {
				err = fmt.Errorf("--data: the folders %s and %s both hold %s; rename one of the files", l.Folders[at], folder, file)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return npz, mat, nil
}
