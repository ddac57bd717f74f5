package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/selection"
)

// Options say what is clustered and how the work is divided. All but Input and Output may be 0.
type Options struct {
	// Input is a pattern of Parquet files, and Output the folder for the result, which must not
	// exist.
	Input, Output string
	// ID names the column of ids; empty for the one called id. Views names the columns of vectors;
	// empty for all.
	ID    string
	Views []string
	Seed  uint64
	// CellRows is about how many rows a cell holds, and Nearest how many cells a row is in.
	CellRows, Nearest int
	// Sample is on how many rows the cells are learned.
	Sample int
	// PieceRows is about how many samples a piece holds.
	PieceRows int
	// MaxNeighbours bounds the numbers of neighbours that are tried.
	MaxNeighbours int
	// WorkerNodes is how many nodes one worker takes, and Rounds how often nodes are contracted to
	// get there.
	WorkerNodes, Rounds int
}

// Config is what the steps need of the options, with all defaults filled in.
type Config struct {
	schema
	Seed       uint64 `json:"seed"`
	Samples    int    `json:"samples"`
	Candidates int    `json:"candidates"`
	Cells      int    `json:"cells"`
	Nearest    int    `json:"nearest"`
	Sample     int    `json:"sample"`
	Neighbours []int  `json:"neighbors"`
	Rounds     int    `json:"rounds"`
	Pieces     []int  `json:"pieces"`
	Buckets    int    `json:"buckets"`
	Most       int    `json:"worker_nodes"`
	Moved      int    `json:"moved"` // the channel on which nodes are moved before the choice
	Partial    string `json:"partial"`
}

// most returns the length of the lists of neighbours.
func (c *Config) most() int { return max(walked, slices.Max(c.Neighbours)) }

// Report tells what a run did.
type Report struct {
	Version  string    `json:"version"`
	Input    string    `json:"input"`
	Shards   int       `json:"shards"`
	Config   Config    `json:"config"`
	Choice   Choice    `json:"choice"`
	Shuffles []Shuffle `json:"shuffles"`
	Seconds  float64   `json:"seconds"`
}

// Shuffle tells what went through one exchange of data between workers, as it was encoded.
type Shuffle struct {
	Name           string  `json:"name"`
	Bytes          int64   `json:"bytes"`
	Chunks         int64   `json:"chunks"`
	Records        int64   `json:"records"`
	BytesPerSample float64 `json:"bytes_per_sample"`
}

// Run clusters the input and writes the result. It says on log what was found.
func Run(ctx context.Context, o Options, log io.Writer) (*Report, error) {
	start := time.Now()
	if o.Input == "" || o.Output == "" {
		return nil, &InputError{Problem: "name the shards by -input, a pattern such as 'shards/*.parquet', and a folder for the result by -output"}
	}
	if *jobopts.Async {
		return nil, &InputError{Problem: "leave out -async: the files get their names when the job is done"}
	}
	var err error
	if isLocal(o.Input) { // workers may have another working directory
		if o.Input, err = filepath.Abs(o.Input); err != nil {
			return nil, err
		}
	}
	shards, s, err := survey(ctx, &o)
	if err != nil {
		return nil, err
	}
	c, err := o.config(shards, s)
	if err != nil {
		return nil, err
	}
	if c.Partial, err = reserve(ctx, o.Output); err != nil {
		return nil, err
	}
	say(log, "%d samples in %d shards, %d views; %d cells, %d rounds of contraction", c.Samples, len(shards), len(c.Views), c.Cells, c.Rounds)
	p := beam.NewPipeline()
	Build(p.Root(), c, shards)
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return nil, errors.Join(plain(err), discard(ctx, c))
	}
	r := &Report{Version: mvclust.Version, Input: o.Input, Shards: len(shards), Config: *c, Shuffles: shuffles(result, c.Samples)}
	if err := r.finish(ctx, o.Output, start); err != nil {
		return nil, errors.Join(err, discard(ctx, c))
	}
	r.print(log)
	return r, nil
}

