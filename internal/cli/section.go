package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// sectionPage is a page of which a command writes its section.
type sectionPage struct {
	dir           *folder
	path, command string
}

// openSection returns the page at path, which must be none of the inputs. A page that
// cannot be used is found here, before the work.
func openSection(ctx context.Context, path, command string, inputs []string) (*sectionPage, error) {
	dir, err := openFolder(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if err = dir.spare(filepath.Base(path), inputs); err == nil {
		_, err = withSection(path, command, "")
	}
	if err != nil {
		dir.close()
		return nil, err
	}
	return &sectionPage{dir, path, command}, nil
}

// write makes text the section.
func (p *sectionPage) write(ctx context.Context, text string) error {
	page, err := withSection(p.path, p.command, text)
	if err != nil {
		return err
	}
	return p.dir.write(ctx, filepath.Base(p.path), page)
}
