// Package synth makes data in several views whose classes are known.
//
// A class has a centre m in a space of 16 dimensions that all views look at,
// each through a matrix of its own. Sample i of the class appears in view v as
//
//	x_iv = W_v (m + Noise_v d_iv)                W_v: Dims_v x 16
//	d_iv = sqrt(Dependence) s_i + sqrt(1-Dependence) e_iv
//
// where the views of a sample share its deviation s_i, and e_iv is drawn anew
// for each. Half of the variance of either lies in 4 directions that belong to
// the class, so that classes are flat rather than round and each differently;
// the other half is spread evenly. All of it is Gaussian, scaled so that a
// column of a view has, on average, variance 1 between the centres.
//
// The seed alone fixes what is drawn: Noise and Dependence scale and mix the
// same draws, Missing takes rows away and changes no other, and further views
// leave the values of the earlier ones as they were.
package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/mvclust/mvclust/method/view"
)

// Config says what to make. The zero value makes 2,000 samples of 20 classes of
// equal size in 2 views of 64 dimensions.
type Config struct {
	// Samples is the number of samples, outliers included; 0 means 2,000.
	Samples int
	// Classes is the number of classes, outliers not counted; 0 means 20. Each
	// has at least one sample.
	Classes int
	// Views is the number of views, at most 1,000; 0 means 2.
	Views int
	// Dims is the number of dimensions of each view, or one number for all; nil
	// means 64.
	Dims []int
	// Imbalance makes the classes unequal. Every class gets one sample; of the
	// rest, class c, counted from 0, gets a share proportional to
	// (c+1)^-Imbalance. 0 makes the sizes equal to within one sample, 1 makes
	// them follow Zipf's law.
	Imbalance float64
	// Noise is the standard deviation within a class over that between the
	// centres, of each view or one number for all, from 0 to 1,000; nil means
	// 1.2. In the zero Config the nearest neighbour by cosine is then of the same
	// class for 83% of the samples in one view and for 94% in the two views side
	// by side (means of ten seeds). More classes stand closer to each other:
	// with 500 classes of ten, 0.6 gives 86% and 96%.
	Noise []float64
	// Dependence is the correlation, from 0 to 1, of the deviations from the
	// class centre in any two views: 0 makes the views independent given the
	// class, 1 makes them show one and the same deviation.
	Dependence float64
	// Outliers is the share, at least 0 and below 1, of samples that belong to
	// no class: each has a centre of its own. Their number is rounded to the
	// nearest.
	Outliers float64
	// Missing is the share, at least 0 and below 1, of samples that lack one
	// view, which is drawn for each. Their number is rounded to the nearest. It
	// must be 0 where there is one view.
	Missing float64
	// Seed selects the draw; every number is as good as any other.
	Seed uint64
}

// Set is data in several views with its classes. The samples are in random order.
type Set struct {
	// Views are named view1, view2 and so on. The row of a sample that lacks the
	// view is NaN; Present is nil where no sample does.
	Views []*view.View
	// Labels holds the class of each sample. Class 0 is the largest and class
	// Classes-1 the smallest. Each outlier is a class of its own, numbered on
	// from Classes in the order of the rows.
	Labels []int
	// Outlier says which samples are outliers.
	Outlier []bool
}

const (
	latent = 16 // dimensions of the space that the views look at
	flat   = 4  // directions that belong to a class

	maxViews = 1000
	maxNoise = 1000 // keeps values far within a float32
	// maxValues bounds the values of all views, so that asking for their memory
	// cannot panic.
	maxValues = min(1<<36, math.MaxInt/16)
)

