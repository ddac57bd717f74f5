package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
)

// usagef returns an error about the words of a command line.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return fmt.Errorf(format+"; see %s --help", append(args, cmd.CommandPath())...)
}

// flagError puts what the flag parser objects to in plain words.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usagef(cmd, "unknown flag -%s", name)
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return usagef(cmd, "unknown flag --%s%s", name, words.DidYouMean("--"+name, names))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef(cmd, "--%s needs a value", bare.GetFlag().Name)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		wanted := map[string]string{
			"bool": "true or false", "uint64": "a whole number of at least 0", "float64": "a number",
			"intSlice": "whole numbers with commas between", "float64Slice": "numbers with commas between",
			"stringSlice": "words with commas between", positiveType: "a whole number of at least 1", portType: "a number from 1 to 65535",
			sizeType: "a size such as 8GiB, 8GB or 512MiB",
		}[f.Value.Type()]
		return usagef(cmd, "--%s: %s is not %s", f.Name, words.Quote(invalid.GetValue()), wanted)
	}
	return usagef(cmd, "%v", err)
}

// noArgs rejects any argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "%s takes no argument such as %s", cmd.Name(), words.Quote(args[0]))
	}
	return nil
}

// translate puts an error of mvclust.Fit in the words of the command line.
func translate(err error, sources []string, set *dataset.Set) error {
	if bad, ok := errors.AsType[*mvclust.OptionError](err); ok {
		return fmt.Errorf("%s: %s", flagOf(bad.Field), bad.Problem)
	}
	if bad, ok := errors.AsType[*mvclust.InputError](err); ok {
		where := words.Name(bad.View)
		if where == "" {
			where = strings.Join(baseNames(sources), ", ")
		}
		row := ""
		if bad.Row >= 0 {
			row = fmt.Sprintf("row %d (counted from 0) ", bad.Row)
			if set.IDs != nil {
				row = fmt.Sprintf("sample %s (row %d, counted from 0) ", words.Quote(set.IDs[bad.Row]), bad.Row)
			}
		}
		return fmt.Errorf("%s: %s%s", where, row, bad.Problem)
	}
	return err
}

// flagOf says how the command sets a field of mvclust.Options: "--neighbors", or
// "--param edge-clip". A field that it does not set keeps its name.
func flagOf(field string) string {
	flags := map[string]string{"Preset": "--preset", "Neighbours": "--neighbors", "Metrics": "--metric", "Seed": "--seed", "Threads": "--threads", "Clusters": "--clusters", "Examples": "--examples", "Level": "--level"}
	if flag, ok := flags[field]; ok {
		return flag
	}
	for _, p := range new(mvclust.Options).Parameters() {
		if p.Field == field {
			return "--param " + p.Name
		}
	}
	return field
}

// baseNames shortens "folder/file:name" to "file:name", and a long list.
func baseNames(sources []string) []string {
	var names []string
	for i, s := range sources {
		if i == 4 {
			return append(names, "...")
		}
		names = append(names, filepath.Base(s))
	}
	return names
}

// keptError is a failure after some files were written.
type keptError struct {
	folder string
	err    error
}

func (e *keptError) Error() string { return e.err.Error() }
func (e *keptError) Unwrap() error { return e.err }

// interruption says what an interrupted command leaves behind.
func interruption(err error) string {
	if kept, ok := errors.AsType[*keptError](err); ok {
		return fmt.Sprintf("interrupted; %s keeps the files of the steps that were done", kept.folder)
	}
	return "interrupted; nothing was written"
}
