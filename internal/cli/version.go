package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
)

type versionOptions struct{ json bool }

// version says what is running, and on what.
type version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func currentVersion() version {
	return version{mvclust.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
}

func (v version) String() string {
	return fmt.Sprintf("mvclust %s (%s, %s/%s)", v.Version, v.Go, v.OS, v.Arch)
}

func newVersionCommand() *cobra.Command {
	var o versionOptions
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "version prints the version of mvclust, of Go, and the system it was built for.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return versionFunc(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

func versionFunc(_ context.Context, out io.Writer, o versionOptions) error {
	return show(out, o.json, currentVersion(), currentVersion().String()+"\n")
}
