package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var errFault = errors.New("a fault of the test")

// faulty is a file system whose calls are counted. Call number fail fails, as does every
// call from number dead on, as if the process had been killed before; 0 stands for none.
// Where stuck is set, no file of that name is replaced or removed. It never syncs, but
// cutPower takes back what was not.
type faulty struct {
	disk
	calls, fail, dead int
	stuck             string
	linkless          bool
	short             bool   // a call that fails writes half
	attic             string // a folder for what cutPower needs; empty without it

	loose  map[string]*faultyFile // by path
	undone []func()               // takes back what was done since the last syncFolder
}

// on returns the context of a command that writes to a file system.
func on(t *testing.T, fsys fileSystem) context.Context {
	return context.WithValue(t.Context(), diskKey{}, fsys)
}

func (f *faulty) fault(paths ...string) error {
	f.calls++
	if f.calls == f.fail || f.dead > 0 && f.calls >= f.dead {
		return errFault
	}
	for _, p := range paths {
		if f.stuck != "" && filepath.Base(p) == f.stuck {
			return errFault
		}
	}
	return nil
}

// killed reports whether the process counts as killed.
func (f *faulty) killed() bool { return f.dead > 0 && f.calls >= f.dead }

func (f *faulty) makeFolders(path string) error {
	if err := f.fault(path); err != nil {
		if f.short && f.calls == f.fail {
			_ = f.disk.makeFolders(filepath.Dir(path))
		}
		return err
	}
	return f.disk.makeFolders(path)
}

func (f *faulty) create(path string) (writable, error) {
	if err := f.fault(path); err != nil {
		return nil, err
	}
	file, err := f.disk.create(path)
	if err != nil {
		return nil, err
	}
	out := &faultyFile{writable: file, fs: f}
	if f.attic != "" {
		if f.loose == nil {
			f.loose = map[string]*faultyFile{}
		}
		f.loose[path] = out
		f.undone = append(f.undone, func() { _ = os.Remove(path) })
	}
	return out, nil
}

// keep has cutPower bring back the file at path, which is about to go.
func (f *faulty) keep(path string) {
	if f.attic == "" {
		return
	}
	kept := filepath.Join(f.attic, fmt.Sprint(len(f.undone)+f.calls<<16))
	if os.Link(path, kept) == nil {
		f.undone = append(f.undone, func() { _ = os.Rename(kept, path) })
	}
}

func (f *faulty) rename(from, to string) error {
	if err := f.fault(from, to); err != nil {
		return err
	}
	f.keep(to)
	err := f.disk.rename(from, to)
	if err == nil && f.attic != "" {
		f.undone = append(f.undone, func() { _ = os.Rename(to, from) })
		if file := f.loose[from]; file != nil {
			f.loose[to] = file
			delete(f.loose, from)
		}
	}
	return err
}

func (f *faulty) link(from, to string) error {
	if err := f.fault(from, to); err != nil {
		return err
	}
	if f.linkless {
		return errors.ErrUnsupported
	}
	err := f.disk.link(from, to)
	if err == nil && f.attic != "" {
		f.undone = append(f.undone, func() { _ = os.Remove(to) })
	}
	return err
}

func (f *faulty) remove(path string) error {
	if err := f.fault(path); err != nil {
		return err
	}
	f.keep(path)
	return f.disk.remove(path)
}

func (f *faulty) syncFolder(string) error {
	if err := f.fault(); err != nil {
		return err
	}
	f.undone = nil
	return nil
}

// cutPower takes back a part of what was written, and of what was done in folders, since
// the last sync: nothing has been done after what is taken back.
func (f *faulty) cutPower(random *rand.Rand) {
	for path, file := range f.loose {
		if file.size > file.safe {
			_ = os.Truncate(path, file.safe+random.Int64N(file.size-file.safe+1))
		}
	}
	for _, undo := range slices.Backward(f.undone[random.IntN(len(f.undone)+1):]) {
		undo()
	}
}

type faultyFile struct {
	writable
	fs         *faulty
	size, safe int64 // bytes that were written, and of these synced
}

// Write writes half of what it is given where it fails, if it writes at all.
func (f *faultyFile) Write(b []byte) (int, error) {
	err := f.fs.fault()
	if err != nil && !f.fs.short {
		return 0, err
	}
	if err != nil {
		b = b[:len(b)/2]
	}
	n, wrong := f.writable.Write(b)
	f.size += int64(n)
	return n, errors.Join(err, wrong)
}

func (f *faultyFile) Sync() error {
	if err := f.fs.fault(); err != nil {
		return err
	}
	f.safe = f.size
	return nil
}
