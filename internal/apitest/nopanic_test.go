package apitest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module.
const root = "../.."

// folders returns the folders of the public packages and of the packages under method.
func folders(t *testing.T) []string {
	t.Helper()
	list := []string{".", "predict", "explain", "report", "score", "synth"}
	entries, err := os.ReadDir(filepath.Join(root, "method"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, "method/"+e.Name())
	}
	return list
}

// exported returns the doc comments of all exported functions, and methods of exported types, by
// their names in table.
func exported(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, folder := range folders(t) {
		source := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
		packages, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, folder), source, parser.ParseComments) //nolint:staticcheck // no build tags matter here
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range packages {
			for _, file := range p.Files {
				for _, d := range file.Decls {
					f, ok := d.(*ast.FuncDecl)
					if !ok || !f.Name.IsExported() {
						continue
					}
					full := name + "." + f.Name.Name
					if f.Recv != nil {
						receiver := typeName(f.Recv.List[0].Type)
						if !ast.IsExported(receiver) {
							continue
						}
						full = name + "." + receiver + "." + f.Name.Name
					}
					docs[full] = f.Doc.Text()
				}
			}
		}
	}
	return docs
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestTable holds that table names every exported function, and nothing else.
func TestTable(t *testing.T) {
	docs := exported(t)
	for name := range docs {
		if table[name] == nil {
			t.Errorf("%s is exported and not in table: add %q with its value (of a method, the method expression) to table_test.go, and values of its arguments' types to pool, if there are none yet", name, name)
		}
	}
	for name := range table {
		if _, ok := docs[name]; !ok {
			t.Errorf("table has %s, which is not exported any more: remove it from table_test.go", name)
		}
	}
}

const (
	tuples = 120      // of arguments, at most, beside those that differ from good ones in one place
	room   = 64 << 20 // bytes that one call may take
)

// TestNoPanic calls every function with good arguments, with all but one of them good, and with
// random mixtures of good and bad ones. It must not panic, unless it returns no error and its doc
// comment says when it does, nor ask for much memory.
func TestNoPanic(t *testing.T) {
	docs, values := exported(t), pool(t)
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			f := reflect.ValueOf(table[name])
			for _, choice := range choices(t, f.Type(), values) {
				what, args := arguments(f.Type(), values, choice)
				if method := strings.Count(name, ".") == 2; method && args[0].Kind() == reflect.Pointer && args[0].IsNil() {
					continue // it may panic, by the rules of Go
				}
				before := allocated()
				panicked, stack := call(f, args)
				switch taken := allocated() - before; {
				case taken > room:
					t.Errorf("%s takes %d MB", what, taken>>20)
				case panicked == nil:
				case fails(f.Type()):
					t.Fatalf("%s panics: %v\nReturn an error.\n%s", what, panicked, stack)
				case !strings.Contains(docs[name], "panics"):
					t.Fatalf("%s panics: %v\nMake it return an error, or say in its doc comment that it panics and why.\n%s", what, panicked, stack)
				}
			}
		})
	}
}

// fails reports whether a function can return an error.
func fails(f reflect.Type) bool {
	return f.NumOut() > 0 && f.Out(f.NumOut()-1) == reflect.TypeFor[error]()
}

// call calls f and returns what it panics with.
func call(f reflect.Value, args []reflect.Value) (panicked any, stack []byte) {
	defer func() {
		if panicked = recover(); panicked != nil {
			stack = debug.Stack()
		}
	}()
	if f.Type().IsVariadic() {
		f.CallSlice(args)
	} else {
		f.Call(args)
	}
	return nil, nil
}

// allocated returns the bytes that were ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// choices returns which value of its type's pool to take for each argument. 0 is a good one.
func choices(t *testing.T, f reflect.Type, values kinds) [][]int {
	t.Helper()
	sizes, all := make([]int, f.NumIn()), 1
	for i := range sizes {
		if sizes[i] = len(values[f.In(i)]); sizes[i] == 0 {
			t.Fatalf("there is no value of type %v: add a good one and bad ones to pool in pool_test.go", f.In(i))
		}
		all = min(all*sizes[i], 1<<20)
	}
	list := [][]int{make([]int, len(sizes))}
	for i, n := range sizes {
		for k := 1; k < n; k++ {
			c := make([]int, len(sizes))
			c[i] = k
			list = append(list, c)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range min(all, tuples) {
		c := make([]int, len(sizes))
		for i, n := range sizes {
			if random.IntN(2) == 0 {
				c[i] = random.IntN(n)
			}
		}
		list = append(list, c)
	}
	return list
}

// arguments returns new values, and a description of the call.
func arguments(f reflect.Type, values kinds, choice []int) (string, []reflect.Value) {
	args, names := make([]reflect.Value, len(choice)), make([]string, len(choice))
	for i, k := range choice {
		v := values[f.In(i)][k]
		names[i] = v.name
		args[i] = reflect.Zero(f.In(i))
		if x := v.make(); x != nil {
			args[i] = reflect.ValueOf(x)
		}
	}
	return fmt.Sprintf("a call with (%s)", strings.Join(names, ", ")), args
}

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // so that goroutines are among what may panic
	os.Exit(m.Run())
}
