// Package param sets the settings of the method as "mvclust fit --param" does, and describes
// them for its help. mvclust.Options.Parameters lists them.
package param

import (
	"fmt"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/words"
)

// Apply sets what an assignment "NAME=VALUE" says. The error names the assignment
// as one of --param.
func Apply(o *mvclust.Options, assignment string) error {
	name, given, ok := strings.Cut(assignment, "=")
	if !ok {
		return fmt.Errorf("--param %s: the value is missing; write NAME=VALUE, such as epochs=500", assignment)
	}
	var names []string
	for _, p := range o.Parameters() {
		if p.Name != name {
			names = append(names, p.Name)
			continue
		}
		if !p.Value.Set(given) {
			return fmt.Errorf("--param %s: %q cannot be used; give %s", name, given, p.Value.Allowed())
		}
		if p.PaperOnly && o.Preset != mvclust.Paper {
			return fmt.Errorf("--param %s: the automatic preset decides this by itself; leave it out, or add --preset paper", name)
		}
		return nil
	}
	return fmt.Errorf("--param %s: there is no such setting%s; see mvclust fit --help", name, words.DidYouMean(name, names))
}

// Help describes every setting, two lines for each.
func Help() string {
	var b strings.Builder
	for _, p := range new(mvclust.Options).Parameters() {
		fmt.Fprintf(&b, "  %-33s %s; %s\n      %s\n", p.Name+"="+p.Value.Default(), p.Value.Allowed(), p.Equation, p.Meaning)
	}
	return b.String()
}
