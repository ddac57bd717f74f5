package review

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust/explain"
)

const (
	// AnswersFile holds the answers: two ids, the verdict, and what it is about, per line. A line
	// without ids goes to another level: the word level, and its number.
	AnswersFile = "review.csv"
	// NamesFile holds the names of clusters: the id of a member and the name, per line.
	NamesFile = "names.csv"
)

// entry is a line of the file: an answer, or a step to another level.
type entry struct {
	explain.Answer
	level int // or -1
}

// goTo stands in the place of a verdict where a line goes to another level.
const goTo = "level"

// answersIn counts the answers among entries.
func answersIn(entries []entry) (n int) {
	for _, e := range entries {
		if e.level < 0 {
			n++
		}
	}
	return n
}

// journal keeps the answers on disk. A line is there for good before append returns.
type journal struct {
	file *os.File
	ends []int64 // of the lines
}

// openJournal opens the file of the answers, which is made where it is missing, and returns
// what is in it. The rest of a line that was cut off is dropped.
func openJournal(path string, sample func(id string) (int, bool)) (*journal, []entry, error) {
	if err := ordinary(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, nil, fmt.Errorf("the answers cannot be kept in %s: %w", path, cause(err))
	}
	j := &journal{file: file}
	entries, err := j.read(path, sample)
	if err == nil {
		err = file.Truncate(j.end())
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	syncFolder(filepath.Dir(path))
	return j, entries, nil
}

// ordinary reports a path that leads elsewhere, that blocks who opens it, or that has more bytes
// than answers and names can have. The error of a file that is not there wraps fs.ErrNotExist.
func ordinary(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", path, cause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file; move it away", path)
	case info.Size() > mostAnswers:
		return fmt.Errorf("%s has more than %d bytes; move it away", path, mostAnswers)
	}
	return nil
}

// mostAnswers bounds the bytes of the answers.
const mostAnswers = 1 << 28

func (j *journal) read(path string, sample func(id string) (int, bool)) ([]entry, error) {
	text, err := io.ReadAll(io.LimitReader(j.file, mostAnswers+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	case len(text) > mostAnswers:
		return nil, fmt.Errorf("%s has more than %d bytes; move it away", path, mostAnswers)
	}
	lines, ends, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct it, or move it away", path, err)
	}
	entries := make([]entry, len(lines))
	for k, l := range lines {
		if l[2] == goTo {
			level, err := strconv.Atoi(l[3])
			if err != nil || level < 0 || l[0] != "" || l[1] != "" {
				return nil, fmt.Errorf("%s, answer %d: %.40q is no level; remove the line", path, k+1, l[3])
			}
			entries[k].level = level
			continue
		}
		a, knowsA := sample(l[0])
		b, knowsB := sample(l[1])
		if !knowsA || !knowsB {
			return nil, fmt.Errorf("%s, answer %d: no sample has the id %.40q; correct it, or move the file away if it is about other samples", path, k+1, cmp.Or(map[bool]string{false: l[0]}[knowsA], l[1]))
		}
		entries[k] = entry{explain.Answer{A: a, B: b, About: explain.Topic(l[3]), Verdict: explain.Verdict(l[2])}, -1}
	}
	j.ends = ends
	return entries, nil
}

// parse returns the whole lines of a file of answers, of four cells each, and where each ends. A
// last line without its end was never finished.
func parse(text []byte) (lines [][]string, ends []int64, err error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	for {
		cells, err := r.Read()
		end := r.InputOffset()
		if err == io.EOF {
			return lines, ends, nil
		}
		if end == int64(len(text)) && !bytes.HasSuffix(text, []byte("\n")) {
			return lines, ends, nil
		}
		if err != nil {
			if bad, ok := errors.AsType[*csv.ParseError](err); ok && end == int64(len(text)) && errors.Is(bad.Err, csv.ErrQuote) {
				return lines, ends, nil // a quote that is open at the end
			}
			return nil, nil, fmt.Errorf("it is no table of answers: %w", err)
		}
		if len(cells) < 3 || len(cells) > 4 {
			return nil, nil, fmt.Errorf("answer %d has %d cells; give two ids, same, different or skip, and what it is about", len(lines)+1, len(cells))
		}
		if len(cells) == 3 {
			cells = append(cells, string(explain.AboutMerge))
		}
		lines, ends = append(lines, cells), append(ends, end)
	}
}

