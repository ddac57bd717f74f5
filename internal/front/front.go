// Package front is the front end of every page: one style sheet, one set of scripts, and the
// markup. There is nothing to build, and a page loads nothing but what is here.
package front

import _ "embed" // the parts of the pages

// Style is the style sheet of all pages.
//
//go:embed style.css
var Style string

// ReportHTML is the template of the report, and ReviewHTML that of the review.
var (
	//go:embed report.html
	ReportHTML string
	//go:embed review.html
	ReviewHTML string
)

var (
	//go:embed common.js
	common string
	//go:embed report.js
	reportScript string
	//go:embed review.js
	reviewScript string
)

// ReportScript returns the script of the report.
func ReportScript() string { return common + reportScript }

// ReviewScript returns the script of the review.
func ReviewScript() string { return common + reviewScript }
