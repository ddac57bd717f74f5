package cli

import "github.com/spf13/cobra"

// commands returns the commands that a page in a browser needs, since it loads them all.
func commands() []*cobra.Command {
	return []*cobra.Command{newFitCommand(), newSynthCommand(), newVersionCommand()}
}
