package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/internal/words"
)

// Pictures are the picture files of samples. A file is read when it is asked for.
type Pictures struct {
	mu     sync.Mutex // of Each
	ids    []string   // of the samples; nil where they are numbered
	folder string     // of the files, or of the table that names them
	root   *os.Root   // no file outside it is read

	library *library // of the table; nil where the files are called as the samples are
	source  *source
	row     []int // sample -> row of the table
	paths   []string
	binary  *parquet.Binary
	opened  []string // the files of pictures
}

// pictureKinds are the extensions of picture files.
var pictureKinds = []string{".jpg", ".jpeg", ".png", ".webp", ".gif", ".JPG", ".JPEG", ".PNG", ".WEBP", ".GIF", ""}

// mostPicture bounds the bytes of a picture file.
const mostPicture = 64 << 20

// OpenPictures opens arg. That is a folder of files named by the samples' ids, or by their
// numbers where ids is nil; or FILE:COLUMN of a table that has for each sample the bytes
// of a picture or the path of its file, relative to the table. The files that a table
// names must be in the folder root, or where that is empty, in the table's folder, also
// after symbolic links are followed. The caller must close the pictures.
func OpenPictures(ctx context.Context, arg, root string, ids []string, samples int) (*Pictures, error) {
	p := &Pictures{ids: ids, folder: arg}
	if stat, err := os.Stat(arg); err == nil && stat.IsDir() {
		if root != "" {
			return nil, fmt.Errorf("%s is a folder of pictures, and --thumbs-root is for a table of paths; leave it out", arg)
		}
		return p, p.within(arg)
	}
	p.library = newLibrary(ctx)
	err := p.open(arg, samples)
	if err == nil {
		err = p.within(cmp.Or(root, p.folder))
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// within sets the root.
func (p *Pictures) within(folder string) (err error) {
	if p.root, err = os.OpenRoot(folder); err != nil {
		return fmt.Errorf("%s cannot be read: %w; check that it is a folder that you may read", folder, plainCause(err))
	}
	return nil
}

// Table returns the path of the table; empty where there is none.
func (p *Pictures) Table() string {
	if p.source == nil {
		return ""
	}
	return p.source.path
}

// Share gives a part of the memory for pictures to the pages of a Parquet file, if there is one,
// and returns the rest.
func (p *Pictures) Share(memory int64) int64 {
	if p.binary == nil {
		return memory
	}
	p.binary.Most = memory / 2
	return memory - p.binary.Most
}

// Opened returns the paths of the picture files that were read.
func (p *Pictures) Opened() []string { return p.opened }

// Close closes the files.
func (p *Pictures) Close() {
	if p.root != nil {
		_ = p.root.Close() // nothing was written
	}
	if p.library != nil {
		p.library.close()
	}
}

// open opens a column of a table.
func (p *Pictures) open(arg string, samples int) error {
	s, name, err := p.library.open(arg)
	if err != nil {
		return err
	}
	switch {
	case s.table == nil:
		return s.failf("is no table; give FILE:COLUMN of a table, or a folder of picture files")
	case name == "":
		return s.failf("has several columns; say which holds the pictures by FILE:COLUMN")
	case !slices.Contains(s.table.Columns(), name):
		return s.failf("has no column %s, only %s; name the one that holds the pictures", words.Quote(name), words.List(s.table.Columns()))
	}
	p.source, p.folder = s, filepath.Dir(s.path)
	rows := 0
	if s.format.binary != nil {
		if p.binary, err = s.format.binary(&s.input, s.stat.Size(), name); err != nil {
			return s.fail(err)
		}
		rows = p.binary.Rows()
	} else {
		i, err := s.column(name, "pictures")
		if err != nil {
			return s.fail(err)
		}
		if p.paths, err = s.Text(i); err != nil {
			return s.fail(err)
		}
		rows = len(p.paths)
	}
	p.row, err = p.source.rowsFor(p.ids, samples, rows, "picture")
	return err
}

// Each calls take with the picture file of each of samples, or with why there is none.
// Its only error is the context's. Several goroutines may call it.
func (p *Pictures) Each(ctx context.Context, samples []int, take func(sample int, file []byte, problem error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.binary != nil {
		return p.eachValue(ctx, samples, take)
	}
	for _, i := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, err := p.read(i)
		take(i, file, err)
	}
	return nil
}

// eachValue is Each for a column of a Parquet file.
func (p *Pictures) eachValue(ctx context.Context, samples []int, take func(sample int, file []byte, problem error)) error {
	of := map[int]int{} // row -> sample
	var rows []int
	for _, i := range samples {
		if k := p.row[i]; k >= 0 {
			of[k] = i
			rows = append(rows, k)
		} else {
			take(i, nil, errNoPicture)
		}
	}
	slices.Sort(rows)
	err := p.binary.Each(rows, func(row int, value string) error {
		i := of[row]
		delete(of, row)
		if isPicture(value) {
			take(i, []byte(value), nil)
		} else {
			file, err := p.path(value)
			take(i, file, err)
		}
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// Damage costs the pictures that follow it, not the run.
	problem := errNoPicture
	if err != nil {
		problem = p.source.fail(err)
	}
	for _, row := range rows {
		if i, ok := of[row]; ok {
			take(i, nil, problem)
		}
	}
	return nil
}

var errNoPicture = errors.New("there is none")

// read returns the picture file of sample i.
func (p *Pictures) read(i int) ([]byte, error) {
	if p.library != nil {
		if p.row[i] < 0 {
			return nil, errNoPicture
		}
		return p.path(p.paths[p.row[i]])
	}
	name := strconv.Itoa(i)
	if p.ids != nil {
		name = p.ids[i]
	}
	for _, kind := range pictureKinds {
		path := filepath.FromSlash(name + kind)
		if stat, err := p.root.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && stat.IsDir() {
			continue
		}
		return p.readFile(name+kind, path)
	}
	return nil, fmt.Errorf("there is no %s.jpg, .jpeg, .png, .webp or .gif in %s", name, p.folder)
}

// path returns the picture file that a table names, relative to the table.
func (p *Pictures) path(name string) ([]byte, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, errNoPicture
	}
	if len(name) > 4096 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return nil, errors.New("it is neither a picture in the format JPEG, PNG, WebP or GIF nor a path")
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.folder, path)
	}
	inside, ok := below(p.root.Name(), path)
	if !ok {
		return nil, fmt.Errorf("%s is outside the folder %s; name a folder that holds all pictures by --thumbs-root", name, p.root.Name())
	}
	return p.readFile(name, inside)
}

// below returns path relative to folder, if it is in it by its words alone.
func below(folder, path string) (string, bool) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", false
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		real = folder
	}
	for _, base := range []string{folder, real} {
		if inside, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(inside) {
			return inside, true
		}
	}
	return "", false
}

