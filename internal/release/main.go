// Command release writes what is published of a version: for every system an archive of the
// command with its manual pages and completions, and the digests of all archives. The same
// sources and the same Go give the same bytes.
//
//	go -C internal/release run . -o DIR [SYSTEM]...
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/cli"
)

// systems are those for which there is an archive, as Go names them.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// checksums is the file of the digests, in the format of sha256sum.
const checksums = "checksums.txt"

// made is the time of every file in an archive: the first that a zip archive can hold.
var made = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// file is one of an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	}
}

// run writes the archives that args ask for, and then the digests.
func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("o", "dist", "folder `DIR` for the archives, made where it is missing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted := flags.Args()
	if len(wanted) == 0 {
		wanted = systems
	}
	for _, system := range wanted {
		if !slices.Contains(systems, system) {
			return fmt.Errorf("there is no archive for %q; choose of %s", system, strings.Join(systems, ", "))
		}
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mvclust/mvclust").Output()
	if err != nil {
		return fmt.Errorf("the sources cannot be found: %w", err)
	}
	shared, err := companions(strings.TrimSpace(string(root)))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		return err
	}
	var digests strings.Builder
	for _, system := range wanted {
		name, archive, err := pack(ctx, system, shared)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		if err := os.WriteFile(filepath.Join(*dir, name), archive, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&digests, "%x  %s\n", sha256.Sum256(archive), name)
		_, _ = fmt.Fprintf(out, "%s: %.1f MB\n", filepath.Join(*dir, name), float64(len(archive))/1e6)
	}
	return os.WriteFile(filepath.Join(*dir, checksums), []byte(digests.String()), 0o666)
}

// companions returns the files that go with the command on every system.
func companions(root string) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	command := cli.Command()
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"completions/mvclust.bash", func(w io.Writer) error { return command.GenBashCompletionV2(w, true) }},
		{"completions/_mvclust", command.GenZshCompletion},
		{"completions/mvclust.fish", func(w io.Writer) error { return command.GenFishCompletion(w, true) }},
		{"completions/mvclust.ps1", command.GenPowerShellCompletionWithDesc},
	} {
		var b bytes.Buffer
		if err := x.write(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		files = append(files, file{x.name, 0o644, b.Bytes()})
	}
	pages, err := manual(command)
	return append(files, pages...), err
}

// manual returns the manual pages of the command and those below it.
func manual(command *cobra.Command) ([]file, error) {
	command.DisableAutoGenTag = true
	header := &doc.GenManHeader{Title: strings.ToUpper(command.CommandPath()), Section: "1", Date: &made, Source: "mvclust " + mvclust.Version, Manual: "mvclust"}
	header.Title = strings.ReplaceAll(header.Title, " ", "-")
	var b bytes.Buffer
	if err := doc.GenMan(command, header, &b); err != nil {
		return nil, err
	}
	files := []file{{"man/" + strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1", 0o644, b.Bytes()}}
	for _, c := range command.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		below, err := manual(c)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

// pack builds the command for a system and returns its archive, and the name of that.
func pack(ctx context.Context, system string, shared []file) (name string, archive []byte, err error) {
	goos, goarch, _ := strings.Cut(system, "/")
	program, err := build(ctx, goos, goarch)
	if err != nil {
		return "", nil, err
	}
	command := "mvclust"
	if goos == "windows" {
		command += ".exe"
	}
	files := append([]file{{command, 0o755, program}}, shared...)
	folder := fmt.Sprintf("mvclust-%s-%s-%s", mvclust.Version, goos, goarch)
	if goos == "windows" {
		archive, err = zipped(folder, files)
		return folder + ".zip", archive, err
	}
	archive, err = tarred(folder, files)
	return folder + ".tar.gz", archive, err
}

// build returns the command for a system. Nothing of the machine or the checkout is in it.
func build(ctx context.Context, goos, goarch string) (program []byte, err error) {
	dir, err := os.MkdirTemp("", "mvclust-release-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "mvclust")
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path, "github.com/mvclust/mvclust/cmd/mvclust")
	compile.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=")
	if said, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the command cannot be built: %w\n%s", err, said)
	}
	return os.ReadFile(path)
}

// tarred returns an archive of the files in a folder.
func tarred(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: made, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// zipped returns an archive of the files in a folder.
func zipped(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: made}
		h.SetMode(os.FileMode(f.mode)) //nolint:gosec // one of two small numbers
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
