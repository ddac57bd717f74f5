package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// withSection returns the page at path in which the section of a command is text: in
// the place of that command's last one, or at the end. All else stays as it is, so
// that several commands can share a page. The marks around a section are comments in
// Markdown.
func withSection(path, command, text string) ([]byte, error) {
	page, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	first, last := fmt.Sprintf("<!-- %s: begin -->\n", command), fmt.Sprintf("<!-- %s: end -->\n", command)
	section := first + strings.Trim(text, "\n") + "\n" + last
	before, rest, found := strings.Cut(string(page), first)
	_, after, closed := strings.Cut(rest, last)
	switch {
	case found && !closed:
		return nil, fmt.Errorf("%s has the line %q without the line %q after it; mend it, or move the page away", path, strings.TrimSpace(first), strings.TrimSpace(last))
	case !found && before != "":
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	return []byte(before + section + after), nil
}
