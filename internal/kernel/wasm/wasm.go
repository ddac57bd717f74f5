// Package wasm holds the loops of package kernel for browsers, which a program that is built with
// the tag simd128 imports. They are no part of that program, as Go has no vectors there.
package wasm

import _ "embed" // the module and what loads it

// Loops is the module.
//
//go:embed loops.wasm
var Loops []byte

// Loader is a script with the function kernelLoops, which takes the module. It returns what the
// program imports as kernel, and connect, which takes the memory of the program.
//
//go:embed loader.js
var Loader string