// survey lists the shards and reads their footers.
func survey(ctx context.Context, o *Options) ([]Shard, schema, error) {
	fs, err := filesystem.New(ctx, o.Input)
	if err != nil {
		return nil, schema{}, err
	}
	defer fs.Close()
	paths, err := fs.List(ctx, o.Input)
	if err != nil {
		return nil, schema{}, err
	}
	if len(paths) == 0 {
		return nil, schema{}, &InputError{Problem: fmt.Sprintf("no file fits the pattern %q; give one such as 'shards/*.parquet'", o.Input)}
	}
	slices.Sort(paths)
	var shards []Shard
	s := schema{ID: o.ID, Views: o.Views}
	for _, path := range paths {
		f, err := openShard(ctx, path)
		if err != nil {
			return nil, s, err
		}
		found, rows, err := f.shape(s)
		if err := errors.Join(err, f.close()); err != nil {
			return nil, s, err
		}
		for m, d := range s.Dims { // where the first shards have only nulls
			found.Dims[m] = max(found.Dims[m], d)
		}
		s = found
		shards = append(shards, Shard{path, rows})
	}
	for m, d := range s.Dims {
		if d == 0 {
			return nil, s, &InputError{Problem: fmt.Sprintf("the column %q is null in all shards; leave it out by -views", s.Views[m])}
		}
	}
	return shards, s, nil
}

// config fills in what the options leave open. Everything follows from the number of samples and
// of views.
func (o *Options) config(shards []Shard, s schema) (*Config, error) {
	c := &Config{schema: s, Seed: o.Seed, Most: o.WorkerNodes, Sample: o.Sample, Nearest: o.Nearest}
	for _, shard := range shards {
		c.Samples += shard.Rows
	}
	if c.Samples < 3 {
		return nil, &InputError{Problem: fmt.Sprintf("there are too few samples to cluster, %d; give at least 3", c.Samples)}
	}
	n := float64(c.Samples)
	set := func(x *int, fallback int) {
		if *x <= 0 {
			*x = fallback
		}
	}
	choice := selection.Settings{MaxNeighbours: o.MaxNeighbours}
	c.Neighbours = choice.NeighboursTried(c.Samples)
	c.Candidates = mvclust.Candidates(c.Samples, len(s.Dims))
	set(&c.Nearest, 5)
	// Cells grow with the cube root of the samples: fewer centres to compare with, and more rows
	// to compare within a cell.
	rows := o.CellRows
	set(&rows, int(2000*math.Cbrt(max(1, n/1e5))))
	c.Cells = max(1, int(n*float64(c.Nearest)/float64(rows)))
	if c.Cells < 2*c.Nearest { // every cell would hold nearly everything
		c.Cells = 1
	}
	set(&c.Sample, max(20_000, 20*c.Cells))
	set(&c.Most, 2_000_000)
	piece := o.PieceRows
	set(&piece, 100_000)
	c.Rounds = o.Rounds
	if c.Rounds <= 0 && c.Samples > c.Most {
		c.Rounds = 1 + int(math.Ceil(math.Log(n/float64(c.Most))/math.Log(4)))
	}
	for r := range max(1, c.Rounds) {
		left := n / math.Pow(4, float64(r))
		c.Pieces = append(c.Pieces, max(1, int(math.Ceil(left/float64(piece)))))
	}
	c.Buckets = max(1, c.Samples/50_000)
	c.Moved = (len(c.Neighbours) - 1) / 2
	return c, nil
}

// engine carries out steps: Beam's runners, or a test. N is a collection of records, or of groups.
type engine[N any] interface {
	// none is no value, for a step that needs none.
	none() N
	// shards hands every shard to a step, once all shards are checked.
	shards(step string, side N, to [2]string) (N, N)
	// gather brings together what has the same destination.
	gather(in ...N) N
	// groups hands every group to a step.
	groups(step string, round int, side N, to [2]string, in N) (N, N)
	// value is the one value that a step has made, which all workers get.
	value(of N) N
}

