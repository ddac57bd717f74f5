//go:build linux || darwin

package kernel_test

import (
	"os"
	"syscall"
)

// region returns whole pages of at least n bytes, followed by one that cannot be
// read, and what gives them back.
func region(n int) ([]byte, func()) {
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	if err := syscall.Mprotect(b[n:], syscall.PROT_NONE); err != nil {
		panic(err)
	}
	return b[:n], func() {
		if err := syscall.Munmap(b); err != nil {
			panic(err)
		}
	}
}
