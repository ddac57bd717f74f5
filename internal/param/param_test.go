package param

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/option"
)

// resolve fills in the defaults of all stages, as Fit does.
func resolve(o *mvclust.Options) error { return option.Resolve(o.Parameters()) }

// value returns the setting of the given name in o.
func value(o *mvclust.Options, name string) option.Value {
	for _, p := range o.Parameters() {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// Giving a setting its default changes nothing, and the default is what the
// packages resolve to.
func TestDefaults(t *testing.T) {
	for _, p := range new(mvclust.Options).Parameters() {
		standard := p.Value.Default()
		given, plain := mvclust.Options{Preset: mvclust.Paper}, mvclust.Options{Preset: mvclust.Paper}
		if err := Apply(&given, p.Name+"="+standard); err != nil {
			t.Errorf("the default of %s is refused: %v", p.Name, err)
			continue
		}
		for _, o := range []*mvclust.Options{&given, &plain} {
			if err := resolve(o); err != nil {
				t.Fatal(err)
			}
		}
		a, b := value(&given, p.Name).Get(), value(&plain, p.Name).Get()
		if a != b {
			t.Errorf("%s is %v where %s is given and %v without", p.Name, a, standard, b)
		}
		if standard == "auto" {
			continue
		}
		if got := strings.NewReplacer("e-0", "e-").Replace(fmt.Sprint(a)); got != standard {
			t.Errorf("the default of %s is %s, and not %s", p.Name, got, standard)
		}
	}
}

// What is accepted comes back from the resolved options, also 0.
func TestValues(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range []struct {
		name    string
		good    []string
		refused []string
	}{
		{"scale", []string{"none", "minmax", "mixed"}, []string{"", "off", "MinMax"}},
		{"local", []string{"on", "off"}, []string{"", "x", "true"}},
		{"candidates", []string{"1", "2147483647"}, []string{"0", "-1", "2147483648", "K"}},
		{"neighbor-search", []string{"auto", "exact", "approximate"}, []string{"", "Exact", "ivf"}}, //nolint:misspell // spelt as --neighbors is
		{"recall", []string{"1e-300", "0.5", "1"}, []string{"0", "-0.1", "1.01", "97%", "nan", "auto"}},
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
		{"fusion", []string{"symmetric", "asymmetric", "max", "mean", "min", "multiply", "pooled"}, []string{"", "median"}},
		{"completion", []string{"on", "off"}, []string{"x"}},
		{"function-clip", []string{"1e-12", "0.49"}, []string{"0", "0.5", "nan"}},
		{"paths", []string{"on", "off"}, []string{"x"}},
		{"co-neighbor-propagation", []string{"on", "off"}, []string{"x"}}, //nolint:misspell // spelt as --neighbors is
		{"rounds", []string{"1", "100"}, []string{"0", "101"}},
		{"sweeps", []string{"1", "1000000"}, []string{"0", "1000001"}},
		{"resolution", []string{"1e-300", "0.5", "1e+12"}, []string{"0", "-1", "1e13", "nan", "off"}},
		{"levels", []string{"1", "100"}, []string{"0", "101", "1.5", "x"}},
		{"edge-clip", []string{"1e-12", "0.49"}, []string{"0", "0.5"}},
	} {
		tested[test.name] = true
		p := value(new(mvclust.Options), test.name)
		if p == nil {
			t.Errorf("there is no setting %s", test.name)
			continue
		}
		for _, s := range test.good {
			o := mvclust.Options{Preset: mvclust.Paper}
			if err := Apply(&o, test.name+"="+s); err != nil {
				t.Error(err)
				continue
			}
			if err := resolve(&o); err != nil {
				t.Errorf("%s=%s: the library refuses it: %v", test.name, s, err)
			}
			if got := fmt.Sprint(value(&o, test.name).Get()); got != s {
				t.Errorf("%s=%s comes out as %s", test.name, s, got)
			}
		}
		for _, s := range test.refused {
			o := mvclust.Options{Preset: mvclust.Paper}
			err := Apply(&o, test.name+"="+s)
			if err == nil || !strings.Contains(err.Error(), "--param "+test.name) || !strings.Contains(err.Error(), p.Allowed()) {
				t.Errorf("%s=%s: the error is %v", test.name, s, err)
			}
		}
	}
	for _, p := range new(mvclust.Options).Parameters() {
		if !tested[p.Name] {
			t.Errorf("no value of %s is tested", p.Name)
		}
	}
}

// The last of several values of a setting counts.
func TestRepeated(t *testing.T) {
	o := mvclust.Options{Preset: mvclust.Paper}
	for _, s := range []string{"segments=7", "segments=auto", "epochs=5", "epochs=6"} {
		if err := Apply(&o, s); err != nil {
			t.Fatal(err)
		}
	}
	if o.Learning.Segments != 0 || o.Learning.Epochs != 6 {
		t.Errorf("segments %d, epochs %d", o.Learning.Segments, o.Learning.Epochs)
	}
}

// What cannot be applied is named, with a remedy, and changes nothing.
func TestApplyErrors(t *testing.T) {
	for assignment, want := range map[string]string{
		"epochs":      "--param epochs: the value is missing; write NAME=VALUE, such as epochs=500",
		"":            "--param : the value is missing; write NAME=VALUE, such as epochs=500",
		"epoch=3":     "--param epoch: there is no such setting (did you mean epochs?); see mvclust fit --help",
		"zebra=1":     "--param zebra: there is no such setting; see mvclust fit --help",
		"low=x=3":     `--param low: "x=3" cannot be used; give a whole number from 0 to 100000`,
		"loss=Mixed":  `--param loss: "Mixed" cannot be used; give mixed or direct`,
		"training=no": `--param training: "no" cannot be used; give on or off`,
	} {
		o := mvclust.Options{Preset: mvclust.Paper}
		err := Apply(&o, assignment)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if !reflect.DeepEqual(o, mvclust.Options{Preset: mvclust.Paper}) {
			t.Errorf("%s: the options are %+v", assignment, o)
		}
	}
}

func TestHelp(t *testing.T) {
	help := Help()
	for _, p := range new(mvclust.Options).Parameters() {
		if !strings.Contains(help, "\n  "+p.Name+"="+p.Value.Default()+" ") && !strings.HasPrefix(help, "  "+p.Name+"=") || !strings.Contains(help, p.Meaning) {
			t.Errorf("%s is not described", p.Name)
		}
	}
}
