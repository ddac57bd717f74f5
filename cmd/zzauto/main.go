package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/internal/dataset"
	"github.com/mvclust/mvclust/score"
)

var _ = bench.Mask

type cell struct {
	file    string
	views   []int
	missing []float64
}

func main() {
	cells := []cell{
		{"Handwritten", nil, nil}, {"100Leaves", nil, nil}, {"100Leaves_aligned", nil, nil}, {"BBCSport_tfidf", nil, nil}, {"BUAA", nil, nil}, {"MSRC", nil, nil}, {"ORL", nil, nil}, {"CUB", nil, nil}, {"LandUse-21", nil, nil}, {"WebKB-course", nil, nil},
		{"Handwritten", []int{0, 1}, nil}, {"100Leaves", []int{2, 1}, nil},
		{"Handwritten", []int{0, 1}, []float64{.25, .25}}, {"Handwritten", nil, []float64{0, 0, .5, .5}}, {"100Leaves", []int{2, 1}, []float64{.25, .25}},
	}
	mean, six := 0.0, 0.0
	for i, c := range cells {
		if f := os.Getenv("ONLY"); f != "" && f != c.file {
			continue
		}
		set, err := dataset.Load(context.Background(), []string{"/work/shared/datasets/" + c.file + ".npz"}, dataset.Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		truth, err := load(c.file, set.Views[0].Samples)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		views := set.Views
		if c.views != nil {
			var w []*mvclust.View
			for _, m := range c.views {
				w = append(w, set.Views[m])
			}
			views = w
		}
		if c.missing != nil {
			views, _ = bench.Mask(views, c.missing, 0)
		}
		start := time.Now()
		r, err := mvclust.Fit(context.Background(), views, mvclust.Options{})
		took := time.Since(start)
		if err != nil {
			fmt.Println(err)
			continue
		}
		start = time.Now()
		mvclust.Fit(context.Background(), views, mvclust.Options{Preset: mvclust.Paper})
		paper := time.Since(start)
		s, _ := score.Compare(truth, r.Labels)
		big, best := 0, 0.0
		for _, n := range r.Sizes {
			if n >= 3 {
				big++
			}
		}
		_ = best
		if i < 10 {
			mean += s.ARI / 10
		}
		if i == 0 || i >= 10 {
			six += s.ARI / 6
		}
		fmt.Printf("%-20s %v %v ARI %.1f FB %.1f  K %d res %.2f clusters %d (%d of >=3; truth %d)  %.2fs (x%.1f) left out %v", c.file, c.views, c.missing, 100*s.ARI, 100*s.BCubedF, r.Options.Neighbours, r.Options.Partition.Resolution, len(r.Sizes), big, s.Classes, took.Seconds(), took.Seconds()/paper.Seconds(), r.Trace.Agreement.LeftOut)
		for _, t := range r.Trace.Stages {
			if t.Duration > took/10 {
				fmt.Printf(" %s %.2f", t.Stage, t.Duration.Seconds())
			}
		}
		fmt.Println()
		dump(r)
	}
	fmt.Printf("mean %.1f six %.1f\n", 100*mean, 100*six)
}

func load(file string, n int) ([]int, error) {
	l, err := dataset.Labels(context.Background(), "/work/shared/datasets/"+file+".npz:labels", nil, n)
	if err != nil {
		return nil, err
	}
	return l.Labels, nil
}
