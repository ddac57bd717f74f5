// Package apitest calls every exported function of the library with arguments that it cannot
// take. It has tests alone.
package apitest
