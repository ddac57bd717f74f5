package job

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// Register makes the functions of the pipeline known to Beam. A program calls it before
// beam.Init, which on a worker does not return.
func Register() {
	register.DoFn2x2[context.Context, string, string, error](&checkFn{})
	register.DoFn3x0[string, func(*string) bool, func(string)](&gateFn{})
	register.DoFn5x1[context.Context, string, func(*[]byte) bool, func(int64, []byte), func(int64, []byte), error](&shardFn{})
	register.DoFn6x1[context.Context, int64, func(*[]byte) bool, func(*[]byte) bool, func(int64, []byte), func(int64, []byte), error](&groupFn{})
	register.Emitter1[string]()
	register.Emitter2[int64, []byte]()
	register.Iter1[string]()
	register.Iter1[[]byte]()
}

// task is one call of a step: what it knows, what it is given and where its output goes. A step
// keeps nothing from one call to the next, so that a call that fails can be made again.
type task struct {
	conf    *Config
	learned *learned
	round   int
	shards  []string
	key     int64
	values  func(*[]byte) bool
	out     [2]batch
	value   []byte // a value for all workers, in place of records
}

// each calls do with all records.
func (t *task) each(do func(r *reader) error) error {
	var chunk []byte
	for t.values(&chunk) {
		if err := each(chunk, do); err != nil {
			return err
		}
	}
	return nil
}

// rows reads rows and, where there are any, local scales by key.
func (t *task) rows() ([]*row, map[int64][]float32, error) {
	var rows []*row
	var scales map[int64][]float32
	err := t.each(func(r *reader) error {
		if r.tag() == 'r' {
			rows = append(rows, readRow(r, t.conf.Dims))
			return nil
		}
		if scales == nil {
			scales = map[int64][]float32{}
		}
		scales[r.key()] = r.floats(len(t.conf.Dims))
		return nil
	})
	return rows, scales, err
}

// known decodes what every worker knows, once per instance of a step.
type known struct{ l *learned }

// decode returns it, and whether the side input has its value. It has none where the step that makes
// it has failed: prism goes on all the same, and an error here would take the place of that one.
func (k *known) decode(side func(*[]byte) bool) (l *learned, ok bool, err error) {
	var b []byte
	if !side(&b) {
		return nil, false, nil
	}
	if k.l == nil && len(b) > 0 {
		k.l, err = decodeLearned(b)
	}
	return k.l, err == nil, err
}

// checkFn reads a shard and checks it.
type checkFn struct{ Conf Config }

// ProcessElement passes the shard on if there is nothing wrong with it.
func (f *checkFn) ProcessElement(ctx context.Context, shard string) (string, error) {
	_, path, err := cutShard(shard)
	if err == nil {
		_, err = readShard(ctx, &f.Conf, path)
	}
	return shard, err
}

// gateFn passes a shard on once all are checked.
type gateFn struct{}

// ProcessElement waits for the side input.
func (f *gateFn) ProcessElement(shard string, checked func(*string) bool, emit func(string)) {
	var s string
	for checked(&s) { // all of it
	}
	emit(shard)
}

// shardSteps and groupSteps are the steps by name.
func shardSteps() map[string]func(context.Context, *task, *samples, int) error {
	return map[string]func(context.Context, *task, *samples, int) error{"sample": sampleRows, "assign": assign}
}

func groupSteps() map[string]func(context.Context, *task) error {
	return map[string]func(context.Context, *task) error{
		"learn": learn, "near": near, "scale": scale, "training": training, "functions": functions, "score": scores, "merge": merge,
		"refine": coNeighbours, "total": total, "move": move, "fold": fold, "choose": choose, "unfold": unfold, "write": write,
	}
}

// shardFn is a step over the shards. Shards are strings: a number, a blank, and the path.
type shardFn struct {
	Step string
	To   [2]string // the shuffles that the outputs go to
	Conf Config

	known known
}

// ProcessElement reads a shard and hands it to the step.
func (f *shardFn) ProcessElement(ctx context.Context, shard string, side func(*[]byte) bool, first, second func(int64, []byte)) error {
	l, ok, err := f.known.decode(side)
	if !ok {
		return err
	}
	number, path := 0, ""
	if number, path, err = cutShard(shard); err != nil {
		return err
	}
	s, err := readShard(ctx, &f.Conf, path)
	if err != nil {
		return err
	}
	t := &task{conf: &f.Conf, learned: l}
	if err := shardSteps()[f.Step](ctx, t, s, number); err != nil {
		return err
	}
	t.flush(ctx, f.To, first, second)
	return nil
}

// groupFn is a step over what a shuffle brought together.
type groupFn struct {
	Step   string
	Round  int
	To     [2]string
	Conf   Config
	Shards []string // for the step write alone

	known known
}

// ProcessElement hands a group to the step.
func (f *groupFn) ProcessElement(ctx context.Context, key int64, values, side func(*[]byte) bool, first, second func(int64, []byte)) error {
	l, ok, err := f.known.decode(side)
	if !ok {
		return err
	}
	t := &task{conf: &f.Conf, learned: l, round: f.Round, shards: f.Shards, key: key, values: values}
	if err := groupSteps()[f.Step](ctx, t); err != nil {
		if _, is := err.(*InputError); !is { //nolint:errorlint // others are passed on with where they arose
			return fmt.Errorf("step %s, group %d: %w", f.Step, key, err)
		}
		return err
	}
	t.flush(ctx, f.To, first, second)
	return nil
}

// flush emits the output, and counts it by the shuffle that it goes to.
func (t *task) flush(ctx context.Context, to [2]string, first, second func(int64, []byte)) {
	for o, emit := range []func(int64, []byte){first, second} {
		bytes, chunks, records := t.out[o].flush(emit)
		if records > 0 {
			beam.NewCounter(namespace, to[o]+".bytes").Inc(ctx, bytes)
			beam.NewCounter(namespace, to[o]+".chunks").Inc(ctx, chunks)
			beam.NewCounter(namespace, to[o]+".records").Inc(ctx, records)
		}
	}
	if t.value != nil {
		first(0, t.value)
		beam.NewCounter(namespace, to[0]+".bytes").Inc(ctx, int64(len(t.value)))
	}
}

// namespace is that of the counters.
const namespace = "mvclust"
