// Command mvclust clusters samples that are described in several views. Run
// "mvclust --help", or "mvclust demo" to see it at work.
package main

import (
	"os"

	"github.com/mvclust/mvclust/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