// wire is the pipeline: which step gets what. The strings of to name the shuffles for the report.
func wire[N any](e engine[N], c *Config) {
	group := func(step string, round int, side N, first, second string, in ...N) (N, N) {
		return e.groups(step, round, side, [2]string{first, second}, e.gather(in...))
	}
	none := e.none()
	rows, _ := e.shards("sample", none, [2]string{"learn"})
	out, _ := group("learn", 0, none, "value.learn", "", rows)
	plan := e.value(out)
	rows, places := e.shards("assign", plan, [2]string{"cells", "places"})
	near, _ := group("near", 0, plan, "near", "", rows)
	scales, _ := group("scale", 0, plan, "scales", "", near)
	cells := e.gather(rows, scales) // of which two steps read the groups
	pairs, _ := e.groups("training", 0, plan, [2]string{"training"}, cells)
	out, _ = group("functions", 0, plan, "value.functions", "", pairs)
	plan = e.value(out)
	lists, _ := e.groups("score", 0, plan, [2]string{"lists"}, cells)
	lists, _ = group("merge", 0, plan, "neighbourhoods", "", lists)
	nodes, sums := group("refine", 0, plan, "nodes", "sums", lists, places)
	out, _ = group("total", 0, plan, "value.total", "", sums)
	plan = e.value(out)
	links := make([]N, c.Rounds)
	for r := range c.Rounds {
		nodes, links[r] = group("move", r, plan, fmt.Sprint("moved.", r), fmt.Sprint("links.", r), nodes)
		nodes, _ = group("fold", r, plan, fmt.Sprint("folded.", r), "", nodes)
	}
	labels, _ := group("choose", 0, plan, "labels", "", nodes)
	for r := c.Rounds - 1; r >= 0; r-- {
		labels, _ = group("unfold", r, plan, fmt.Sprint("labels.", r), "", labels, links[r])
	}
	group("write", 0, none, "", "", labels)
}

// Build adds the pipeline to a scope.
func Build(s beam.Scope, c *Config, shards []Shard) {
	b := &builder{scope: s, conf: *c}
	var list []string
	for i, shard := range shards {
		list = append(list, strconv.Itoa(i)+" "+shard.Path)
		b.paths = append(b.paths, shard.Path)
	}
	names := beam.Reshuffle(s, beam.CreateList(s, list))
	checked := beam.ParDo(s.Scope("check"), &checkFn{*c}, names)
	b.names = beam.ParDo(s.Scope("gate"), &gateFn{}, names, beam.SideInput{Input: checked})
	wire(b, c)
}

// builder is the engine Beam.
type builder struct {
	scope beam.Scope
	conf  Config
	names beam.PCollection
	paths []string
}

func (b *builder) none() beam.PCollection { return beam.Create(b.scope, []byte{}) }

func (b *builder) shards(step string, side beam.PCollection, to [2]string) (beam.PCollection, beam.PCollection) {
	return beam.ParDo2(b.scope.Scope(step), &shardFn{Step: step, To: to, Conf: b.conf}, b.names, beam.SideInput{Input: side})
}

func (b *builder) gather(in ...beam.PCollection) beam.PCollection {
	all := in[0]
	if len(in) > 1 {
		all = beam.Flatten(b.scope, in...)
	}
	return beam.GroupByKey(b.scope, all)
}

func (b *builder) groups(step string, round int, side beam.PCollection, to [2]string, in beam.PCollection) (beam.PCollection, beam.PCollection) {
	f := &groupFn{Step: step, Round: round, To: to, Conf: b.conf}
	if step == "write" {
		f.Shards = b.paths
	}
	return beam.ParDo2(b.scope.Scope(fmt.Sprint(step, ".", round)), f, in, beam.SideInput{Input: side})
}

func (b *builder) value(of beam.PCollection) beam.PCollection { return beam.DropKey(b.scope, of) }

// cutShard undoes what Build makes of shards.
func cutShard(s string) (int, string, error) {
	number, path, _ := strings.Cut(s, " ")
	i, err := strconv.Atoi(number)
	return i, path, err
}

// plain returns the sentence about the input in an error that a runner reports, or all of it.
func plain(err error) error {
	_, rest, found := strings.Cut(err.Error(), open)
	if sentence, _, whole := strings.Cut(rest, shut); found && whole {
		return &InputError{Problem: sentence}
	}
	return fmt.Errorf("the job failed: %w", err)
}

