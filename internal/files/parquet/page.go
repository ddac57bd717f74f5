package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/mvclust/mvclust/internal/files/column"
)

// scan reads the pages of a column.
type scan struct {
	f    *file
	k    int
	leaf *leaf
	// take takes the rows, and stop is what it returned.
	take func(column.Chunk) error
	stop error
	// row is the number of rows so far. The last one is null, or has ended because it
	// is or is empty.
	row         int
	null, ended bool
	// fault says that the last row was counted as malformed.
	fault bool

	dictionary       any // its values, or nil
	raw, page, plain []byte
	rep, def         []uint8
	lengths          []int32
	index            []uint32
}

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
		if errors.Is(err, errDamaged) {
			err = fmt.Errorf("the column %q of row group %d %w", s.leaf.Name, g, err)
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
			return 0, fmt.Errorf("the column %q of row group %d %w", l.Name, g, err)
		}
	}
	// An entry has two levels; a length where it is a row, which it hardly is where
	// it is one of many values; and a place in the dictionary and its value.
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

// pages calls do with the pages of a column in a row group, which hold all entries
// that are promised, but for pages that are no data and no dictionary.
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
		return damagedf("its pages go from byte %d to %d in a file of %d", at, end, f.size)
	case meta.Type != l.kind:
		return damagedf("it holds values of the type %s, where %s is promised", meta.Type, l.kind)
	case meta.NumValues < g.NumRows || l.maxRep == 0 && meta.NumValues != g.NumRows:
		return damagedf("it has %d entries for %d rows", meta.NumValues, g.NumRows)
	case meta.NumValues > int64(f.most):
		return damagedf("it promises %d entries, which a file of %d bytes cannot hold", meta.NumValues, f.size)
	}
	for left := meta.NumValues; left > 0; {
		p, err := f.header(at, end)
		if err != nil {
			return err
		}
		if int64(p.entries) > left {
			return damagedf("a page has %d entries, where %d are left", p.entries, left)
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
	const usual, most = 1 << 10, 1 << 24
	var p pageAt
	for n := int64(usual); ; n *= 16 {
		b := make([]byte, min(n, end-at))
		if err := f.readAt(b, at); err != nil {
			return p, err
		}
		length, err := decode(b, &p.PageHeader)
		if errors.Is(err, errShort) && n < min(most, end-at) {
			continue
		}
		if err != nil {
			return p, damagedf("the header of a page at byte %d cannot be read: %w", at, err)
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
		return p, damagedf("the page at byte %d is of no possible size", at)
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
		err = damagedf("its pages hold %d rows, where %d are promised", s.row-before, g.NumRows)
	}
	return err
}

// read reads the bytes of a page, and checks them where they have a checksum.
func (s *scan) read(p *pageAt) error {
	s.raw = sized(s.raw, int(p.CompressedPageSize))
	if err := s.f.readAt(s.raw, p.from); err != nil {
		return err
	}
	if p.CRC != 0 && uint32(p.CRC) != crc32.ChecksumIEEE(s.raw) {
		return damagedf("the page at byte %d does not have its checksum", p.from)
	}
	return nil
}

// sized returns a slice of n elements, that of b if it is large enough.
func sized[T any](b []T, n int) []T {
	if cap(b) < n {
		// Never less than what is aligned for any number.
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
			return damagedf("a page has %d bytes, where %d are promised", len(raw), n)
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
			return damagedf("the levels of a page are not all there")
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
		return damagedf("the levels of a page are not all there")
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
		return damaged(err)
	}
	if len(dst) > 0 && slices.Max(dst) > highest {
		return damagedf("a page has a level of %d, where %d is the highest", slices.Max(dst), highest)
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

// assemble makes rows of n entries, of which the first begins a row if whole is set.
func (s *scan) assemble(n int, whole bool) (column.Chunk, error) {
	var c column.Chunk
	if s.leaf.maxRep == 0 {
		s.lengths = sized(s.lengths, n)
		for i := range s.lengths {
			s.lengths[i] = 1
			if len(s.def) > 0 && s.def[i] != s.leaf.maxDef {
				s.lengths[i] = column.Null
			}
		}
		s.row += n
		c.Lengths = s.lengths
		return c, nil
	}
	lengths := s.lengths[:0]
	l := s.leaf
	if n > 0 && s.rep[0] > 0 && whole {
		return c, damagedf("a page begins within a row")
	}
	for i, d := range s.def {
		begins := s.rep[i] == 0
		switch {
		case begins && d >= l.element:
			lengths = append(lengths, 1)
			s.null, s.ended = false, false
		case begins && d == l.element-1 && d > 0: // else the list cannot be null, and is empty instead
			lengths = append(lengths, 0)
			s.null, s.ended = false, true
		case begins:
			lengths = append(lengths, column.Null)
			s.null, s.ended, s.fault = true, true, false
		case d < l.element && s.null:
			if !s.fault {
				s.f.malformed[s.k]++
			}
			s.fault = true
			continue
		case d < l.element || s.ended:
			return c, damagedf("a list goes on that was at its end")
		case len(lengths) == 0:
			lengths = append(lengths, 1)
			c.More = true
		default:
			lengths[len(lengths)-1]++
		}
		if begins {
			s.row++
		}
		if d >= l.element && d < l.maxDef {
			return c, fmt.Errorf("row %d (counted from 0) of the column %q has a null among its values; give numbers, or null in place of the whole list", s.row-1, l.Name)
		}
	}
	s.lengths = lengths
	c.Lengths = lengths
	return c, nil
}
