package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
)

const (
	magic = "\x93NUMPY"
	// maxHeader bounds the header's text, which takes about a hundred bytes in
	// every file of plain numbers.
	maxHeader = 1 << 20
	// maxSides is NumPy's own bound on the sides of an array.
	maxSides = 64
)

// header is what stands before the values of an array.
type header struct {
	array.Info
	dtype dtype
	// unreadable says why the values cannot be read though the header can.
	unreadable error
	// size is the number of bytes before the first value.
	size int64
}

// dtype is how one value is stored.
type dtype struct {
	// code is NumPy's letter for the type and its size, as in "f4". For text, of any
	// size, it is the letter alone.
	code string
	// size is the number of bytes of a value, at least 1.
	size int
	// big says that the most significant byte comes first.
	big bool
}

// readHeader reads the header at the start of r, a file or member of size bytes. It is an
// error if the size is not exactly what the header promises.
func readHeader(r io.Reader, size int64) (header, error) {
	var start [12]byte
	if _, err := io.ReadFull(r, start[:10]); err != nil {
		return header{}, headerEnd(err)
	}
	if string(start[:len(magic)]) != magic {
		return header{}, fmt.Errorf("begins with %q and not with the mark of a .npy file; save it with numpy.save", start[:len(magic)])
	}
	h := header{size: 10}
	text := int64(binary.LittleEndian.Uint16(start[8:]))
	switch version := binary.BigEndian.Uint16(start[6:]); version {
	case 0x100:
	case 0x200, 0x300:
		if _, err := io.ReadFull(r, start[10:12]); err != nil {
			return header{}, headerEnd(err)
		}
		h.size, text = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return header{}, fmt.Errorf("is in version %d.%d of the .npy format, of which 1.0 to 3.0 can be read; save it again with numpy.save", start[6], start[7])
	}
	h.size += text
	if h.size > size {
		return header{}, fmt.Errorf("is truncated to %d bytes, where its header alone takes %d; copy it again from where it came", size, h.size)
	}
	if text > maxHeader {
		return header{}, fmt.Errorf("has a header of %d bytes, of which at most %d can be read; save it as a plain array of numbers", text, maxHeader)
	}
	buf := make([]byte, text)
	if _, err := io.ReadFull(r, buf); err != nil {
		return header{}, headerEnd(err)
	}
	if err := h.parse(string(buf)); err != nil {
		return header{}, fmt.Errorf("has a damaged header: %w; save it again with numpy.save", err)
	}
	return h, h.checkSize(size)
}

// headerEnd makes Damage of an error while reading the header.
func headerEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends within its header")
	}
	return array.Damaged("%w", err)
}

// checkSize checks that size bytes are exactly what the header takes and
// promises.
func (h *header) checkSize(size int64) error {
	// Zero sides count as one, so that no product of sides overflows later.
	n := uint64(h.dtype.size)
	for _, s := range h.Shape {
		hi, lo := bits.Mul64(n, uint64(max(s, 1)))
		if hi != 0 || lo > math.MaxInt {
			return fmt.Errorf("has a damaged header: an array of shape %v does not fit any memory; save it again with numpy.save", h.Shape)
		}
		n = lo
	}
	if h.unreadable != nil {
		return nil
	}
	switch need := uint64(h.size) + uint64(h.Len())*uint64(h.dtype.size); {
	case uint64(size) < need:
		return fmt.Errorf("is truncated to %d bytes, where its header promises %d; copy it again from where it came", size, need)
	case uint64(size) > need:
		return fmt.Errorf("goes on to byte %d, where its header promises an end after %d; save one array per file, or use numpy.savez", size, need)
	}
	return nil
}

// parse reads the header's text, a Python dictionary such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
func (h *header) parse(text string) error {
	p := &parser{rest: text}
	p.next()
	seen := map[string]bool{}
	var fortran bool
	err := p.list("{", "}", func() error {
		key, ok := p.str()
		if !ok || seen[key] {
			return fmt.Errorf("%.40q stands where a new key should", p.tok)
		}
		seen[key] = true
		p.next()
		if p.tok != ":" {
			return fmt.Errorf("%.40q stands where a colon should", p.tok)
		}
		p.next()
		switch key {
		case "descr":
			return h.parseType(p)
		case "fortran_order":
			if p.tok != "True" && p.tok != "False" {
				return fmt.Errorf("'fortran_order' is %.40q and not True or False", p.tok)
			}
			fortran = p.tok == "True"
			p.next()
			return nil
		case "shape":
			return h.parseShape(p)
		}
		return fmt.Errorf("it has the unknown key %.40q", key)
	})
	if err != nil {
		return err
	}
	if p.tok != "" {
		return fmt.Errorf("%.40q follows its end", p.tok)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return fmt.Errorf("it lacks the key %q", key)
		}
	}
	h.ColumnMajor = fortran && len(h.Shape) > 1
	return nil
}

