package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"github.com/mvclust/mvclust"
)

// Made says what made a page.
type Made struct {
	Command, Date, Version, Machine string
	Processors                      int
	Quick                           bool
}

// Made says what made the page of the records.
func (l *Lab) Made(command string) Made {
	m := Made{
		Command: command, Machine: Machine(), Processors: runtime.GOMAXPROCS(0), Quick: l.Quick,
		Version: fmt.Sprintf("mvclust %s (%s, %s/%s)", mvclust.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
	}
	first, last := "", ""
	for _, r := range l.Store.records {
		if first == "" || r.Date < first {
			first = r.Date
		}
		last = max(last, r.Date)
		if r.Machine != "" {
			m.Machine = r.Machine
		}
	}
	if m.Date = last; first != last {
		m.Date = first + " to " + last
	}
	return m
}

// Processing names the processors.
func (m Made) Processing() string { return Count(m.Processors, "processor") }

// Render fills in the template of a page. A page is written by hand but for what its
// template takes from data.
func Render(text string, data any) (string, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"whole": Whole, "digits": Digits}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, data)
	return b.String(), err
}

// Table writes rows of equally many cells, of which the first row is the head and the first
// text columns are aligned left, the others right.
func Table(rows [][]string, text int) string {
	var b strings.Builder
	for i, cells := range rows {
		for _, s := range cells {
			b.WriteString("| " + strings.ReplaceAll(s, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", text) + strings.Repeat("|---:", len(cells)-text) + "|\n")
		}
	}
	return b.String()
}

// Text makes a quoted text harmless, in a table or outside: one line without marks.
func Text(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer("<", `\<`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// Reasons gathers what could not be run by the reason why.
type Reasons struct {
	order []string
	names map[string][]string
}

// Add adds a name to those of the reason.
func (r *Reasons) Add(reason, name string) {
	if r.names == nil {
		r.names = make(map[string][]string)
	}
	list := r.names[reason]
	if list == nil {
		r.order = append(r.order, reason)
	}
	if !slices.Contains(list, name) {
		r.names[reason] = append(list, name)
	}
}

// List writes a line for each reason under a title, nothing where there is none. count
// has the names counted.
func (r *Reasons) List(title string, count bool) string {
	if len(r.order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title + "\n\n")
	for _, reason := range r.order {
		names := Text(strings.Join(r.names[reason], "; "))
		if count {
			names = Count(len(r.names[reason]), "cell")
		}
		fmt.Fprintf(&b, "- %s: %s\n", names, Text(reason))
	}
	return b.String()
}

// Aim is something that was aimed for, and what was measured of it.
type Aim struct {
	// What is to be at most Bound, or with AtLeast at least; Goal is what is hoped for
	// beyond it, 0 where that is the same.
	What        string
	Bound, Goal float64
	AtLeast     bool
	// Measured is NaN where not all that it takes was measured. Where says of which set it is.
	Measured float64
	Where    string
	// Write writes a figure.
	Write func(x float64) string
}

// Reached says whether the aim was reached.
func (a Aim) Reached() string {
	switch {
	case a.Measured != a.Measured:
		return "not measured"
	case a.Measured == a.Bound || (a.Measured > a.Bound) == a.AtLeast:
		return "yes"
	default:
		return "no"
	}
}

// AimTable is the table of aims, without columns that have nothing to say.
func AimTable(list []Aim) string {
	rows := [][]string{{"figure", "of", "bound", "hoped for", "measured", "reached"}}
	for _, a := range list {
		sign, goal, measured := "≤ ", "", "–"
		if a.AtLeast {
			sign = "≥ "
		}
		if a.Goal != 0 {
			goal = a.Write(a.Goal)
		}
		if a.Measured == a.Measured {
			measured = a.Write(a.Measured)
		}
		rows = append(rows, []string{a.What, Text(a.Where), sign + a.Write(a.Bound), goal, measured, a.Reached()})
	}
	text := 2
	for _, column := range []int{3, 1} {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" }) {
			for i := range rows {
				rows[i] = slices.Delete(rows[i], column, column+1)
			}
			if column < text {
				text--
			}
		}
	}
	return Table(rows, text)
}

// Decimals returns a function that writes numbers with n digits after the point.
func Decimals(n int) func(x float64) string {
	return func(x float64) string { return strconv.FormatFloat(x, 'f', n, 64) }
}

// Digits writes a positive number with three digits, or more before the point.
func Digits(x float64) string {
	switch {
	case x >= 99.95:
		return Decimals(0)(x)
	case x >= 9.995:
		return Decimals(1)(x)
	default:
		return Decimals(2)(x)
	}
}

// Points writes a score, or a difference of scores, with one decimal; a dash where there is none.
func Points(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.1f", math.Round(10*x)/10+0) // no -0.0
}

// Signed writes a difference with its sign.
func Signed(x float64) string {
	if x = math.Round(10*x) / 10; x == 0 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", x), "-", "−", 1)
}

// Whole writes a whole number with commas between the thousands.
func Whole(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Bytes writes a size in binary units.
func Bytes(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Count writes a number of things.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// WriteSection writes the page at path in which the section of an experiment is text: in the
// place of its last one, or at the end. All else stays as it is, so that several experiments
// can share a page. The marks around a section are comments in Markdown. With check, nothing is
// written, and a page that cannot be used is found before the work.
func WriteSection(path, name, text string, check bool) error {
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	first, last := fmt.Sprintf("<!-- experiments %s: begin -->\n", name), fmt.Sprintf("<!-- experiments %s: end -->\n", name)
	before, rest, found := strings.Cut(string(page), first)
	_, after, closed := strings.Cut(rest, last)
	switch {
	case found && !closed:
		return fmt.Errorf("%s has the line %q without the line %q after it; mend it, or move the page away", path, strings.TrimSpace(first), strings.TrimSpace(last))
	case check:
		return nil
	case !found && before != "":
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	return WriteFile(path, []byte(before+first+strings.Trim(text, "\n")+"\n"+last+after))
}

// WriteFile replaces a file as a whole. Its folder is made where it is missing.
func WriteFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
