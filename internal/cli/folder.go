package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// folder is where a command leaves its files: all of them whole, or none.
type folder struct {
	path   string
	made   []string // folders that did not exist, the outermost last
	staged []staged
	kept   bool
}

// staged is a file that is complete under a passing name.
type staged struct{ temporary, name string }

// openFolder makes the folder where it is missing, and makes sure that files can
// be written to it. The caller must close it.
func openFolder(path string) (*folder, error) {
	f := &folder{path: path}
	for p := filepath.Clean(path); p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil {
			break
		}
		f.made = append(f.made, p)
	}
	err := os.MkdirAll(path, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = f.temporary("probe"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("the output folder %s cannot be written: %w; choose another with --output", path, cause(err))
	}
	return f, nil
}

// temporary makes a hidden file, with the permissions that the user's files have.
func (f *folder) temporary(name string) (*os.File, error) {
	path := filepath.Join(f.path, fmt.Sprintf(".%s.%016x.tmp", name, rand.Uint64()))
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// spare reports an error where a file of the given name would replace one of the
// inputs, or something that is no file.
func (f *folder) spare(name string, inputs []string) error {
	path := filepath.Join(f.path, name)
	old, err := os.Stat(path)
	if err != nil {
		return nil // nothing there to lose
	}
	if !old.Mode().IsRegular() {
		return fmt.Errorf("%s is in the way: it is no ordinary file; remove it, or choose another folder with --output", path)
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(old, info) {
			return fmt.Errorf("the result would replace the input %s; choose another folder with --output", path)
		}
	}
	return nil
}

// stage writes a file under a passing name, safely on the disk. commit gives it
// its own.
func (f *folder) stage(ctx context.Context, name string, content func(io.Writer) error) error {
	file, err := f.temporary(name)
	if err == nil {
		f.staged = append(f.staged, staged{file.Name(), name})
		w := bufio.NewWriterSize(&patient{ctx, file}, 1<<16)
		err = errors.Join(content(w), w.Flush())
		if err == nil {
			err = file.Sync()
		}
		err = errors.Join(err, file.Close())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", filepath.Join(f.path, name), cause(err))
	}
	return nil
}

// write writes a text file and commits it.
func (f *folder) write(ctx context.Context, name string, text []byte) error {
	err := f.stage(ctx, name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return f.commit()
}

// commit gives all staged files their names, replacing older files.
func (f *folder) commit() error {
	for _, s := range f.staged {
		path := filepath.Join(f.path, s.name)
		if err := os.Rename(s.temporary, path); err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, cause(err))
		}
		f.kept = true
	}
	f.staged = nil
	if dir, err := os.Open(f.path); err == nil {
		defer dir.Close()
		_ = dir.Sync() // not every system can, and the files themselves are safe
	}
	return nil
}

// close removes what was not committed, and the folders that were made for it.
func (f *folder) close() {
	for _, s := range f.staged {
		_ = os.Remove(s.temporary)
	}
	if f.kept {
		return
	}
	for _, p := range f.made {
		_ = os.Remove(p) // fails, as it should, where somebody else has put a file
	}
}

// cause leaves out of an error which system call it came from.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// patient is a writer that stops when its context is done.
type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}
