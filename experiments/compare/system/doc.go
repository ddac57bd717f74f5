// Package system is what the compared systems have in common: what one is, what it is given, and
// the algebra that most of them need.
//
// A system is a package of its own under experiments/compare, such as gmc, with two functions:
//
//	// Cluster parts the samples ...; it minimises
//	//
//	//	sum_v ...
//	//
//	// after
//	//
//	//	Wang, Yang and Liu, "GMC: graph-based multi-view clustering", 2020.
//	func Cluster(ctx context.Context, in *system.Input) ([]int, error)
//
//	// System describes it.
//	func System() system.System
//
// and a line in the list of compare/registry.go, which is all that registers it: the command,
// the page and the records follow from what System says. Its tests hold it against made-up data
// whose classes are known, and its optimiser against a property that it must have: systemtest
// has both.
//
// Cluster returns ctx.Err() soon after ctx is done, draws from Input.Random alone, returns the
// same labels for any number of processors, and panics on nothing that view.New accepts.
package system

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/method/view"
)

// System is a method of clustering.
type System struct {
	// Name is what the paper calls it, and Source where it comes from: authors, title, year.
	Name, Source string
	// Told says that it is told the true number of clusters.
	Told bool
	// Fills says that it knows nothing of missing views: what it is given has the mean of the
	// view's other rows in their place, as in the paper.
	Fills bool
	// Steady says that the seed changes nothing: of complete views there is one run.
	Steady bool
	// Least and Most bound the number of views; 0 stands for no bound.
	Least, Most int
	// Samples is the number of samples up to which it is run; 0 stands for DenseSamples.
	Samples int
	// Slow says that a run takes minutes where others take seconds: it is run after them.
	Slow bool
	// Seeds is how often it is run on the sets of the paper where the seed matters; 0 stands for
	// as often as on others.
	Seeds int
	// Note says what is left out of what the authors do, or done otherwise, and why; empty for
	// nothing.
	Note string
	// Default are the settings of the authors, nil where there is nothing to set. Grid are
	// those among which the labels choose, as in the paper; nil where there is no such choice.
	Default Settings
	Grid    []Settings
	// Cluster returns the cluster of every sample.
	Cluster func(ctx context.Context, in *Input) ([]int, error)
}

// DenseSamples is the number of samples up to which systems are run whose time or memory grows
// with its square or faster.
const DenseSamples = 5000

// Input is what a system is given.
type Input struct {
	// Views are those of the same samples, at least one. Where the system fills, every
	// sample has all.
	Views []*view.View
	// Clusters is the true number of clusters. A system that is not told it leaves it alone.
	Clusters int
	// Settings has every setting that System.Default has.
	Settings Settings
	// Seed decides what is random.
	Seed uint64
	// Probabilities returns the probability that SLS-MPC gives every pair of samples of being
	// of one class: 1 to a sample and itself, and 0 to pairs that it does not consider. It is
	// for systems of which the paper says how they do on these in the place of their own
	// comparison of samples.
	Probabilities func(ctx context.Context) (*mat.SymDense, error)
}

// Samples returns the number of samples.
func (in *Input) Samples() int { return in.Views[0].Samples }

// Random returns a source of random numbers that the seed decides.
func (in *Input) Random() *rand.Rand { return rand.New(rand.NewPCG(in.Seed, 120)) }

// Settings are hyper-parameters by name.
type Settings map[string]float64

// Words writes the settings as NAME=VALUE, sorted by name.
func (s Settings) Words() []string {
	var words []string
	for name, x := range s {
		words = append(words, name+"="+strconv.FormatFloat(x, 'g', -1, 64))
	}
	slices.Sort(words)
	return words
}

// Parse returns settings that were written as NAME=VALUE.
func Parse(words []string) (Settings, error) {
	s := make(Settings)
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(value, 64)
		if !found || err != nil {
			return nil, fmt.Errorf("%q is no setting; write it as NAME=NUMBER", word)
		}
		s[name] = x
	}
	return s, nil
}

// Powers returns one setting of the name for each power of base from first to last.
func Powers(name string, base float64, first, last int) []Settings {
	var list []Settings
	for e := first; e <= last; e++ {
		x := 1.0
		for range max(e, -e) {
			x *= base
		}
		if e < 0 {
			x = 1 / x
		}
		list = append(list, Settings{name: x})
	}
	return list
}

// Product returns every combination of settings of two lists.
func Product(a, b []Settings) []Settings {
	var list []Settings
	for _, x := range a {
		for _, y := range b {
			both := maps.Clone(x)
			maps.Copy(both, y)
			list = append(list, both)
		}
	}
	return list
}
