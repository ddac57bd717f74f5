//go:build !js

package cli

import "github.com/spf13/cobra"

// commands returns all commands, in the order of the help.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newFitCommand(), newPredictCommand(), newUpdateCommand(), newEvalCommand(), newLevelsCommand(), newCutCommand(),
		newExplainCommand(), newSuggestCommand(), newReviewCommand(), newSynthCommand(), newDemoCommand(), newVersionCommand(),
	}
}
