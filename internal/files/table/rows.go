package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// rows is the text of a table.
type rows struct {
	r     io.ReadSeeker
	comma rune
}

// each calls do with every row from the start and the line that it begins on,
// counted from 1. The slice is used again for the next row. All rows have the
// same number of cells.
func (s rows) each(do func(line int, row []string) error) error {
	if _, err := s.r.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("the table cannot be read from its start: %w; pass a plain file", err)
	}
	text := &plain{r: s.r}
	in := bufio.NewReaderSize(text, 64<<10)
	const bom = "\xef\xbb\xbf"
	start, err := in.Peek(len(bom))
	if err != nil && err != io.EOF {
		return err
	}
	if string(start) == bom {
		_, _ = in.Discard(len(bom)) // which cannot fail: they are in the buffer
	}
	r := csv.NewReader(in)
	r.Comma = s.comma
	r.ReuseRecord = true
	r.FieldsPerRecord = -1 // the message below says more
	width, end := 0, 0     // of the first row; the last line of the row before
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("line %d, character %d: %w; put the cell in double quotes and double each quote inside it", bad.Line, bad.Column, bad.Err)
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if line != end+1 {
			return fmt.Errorf("line %d is empty; write NaN where a value is missing, or remove the line", end+1)
		}
		text.restore(row)
		last := len(row) - 1
		end, _ = r.FieldPos(last)
		end += strings.Count(row[last], "\n")
		if width == 0 {
			width = len(row)
		}
		if len(row) != width {
			return fmt.Errorf("line %d and line 1 differ in their number of cells, %d and %d; give every row the same number of cells", line, len(row), width)
		}
		if err := do(line, row); err != nil {
			return err
		}
	}
}

// plain reads from r what should be plain text. It hides the carriage returns inside quotes,
// which csv.Reader would drop before a line feed.
type plain struct {
	r      io.Reader
	n      int // the bytes that are read
	quoted bool
	hidden bool // whether there was a carriage return inside quotes
}

// hiddenReturn stands for a carriage return inside quotes. The text itself cannot have it.
const hiddenReturn = '\x00'

func (p *plain) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if i := bytes.IndexByte(b[:n], hiddenReturn); i >= 0 {
		return 0, fmt.Errorf("the table is not plain text: byte %d is zero; save it as CSV in UTF-8", p.n+i)
	}
	p.n += n
	p.hide(b[:n])
	return n, err
}

// hide replaces the carriage returns inside quotes. A quote inside quotes is doubled.
func (p *plain) hide(b []byte) {
	for {
		i := bytes.IndexByte(b, '"')
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if p.quoted {
			for k := bytes.IndexByte(part, '\r'); k >= 0; k = bytes.IndexByte(part, '\r') {
				part[k], p.hidden = hiddenReturn, true
			}
		}
		if i < 0 {
			return
		}
		p.quoted = !p.quoted
		b = b[i+1:]
	}
}

// restore puts the carriage returns back into the cells of a row.
func (p *plain) restore(row []string) {
	for k := range row {
		if p.hidden {
			row[k] = strings.ReplaceAll(row[k], string(hiddenReturn), "\r")
		}
	}
}

// separator returns the separator of the table r, judged by its first line.
func separator(r io.ReaderAt) (rune, error) {
	start := make([]byte, 64<<10)
	n, err := r.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("the table cannot be read: %w; pass a plain file", err)
	}
	line, _, _ := bytes.Cut(start[:n], []byte("\n"))
	for _, c := range ",;\t" {
		if bytes.ContainsRune(line, c) {
			return c, nil
		}
	}
	return ',', nil
}