// Generate makes the data that cfg asks for; the same cfg makes the same data
// every time, but for the last bit of a rare value between kinds of processor.
// The error names the field of cfg that is out of range.
func Generate(cfg Config) (*Set, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	// Each purpose draws from a stream of its own, so that none shifts another.
	root := rand.NewPCG(cfg.Seed, 0)
	seed := func() [2]uint64 { return [2]uint64{root.Uint64(), root.Uint64()} }
	order, classes, outliers, shared, missing := seed(), seed(), seed(), seed(), seed()

	s := &Set{Labels: cfg.labels(stream(order)), Outlier: make([]bool, cfg.Samples)}
	for i, c := range s.Labels {
		s.Outlier[i] = c >= cfg.Classes
	}
	models := make([]class, cfg.Classes)
	r := stream(classes)
	for c := range models {
		models[c].draw(r)
	}
	present := cfg.present(stream(missing))
	var wg sync.WaitGroup
	for v := range cfg.Views {
		x := &view.View{
			Name:    fmt.Sprintf("view%d", v+1),
			Samples: cfg.Samples,
			Dims:    cfg.Dims[v],
			Data:    make([]float32, cfg.Samples*cfg.Dims[v]),
			Present: present[v],
		}
		s.Views = append(s.Views, x)
		own := stream(seed())
		wg.Go(func() {
			// Every view draws the outliers and the shared deviations afresh
			// from the same seeds, which is cheaper than to keep them.
			fill(x, s.Labels, models, cfg.Noise[v], cfg.Dependence, stream(outliers), stream(shared), own)
		})
	}
	wg.Wait()
	return s, nil
}

func stream(seed [2]uint64) *rand.Rand { return rand.New(rand.NewPCG(seed[0], seed[1])) }

// complete returns c with its defaults filled in, or what is wrong with it.
func (c Config) complete() (Config, error) {
	if c.Samples == 0 {
		c.Samples = 2000
	}
	if c.Classes == 0 {
		c.Classes = 20
	}
	if c.Views == 0 {
		c.Views = 2
	}
	switch {
	case c.Samples < 0:
		return c, fmt.Errorf("Samples is %d; give at least 1, or 0 for 2,000", c.Samples)
	case c.Classes < 0:
		return c, fmt.Errorf("Classes is %d; give at least 1, or 0 for 20", c.Classes)
	case c.Views < 0 || c.Views > maxViews:
		return c, fmt.Errorf("Views is %d; give 1 to %d, or 0 for 2", c.Views, maxViews)
	case !(c.Imbalance >= 0 && c.Imbalance <= math.MaxFloat64):
		return c, fmt.Errorf("Imbalance is %v; give a finite number of at least 0", c.Imbalance)
	case !(c.Dependence >= 0 && c.Dependence <= 1):
		return c, fmt.Errorf("Dependence is %v; give a number from 0 to 1", c.Dependence)
	case !(c.Outliers >= 0 && c.Outliers < 1):
		return c, fmt.Errorf("Outliers is %v; give a share of at least 0 and below 1", c.Outliers)
	case !(c.Missing >= 0 && c.Missing < 1):
		return c, fmt.Errorf("Missing is %v; give a share of at least 0 and below 1", c.Missing)
	case c.Missing > 0 && c.Views == 1:
		return c, fmt.Errorf("Missing is %v with a single view, which every sample must keep; give 0, or more Views", c.Missing)
	case c.Classes > c.Samples-c.outliers():
		return c, fmt.Errorf("Classes is %d for %s not being outliers; give at most one class per sample", c.Classes, count(c.Samples-c.outliers(), "sample"))
	}
	var err error
	if c.Dims, err = perView("Dims", c.Dims, c.Views, 64); err != nil {
		return c, err
	}
	if c.Noise, err = perView("Noise", c.Noise, c.Views, 1.2); err != nil {
		return c, err
	}
	left := maxValues / c.Samples // dimensions that there is room for
	for v, d := range c.Dims {
		switch {
		case d < 1:
			return c, fmt.Errorf("Dims[%d] is %d; give at least 1", v, d)
		case d > left:
			return c, fmt.Errorf("Dims[%d] is %d, which brings all samples together to more than %d values; give fewer Samples, Views or Dims", v, d, maxValues)
		}
		left -= d
	}
	for v, x := range c.Noise {
		if !(x >= 0 && x <= maxNoise) {
			return c, fmt.Errorf("Noise[%d] is %v; give a number from 0 to %d", v, x, maxNoise)
		}
	}
	return c, nil
}