// parseShape reads a tuple of lengths.
func (h *header) parseShape(p *parser) error {
	h.Shape = []int{}
	return p.list("(", ")", func() error {
		// Python 2 marked its long integers by an L.
		n, err := strconv.ParseUint(strings.TrimSuffix(p.tok, "L"), 10, strconv.IntSize-1)
		if err != nil {
			return fmt.Errorf("%.40q stands where a length should", p.tok)
		}
		if len(h.Shape) == maxSides {
			return fmt.Errorf("its shape has more than %d sides", maxSides)
		}
		h.Shape = append(h.Shape, int(n))
		p.next()
		// A single value in parentheses is a tuple only by its comma.
		if p.tok != "," && len(h.Shape) == 1 {
			return errors.New("its shape is no tuple")
		}
		return nil
	})
}

// parseType reads the type of the values: a string such as '<f4', or a list of
// named fields, which cannot be read.
func (h *header) parseType(p *parser) error {
	if p.tok == "[" {
		for depth := 0; ; p.next() {
			switch p.tok {
			case "[", "(":
				depth++
			case "]", ")":
				depth--
			case "":
				return errors.New("the list of its fields has no end")
			}
			if depth == 0 {
				break
			}
		}
		p.next()
		h.setType("V")
		return nil
	}
	descr, ok := p.str()
	if !ok {
		return fmt.Errorf("%.40q stands where the type should", p.tok)
	}
	p.next()
	h.setType(descr)
	return nil
}

// setType sets the type and the kind from NumPy's description of it: the order
// of the bytes, a letter and the size.
func (h *header) setType(descr string) {
	code := strings.TrimLeft(descr, "<>|")
	order := descr[:len(descr)-len(code)]
	h.dtype = dtype{code: code, big: order == ">"}
	unit := 0 // the bytes whose order is meant
	switch code {
	case "f2", "f4", "f8":
		h.Kind, unit = array.Float, int(code[1]-'0')
		h.dtype.size = unit
	case "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8":
		h.Kind, unit = array.Int, int(code[1]-'0')
		h.dtype.size = unit
	default:
		h.Kind = array.Text
		letter, digits := code[:min(1, len(code))], code[min(1, len(code)):]
		n, err := strconv.ParseUint(digits, 10, 28)
		if err == nil && n > 0 && (letter == "S" || letter == "U") {
			unit = 1
			if letter == "U" {
				unit = 4
			}
			h.dtype.code, h.dtype.size = letter, unit*int(n)
		}
	}
	if unit > 0 && (order == "<" || order == ">" || unit == 1 && len(order) < 2) {
		return
	}
	h.Kind, h.dtype = array.Text, dtype{size: 1}
	switch {
	case strings.HasPrefix(code, "O"):
		h.unreadable = errors.New("holds Python objects, which only Python can read; save it as a plain array of numbers or text, one array per view (numpy.save with allow_pickle=False refuses any other)")
	case strings.HasPrefix(code, "V"):
		h.unreadable = errors.New("holds records of several fields; save each field as an array of its own")
	default:
		h.unreadable = fmt.Errorf("holds values of the type %.40q, which cannot be read; convert it with astype to float32, float64, int64 or str", descr)
	}
}

// parser cuts a Python literal into tokens: punctuation, quoted strings with
// their quotes, and words. At the end the token is empty.
type parser struct {
	tok, rest string
}

// next moves to the next token.
func (p *parser) next() {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	n := 0
	switch {
	case p.rest == "":
	case p.rest[0] == '\'' || p.rest[0] == '"':
		// A string without an end is left without its closing quote; str sees it.
		n = 2 + strings.IndexByte(p.rest[1:], p.rest[0])
		if n == 1 {
			n = len(p.rest)
		}
	default:
		n = strings.IndexAny(p.rest, " \t\r\n{}()[]:,'\"")
		switch n {
		case -1:
			n = len(p.rest)
		case 0:
			n = 1
		}
	}
	p.tok, p.rest = p.rest[:n], p.rest[n:]
}

// str returns the text of the token, if it is a quoted string. Nothing that can
// be read needs a backslash.
func (p *parser) str() (string, bool) {
	n := len(p.tok)
	if n < 2 || p.tok[0] != '\'' && p.tok[0] != '"' || p.tok[n-1] != p.tok[0] {
		return "", false
	}
	return p.tok[1 : n-1], !strings.Contains(p.tok, `\`)
}

// list reads items between brackets, separated by commas; a comma may follow
// the last one. Before item the token is the item's first, after it the first
// that is not the item's.
func (p *parser) list(left, right string, item func() error) error {
	if p.tok != left {
		return fmt.Errorf("%.40q stands where %s should", p.tok, left)
	}
	p.next()
	for p.tok != right {
		if err := item(); err != nil {
			return err
		}
		if p.tok == "," {
			p.next()
		} else if p.tok != right {
			return fmt.Errorf("%.40q stands where a comma or %s should", p.tok, right)
		}
	}
	p.next()
	return nil
}
