package speed

import (
	"context"
	_ "embed" // for the script
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/mvclust/mvclust/experiments/lab"
)

// script runs one task of a peer.
//
//go:embed peer.py
var script string

// The peers, by the names of their Python modules, with the names on the page.
const (
	numpy   = "numpy"
	faiss   = "faiss"
	sklearn = "sklearn"
)

// peers says which Python has which module.
type peers struct {
	python   map[string]string // by module
	versions map[string]string // by module
}

// request is a task of the script.
type request struct {
	Task       string   `json:"task"`
	Modules    []string `json:"modules,omitempty"`
	File       string   `json:"file,omitempty"`
	Arrays     []string `json:"arrays,omitempty"` // of the file, all of them in turn
	Output     string   `json:"output,omitempty"`
	Neighbours int      `json:"neighbours,omitempty"`
	Clusters   int      `json:"clusters,omitempty"`
	Threads    int      `json:"threads,omitempty"`
	Dims       []int    `json:"dims,omitempty"`
	Seconds    float64  `json:"seconds,omitempty"`
}

// answer is what the script says of a task, each field being of some of them.
type answer struct {
	Seconds float64   `json:"seconds"`
	Speeds  []float64 `json:"speeds"`
	Labels  []int     `json:"labels"`
}

// findPeers looks for the modules in the interpreters; the first that has one serves
// for it. An interpreter that is not there has none. The error is the context's own.
func findPeers(ctx context.Context, pythons []string) (*peers, error) {
	p := &peers{map[string]string{}, map[string]string{}}
	for _, python := range pythons {
		var found map[string]string
		err := execute(ctx, python, &request{Task: "modules", Modules: []string{numpy, faiss, sklearn}, Threads: 1}, &found)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		for module, version := range found {
			if p.python[module] == "" {
				p.python[module], p.versions[module] = python, version
			}
		}
	}
	return p, nil
}

// ask has the Python with a module do the work of a task.
func (e *Experiment) ask(ctx context.Context, t *lab.Task, module string, r *request) (*answer, error) {
	python := e.peers.python[module]
	if python == "" {
		return nil, fmt.Errorf("no Python here has %s", module)
	}
	t.Words = map[string]string{"by": module + " " + e.peers.versions[module]}
	if r.Threads == 0 {
		r.Threads = e.Threads
	}
	a := &answer{}
	if err := execute(ctx, python, r, a); err != nil {
		return nil, fmt.Errorf("%s failed: %w", module, err)
	}
	if len(a.Speeds) != len(r.Dims) {
		return nil, fmt.Errorf("%s gave %d speeds for %d numbers of dimensions", module, len(a.Speeds), len(r.Dims))
	}
	return a, nil
}

// execute runs the script in a process of its own and reads its answer.
func execute(ctx context.Context, python string, r *request, answer any) error {
	task, err := json.Marshal(r)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, "-c", script, string(task))
	// The matrix libraries count threads when they are loaded.
	threads := strconv.Itoa(max(1, r.Threads))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+threads, "OPENBLAS_NUM_THREADS="+threads, "MKL_NUM_THREADS="+threads)
	p, err := lab.RunProcess(ctx, cmd)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(p.Out, answer); err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	return nil
}
