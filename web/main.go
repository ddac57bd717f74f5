// Command web writes the page that clusters in the browser: index.html, one file that holds the
// program and loads nothing, to open from a folder or from any file server.
//
//	go run ./web -o DIR
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/front"
	"github.com/mvclust/mvclust/internal/kernel/wasm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(2)
	}
}

// run builds the program and writes the page.
func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	flags := flag.NewFlagSet("web", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("o", "mvclust-web", "folder `DIR` for the page, made where it is missing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("there is no argument %q; give the folder by -o", flags.Arg(0))
	}
	program, glue, err := build(ctx)
	if err != nil {
		return err
	}
	page, err := assemble(program, glue)
	if err != nil {
		return err
	}
	path := filepath.Join(*dir, "index.html")
	if err := write(path, page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %.2f MB, %.2f MB as most servers send it\n", path, float64(len(page))/1e6, float64(len(compress(page)))/1e6)
	return err
}

// build compiles the command for browsers, and returns it with the script of the Go
// distribution that runs it.
func build(ctx context.Context) (program []byte, glue string, err error) {
	dir, err := os.MkdirTemp("", "mvclust-web-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "mvclust.wasm")
	// Nothing of the machine or the checkout is in it: the same sources give the same bytes.
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=simd128", "-ldflags=-s -w", "-o", path, "github.com/mvclust/mvclust/cmd/mvclust")
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := compile.CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("the command cannot be built for browsers: %w\n%s", err, said)
	}
	if program, err = os.ReadFile(path); err != nil {
		return nil, "", err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, "", fmt.Errorf("the folder of Go cannot be found: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, "", fmt.Errorf("this Go has no script to run programs in browsers: %w", err)
	}
	return program, string(script), nil
}

// assemble returns the page. Its content security policy knows its script and that of the
// report by their digests, and forbids every other one, and every connection.
func assemble(program []byte, glue string) ([]byte, error) {
	loops := base64.StdEncoding.EncodeToString(wasm.Loops)
	worker := front.Worker + wasm.Loader + "const loops = \"" + loops + "\";\n" + glue
	for name, text := range map[string]string{"worker": worker, "page": front.WebScript()} {
		if strings.Contains(strings.ToLower(text), "</script") {
			return nil, fmt.Errorf("the script of the %s would end early: it holds </script", name)
		}
	}
	t, err := template.New("web").Parse(front.WebHTML)
	if err != nil {
		return nil, fmt.Errorf("the page cannot be laid out: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Version, PageDigest, ReportDigest string
		CSS                               template.CSS
		JS                                template.JS
		Worker, Engine                    template.HTML
	}{
		mvclust.Version, digest(front.WebScript()), digest(front.ReportScript()),
		template.CSS(front.Style + front.WebStyle), template.JS(front.WebScript()), //nolint:gosec // our own
		template.HTML(worker), template.HTML(base64.StdEncoding.EncodeToString(compress(program))), //nolint:gosec // our own, or Go's
	})
	return b.Bytes(), err
}

// digest names a script in a content security policy.
func digest(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// compress returns bytes as gzip -9 does.
func compress(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
	_, _ = w.Write(b)                                       // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// write puts a file in its place, whole or not at all.
func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
