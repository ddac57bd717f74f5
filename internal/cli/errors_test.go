package cli

import (
	"reflect"
	"testing"

	"github.com/mvclust/mvclust"
)

// TestFlagOf holds that every setting is named as --param sets it, and every other option
// by a flag that fit has, if any.
func TestFlagOf(t *testing.T) {
	for _, p := range new(mvclust.Options).Parameters() {
		if got, want := flagOf(p.Field), "--param "+p.Name; got != want {
			t.Errorf("%s is set by %s, want %s", p.Field, got, want)
		}
	}
	flags := newFitCommand().Flags()
	for field, want := range map[string]string{"Preset": "preset", "Neighbours": "neighbors", "Metrics": "metric", "Seed": "seed", "Threads": "threads", "Order": ""} {
		if _, ok := reflect.TypeFor[mvclust.Options]().FieldByName(field); !ok {
			t.Errorf("there is no option %s", field)
		}
		if want == "" {
			want = field
		} else if flags.Lookup(want) == nil {
			t.Errorf("there is no flag --%s", want)
		} else {
			want = "--" + want
		}
		if got := flagOf(field); got != want {
			t.Errorf("%s is set by %s, want %s", field, got, want)
		}
	}
}
