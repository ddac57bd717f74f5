// Package arrow reads Arrow IPC files (also called Feather files of version 2), and Arrow
// IPC streams, as Hugging Face datasets writes them.
//
//	ARROW1   schema, dictionaries, record batches, end mark   footer, its length, ARROW1
//
// A stream is the middle part alone. The footer repeats the schema, which some programs
// write only there, and says where the messages are: the dictionaries and batches. A
// message has metadata, a table of FlatBuffers, and a body, the buffers of the columns one after
// another. Only the buffers of the column that is asked for are read, and numbers
// piece by piece.
package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
)

const (
	// Magic begins and ends a file.
	Magic = "ARROW1"
	// Feather1 begins a file of Feather version 1, another format.
	Feather1 = "FEA1"
	// Continuation begins each message of a stream.
	Continuation = "\xff\xff\xff\xff"
)

// Open returns the columns of the Arrow file or stream r of size bytes. Values are
// read from r when they are asked for.
//
// The columns are single values, and lists of them, of fixed or variable length.
// Numbers are integers, logical values and floating-point numbers of any width; text
// may be encoded by a dictionary. All else is listed with a Problem.
func Open(r io.ReaderAt, size int64) (*column.Table, error) {
	f := &file{r: r, size: size, maxValues: column.MaxValues(size)}
	if err := f.open(); err != nil {
		return nil, err
	}
	return column.New(f, size)
}

// file is an open Arrow file, a column.Source.
type file struct {
	r    io.ReaderAt
	size int64
	// maxValues is how many values the file can hold.
	maxValues int
	fields    []node
	// messages are the dictionaries and batches, in the order in which they are read.
	messages []message
	// rows is the number of rows, and batch that of the largest batch.
	rows, batch int
}

// message is a record batch, or a dictionary's.
type message struct {
	meta []byte
	// body is where the body begins, and size its length.
	body, size int64
	// dictionary says that it is a dictionary; id is its number, and delta says that it
	// adds to an earlier one.
	dictionary, delta bool
	id                int64
	// data is the table that says what is in the body.
	data table
	rows int
}

func (f *file) open() error {
	head := make([]byte, min(8, f.size))
	if err := array.ReadFull(f.r, head, 0); err != nil {
		return err
	}
	switch {
	case f.size == 0:
		return errors.New("is empty (0 bytes); save it as an Arrow file again")
	case bytes.HasPrefix(head, []byte(Feather1)):
		return errors.New("is a Feather file of version 1; save it as version 2, which is Arrow IPC")
	case bytes.HasPrefix(head, []byte(Magic)):
		return f.openFile()
	}
	return f.openStream()
}

// openStream finds the messages of a stream.
func (f *file) openStream() error {
	at := int64(0)
	for {
		meta, from, err := f.metadata(at, f.size)
		switch {
		case err != nil:
			return err
		case meta == nil && f.fields == nil:
			return array.Damaged("it has no schema")
		case meta == nil:
			return nil
		}
		if at, err = f.add(meta, from, f.size); err != nil {
			return err
		}
	}
}