// readFile reads a picture file, by its path in the root. It does not open what is no
// ordinary file, as that may wait for ever, and reads no more bytes than the file is said
// to have: some files of the system say that they have none, and wait for what comes.
func (p *Pictures) readFile(name, path string) ([]byte, error) {
	stat, err := p.root.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", name, plainCause(err))
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no ordinary file", name)
	case stat.Size() == 0:
		return nil, fmt.Errorf("%s is empty", name)
	case stat.Size() > mostPicture:
		return nil, fmt.Errorf("%s has %d bytes, of which at most %d are read", name, stat.Size(), mostPicture)
	}
	file, err := p.root.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, plainCause(err))
	}
	defer file.Close()
	p.opened = append(p.opened, filepath.Join(p.root.Name(), path))
	b := make([]byte, stat.Size())
	if _, err := io.ReadFull(file, b); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, plainCause(err))
	}
	return b, nil
}

// plainCause returns an error without the name of the system call.
func plainCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// isPicture reports whether a value begins as a picture file does.
func isPicture(value string) bool {
	for _, mark := range []string{"\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a"} {
		if strings.HasPrefix(value, mark) {
			return true
		}
	}
	return len(value) > 12 && strings.HasPrefix(value, "RIFF") && value[8:12] == "WEBP"
}
