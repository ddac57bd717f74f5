package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/option"
)

func resolveStages(o *mvclust.Options) error {
	o.Refinement.Neighbours = 1 // as Fit sets it
	return option.First(o.Learning.Resolve(), o.Posterior.Resolve(), o.Refinement.Resolve(), o.Partition.Resolve())
}

// Giving a setting its default changes nothing, and the default is what the
// packages resolve to.
func TestParamDefaults(t *testing.T) {
	for _, p := range params() {
		var given, plain mvclust.Options
		if err := setParam(&given, p.name+"="+p.standard); err != nil {
			t.Errorf("the default of %s is refused: %v", p.name, err)
			continue
		}
		for _, o := range []*mvclust.Options{&given, &plain} {
			if err := resolveStages(o); err != nil {
				t.Fatal(err)
			}
		}
		a, b := p.value.get(&given), p.value.get(&plain)
		if a != b {
			t.Errorf("%s is %v where %s is given and %v without", p.name, a, p.standard, b)
		}
		if p.standard == "auto" {
			continue
		}
		if got := strings.NewReplacer("e-0", "e-").Replace(fmt.Sprint(a)); got != p.standard {
			t.Errorf("the default of %s is %s, and not %s", p.name, got, p.standard)
		}
	}
}

// What is accepted comes back from the resolved options, also 0.
func TestParamValues(t *testing.T) {
	for _, test := range []struct {
		name    string
		good    []string
		refused []string
	}{
		{"candidates", []string{"1", "2147483647"}, []string{"0", "-1", "2147483648", "K"}},
		{"pairs", []string{"1", "2147483647"}, []string{"0", "-1", "2147483648", "auto"}},
		{"segments", []string{"1", "100000"}, []string{"0", "-1", "100001", "1.5", "", "x"}},
		{"lambda", []string{"1e-300", "0.5", "1e+09"}, []string{"0", "-1", "NaN", "Inf", "", "x"}},
		{"low", []string{"0", "1", "100000"}, []string{"-1", "100001", "a"}},
		{"high", []string{"0", "1", "100000"}, []string{"-1", "100001", "a"}},
		{"epochs", []string{"1", "7", "10000000"}, []string{"0", "-1", "99999999999999999999"}},
		{"rate", []string{"0.5", "1000"}, []string{"0", "-1", "1001", "nan"}},
		{"momentum", []string{"0", "0.5", "1"}, []string{"-0.1", "1.1", "nan"}},
		{"decay", []string{"0", "0.5", "1"}, []string{"-1", "2", "nan"}},
		{"loss", []string{"mixed", "direct"}, []string{"Mixed", "", "0"}},
		{"single", []string{"on", "off"}, []string{"", "true", "ON"}},
		{"cross", []string{"on", "off"}, []string{"x"}},
		{"constraint", []string{"on", "off"}, []string{"x"}},
		{"training", []string{"on", "off"}, []string{"x"}},
		{"fusion", []string{"symmetric", "asymmetric", "max", "mean", "min", "multiply"}, []string{"", "median"}},
		{"completion", []string{"on", "off"}, []string{"x"}},
		{"function-clip", []string{"1e-12", "0.49"}, []string{"0", "0.5", "nan"}},
		{"paths", []string{"on", "off"}, []string{"x"}},
		{"co-neighbor-propagation", []string{"on", "off"}, []string{"x"}}, //nolint:misspell // spelt as --neighbors is
		{"rounds", []string{"1", "100"}, []string{"0", "101"}},
		{"sweeps", []string{"1", "1000000"}, []string{"0", "1000001"}},
		{"edge-clip", []string{"1e-12", "0.49"}, []string{"0", "0.5"}},
	} {
		var p *param
		for _, q := range params() {
			if q.name == test.name {
				p = &q
			}
		}
		if p == nil {
			t.Errorf("there is no setting %s", test.name)
			continue
		}
		for _, s := range test.good {
			var o mvclust.Options
			if err := setParam(&o, test.name+"="+s); err != nil {
				t.Error(err)
				continue
			}
			if err := resolveStages(&o); err != nil {
				t.Errorf("%s=%s: the library refuses it: %v", test.name, s, err)
			}
			if got := fmt.Sprint(p.value.get(&o)); got != s {
				t.Errorf("%s=%s comes out as %s", test.name, s, got)
			}
		}
		for _, s := range test.refused {
			var o mvclust.Options
			err := setParam(&o, test.name+"="+s)
			if err == nil || !strings.Contains(err.Error(), "--param "+test.name) || !strings.Contains(err.Error(), p.value.allowed) {
				t.Errorf("%s=%s: the error is %v", test.name, s, err)
			}
		}
	}
}

// The last of several values of a setting counts.
func TestParamRepeated(t *testing.T) {
	var o mvclust.Options
	for _, s := range []string{"segments=7", "segments=auto", "epochs=5", "epochs=6"} {
		if err := setParam(&o, s); err != nil {
			t.Fatal(err)
		}
	}
	if o.Learning.Segments != 0 || o.Learning.Epochs != 6 {
		t.Errorf("segments %d, epochs %d", o.Learning.Segments, o.Learning.Epochs)
	}
}

func TestSuggestion(t *testing.T) {
	choices := []string{"epochs", "rate", "candidates", "fit"}
	for word, want := range map[string]string{
		"epoch": "epochs", "Epochs": "epochs", "eopchs": "epochs", "fti": "fit", "ca": "candidates", "rates": "rate", "zebra": "", "": "",
	} {
		got := suggestion(word, choices)
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