// shuffles reads the counters.
func shuffles(result beam.PipelineResult, samples int) []Shuffle {
	var out []Shuffle
	at := map[string]int{}
	if result == nil { // a runner that tells nothing
		return nil
	}
	for _, c := range result.Metrics().AllMetrics().Counters() {
		name, what, ok := cutLast(c.Name(), ".")
		if c.Namespace() != namespace || !ok {
			continue
		}
		if _, has := at[name]; !has {
			at[name] = len(out)
			out = append(out, Shuffle{Name: name})
		}
		s := &out[at[name]]
		switch what {
		case "bytes":
			s.Bytes += c.Result()
		case "chunks":
			s.Chunks += c.Result()
		case "records":
			s.Records += c.Result()
		}
		s.BytesPerSample = float64(s.Bytes) / float64(max(1, samples))
	}
	slices.SortFunc(out, func(a, b Shuffle) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// cutLast cuts s around the last separator.
func cutLast(s, separator string) (before, after string, ok bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		return s[:at], s[at+len(separator):], true
	}
	return s, "", false
}

// isLocal reports whether a path is one of this machine's file system.
func isLocal(path string) bool { return !strings.Contains(path, "://") }

// reserve returns the folder in which the result is made. The result must not exist.
func reserve(ctx context.Context, output string) (string, error) {
	partial := strings.TrimSuffix(output, "/") + ".partial"
	if !isLocal(output) {
		fs, err := filesystem.New(ctx, output)
		if err != nil {
			return "", err
		}
		defer fs.Close()
		if there, err := fs.List(ctx, strings.TrimSuffix(output, "/")+"/*"); err != nil || len(there) > 0 {
			return "", cmpErr(err, &InputError{Problem: fmt.Sprintf("the output %s exists; name another one, or remove it", output)})
		}
		return partial, nil
	}
	output, err := filepath.Abs(output)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(output); err == nil {
		return "", &InputError{Problem: fmt.Sprintf("the output %s exists; name another one, or remove it", output)}
	}
	partial = output + ".partial"
	return partial, os.RemoveAll(partial) // what a killed run has left
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// discard removes what a failed run has written.
func discard(ctx context.Context, c *Config) error {
	if isLocal(c.Partial) {
		return os.RemoveAll(c.Partial)
	}
	fs, err := filesystem.New(ctx, c.Partial)
	if err != nil {
		return err
	}
	defer fs.Close()
	remover, ok := fs.(filesystem.Remover)
	if !ok {
		return nil
	}
	there, err := fs.List(ctx, c.Partial+"/*")
	for _, name := range there {
		err = errors.Join(err, remover.Remove(ctx, name))
	}
	return err
}

// finish adds the report to the files and gives them their names: on this machine all at once, and
// elsewhere one after another, run.json last.
func (r *Report) finish(ctx context.Context, output string, start time.Time) error {
	partial := r.Config.Partial
	fs, err := filesystem.New(ctx, partial)
	if err != nil {
		return err
	}
	defer fs.Close()
	text, err := filesystem.Read(ctx, fs, partial+"/"+choiceName)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r.Choice); err != nil {
		return err
	}
	r.Seconds = time.Since(start).Seconds()
	if text, err = json.MarshalIndent(r, "", "  "); err != nil {
		return err
	}
	if err := filesystem.Write(ctx, fs, partial+"/"+reportName, append(text, '\n')); err != nil {
		return err
	}
	if remover, ok := fs.(filesystem.Remover); ok {
		if err := remover.Remove(ctx, partial+"/"+choiceName); err != nil {
			return err
		}
	}
	if isLocal(output) {
		return os.Rename(partial, strings.TrimSuffix(output, "/"))
	}
	for i := range r.Shards {
		name := labelsName(i, r.Shards)
		if err := filesystem.Rename(ctx, fs, partial+"/"+name, strings.TrimSuffix(output, "/")+"/"+name); err != nil {
			return err
		}
	}
	return filesystem.Rename(ctx, fs, partial+"/"+reportName, strings.TrimSuffix(output, "/")+"/"+reportName)
}

// say writes a line. A log that cannot be written ends no job.
func say(w io.Writer, format string, a ...any) { _, _ = fmt.Fprintf(w, format+"\n", a...) }

const reportName = "run.json"

// print says what was found, and what each shuffle carried.
func (r *Report) print(w io.Writer) {
	for _, s := range r.Shuffles {
		say(w, "%-22s %14d bytes %12.1f per sample", s.Name, s.Bytes, s.BytesPerSample)
	}
	x := r.Choice
	say(w, "%d clusters, with %d neighbours at resolution %.3g, chosen on %d nodes", x.Clusters, x.Chosen.Neighbours, x.Chosen.Resolution, x.Nodes)
}
