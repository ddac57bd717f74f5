//go:build amd64 && !purego && !noasm

package kernel

import "unsafe"

// ahead fetches the cache lines of size bytes from p on, one byte at least.
//
//go:noescape
func ahead(p unsafe.Pointer, size int)
