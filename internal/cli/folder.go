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
	"sync"
)

// folder is where a command leaves its files: all of them whole, or none.
type folder struct {
	path    string
	release func() // of abandon

	mu        sync.Mutex
	made      []string // folders that did not exist, the outermost last
	staged    []staged
	kept      bool
	abandoned bool
}

// staged is a file that is complete under a passing name.
type staged struct{ temporary, name string }

// openFolder makes the folder where it is missing, and makes sure that files can
// be written to it. The caller must close it.
func openFolder(ctx context.Context, path string) (*folder, error) {
	f := &folder{path: path}
	f.release = onAbandon(ctx, f.abandon)
	if err := f.open(); err != nil {
		f.close()
		return nil, fmt.Errorf("the output folder %s cannot be written: %w; choose another with --output", path, cause(err))
	}
	return f, nil
}

func (f *folder) open() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return context.Canceled
	}
	path := f.path
	for p := filepath.Clean(path); p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil {
			break
		}
		f.made = append(f.made, p)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	probe, err := f.temporary("probe")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
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

// has reports whether there is a file of the given name already.
func (f *folder) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.path, name))
	return err == nil
}

// stage writes a file under a passing name, safely on the disk. commit gives it
// its own.
func (f *folder) stage(ctx context.Context, name string, content func(io.Writer) error) error {
	out, err := f.create(ctx, name)
	if err != nil {
		return err
	}
	return out.close(content(out))
}

// output is a file that is being staged.
type output struct {
	*bufio.Writer
	ctx  context.Context
	file *os.File
	path string // that it will have
}

// create begins to stage a file. The caller must close it.
func (f *folder) create(ctx context.Context, name string) (*output, error) {
	out := &output{ctx: ctx, path: filepath.Join(f.path, name)}
	var err error
	if out.file, err = f.begin(name); err != nil {
		return nil, out.fail(err)
	}
	out.Writer = bufio.NewWriterSize(&patient{ctx: ctx, file: out.file}, 1<<16)
	return out, nil
}

// close ends the file, whose content failed if err is not nil.
func (o *output) close(err error) error {
	if err = errors.Join(err, o.Flush()); err == nil {
		err = o.file.Sync()
	}
	return o.fail(errors.Join(err, o.file.Close()))
}

// abandon closes a file that close did not; the folder removes it.
func (o *output) abandon() { _ = o.file.Close() }

// fail says which file cannot be written, and why, if err is not nil.
func (o *output) fail(err error) error {
	switch {
	case o.ctx.Err() != nil:
		return o.ctx.Err()
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", o.path, cause(err))
	}
	return nil
}

// begin makes the file that will have the given name.
func (f *folder) begin(name string) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return nil, context.Canceled
	}
	file, err := f.temporary(name)
	if err == nil {
		f.staged = append(f.staged, staged{file.Name(), name})
	}
	return file, err
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
	if err := f.rename(); err != nil {
		return err
	}
	if dir, err := os.Open(f.path); err == nil {
		defer dir.Close()
		_ = dir.Sync() // not every system can, and the files themselves are safe
	}
	return nil
}

func (f *folder) rename() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return context.Canceled
	}
	for _, s := range f.staged {
		path := filepath.Join(f.path, s.name)
		if err := os.Rename(s.temporary, path); err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, cause(err))
		}
		f.kept = true
	}
	f.staged = nil
	return nil
}

// close removes what was not committed, and the folders that were made for it.
func (f *folder) close() {
	f.release()
	_ = f.abandon()
}

// abandon does so while the folder may still be in use, which fails from then on.
func (f *folder) abandon() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = true
	for _, s := range f.staged {
		_ = os.Remove(s.temporary)
	}
	f.staged = nil
	if f.kept {
		return &keptError{f.path, context.Canceled}
	}
	for _, p := range f.made {
		_ = os.Remove(p) // fails, as it should, where somebody else has put a file
	}
	return nil
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

// patient writes to a file until its context is done. Now and then it waits until
// all is on the disk: nothing can end a process that waits for a whole large file.
type patient struct {
	ctx   context.Context
	file  *os.File
	loose int // bytes that may not be on the disk yet
}

const looseBytes = 32 << 20

func (p *patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.file.Write(b)
	if p.loose += n; err == nil && p.loose >= looseBytes {
		p.loose = 0
		err = p.file.Sync()
	}
	return n, err
}
