package job

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// InputError says what is wrong with a shard and how to mend it.
type InputError struct{ Shard, Problem string }

// Error returns one sentence, between marks by which it is found again in what a runner reports.
func (e *InputError) Error() string { return open + e.Sentence() + shut }

// Sentence returns the sentence alone.
func (e *InputError) Sentence() string {
	if e.Shard == "" {
		return e.Problem
	}
	return words.Quote(e.Shard) + ": " + e.Problem
}

const (
	open = "[input: "
	shut = " :input]"
)

// refuse returns an *InputError about a shard.
func refuse(shard, format string, a ...any) error {
	return &InputError{shard, fmt.Sprintf(format, a...)}
}

// Shard is one of the input's files.
type Shard struct {
	Path string
	Rows int
}

// schema is what all shards have in common.
type schema struct {
	ID    string
	Views []string
	Dims  []int
}

// opened is a shard that is being read.
type opened struct {
	path  string
	table *column.Table
	close func() error
}

// openShard opens a shard. A file system that cannot read from any place of a file has it in
// memory.
func openShard(ctx context.Context, path string) (*opened, error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, path)
	if err != nil {
		return nil, refuse(path, "cannot be opened: %v", err)
	}
	var from io.ReaderAt
	var size int64
	if local, ok := f.(*os.File); ok {
		info, err := local.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		from, size = local, info.Size()
	} else {
		all, err := io.ReadAll(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		from, size = bytes.NewReader(all), int64(len(all))
	}
	table, err := parquet.Open(from, size)
	if err != nil {
		return nil, errors.Join(refuse(path, "%v", err), f.Close())
	}
	return &opened{path, table, f.Close}, nil
}

// shape returns the columns that matter and the number of rows. want names the id and the views,
// or is empty for those that the file tells.
func (o *opened) shape(want schema) (schema, int, error) {
	s := schema{ID: want.ID, Views: want.Views}
	if s.ID == "" {
		s.ID = o.table.ID()
	}
	if s.ID == "" || o.table.Array(s.ID) < 0 {
		return s, 0, refuse(o.path, "has no column of ids called %s; name it by -id_column", words.Quote(cmp.Or(s.ID, "id")))
	}
	if len(s.Views) == 0 {
		s.Views = o.table.Embeddings()
		slices.Sort(s.Views)
	}
	if len(s.Views) == 0 {
		return s, 0, refuse(o.path, "has no column of lists of numbers; write each view as one")
	}
	rows := 0
	for _, info := range o.table.Arrays() {
		if len(info.Shape) > 0 {
			rows = max(rows, info.Shape[0])
		}
	}
	for m, name := range s.Views {
		at := o.table.Array(name)
		if at < 0 {
			return s, 0, refuse(o.path, "has no column %s, which other shards have; write all shards with the same columns", words.Quote(name))
		}
		dims, err := o.table.Dims(at)
		if _, none := errors.AsType[*column.AllNull](err); err != nil && !none {
			return s, 0, refuse(o.path, "%v", err)
		}
		if len(want.Dims) > 0 && want.Dims[m] != 0 && dims != 0 && dims != want.Dims[m] {
			return s, 0, refuse(o.path, "the column %s has lists of %d numbers where the first shard has %d; write all shards with the same columns", words.Quote(name), dims, want.Dims[m])
		}
		s.Dims = append(s.Dims, dims)
	}
	return s, rows, nil
}

// samples are those of a shard.
type samples struct {
	ids   []string
	keys  []int64
	views []*view.View
}

// has reports whether sample i has any view.
func (s *samples) has(i int) bool {
	return slices.ContainsFunc(s.views, func(v *view.View) bool { return v.Has(i) })
}

// readIDs reads the ids alone, which must all differ.
func readIDs(ctx context.Context, path string, id string) ([]string, error) {
	o, err := openShard(ctx, path)
	if err != nil {
		return nil, err
	}
	return o.ids(id, o.close)
}

func (o *opened) ids(id string, close func() error) ([]string, error) {
	ids, err := o.table.Text(o.table.Array(id))
	if err = errors.Join(err, close()); err != nil {
		return nil, refuse(o.path, "%v", err)
	}
	seen := make(map[string]int, len(ids))
	for i, id := range ids {
		first, has := seen[id]
		switch {
		case id == "":
			return nil, refuse(o.path, "row %d (counted from 0) has no id; give it one", i)
		case has:
			return nil, refuse(o.path, "the rows %d and %d (counted from 0) both have the id %s; give every sample an id of its own", first, i, words.Quote(id))
		}
		seen[id] = i
	}
	return ids, nil
}

// readShard reads and checks all of a shard.
func readShard(ctx context.Context, c *Config, path string) (*samples, error) {
	o, err := openShard(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = o.close() }() // it was read
	if _, _, err := o.shape(schema{c.ID, c.Views, c.Dims}); err != nil {
		return nil, err
	}
	ids, err := o.ids(c.ID, func() error { return nil })
	if err != nil {
		return nil, err
	}
	s := &samples{ids: ids}
	for m, name := range c.Views {
		data, err := o.table.Float32(o.table.Array(name))
		if _, none := errors.AsType[*column.AllNull](err); none { // no sample of this shard has the view
			data = slices.Repeat([]float32{nan}, len(ids)*c.Dims[m])
		} else if err != nil {
			return nil, refuse(path, "%v", err)
		}
		v, err := view.New(name, len(ids), c.Dims[m], data)
		if bad, is := errors.AsType[*view.InputError](err); is && bad.Row >= 0 {
			return nil, refuse(path, "the column %s, row %d (counted from 0), id %s: %s", words.Quote(name), bad.Row, words.Quote(ids[bad.Row]), bad.Problem)
		}
		if err != nil {
			return nil, refuse(path, "%v", err)
		}
		s.views = append(s.views, v)
	}
	for i, id := range ids {
		if !s.has(i) {
			return nil, refuse(path, "row %d (counted from 0), id %s, has no view; give it at least one, or leave it out", i, words.Quote(id))
		}
		s.keys = append(s.keys, keyOf(c.Seed, id))
	}
	return s, nil
}

// keyOf returns the number by which a sample is known from here on: 64 bits of a hash of the seed
// and its id. It orders the samples, and so decides all ties, wherever a sample is stored.
func keyOf(seed uint64, id string) int64 {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), id...))
	return int64(binary.LittleEndian.Uint64(sum[:]) >> 1)
}