// count returns "1 noun" or "2 nouns".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// perView returns one value per view: those given, the one given for all, or
// standard for all.
func perView[T any](field string, given []T, views int, standard T) ([]T, error) {
	switch len(given) {
	case views:
		return given, nil
	case 0:
	case 1:
		standard = given[0]
	default:
		return nil, fmt.Errorf("%s has %d values for %s; give one for each view, one for all, or none", field, len(given), count(views, "view"))
	}
	all := make([]T, views)
	for v := range all {
		all[v] = standard
	}
	return all, nil
}

func (c *Config) outliers() int { return int(math.Round(c.Outliers * float64(c.Samples))) }

// labels returns the class of each sample, in random order.
func (c *Config) labels(r *rand.Rand) []int {
	spare := c.Samples - c.outliers() - c.Classes // beyond one for each class
	shares, sum := make([]float64, c.Classes), 0.0
	for k := range shares {
		shares[k] = math.Pow(float64(k+1), -c.Imbalance)
		sum += shares[k]
	}
	labels := make([]int, 0, c.Samples)
	sizes, given := make([]int, c.Classes), 0
	for k := range sizes {
		sizes[k] = int(float64(spare) * shares[k] / sum)
		given += sizes[k]
	}
	for k, size := range sizes {
		// Rounding down left fewer than one sample per class: to the largest.
		if k < spare-given {
			size++
		}
		for range 1 + size {
			labels = append(labels, k)
		}
	}
	for len(labels) < c.Samples {
		labels = append(labels, c.Classes)
	}
	r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	next := c.Classes
	for i, k := range labels {
		if k == c.Classes {
			labels[i] = next
			next++
		}
	}
	return labels
}

// present returns which samples have each view; nil for a view that all have.
func (c *Config) present(r *rand.Rand) [][]bool {
	present := make([][]bool, c.Views)
	left := int(math.Round(c.Missing * float64(c.Samples)))
	for i := range c.Samples {
		// Take sample i with the chance left/(samples to come): exactly so many
		// are taken, and all sets of them are equally likely.
		if r.IntN(c.Samples-i) >= left {
			continue
		}
		left--
		v := r.IntN(c.Views)
		if present[v] == nil {
			present[v] = make([]bool, c.Samples)
			for j := range present[v] {
				present[v][j] = true
			}
		}
		present[v][i] = false
	}
	return present
}

// class is where a class lies and how it is shaped.
type class struct {
	centre [latent]float64
	// basis holds the directions of the class; row k is what moves coordinate k.
	basis [latent][flat]float64
}

func (c *class) draw(r *rand.Rand) {
	for k := range latent {
		c.centre[k] = r.NormFloat64()
		for l := range flat {
			// Half of the variance, in equal parts from the directions.
			c.basis[k][l] = r.NormFloat64() * math.Sqrt(0.5/flat)
		}
	}
}

// fill draws the rows of v. The draws do not depend on noise, dependence or
// which rows are present. Products are rounded before they are added, by the
// conversions, lest a platform fuses the two and the sums differ.
func fill(v *view.View, labels []int, models []class, noise, dependence float64, outliers, shared, own *rand.Rand) {
	look := make([][latent]float64, v.Dims)
	for d := range look {
		for k := range latent {
			look[d][k] = own.NormFloat64() / math.Sqrt(latent)
		}
	}
	fromShared, fromOwn := math.Sqrt(dependence), math.Sqrt(1-dependence)
	var z [flat + latent]float64 // the deviation: along the directions, and all round
	var y [latent]float64
	var alone class
	for i, label := range labels {
		c := &alone
		if label < len(models) {
			c = &models[label]
		} else {
			c.draw(outliers)
		}
		for k := range z {
			s, e := shared.NormFloat64(), own.NormFloat64()
			z[k] = float64(fromShared*s) + float64(fromOwn*e)
		}
		row := v.Row(i)
		if !v.Has(i) {
			for d := range row {
				row[d] = float32(math.NaN())
			}
			continue
		}
		for k := range y {
			deviation := float64(z[flat+k] * math.Sqrt(0.5))
			for l := range flat {
				deviation += float64(c.basis[k][l] * z[l])
			}
			y[k] = c.centre[k] + float64(noise*deviation)
		}
		for d := range row {
			w, sum := &look[d], 0.0
			for k := range y {
				sum += float64(w[k] * y[k])
			}
			row[d] = float32(sum)
		}
	}
}
