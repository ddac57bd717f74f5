package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// lockName is the file in an output folder that the run which writes to it has locked.
const lockName = ".mvclust.lock"

// errBusy says that another run holds the lock.
var errBusy = errors.New("another run writes to it")

// folderLock is the lock of an output folder. It ends with the process.
type folderLock struct {
	file *os.File
	held bool // false where the file system has no locks
}

// lockFolder locks a folder, or returns errBusy.
func lockFolder(folder string) (*folderLock, error) {
	return lockFile(filepath.Join(folder, lockName))
}

// lockFile makes and locks a file, or returns errBusy.
func lockFile(path string) (*folderLock, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if errors.Is(err, fs.ErrPermission) {
			if old, other := os.Open(path); other == nil { // left by another user
				file, err = old, nil
			}
		}
		if err != nil {
			return nil, err
		}
		err = tryLock(file)
		if errors.Is(err, errBusy) {
			_ = file.Close()
			return nil, errBusy
		}
		own, _ := file.Stat()
		if now, gone := os.Stat(path); gone == nil && os.SameFile(own, now) {
			return &folderLock{file, err == nil}, nil
		}
		_ = file.Close() // removed by the run that held it
	}
}

// release removes the file and gives up the lock.
func (l *folderLock) release() {
	if runtime.GOOS == "windows" { // where no open file can be removed
		_ = l.file.Close()
		_ = os.Remove(l.file.Name())
		return
	}
	_ = os.Remove(l.file.Name())
	_ = l.file.Close()
}

// busyError says that a folder is in use.
func busyError(folder string) error {
	return fmt.Errorf("another run of mvclust writes to the folder %s; wait until it has ended, or choose another folder", folder)
}
