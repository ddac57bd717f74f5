package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/column"
	"github.com/mvclust/mvclust/internal/words"
)

// scan reads the pages of a column.
type scan struct {
	f    *file
	k    int
	leaf *leaf
	// take gets the rows; stop is its error.
	take func(column.Chunk) error
	stop error
	// row is the number of rows so far, list what the last one is, and fault whether it
	// was counted as malformed.
	row   int
	list  listState
	fault bool

	dictionary       any // its values, or nil
	raw, page, plain []byte
	rep, def         []uint8
	lengths          []int32
	index            []uint32
}

// listState is what a row of lists is as far as it was read.
type listState int

const (
	open  listState = iota // it has elements, and more may follow
	empty                  // it has none, and none may follow
	null
)

// Scan hands over the rows of column k.
func (f *file) Scan(k int, take func(column.Chunk) error) error {
	s := &scan{f: f, k: k, leaf: &f.leaves[k], take: take}
	if f.malformed == nil {
		f.malformed = map[int]int{}
	}
	f.malformed[k] = 0
	for g := range f.groups {
		err := s.group(&f.groups[g])
		if s.stop != nil {
			return s.stop
		}
		if _, ok := errors.AsType[*array.Damage](err); ok {
			err = fmt.Errorf("the column %s of row group %d %w", words.Quote(s.leaf.Name), g, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Scratch is what the largest page of column k takes.
func (f *file) Scratch(k int) (int64, error) {
	l := &f.leaves[k]
	var raw, page, entries, dictionary int64
	for g := range f.groups {
		err := f.pages(&f.groups[g], l, func(p pageAt) error {
			raw = max(raw, int64(p.CompressedPageSize))
			size := int64(p.UncompressedPageSize)
			if p.Type == format.DictionaryPage {
				dictionary = max(dictionary, size)
			}
			page = max(page, size)
			entries = max(entries, int64(p.entries))
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("the column %s of row group %d %w", words.Quote(l.Name), g, err)
		}
	}
	// An entry has two levels; a length, if every entry is a row; and, with a
	// dictionary, a place in it and a value.
	each := int64(2)
	if !l.List {
		each += 4
	}
	if dictionary > 0 {
		each += 4 + 8
	}
	return raw + page + 2*dictionary + each*entries, nil
}

// pageAt is a page's header, and where its bytes are.
type pageAt struct {
	format.PageHeader
	from    int64
	entries int // 0 unless it is a page of data
}

// pages calls do with the data and dictionary pages of a column in a row group. They must
// hold as many entries as the group promises.
func (f *file) pages(g *format.RowGroup, l *leaf, do func(pageAt) error) error {
	c := &g.Columns[l.chunk]
	meta := &c.MetaData
	if c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0 {
		return errors.New("is encrypted; save it without encryption")
	}
	if c.FilePath != "" {
		return fmt.Errorf("is in another file, %.80q; save the table as one file", c.FilePath)
	}
	at := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	end := at + meta.TotalCompressedSize
	switch {
	case at < int64(len(magic)) || meta.TotalCompressedSize < 0 || end < at || end > f.size-8:
		return array.Damaged("its pages go from byte %d to %d in a file of %d", at, end, f.size)
	case meta.Type != l.kind:
		return array.Damaged("it holds values of the type %s, where %s is promised", meta.Type, l.kind)
	case meta.NumValues < g.NumRows || l.maxRep == 0 && meta.NumValues != g.NumRows:
		return array.Damaged("it has %d entries for %d rows", meta.NumValues, g.NumRows)
	case meta.NumValues > int64(f.maxValues):
		return array.Damaged("it promises %d entries, which a file of %d bytes cannot hold", meta.NumValues, f.size)
	}
	for left := meta.NumValues; left > 0; {
		p, err := f.header(at, end)
		if err != nil {
			return err
		}
		if int64(p.entries) > left {
			return array.Damaged("a page has %d entries, where %d are left", p.entries, left)
		}
		if p.Type == format.DataPage || p.Type == format.DataPageV2 || p.Type == format.DictionaryPage {
			if err := do(p); err != nil {
				return err
			}
		}
		left -= int64(p.entries)
		at = p.from + int64(p.CompressedPageSize)
	}
	return nil
}

// header reads the header of the page at a byte, in pages that end before another.
func (f *file) header(at, end int64) (pageAt, error) {
	const usual, limit = 1 << 10, 1 << 24
	var p pageAt
	for n := int64(usual); ; n *= 16 {
		b := make([]byte, min(n, end-at))
		if err := array.ReadFull(f.r, b, at); err != nil {
			return p, err
		}
		length, err := decode(b, &p.PageHeader)
		if errors.Is(err, errShort) && n < min(limit, end-at) {
			continue
		}
		if err != nil {
			return p, array.Damaged("the header of a page at byte %d cannot be read: %w", at, err)
		}
		p.from = at + int64(length)
		break
	}
	var valid bool
	entries := int32(0)
	switch p.Type {
	case format.DataPage:
		valid, entries = p.DataPageHeader.Valid, p.DataPageHeader.V.NumValues
	case format.DataPageV2:
		valid, entries = p.DataPageHeaderV2.Valid, p.DataPageHeaderV2.V.NumValues
	case format.DictionaryPage:
		valid = p.DictionaryPageHeader.Valid && p.DictionaryPageHeader.V.NumValues >= 0
	default:
		valid = true
	}
	if !valid || entries < 0 || p.CompressedPageSize < 0 || p.UncompressedPageSize < 0 || int64(p.CompressedPageSize) > end-p.from {
		return p, array.Damaged("the page at byte %d has an impossible size", at)
	}
	p.entries = int(entries)
	return p, nil
}

// group hands over the rows of a row group.
func (s *scan) group(g *format.RowGroup) error {
	s.dictionary = nil
	before := s.row
	first := true
	err := s.f.pages(g, s.leaf, func(p pageAt) error {
		if err := s.read(&p); err != nil {
			return err
		}
		codec := g.Columns[s.leaf.chunk].MetaData.Codec
		switch p.Type {
		case format.DictionaryPage:
			return s.dictionaryPage(&p, codec)
		case format.DataPage:
			if err := s.page1(&p, codec); err != nil {
				return err
			}
		default:
			if err := s.page2(&p, codec); err != nil {
				return err
			}
		}
		chunk, err := s.assemble(p.entries, first || p.Type == format.DataPageV2)
		if err != nil {
			return err
		}
		first = first && p.entries == 0
		if chunk.Values, err = s.values(&p, s.present(p.entries)); err != nil {
			return err
		}
		if len(chunk.Lengths) == 0 {
			return nil
		}
		s.stop = s.take(chunk)
		return s.stop
	})
	if err == nil && s.row-before != int(g.NumRows) {
		err = array.Damaged("its pages hold %d rows, where %d are promised", s.row-before, g.NumRows)
	}
	return err
}

// read reads the bytes of a page, and checks them where they have a checksum.
func (s *scan) read(p *pageAt) error {
	s.raw = sized(s.raw, int(p.CompressedPageSize))
	if err := array.ReadFull(s.f.r, s.raw, p.from); err != nil {
		return err
	}
	if p.CRC != 0 && uint32(p.CRC) != crc32.ChecksumIEEE(s.raw) {
		return array.Damaged("the page at byte %d does not have its checksum", p.from)
	}
	return nil
}

// sized returns a slice of n elements, that of b if it is large enough.
func sized[T any](b []T, n int) []T {
	if cap(b) < n {
		// 64 bytes and more are aligned for any number.
		b = make([]T, max(n, 64))
	}
	return b[:n]
}

func (s *scan) dictionaryPage(p *pageAt, codec format.CompressionCodec) error {
	if err := s.unpack(codec, s.raw, int(p.UncompressedPageSize)); err != nil {
		return err
	}
	s.plain = s.page
	n := int(p.DictionaryPageHeader.V.NumValues)
	values, err := s.leaf.fixedOrText(s.plain, n)
	if err != nil {
		return err
	}
	// The next page takes the place of these bytes.
	s.dictionary = cloned(values)
	return nil
}

// unpack puts n bytes that codec has packed into raw into s.page.
func (s *scan) unpack(codec format.CompressionCodec, raw []byte, n int) error {
	if codec == format.Uncompressed {
		if len(raw) != n {
			return array.Damaged("a page has %d bytes, where %d are promised", len(raw), n)
		}
		s.page = append(sized(s.page, 0), raw...)
		return nil
	}
	var err error
	s.page, err = unpack(codec, s.page, raw, n)
	return err
}

// page1 takes a page of version 1 apart: levels and values, packed as one.
func (s *scan) page1(p *pageAt, codec format.CompressionCodec) error {
	if err := s.unpack(codec, s.raw, int(p.UncompressedPageSize)); err != nil {
		return err
	}
	rest := s.page
	h := &p.DataPageHeader.V
	levels := func(dst *[]uint8, highest byte, encoding format.Encoding) error {
		if highest == 0 {
			*dst = (*dst)[:0]
			return nil
		}
		if encoding != format.RLE {
			return fmt.Errorf("has levels in the encoding %s, which no program writes any more; save it again", encoding)
		}
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return array.Damaged("the levels of a page are not all there")
		}
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		*dst = sized(*dst, p.entries)
		err := s.levels(*dst, rest[4:n], highest)
		rest = rest[n:]
		return err
	}
	if err := levels(&s.rep, s.leaf.maxRep, h.RepetitionLevelEncoding); err != nil {
		return err
	}
	if err := levels(&s.def, s.leaf.maxDef, h.DefinitionLevelEncoding); err != nil {
		return err
	}
	s.plain = aligned(s.page, rest)
	return nil
}

// page2 takes a page of version 2 apart: levels as they are, values packed.
func (s *scan) page2(p *pageAt, codec format.CompressionCodec) error {
	h := &p.DataPageHeaderV2.V
	reps, defs := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
	size := int(p.UncompressedPageSize) - reps - defs
	if reps < 0 || defs < 0 || reps > len(s.raw) || defs > len(s.raw)-reps || size < 0 {
		return array.Damaged("the levels of a page are not all there")
	}
	levels := func(dst *[]uint8, b []byte, highest byte) error {
		if highest == 0 {
			*dst = (*dst)[:0]
			return nil
		}
		*dst = sized(*dst, p.entries)
		return s.levels(*dst, b, highest)
	}
	if err := levels(&s.rep, s.raw[:reps], s.leaf.maxRep); err != nil {
		return err
	}
	if err := levels(&s.def, s.raw[reps:reps+defs], s.leaf.maxDef); err != nil {
		return err
	}
	packed := s.raw[reps+defs:]
	if h.IsCompressed.Valid && !h.IsCompressed.V || len(packed) == 0 && size == 0 {
		codec = format.Uncompressed
	}
	if err := s.unpack(codec, packed, size); err != nil {
		return err
	}
	s.plain = s.page
	return nil
}

// aligned moves part, the end of page, to its start, where numbers can be read in
// place.
func aligned(page, part []byte) []byte {
	if len(part) == len(page) {
		return page
	}
	return page[:copy(page, part)]
}

// levels decodes levels of at most highest.
func (s *scan) levels(dst []uint8, b []byte, highest byte) error {
	if err := hybrid(dst, b, bits.Len8(highest)); err != nil {
		return err
	}
	if len(dst) > 0 && slices.Max(dst) > highest {
		return array.Damaged("a page has a level of %d, where %d is the highest", slices.Max(dst), highest)
	}
	return nil
}

// present returns how many of n entries have a value.
func (s *scan) present(n int) int {
	if len(s.def) == 0 {
		return n
	}
	n = 0
	for _, d := range s.def {
		if d == s.leaf.maxDef {
			n++
		}
	}
	return n
}

// assemble makes rows of the n entries of a page. whole says that the first of them
// must begin a row.
func (s *scan) assemble(n int, whole bool) (column.Chunk, error) {
	if s.leaf.maxRep == 0 {
		return column.Chunk{Lengths: s.singles(n)}, nil
	}
	if n > 0 && s.rep[0] > 0 && whole {
		return column.Chunk{}, array.Damaged("a page begins within a row")
	}
	c := column.Chunk{Lengths: s.lengths[:0]}
	for i, d := range s.def {
		if s.rep[i] == 0 {
			c.Lengths = append(c.Lengths, s.begin(d))
		} else if err := s.extend(&c, d); err != nil {
			return c, err
		}
		if d >= s.leaf.element && d < s.leaf.maxDef {
			return c, fmt.Errorf("row %d (counted from 0) of the column %s has a null among its values; give numbers, or null in place of the whole list", s.row-1, words.Quote(s.leaf.Name))
		}
	}
	s.lengths = c.Lengths
	return c, nil
}

// singles returns the lengths of n rows of single values.
func (s *scan) singles(n int) []int32 {
	s.lengths = sized(s.lengths, n)
	for i := range s.lengths {
		s.lengths[i] = 1
		if len(s.def) > 0 && s.def[i] != s.leaf.maxDef {
			s.lengths[i] = column.Null
		}
	}
	s.row += n
	return s.lengths
}

// begin begins a row by an entry of the definition level d, and returns its length.
func (s *scan) begin(d uint8) int32 {
	s.row++
	s.fault = false
	switch element := s.leaf.element; {
	case d >= element:
		s.list = open
		return 1
	case d == element-1 && d > 0: // at level 0, a list that cannot be null is empty
		s.list = empty
		return 0
	}
	s.list = null
	return column.Null
}

// extend adds an entry of the definition level d to the row that was begun last.
func (s *scan) extend(c *column.Chunk, d uint8) error {
	switch {
	case d < s.leaf.element && s.list == null: // some writers give null lists elements
		if !s.fault {
			s.f.malformed[s.k]++
		}
		s.fault = true
	case d < s.leaf.element || s.list != open:
		return array.Damaged("a list goes on after its end")
	case len(c.Lengths) == 0:
		c.Lengths, c.More = append(c.Lengths, 1), true
	default:
		c.Lengths[len(c.Lengths)-1]++
	}
	return nil
}