// openFile finds the schema and the messages by the footer.
func (f *file) openFile() error {
	tail := make([]byte, 4+len(Magic))
	end := f.size - int64(len(tail))
	if end < 8 {
		return array.Damaged("it ends after %d bytes", f.size)
	}
	if err := array.ReadFull(f.r, tail, end); err != nil {
		return err
	}
	if string(tail[4:]) != Magic {
		return array.Damaged("it ends without the mark %s, and so is truncated, or was not closed by its writer", Magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if length > end-8 {
		return array.Damaged("its footer of %d bytes is longer than the file", length)
	}
	end -= length
	footer := make([]byte, length)
	if err := array.ReadFull(f.r, footer, end); err != nil {
		return err
	}
	blocks, err := f.footer(footer)
	if err != nil {
		return err
	}
	for _, at := range blocks {
		if at < 8 || at > end {
			return array.Damaged("its footer tells of a message at byte %d", at)
		}
		meta, from, err := f.metadata(at, end)
		if err != nil {
			return err
		}
		if meta == nil {
			return array.Damaged("there is no message at byte %d, where its footer tells of one", at)
		}
		if _, err := f.add(meta, from, end); err != nil {
			return err
		}
	}
	return nil
}

// footer takes the schema from a footer, and returns where the messages are.
func (f *file) footer(b []byte) (blocks []int64, err error) {
	defer array.Recover(&err)
	const schema, dictionaries, batches, blockBytes = 1, 2, 3, 24
	root := rootTable(b)
	s, ok := root.table(schema)
	if !ok {
		return nil, array.Damaged("its footer has no schema")
	}
	if err := f.schema(s); err != nil {
		return nil, err
	}
	for _, k := range []int{dictionaries, batches} {
		at, n := root.vector(k, blockBytes)
		for i := range n {
			blocks = append(blocks, int64(binary.LittleEndian.Uint64(b[at+i*blockBytes:])))
		}
	}
	return blocks, nil
}

// metadata returns the metadata of the message at a byte, nil at the mark of the end,
// and where the body begins.
func (f *file) metadata(at, end int64) (meta []byte, body int64, err error) {
	word := func() (int64, error) {
		var b [4]byte
		if end-at < int64(len(b)) {
			return 0, array.Damaged("it ends within a message, or lacks the mark of its end, and so is truncated, or was not closed by its writer")
		}
		err := array.ReadFull(f.r, b[:], at)
		at += int64(len(b))
		return int64(int32(binary.LittleEndian.Uint32(b[:]))), err
	}
	length, err := word()
	if err == nil && length == -1 { // which files of before 2019 lack
		length, err = word()
	}
	if err != nil || length == 0 {
		return nil, 0, err
	}
	if length < 0 || length > end-at {
		return nil, 0, array.Damaged("a message at byte %d has metadata of %d bytes", at, length)
	}
	meta = make([]byte, length)
	return meta, at + length, array.ReadFull(f.r, meta, at)
}

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// add takes a message with a body from a byte on, and returns where that ends.
func (f *file) add(meta []byte, from, end int64) (next int64, err error) {
	defer array.Recover(&err)
	const kind, header, bodyLength = 1, 2, 3 // after the version
	const version4 = 3
	root := rootTable(meta)
	m := message{meta: meta, body: from, size: root.int64(bodyLength)}
	if m.size < 0 || m.size > end-from {
		return 0, array.Damaged("a message before byte %d has a body of %d bytes, where %d follow", from, m.size, end-from)
	}
	next = from + m.size
	if v := root.int16(); v < version4 {
		return 0, fmt.Errorf("is in version %d of the format, of which 4 and 5 can be read; save it with a current program", v+1)
	}
	t, ok := root.table(header)
	if !ok {
		return 0, array.Damaged("a message before byte %d is empty", from)
	}
	switch k := root.uint8(kind); {
	case k == schemaMessage && f.fields == nil:
		return next, f.schema(t)
	case f.fields == nil:
		return 0, array.Damaged("it does not begin with a schema")
	case k == dictionaryMessage:
		m.dictionary, m.id, m.delta = true, t.int64(0), t.uint8(2) != 0
		if m.data, ok = t.table(1); !ok {
			return 0, array.Damaged("a dictionary before byte %d has no values", from)
		}
	case k == batchMessage:
		m.data = t
		n := t.int64(0)
		if n < 0 || n > int64(f.maxValues-f.rows) {
			return 0, array.Damaged("it promises %d rows, which its %d bytes cannot hold", n, f.size)
		}
		m.rows = int(n)
		f.rows += m.rows
		f.batch = max(f.batch, m.rows)
	default:
		return next, nil // another schema, or nothing of a table
	}
	f.messages = append(f.messages, m)
	return next, nil
}

// Rows is the number of rows.
func (f *file) Rows() int { return f.rows }

// Columns are the fields of the schema.
func (f *file) Columns() []column.Info {
	infos := make([]column.Info, len(f.fields))
	for k := range infos {
		infos[k] = f.fields[k].info()
	}
	return infos
}

// Notes is empty: every fault is an error.
func (f *file) Notes() []string { return nil }
