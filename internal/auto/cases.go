package auto

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
)

// Subject is a set and a choice of its views.
type Subject struct {
	// File is the set's file in the folder.
	File string
	// Views are the views that are used, in order, counted from 0; nil for all.
	Views []int
}

// name returns the name of the set.
func (s Subject) name() string { return Name(s.File) }

// Name returns the name of the set in a file: the file's without the extension.
func Name(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// pairs are the choices of two views that the paper has.
func pairs() []Subject {
	return []Subject{
		{"Handwritten.npz", []int{0, 1}},
		// Margin and texture: only these give the figures that the paper has for
		// other methods.
		{"100Leaves.npz", []int{2, 1}},
	}
}

// Subjects lists every .npz file of the folder with all of its views, in the order of
// their names, and the paper's two choices of views where their files are there.
func Subjects(folder string) ([]Subject, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, fmt.Errorf("the folder %s cannot be read: %w; name a folder of data sets", folder, err)
	}
	var list []Subject
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".npz" {
			continue
		}
		list = append(list, Subject{File: e.Name()})
		for _, p := range pairs() {
			if p.File == e.Name() {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the folder %s holds no .npz files; name a folder of data sets", folder)
	}
	return list, nil
}

// State is what is done to a set.
type State string

// The states of a set.
const (
	// Complete leaves it as it is.
	Complete State = "complete"
	// HalfMissing takes views away.
	HalfMissing State = "half missing"
	// NoiseView adds a view that says nothing.
	NoiseView State = "noise view"
)

// states are those in which a set of so many views is run.
func (s Subject) states(views int) []State {
	switch {
	case views == 1:
		return []State{Complete}
	case s.Views != nil: // noise is added to whole sets
		return []State{Complete, HalfMissing}
	default:
		return []State{Complete, HalfMissing, NoiseView}
	}
}

// missing returns the share of the samples that is to lack each view: half of the samples
// lack one, each view as many. Of Handwritten's four views all samples lack one, as in the
// paper: half of them the third, the others the fourth.
func (s Subject) missing(views int) []float64 {
	if s.File == "Handwritten.npz" && views == 4 {
		return []float64{0, 0, 0.5, 0.5}
	}
	return slices.Repeat([]float64{0.5 / float64(views)}, views)
}

// seeds is the number of seeds, from 0 on.
func (s State) seeds() uint64 {
	if s == HalfMissing {
		return 5
	}
	return 1
}

// apply returns the views in the state; they themselves are not changed.
func (s State) apply(views []*mvclust.View, missing []float64, seed uint64) ([]*mvclust.View, error) {
	switch s {
	case HalfMissing:
		masked, err := bench.Mask(views, missing, seed)
		if err == nil {
			giveBack(masked, views)
		}
		return masked, err
	case NoiseView:
		noise, err := noiseView(views[0].Samples, seed)
		return append(slices.Clip(views), noise), err
	default:
		return views, nil
	}
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

// noiseStream is the stream of random numbers of the noise, one that nothing else uses.
const noiseStream = 102

// noiseDims is the number of dimensions of the noise.
const noiseDims = 100

// noiseView returns a view of independent Gaussian values.
func noiseView(samples int, seed uint64) (*mvclust.View, error) {
	random := rand.New(rand.NewPCG(seed, noiseStream))
	data := make([]float32, samples*noiseDims)
	for i := range data {
		data[i] = float32(random.NormFloat64())
	}
	return mvclust.NewView("noise", samples, noiseDims, data)
}
