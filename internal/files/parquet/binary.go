package parquet

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

// Binary is a column of bytes or text, to read some of its rows, such as the pictures of
// some samples. It may be a record of bytes and a path, as in datasets of pictures: then
// the path counts where the bytes are null.
type Binary struct {
	file  *file
	parts []leaf
	// Most bounds the bytes of the pages that are held at a time; 0 is no bound.
	Most int64
}

// OpenBinary returns the column called name of the Parquet file r of size bytes.
func OpenBinary(r io.ReaderAt, size int64, name string) (*Binary, error) {
	f := &file{r: r, size: size, maxValues: column.MaxValues(size)}
	if err := f.open(); err != nil {
		return nil, err
	}
	k := slices.IndexFunc(f.leaves, func(l leaf) bool { return l.Name == name })
	if k < 0 {
		return nil, fmt.Errorf("holds no column %s; check the name", words.Quote(name))
	}
	b := &Binary{file: f}
	for _, part := range []string{"bytes", "path"} {
		if at := slices.IndexFunc(f.leaves[k].fields, func(l leaf) bool { return l.Name == part }); at >= 0 {
			b.parts = append(b.parts, f.leaves[k].fields[at])
		}
	}
	if l := f.leaves[k]; len(l.fields) == 0 && l.kind == format.ByteArray && l.maxRep == 0 {
		b.parts = append(b.parts, l)
	}
	if len(b.parts) == 0 {
		return nil, fmt.Errorf("has in the column %s neither bytes, nor text, nor records of bytes and path; name another column", words.Quote(name))
	}
	return b, nil
}

// Rows is the number of rows.
func (b *Binary) Rows() int { return b.file.rows }

// Each calls take with the values of some rows, and leaves out those that are null. The
// rows must ascend. Pages without any of them are not read.
func (b *Binary) Each(rows []int, take func(row int, value string) error) error {
	for k := range b.parts {
		var null []int
		err := b.file.pick(&b.parts[k], rows, b.Most, func(row int, value string, there bool) error {
			if !there {
				null = append(null, row)
				return nil
			}
			return take(row, value)
		})
		if err != nil {
			return err
		}
		rows = null
	}
	return nil
}

// fieldsOf returns the fields of a record that are bytes or text, given the record's
// elements in depth-first order and the chunk of its first value.
func fieldsOf(e []format.SchemaElement, chunk int) []leaf {
	var out []leaf
	outer := byte(0)
	if e[0].RepetitionType.V == format.Optional {
		outer = 1
	}
	if e[0].RepetitionType.V == format.Repeated {
		return nil
	}
	for at := 1; at < len(e); {
		n, leaves, err := extent(e, at, 0)
		if err != nil {
			return nil
		}
		if n == 1 && e[at].Type.V == format.ByteArray && e[at].RepetitionType.V != format.Repeated {
			l := leaf{Info: column.Info{Name: e[at].Name}, chunk: chunk, kind: format.ByteArray, maxDef: outer}
			if e[at].RepetitionType.V == format.Optional {
				l.maxDef++
			}
			out = append(out, l)
		}
		at += n
		chunk += leaves
	}
	return out
}

// pick calls take with the values of rows, in ascending order, of a column of single
// values.
func (f *file) pick(l *leaf, rows []int, most int64, take func(row int, value string, there bool) error) error {
	end := 0 // of the row group
	for g := range f.groups {
		at := end
		end += int(f.groups[g].NumRows)
		if !within(rows, at, end) {
			continue
		}
		s, dictionary := &scan{f: f, leaf: l}, int64(0)
		codec := f.groups[g].Columns[l.chunk].MetaData.Codec
		err := f.pages(&f.groups[g], l, func(p pageAt) error {
			lo := at
			at += p.entries
			if p.Type != format.DictionaryPage && !within(rows, lo, at) {
				return nil
			}
			size := int64(p.CompressedPageSize) + int64(p.UncompressedPageSize)
			if most > 0 && dictionary+size > most {
				return fmt.Errorf("has a page of %d bytes, more than the memory for pictures allows; give more --memory, or write smaller pages", size)
			}
			if err := s.read(&p); err != nil {
				return err
			}
			var err error
			switch p.Type {
			case format.DictionaryPage:
				dictionary = size // stays
				return s.dictionaryPage(&p, codec)
			case format.DataPage:
				err = s.page1(&p, codec)
			default:
				err = s.page2(&p, codec)
			}
			if err != nil {
				return err
			}
			return s.pick(&p, lo, rows, take)
		})
		if err != nil {
			return fmt.Errorf("the column %s of row group %d %w", words.Quote(l.Name), g, err)
		}
	}
	return nil
}

// pick calls take with those of rows that are in the page at hand. Its first row is first.
func (s *scan) pick(p *pageAt, first int, rows []int, take func(row int, value string, there bool) error) error {
	values, err := s.values(p, s.present(p.entries))
	if err != nil {
		return err
	}
	texts, ok := values.([]string)
	if !ok {
		return array.Damaged("a page has values that are no bytes")
	}
	at, _ := slices.BinarySearch(rows, first)
	k := 0 // values before the entry
	for i := range p.entries {
		there := len(s.def) == 0 || s.def[i] == s.leaf.maxDef
		if at < len(rows) && rows[at] == first+i {
			value := ""
			if there {
				value = texts[k]
			}
			if err := take(rows[at], value, there); err != nil {
				return err
			}
			at++
		}
		if there {
			k++
		}
	}
	return nil
}

// within reports whether any of rows, in ascending order, is in [lo, hi).
func within(rows []int, lo, hi int) bool {
	at, _ := slices.BinarySearch(rows, lo)
	return at < len(rows) && rows[at] < hi
}
