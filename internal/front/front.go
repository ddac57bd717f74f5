// Package front is the front end of every page: one style sheet, one set of scripts, and the
// markup. There is nothing to build, and a page loads nothing but what is here.
package front

import _ "embed" // the parts of the pages

// Style is the style sheet of all pages.
//
//go:embed style.css
var Style string

// WebStyle is what the page that clusters in the browser has besides.
//
//go:embed web.css
var WebStyle string

// ReportHTML is the template of the report, ReviewHTML that of the review, and WebHTML that of
// the page that clusters in the browser.
var (
	//go:embed report.html
	ReportHTML string
	//go:embed review.html
	ReviewHTML string
	//go:embed web.html
	WebHTML string
)

// Worker is the script of the worker in which that page runs the program.
//
//go:embed worker.js
var Worker string

var (
	//go:embed common.js
	common string
	//go:embed report.js
	reportScript string
	//go:embed review.js
	reviewScript string
	//go:embed web.js
	webScript string
)

// ReportScript returns the script of the report.
func ReportScript() string { return common + reportScript }

// ReviewScript returns the script of the review.
func ReviewScript() string { return common + reviewScript }

// WebScript returns the script of the page that clusters in the browser.
func WebScript() string { return common + webScript }
