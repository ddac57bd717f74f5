package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stages are the packages of the method, in the order of the flow.
var stages = strings.Fields("view similarity neighbour agreement pair probability posterior graph constraint refine partition linkage separation discriminant selection structure")

// mayImport says which packages of the module a folder's packages may import, by the folder; a
// final * stands for the folders below, too. The longest entry counts.
func mayImport() map[string][]string {
	helpers := strings.Fields("method/sparse internal/enum internal/kernel internal/option internal/parallel internal/rank")
	rules := map[string][]string{
		"":                       {"method/*", "internal/enum", "internal/files/array", "internal/files/npy", "internal/option", "internal/parallel", "internal/words", "score"},
		"predict":                {"", "method/*", "score", "internal/option", "internal/parallel", "internal/rank", "internal/words"},
		"explain":                {"", "method/*", "internal/option", "internal/parallel", "internal/rank"},
		"report":                 {"", "method/*", "explain", "score", "internal/front", "internal/layout", "internal/words"},
		"score":                  {},
		"synth":                  {"method/view", "internal/words"},
		"cmd/mvclust":            {"internal/cli"},
		"web":                    {"", "internal/front", "internal/kernel/wasm"},
		"method/sparse":          {},
		"internal/*":             {},
		"internal/cli":           {"*"},
		"internal/files/*":       {"internal/files/array", "internal/files/column", "internal/files/hdf5", "internal/memory", "internal/words"},
		"internal/files/dataset": {"internal/files/*", "internal/memory", "internal/words", "method/view"},
		"internal/layout":        {"method/graph", "method/sparse", "internal/parallel"},
		"internal/option":        {"internal/enum"},
		"internal/param":         {"", "internal/words"},
		"internal/review":        {"", "explain", "method/constraint", "internal/front", "internal/words"},
	}
	for i, stage := range stages {
		rules["method/"+stage] = slices.Clone(helpers)
		for _, earlier := range stages[:i] {
			rules["method/"+stage] = append(rules["method/"+stage], "method/"+earlier)
		}
	}
	return rules
}

// within reports whether the folder is the one that the pattern names, or one of those.
func within(folder, pattern string) bool {
	above, all := strings.CutSuffix(pattern, "*")
	return folder == pattern || all && strings.HasPrefix(folder, above)
}

// TestImports holds the packages of the module to the rules of docs/architecture.md.
func TestImports(t *testing.T) {
	rules, checked := mayImport(), map[string]bool{}
	for path, folder := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		rule := ""
		for pattern := range maps.Keys(rules) {
			if within(folder, pattern) && len(pattern) > len(rule) {
				rule = pattern
			}
		}
		if rule == "" && folder != "" {
			t.Errorf("no rule says what %s may import", folder)
			continue
		}
		checked[rule] = true
		for _, spec := range file.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/mvclust/mvclust")
			imported = strings.TrimPrefix(imported, "/")
			if ours && !slices.ContainsFunc(rules[rule], func(pattern string) bool { return within(imported, pattern) }) {
				t.Errorf("%s imports %q, which the packages of %q may not", path, imported, rule)
			}
			if ours && within(imported, "experiments*") {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
	for rule := range rules {
		if !checked[rule] {
			t.Errorf("nothing is in %s", rule)
		}
	}
}

// TestStages holds that the packages of the method are those of the flow, and that each warns
// that it may change.
func TestStages(t *testing.T) {
	documented := map[string]bool{}
	for path, folder := range sources(t) {
		if name, is := strings.CutPrefix(folder, "method/"); is {
			if !slices.Contains(append(stages, "sparse"), name) {
				t.Errorf("%s is no stage", folder)
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(strings.Fields(file.Doc.Text()), " ")
			documented[name] = documented[name] || strings.Contains(said, "It follows the method and may change in any minor version.")
		}
	}
	for name, is := range documented {
		if !is {
			t.Errorf("the comment of method/%s does not say that it may change", name)
		}
	}
	if len(documented) != len(stages)+1 {
		t.Errorf("%d packages are in method, want %d", len(documented), len(stages)+1)
	}
}

// sources returns the module's Go files without tests, with the folders that they are in.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root:
			_, failed := os.Stat(filepath.Join(path, "go.mod"))
			if failed == nil || strings.ContainsAny(entry.Name()[:1], "._") || entry.Name() == "testdata" {
				return filepath.SkipDir // other modules, and what go build leaves out
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			found[path] = strings.TrimPrefix(filepath.ToSlash(folder), ".")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
