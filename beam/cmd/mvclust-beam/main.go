// Command mvclust-beam clusters Parquet shards on Apache Beam.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mvclust/mvclust/beam/job"
)

func main() {
	var o job.Options
	views := ""
	flag.StringVar(&o.Input, "input", "", "pattern of the Parquet shards, such as 'gs://bucket/shards/*.parquet'")
	flag.StringVar(&o.Output, "output", "", "folder for the result, which must not exist")
	flag.StringVar(&o.ID, "id_column", "", "column of ids; the one called id if empty")
	flag.StringVar(&views, "views", "", "columns of vectors, separated by commas; all if empty")
	flag.Uint64Var(&o.Seed, "seed", 0, "decides all that is drawn at random")
	flag.IntVar(&o.CellRows, "cell_rows", 0, "about how many rows a cell holds; 0 chooses by the number of samples")
	flag.IntVar(&o.Nearest, "cells_per_row", 0, "number of cells that a row is shipped to; 0 stands for 5")
	flag.IntVar(&o.Sample, "sample", 0, "number of rows that the cells are learned from; 0 chooses")
	flag.IntVar(&o.PieceRows, "piece_rows", 0, "about how many samples a piece of the graph holds; 0 stands for 100,000")
	flag.IntVar(&o.MaxNeighbours, "max_neighbors", 0, "largest number of neighbours that is tried; 0 is that of mvclust fit")
	flag.IntVar(&o.WorkerNodes, "worker_nodes", 0, "number of nodes on which one worker chooses the granularity; 0 stands for 2,000,000")
	flag.IntVar(&o.Rounds, "rounds", 0, "rounds of contraction; 0 chooses")
	quiet := flag.Bool("quiet", false, "print nothing but errors")
	flag.Parse()
	job.Register()
	beam.Init() // on a worker, this does not return
	if runner := flag.Lookup("runner").Value.String(); runner == "" || runner == "prism" {
		slog.SetDefault(slog.New(slog.DiscardHandler)) // a page for every bundle; errors are returned, too
	}
	if views != "" {
		o.Views = strings.Split(views, ",")
	}
	log := io.Writer(os.Stdout)
	if *quiet {
		log = io.Discard
	}
	if _, err := job.Run(context.Background(), o, log); err != nil {
		if bad, is := errors.AsType[*job.InputError](err); is {
			fmt.Fprintln(os.Stderr, "mvclust-beam:", bad.Sentence())
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "mvclust-beam:", err)
		os.Exit(1)
	}
}
