package cli

import (
	"context"
	"io"
	"os"
)

// fileSystem has the calls that change an output folder. Tests make them fail.
type fileSystem interface {
	makeFolders(path string) error        // with those above it; they may exist
	create(path string) (writable, error) // a file that must not exist
	rename(from, to string) error
	link(from, to string) error
	remove(path string) error
	syncFolder(path string) error
}

// writable is a new file.
type writable interface {
	io.WriteCloser
	Sync() error
	Name() string
}

// disk is the file system of the machine.
type disk struct{}

type diskKey struct{}

// diskOf returns the file system that a command writes to: the machine's, but in tests.
func diskOf(ctx context.Context) fileSystem {
	if other, ok := ctx.Value(diskKey{}).(fileSystem); ok {
		return other
	}
	return disk{}
}

func (disk) makeFolders(path string) error { return os.MkdirAll(path, 0o777) }

// create gives the file the user's default permissions.
func (disk) create(path string) (writable, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // no *os.File in the interface
	}
	return file, nil
}

func (disk) rename(from, to string) error { return os.Rename(from, to) }
func (disk) link(from, to string) error   { return os.Link(from, to) }
func (disk) remove(path string) error     { return os.Remove(path) }

// syncFolder does nothing where folders cannot be synced.
func (disk) syncFolder(path string) error {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}
