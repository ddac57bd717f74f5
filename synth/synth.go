// Package synth generates data in several views with known classes.
//
// A class has a centre m in a latent space of 16 dimensions. Every view maps the
// latent space by a matrix W_v of its own. Sample i of the class is, in view v,
//
//	x_iv = W_v (m + Noise_v d_iv)                W_v: Dims_v x 16
//	d_iv = sqrt(Dependence) s_i + sqrt(1-Dependence) e_iv
//
// The deviation s_i is common to all views of the sample; e_iv is drawn for each.
// Half of the variance of s_i and of e_iv lies in 4 directions of the class, so
// that classes have different elongated shapes; the other half is the same in all
// directions. All variables are Gaussian, scaled such that the columns of a view
// have, on average, variance 1 between the centres.
//
// Random numbers depend on the seed alone. So a change of Noise or Dependence
// scales and mixes the same numbers, Missing removes rows and changes no others,
// and more views leave the earlier ones unchanged.
package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// Config says what to generate. The zero value means 2,000 samples of 20 classes of
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
	// Imbalance makes the sizes of the classes unequal. Every class gets one sample.
	// Of the rest, class c, counted from 0, gets a share proportional to
	// (c+1)^-Imbalance: 0 makes the sizes equal to within one sample, 1 makes them
	// follow Zipf's law.
	Imbalance float64
	// Noise is the standard deviation within a class divided by that between the
	// centres, from 0 to 1,000, of each view or one number for all; nil means 1.2.
	//
	// For the zero Config, the nearest neighbour by cosine is of the same class for
	// 83% of the samples in one view, and for 94% in the two views concatenated
	// (means of ten seeds). More classes lie closer to each other: with 500 classes
	// of ten samples, a Noise of 0.6 gives 86% and 96%.
	Noise []float64
	// Dependence is the correlation, from 0 to 1, between the deviations from the
	// class centre in any two views. With 0 the views are independent given the
	// class; with 1 they have the same deviation.
	Dependence float64
	// Outliers is the share, at least 0 and below 1, of samples that belong to
	// no class: each has a centre of its own. Their number is rounded to the
	// nearest.
	Outliers float64
	// Missing is the share, at least 0 and below 1, of samples that lack one view,
	// drawn at random for each. Their number is rounded to the nearest. It must be
	// 0 if there is only one view.
	Missing float64
	// Seed seeds all random numbers.
	Seed uint64
}

// Set holds the views and the classes. The samples are in random order.
type Set struct {
	// Views are named view1, view2 and so on. A sample that lacks the view has a row
	// of NaN; Present is nil if no sample lacks it.
	Views []*view.View
	// Labels holds the class of each sample. Class 0 is the largest and class
	// Classes-1 the smallest. Each outlier is a class of its own, numbered on
	// from Classes in the order of the rows.
	Labels []int
	// Outlier reports, for each sample, whether it is an outlier.
	Outlier []bool
}

const (
	latent = 16 // dimensions of the latent space
	flat   = 4  // directions of a class

	maxViews = 1000
	maxNoise = 1000 // keeps values far within a float32
	// maxValues bounds the values of all views, so that allocating them cannot panic.
	maxValues = min(1<<36, math.MaxInt/16)
)

// Generate generates the data that cfg describes. The same cfg gives the same data;
// between kinds of processor, rare values may differ in the last bit. The error
// names the field of cfg that is out of range.
func Generate(cfg Config) (*Set, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	// Each purpose has its own stream of random numbers, so that none shifts another.
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
			// Every view draws the outliers and the common deviations again from
			// the same seeds, which is cheaper than to store them.
			fill(x, s.Labels, models, cfg.Noise[v], cfg.Dependence, stream(outliers), stream(shared), own)
		})
	}
	wg.Wait()
	return s, nil
}

func stream(seed [2]uint64) *rand.Rand { return rand.New(rand.NewPCG(seed[0], seed[1])) }

// complete returns c with the defaults filled in, or an error about the first field
// that is out of range.
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
		return c, fmt.Errorf("Classes is %d for %s not being outliers; give at most one class per sample", c.Classes, words.Count(c.Samples-c.outliers(), "sample"))
	}
	var err error
	if c.Dims, err = perView("Dims", c.Dims, c.Views, 64); err != nil {
		return c, err
	}
	if c.Noise, err = perView("Noise", c.Noise, c.Views, 1.2); err != nil {
		return c, err
	}
	left := maxValues / c.Samples // dimensions that are allowed
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

// perView returns one value per view: the given ones, the only one given, or the
// standard.
func perView[T any](field string, given []T, views int, standard T) ([]T, error) {
	switch len(given) {
	case views:
		return given, nil
	case 0:
	case 1:
		standard = given[0]
	default:
		return nil, fmt.Errorf("%s has %d values for %s; give one for each view, one for all, or none", field, len(given), words.Count(views, "view"))
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
		// Rounding down left fewer samples than classes, which go to the largest.
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
		// Sample i is taken with probability left/(samples to come), so that the
		// number is exact and all subsets are equally likely.
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

// class is the centre and the shape of a class.
type class struct {
	centre [latent]float64
	// basis maps the deviation along the directions of the class; row k adds to
	// coordinate k.
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

// fill generates the rows of v. The random numbers do not depend on noise,
// dependence or the missing rows. The conversions round products before they are
// added: otherwise some platforms would fuse the two and give other sums.
func fill(v *view.View, labels []int, models []class, noise, dependence float64, outliers, shared, own *rand.Rand) {
	look := make([][latent]float64, v.Dims)
	for d := range look {
		for k := range latent {
			look[d][k] = own.NormFloat64() / math.Sqrt(latent)
		}
	}
	fromShared, fromOwn := math.Sqrt(dependence), math.Sqrt(1-dependence)
	var z [flat + latent]float64 // the deviation: along the directions, and in all
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
