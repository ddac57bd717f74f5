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

// folder is an output folder. A command leaves all of its files in it, or none.
type folder struct {
	path    string
	release func() // takes abandon off the list of onAbandon

	mu        sync.Mutex
	made      []string // folders that did not exist before, the outermost last
	staged    []staged
	kept      bool
	abandoned bool
}

// staged is a file under a temporary name, and the name that it will get.
type staged struct{ temporary, name string }

// openFolder makes the folder if it is missing, and checks that files can be written to
// it. The caller must close it.
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

// temporary makes a hidden file with the user's default permissions.
func (f *folder) temporary(name string) (*os.File, error) {
	path := filepath.Join(f.path, fmt.Sprintf(".%s.%016x.tmp", name, rand.Uint64()))
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// spare reports an error if a file of the given name would replace an input, or something
// that is not a regular file.
func (f *folder) spare(name string, inputs []string) error {
	path := filepath.Join(f.path, name)
	old, err := os.Stat(path)
	if err != nil {
		return nil // nothing to replace
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

// has reports whether a file of the given name exists.
func (f *folder) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.path, name))
	return err == nil
}

// stage writes a file to disk under a temporary name. commit renames it.
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
	path string // after commit
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

// close completes the file; err is the error in writing its content, if any.
func (o *output) close(err error) error {
	if err = errors.Join(err, o.Flush()); err == nil {
		err = o.file.Sync()
	}
	return o.fail(errors.Join(err, o.file.Close()))
}

// abandon closes a file that was not completed. The folder removes it.
func (o *output) abandon() { _ = o.file.Close() }

// fail wraps an error with the name of the file.
func (o *output) fail(err error) error {
	switch {
	case o.ctx.Err() != nil:
		return o.ctx.Err()
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", o.path, cause(err))
	}
	return nil
}

// begin makes the temporary file for the given name.
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

// commit renames all staged files, replacing older files.
func (f *folder) commit() error {
	if err := f.rename(); err != nil {
		return err
	}
	if dir, err := os.Open(f.path); err == nil {
		defer dir.Close()
		_ = dir.Sync() // not possible on every system; the files themselves are synced
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

// close removes files that were not committed, and folders made for them.
func (f *folder) close() {
	f.release()
	_ = f.abandon()
}

// abandon is close for a folder that another goroutine may still use; its later calls fail.
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
		_ = os.Remove(p) // fails, as it should, if the folder is not empty
	}
	return nil
}

// cause unwraps errors of the file system, without the system call and the path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// patient writes to a file until its context is done. It syncs at intervals, since a
// process cannot be ended while it syncs a whole large file.
type patient struct {
	ctx   context.Context
	file  *os.File
	loose int // bytes written since the last sync
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
