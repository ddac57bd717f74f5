package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// folder is an output folder, which no other run can open until it is closed. A command
// leaves all of its files in it, or none.
type folder struct {
	path    string
	fs      fileSystem
	release func() // takes abandon off the list of onAbandon

	mu        sync.Mutex
	lock      *folderLock
	made      []string // folders that did not exist before, the outermost last
	staged    []*staged
	kept      bool
	abandoned bool
}

// staged is a file under a temporary name, and the name that it will get.
type staged struct {
	temporary, name string
	sha256          string // once it is complete
	members         string // of a model, once it is complete: npy.Members
}

// openFolder makes the folder if it is missing, puts right what killed runs have left, and
// checks that files can be written to it. The caller must close it.
func openFolder(ctx context.Context, path string) (*folder, error) {
	f := &folder{path: path, fs: diskOf(ctx)}
	f.release = onAbandon(ctx, f.abandon)
	if err := f.open(); err != nil {
		f.close()
		if errors.Is(err, errBusy) {
			return nil, busyError(path)
		}
		return nil, fmt.Errorf("the output folder %s cannot be written: %w; make it writable, or choose another with --output", path, cause(err))
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
	if err := f.fs.makeFolders(path); err != nil {
		return err
	}
	var err error
	if f.lock, err = lockFolder(path); err != nil {
		return err
	}
	if err := recoverFolder(f.fs, path); err != nil {
		return err
	}
	if f.lock.held {
		sweep(f.fs, path)
	}
	probe, err := f.temporary("probe")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), f.fs.remove(probe.Name()))
}

// temporary makes a hidden file.
func (f *folder) temporary(name string) (writable, error) {
	return f.fs.create(filepath.Join(f.path, hiddenName(name, "tmp")))
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
			return fmt.Errorf("the result would replace the input %s; keep that in another folder", path)
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
	ctx    context.Context
	folder *folder
	staged *staged
	file   writable
	digest hash.Hash
	path   string // after commit
}

// create begins to stage a file. The caller must close it.
func (f *folder) create(ctx context.Context, name string) (*output, error) {
	out := &output{ctx: ctx, folder: f, digest: sha256.New(), path: filepath.Join(f.path, name)}
	var err error
	if out.file, out.staged, err = f.begin(name); err != nil {
		return nil, out.fail(err)
	}
	out.Writer = bufio.NewWriterSize(io.MultiWriter(&patient{ctx: ctx, file: out.file}, out.digest), 1<<16)
	return out, nil
}

// close completes the file; err is the error in writing its content, if any.
func (o *output) close(err error) error {
	if err = errors.Join(err, o.Flush()); err == nil {
		err = o.file.Sync()
	}
	if err = errors.Join(err, o.file.Close()); err == nil {
		members := ""
		if o.staged.name == modelFile {
			members, _ = membersOf(o.staged.temporary) // without it, the SHA-256 tells
		}
		o.folder.mu.Lock()
		o.staged.sha256, o.staged.members = hex.EncodeToString(o.digest.Sum(nil)), members
		o.folder.mu.Unlock()
	}
	return o.fail(err)
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
func (f *folder) begin(name string) (writable, *staged, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return nil, nil, context.Canceled
	}
	file, err := f.temporary(name)
	if err != nil {
		return nil, nil, err
	}
	s := &staged{temporary: file.Name(), name: name}
	f.staged = append(f.staged, s)
	return file, s, nil
}

// digests returns the SHA-256 of every file that is staged, by name, and npy.Members of the model
// among them, if there is one.
func (f *folder) digests() (list map[string]string, members string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list = map[string]string{}
	for _, s := range f.staged {
		list[s.name] = s.sha256
		if s.name == modelFile {
			members = s.members
		}
	}
	return list, members
}

// commit gives all staged files their names, replacing older files: all of them, or none.
func (f *folder) commit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.abandoned {
		return context.Canceled
	}
	if len(f.staged) == 0 {
		return nil
	}
	if err := f.replace(); err != nil {
		return err
	}
	f.staged, f.kept = nil, true
	return nil
}

// replace is commit for a folder that is locked.
func (f *folder) replace() error {
	r := &replacement{fs: f.fs, folder: f.path}
	for _, s := range f.staged {
		c := change{Name: s.name, New: filepath.Base(s.temporary), SHA256: s.sha256}
		if exists(r.path(s.name)) {
			c.Old = hiddenName(s.name, "old")
		}
		r.files = append(r.files, c)
	}
	if c := r.files[0]; len(r.files) == 1 { // whole without a journal
		if err := f.fs.rename(r.path(c.New), r.path(c.Name)); err != nil {
			return fmt.Errorf("%s cannot be written: %w", r.path(c.Name), cause(err))
		}
		_ = f.fs.syncFolder(f.path)
		return nil
	}
	err := r.record()
	if err != nil {
		err = fmt.Errorf("the result cannot be written to %s: %w", f.path, cause(err))
	} else if err = r.forward(); err == nil {
		err = r.finish()
	}
	if err == nil {
		return nil
	}
	if undone := r.back(); undone != nil {
		return halfError(f.path, errors.Join(err, undone))
	}
	return fmt.Errorf("%w; the older files in %s are unchanged", err, f.path)
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
		_ = f.fs.remove(s.temporary)
	}
	f.staged = nil
	if f.lock != nil {
		f.lock.release()
		f.lock = nil
	}
	if f.kept {
		return &keptError{f.path, context.Canceled}
	}
	for _, p := range f.made {
		_ = f.fs.remove(p) // fails, as it should, if the folder is not empty
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
	file  writable
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
