package arrow

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/mvclust/mvclust/internal/files/column/columntest"
)

// nested returns a stream whose schema has records in records: each of some levels
// holds the next one twice. The file grows with the levels, the fields with two to
// their power.
func nested(levels int) []byte {
	// Where the parts are: the tables of the message, of the schema with its list of one
	// field, and of the fields, each with its list of two. Before them stand the lists
	// that say where in a table its fields are.
	const messageShape, schemaShape, fieldShape, emptyShape, message, schema, first, step = 4, 14, 22, 38, 44, 60, 76, 28
	empty := first + step*(levels+1) // a table without fields, of which the types are
	b := make([]byte, empty+4)
	put := func(at int, words ...int) {
		for i, x := range words {
			binary.LittleEndian.PutUint32(b[at+4*i:], uint32(x))
		}
	}
	for at, places := range map[int][]byte{messageShape: {10, 12, 4, 6, 8}, schemaShape: {8, 8, 0, 4}, fieldShape: {16, 16, 0, 0, 4, 8, 0, 12}, emptyShape: {4, 4}} {
		for i, x := range places {
			b[at+2*i] = x
		}
	}
	put(0, message)
	put(message, message-messageShape, 4|schemaMessage<<16, schema-message-8) // version 5
	put(schema, schema-schemaShape, 4, 1, first-schema-12)
	for k := range levels + 1 {
		at := first + step*k
		put(at, at-fieldShape, recordType, empty-at-8, 4, 2, step-20, step-24)
		if k == levels {
			b[at+4] = boolType
			put(at+16, 0)
		}
	}
	put(empty, empty-emptyShape)
	head := binary.LittleEndian.AppendUint32([]byte(Continuation), uint32(len(b)))
	return slices.Concat(head, b, []byte(Continuation), make([]byte, 4))
}

// What takes few bytes to say and much memory to believe is an error, and little is
// allocated: fields that double from level to level, and a compressed buffer that
// promises in its own first bytes, beyond the metadata, to be huge.
func TestHostileSmall(t *testing.T) {
	if err := readAll(nested(3)); err == nil || err.Error() != "holds no row; write one row per sample" {
		t.Fatalf("eight records in a field: %v", err)
	}
	for _, levels := range []int{20, 22, 60, 500} {
		columntest.WantError(t, sparing(t, nested(levels)), "its schema has more than 65536 fields, or is nested more than 64 deep")
	}
	b := example(t, false, ipc.WithZstd())
	f := &file{r: bytes.NewReader(b), size: int64(len(b)), maxValues: 1 << 30}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	for _, m := range f.messages {
		buffers, n := m.data.vector(2, 16)
		for k := range n {
			at, length := binary.LittleEndian.Uint64(m.meta[buffers+16*k:]), binary.LittleEndian.Uint64(m.meta[buffers+16*k+8:])
			if length == 0 || m.dictionary {
				continue
			}
			for _, promise := range []uint64{1 << 33, 1 << 36, 1 << 46, 1 << 63} {
				c := slices.Clone(b)
				binary.LittleEndian.PutUint64(c[int(m.body)+int(at):], promise)
				columntest.WantError(t, sparing(t, c), "a packed buffer promises")
			}
		}
	}
}

// sparing reads all that a file holds, which must not allocate much.
func sparing(t *testing.T, b []byte) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := readAll(b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Errorf("%d MiB were allocated for %d bytes, the error %v", n>>20, len(b), err)
	}
	return err
}
