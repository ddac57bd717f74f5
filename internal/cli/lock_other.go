//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package cli

import (
	"errors"
	"os"
)

// tryLock reports that files cannot be locked.
func tryLock(*os.File) error { return errors.ErrUnsupported }
