package kernel

import "unsafe"

// Ahead brings the values of s into the cache, where the processor can be told to, and does not wait for them.
// It changes no result: it is for values that are read soon and lie where the processor does not expect them.
func Ahead[T any](s []T) {
	if len(s) > 0 {
		ahead(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
