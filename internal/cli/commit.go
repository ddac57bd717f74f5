package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// journalName is the file that says, while the files of a folder are being replaced, which
// are.
const journalName = ".mvclust.journal"

// journal lists the files of a new result. As long as it is in the folder, the folder may
// hold files of both results.
type journal struct {
	Files []change `json:"files"`
}

// change is the replacement of one file.
type change struct {
	Name   string `json:"name"`
	New    string `json:"new"`           // the hidden name of the new file
	Old    string `json:"old,omitempty"` // that of the older file; empty where there was none
	SHA256 string `json:"sha256"`        // of the new file
}

// hiddenName returns a new hidden name for a file: kind is tmp for a new one, and old for
// one that is being replaced.
func hiddenName(name, kind string) string {
	return fmt.Sprintf(".%s.mvclust-%016x.%s", name, rand.Uint64(), kind)
}

var hiddenNames = regexp.MustCompile(`^\.(.+)\.mvclust-[0-9a-f]{16}\.(tmp|old)$`)

// isHidden reports whether hiddenName has made a name for the file.
func isHidden(hidden, name, kind string) bool {
	m := hiddenNames.FindStringSubmatch(hidden)
	return m != nil && m[1] == name && m[2] == kind
}

// replacement is the replacement of the files of a folder. All of its steps may be repeated.
type replacement struct {
	fs     fileSystem
	folder string
	files  []change
}

func (r *replacement) path(name string) string { return filepath.Join(r.folder, name) }

// record writes the journal. It appears whole or not at all.
func (r *replacement) record() error {
	text, err := json.Marshal(journal{r.files})
	if err != nil {
		return err
	}
	file, err := r.fs.create(r.path(hiddenName("journal", "tmp")))
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = r.fs.rename(file.Name(), r.path(journalName))
	}
	if err != nil {
		_ = r.fs.remove(file.Name())
		return err
	}
	return r.fs.syncFolder(r.folder)
}

// forward gives every new file its name. The older files are kept under hidden names.
func (r *replacement) forward() error {
	for _, c := range r.files {
		if err := r.keep(c); err != nil {
			return fmt.Errorf("%s cannot be replaced: %w", r.path(c.Name), cause(err))
		}
	}
	for _, c := range r.files {
		if !exists(r.path(c.New)) {
			continue // has its name already
		}
		if err := r.fs.rename(r.path(c.New), r.path(c.Name)); err != nil {
			return fmt.Errorf("%s cannot be written: %w", r.path(c.Name), cause(err))
		}
	}
	return r.fs.syncFolder(r.folder)
}

// keep gives an older file its hidden name.
func (r *replacement) keep(c change) error {
	target, old := r.path(c.Name), r.path(c.Old)
	if c.Old == "" || exists(old) || !exists(r.path(c.New)) || !exists(target) {
		return nil
	}
	if r.fs.link(target, old) == nil {
		return nil
	}
	return r.fs.rename(target, old) // the file system has no links
}

// finish forgets the older files, after forward.
func (r *replacement) finish() error {
	if err := r.fs.remove(r.path(journalName)); err != nil {
		return fmt.Errorf("%s cannot be removed: %w", r.path(journalName), cause(err))
	}
	_ = r.fs.syncFolder(r.folder)
	for _, c := range r.files {
		if c.Old != "" {
			_ = r.fs.remove(r.path(c.Old)) // or the next run does
		}
	}
	return nil
}

// back gives the older files their names again, and removes the new ones.
func (r *replacement) back() error {
	var errs []error
	for _, c := range slices.Backward(r.files) {
		errs = append(errs, r.restore(c))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the journal stays
	}
	for _, c := range r.files {
		_ = r.fs.remove(r.path(c.New))
	}
	if err := r.fs.syncFolder(r.folder); err != nil {
		return err
	}
	if err := r.fs.remove(r.path(journalName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// restore undoes one change.
func (r *replacement) restore(c change) error {
	target, old := r.path(c.Name), r.path(c.Old)
	if c.Old == "" {
		if exists(r.path(c.New)) || !r.isNew(target, c) {
			return nil
		}
		return r.fs.remove(target)
	}
	kept, err := os.Lstat(old)
	if err != nil {
		return nil // it was not replaced, or is back
	}
	if now, err := os.Lstat(target); err == nil && os.SameFile(kept, now) {
		_ = r.fs.remove(old) // a second name of the file, which a rename would leave
		return nil
	}
	return r.fs.rename(old, target)
}

// whole reports whether all new files are there, under either name.
func (r *replacement) whole() bool {
	return !slices.ContainsFunc(r.files, func(c change) bool {
		return !r.isNew(r.path(c.New), c) && !r.isNew(r.path(c.Name), c)
	})
}

// isNew reports whether the file at path is the new one.
func (r *replacement) isNew(path string, c change) bool {
	digest, err := digestOf(path)
	return err == nil && digest == c.SHA256
}

// recoverFolder completes what a killed run had begun to replace, or else undoes it. The
// caller holds the lock.
func recoverFolder(fsys fileSystem, folder string) error {
	files, err := readJournal(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	r := &replacement{fsys, folder, files}
	if r.whole() && r.forward() == nil && r.finish() == nil {
		return nil
	}
	if err := r.back(); err != nil {
		return halfError(folder, err)
	}
	return nil
}

// halfError says that a folder holds files of two results.
func halfError(folder string, err error) error {
	return fmt.Errorf("the folder %s holds files of two results, since a run that wrote to it was stopped, and this cannot be mended: %w; see that its files can be written and try again", folder, cause(err))
}

// readJournal reads the journal of a folder.
func readJournal(folder string) ([]change, error) {
	path := filepath.Join(folder, journalName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove it and run \"mvclust fit\" again", path, err)
	}
	for _, c := range j.Files {
		if c.Name != filepath.Base(c.Name) || !isHidden(c.New, c.Name, "tmp") || c.Old != "" && !isHidden(c.Old, c.Name, "old") {
			return nil, fmt.Errorf("%s is damaged: it names the file %q; remove it and run \"mvclust fit\" again", path, c.Name)
		}
	}
	return j.Files, nil
}

// sweep removes what killed runs have left. The caller holds the lock.
func sweep(fsys fileSystem, folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if hiddenNames.MatchString(e.Name()) && e.Type().IsRegular() {
			_ = fsys.remove(filepath.Join(folder, e.Name()))
		}
	}
}

// readPatience is how long a command waits until a result that it is to read is replaced.
const readPatience = 5 * time.Second

// recoverToRead recovers a folder that is to be read, if that is needed.
func recoverToRead(ctx context.Context, folder string) error {
	for end := time.Now().Add(readPatience); exists(filepath.Join(folder, journalName)); time.Sleep(10 * time.Millisecond) {
		lock, err := lockFolder(folder)
		switch {
		case err == nil:
			defer lock.release()
			return recoverFolder(diskOf(ctx), folder)
		case !errors.Is(err, errBusy):
			return halfError(folder, err)
		case time.Now().After(end):
			return busyError(folder)
		}
	}
	return nil
}

// exists reports whether there is a file, or anything else, at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// digestOf returns the SHA-256 of a file, in hexadecimal.
func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return digest(file)
}

func digest(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