func (j *journal) end() int64 {
	if len(j.ends) == 0 {
		return 0
	}
	return j.ends[len(j.ends)-1]
}

// line returns an entry as it is in the file. id names samples.
func (e *entry) line(id func(int) string) []byte {
	cells := []string{"", "", goTo, strconv.Itoa(e.level)}
	if e.level < 0 {
		cells = []string{id(e.A), id(e.B), string(e.Verdict), string(e.About)}
	}
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	_ = w.Write(cells) // to memory
	w.Flush()
	return line.Bytes()
}

// append adds a line.
func (j *journal) append(line []byte) error {
	_, err := j.file.WriteAt(line, j.end())
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		_ = j.file.Truncate(j.end())
		return fmt.Errorf("the answer cannot be kept: %w", cause(err))
	}
	j.ends = append(j.ends, j.end()+int64(len(line)))
	return nil
}

// rewrite replaces all lines. If it fails, the old ones are there.
func (j *journal) rewrite(lines [][]byte) error {
	path := j.file.Name()
	_ = j.file.Close() // every line is on disk; an open file cannot be replaced everywhere
	failed := replace(path, bytes.Join(lines, nil))
	file, err := os.OpenFile(path, os.O_RDWR, 0o666)
	if err == nil {
		j.file = file
	}
	if err := cmp.Or(failed, err); err != nil {
		return fmt.Errorf("%s cannot be replaced: %w", path, cause(err))
	}
	j.ends = j.ends[:0]
	for _, line := range lines {
		j.ends = append(j.ends, j.end()+int64(len(line)))
	}
	return nil
}

// undo removes the last answer.
func (j *journal) undo() error {
	last := j.ends[len(j.ends)-1]
	j.ends = j.ends[:len(j.ends)-1]
	err := j.file.Truncate(j.end())
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.ends = append(j.ends, last)
		return fmt.Errorf("the answer cannot be taken back: %w", cause(err))
	}
	return nil
}

// readNames reads the names of clusters, by a sample of each.
func readNames(path string, sample func(id string) (int, bool)) (map[int]string, error) {
	names := map[int]string{}
	if err := ordinary(path); errors.Is(err, fs.ErrNotExist) {
		return names, nil
	} else if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = 2
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s is no table of ids and names: %w; correct it, or move it away", path, err)
	}
	for k, row := range rows {
		i, known := sample(row[0])
		if !known {
			return nil, fmt.Errorf("%s, line %d: no sample has the id %.40q; correct it, or move the file away", path, k+1, row[0])
		}
		if names[i], err = nameOf(row[1]); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, k+1, err)
		}
	}
	return names, nil
}

// writeNames replaces the file of the names.
func writeNames(path string, names map[int]string, id func(int) string) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	samples := make([]int, 0, len(names))
	for i := range names {
		samples = append(samples, i)
	}
	slices.Sort(samples)
	for _, i := range samples {
		_ = w.Write([]string{id(i), names[i]}) // to memory
	}
	w.Flush()
	err := replace(path, text.Bytes())
	if err != nil {
		return fmt.Errorf("the name cannot be kept: %w", cause(err))
	}
	return nil
}

// replace writes a file beside the old one and puts it in its place.
func replace(path string, text []byte) error {
	// A name as of the other files that are being written, so that what a killed run leaves is
	// removed with theirs.
	hidden := fmt.Sprintf(".%s.mvclust-%016x.tmp", filepath.Base(path), rand.Uint64())
	file, err := os.OpenFile(filepath.Join(filepath.Dir(path), hidden), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder does nothing where folders cannot be synced.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// cause returns an error without the name of the system call and the path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
