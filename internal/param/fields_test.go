package param

import (
	"encoding"
	"reflect"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/option"
)

// notSettings are the fields of Options that --param does not set, with the reason.
var notSettings = map[string]string{
	"Preset":      "--preset",
	"Neighbours":  "--neighbors",
	"Metrics":     "--metric, one for each view",
	"Seed":        "--seed",
	"Threads":     "--threads",
	"Clusters":    "--clusters",
	"Examples":    "read from a file",
	"Constraints": "read from files",
	"Learner":     "a function",
	"Progress":    "a function",
	"Order":       "a list of all samples",
	"Lean":        "--memory",
	"Consume":     "the command always consumes what it has read",
}

// fields calls f for every field of Options and of the stages' settings.
func fields(of reflect.Value, path string, f func(path string, field reflect.Value)) {
	for i := range of.NumField() {
		name, field := path+of.Type().Field(i).Name, of.Field(i)
		if field.Kind() == reflect.Struct && strings.HasSuffix(field.Type().String(), ".Settings") {
			fields(field, name+".", f)
			continue
		}
		f(name, field)
	}
}

// TestFields holds that every field is a setting or has a reason not to be one, and that
// the path of every setting leads to the field that it sets.
func TestFields(t *testing.T) {
	o := new(mvclust.Options)
	settings := map[string]option.Parameter{}
	for _, p := range o.Parameters() {
		settings[p.Field] = p
	}
	reasons := map[string]bool{}
	fields(reflect.ValueOf(o).Elem(), "", func(path string, field reflect.Value) {
		p, listed := settings[path]
		reasons[path] = notSettings[path] != ""
		if listed == reasons[path] {
			t.Errorf("%s: listed %v, and left out because of %q", path, listed, notSettings[path])
		}
		if listed && p.Value.Pointer() != field.Addr().Interface() {
			t.Errorf("--param %s does not set %s", p.Name, path)
		}
		delete(settings, path)
	})
	for path := range settings {
		t.Errorf("there is no field %s", path)
	}
	for path := range notSettings {
		if !reasons[path] {
			t.Errorf("there is no field %s to leave out", path)
		}
	}
}

// TestDescribed holds that a setting is complete, and that no two share a name, a field, or
// the address of one.
func TestDescribed(t *testing.T) {
	names, at := map[string]bool{}, map[any]bool{}
	for _, p := range new(mvclust.Options).Parameters() {
		if p.Equation == "" || p.Meaning == "" || p.Name == "" || strings.ContainsAny(p.Meaning+p.Value.Allowed(), "|\n") {
			t.Errorf("%+v cannot be written", p)
		}
		if names[p.Name] || at[p.Value.Pointer()] {
			t.Errorf("%s is listed twice", p.Name)
		}
		names[p.Name], at[p.Value.Pointer()] = true, true
	}
}

// other returns a value that the setting may have beside its default.
func other(p option.Parameter) string {
	if _, ok := p.Value.Pointer().(encoding.TextUnmarshaler); ok {
		choices := strings.Split(p.Value.Allowed(), " or ")
		return choices[len(choices)-1]
	}
	switch standard := p.Value.Default(); standard {
	case "on":
		return "off"
	case "off":
		return "on"
	case "1":
		return "3"
	default:
		return map[bool]string{true: "1", false: "0.25"}[strings.Contains(p.Value.Allowed(), "whole")]
	}
}

// TestEach gives every setting a value, one at a time, which changes its field alone.
func TestEach(t *testing.T) {
	for n, p := range new(mvclust.Options).Parameters() {
		o := mvclust.Options{Preset: mvclust.Paper}
		if err := Apply(&o, p.Name+"="+other(p)); err != nil {
			t.Error(err)
			continue
		}
		for k, q := range o.Parameters() {
			changed := !reflect.ValueOf(q.Value.Pointer()).Elem().IsZero()
			if changed != (k == n) {
				t.Errorf("--param %s=%s: %s changed %v", p.Name, other(p), q.Field, changed)
			}
		}
	}
}
