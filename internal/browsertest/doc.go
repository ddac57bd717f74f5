// Package browsertest opens reports in a real browser. It is a module of its own, so that
// nothing else needs what drives the browser.
package browsertest
