package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/synth"
)

// model clusters made data whose classes overlap. Ids need quotes in a file.
func model(t testing.TB) *mvclust.Model {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 240, Classes: 6, Noise: []float64{1.3}, Missing: 0.2, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 240)
	for i := range ids {
		ids[i] = "a \"thing\",\n" + strconv.Itoa(i)
	}
	return mvclust.NewModel(set.Views, r, ids)
}

// apply makes a model of a revision, as the command does, but writes nothing.
func apply(_ context.Context, r *Revision, told func(string, float64)) (*mvclust.Model, error) {
	told("working", 0.5)
	next := *r.Model
	next.Labels, next.Constraints, next.Retired, next.Level = r.Labels, r.Constraints, 0, r.Level
	return &next, nil
}

func begun(t testing.TB, m *mvclust.Model, dir string) *Session {
	t.Helper()
	s, err := Open(t.Context(), m, Options{Title: "Things", Folder: dir, Apply: apply, Pictures: func(_ context.Context, samples []int, take func(int, []byte, error)) error {
		for _, i := range samples {
			switch i % 3 {
			case 0:
				take(i, []byte("GIF89a"), nil)
			case 1:
				take(i, []byte("<svg onload=alert(1)>"), nil)
			default:
				take(i, nil, errors.New("there is none"))
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// state returns what the page shows.
func state(t testing.TB, s *Session) *State {
	t.Helper()
	x, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// answer answers the open question.
func answer(t testing.TB, s *Session, verdict explain.Verdict) *State {
	t.Helper()
	q := state(t, s).Question
	if err := s.Answer(t.Context(), q.A.Sample, q.B.Sample, string(verdict)); err != nil {
		t.Fatal(err)
	}
	return state(t, s)
}

// Nobody but the page gets anything.
func TestHandlerAdmits(t *testing.T) {
	s := begun(t, model(t), t.TempDir())
	v, err := NewServer(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if host := v.listen.Addr().String(); !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("it listens on %s", host)
	}
	q := state(t, s).Question
	good := `{"a":` + strconv.Itoa(q.A.Sample) + `,"b":` + strconv.Itoa(q.B.Sample) + `,"answer":"skip"}`
	here, token := "http://"+v.address, "/"+v.token+"/"
	type call struct {
		name, method, path, body string
		change                   func(r *http.Request)
		status                   int
	}
	header := func(name string, values ...string) func(r *http.Request) {
		return func(r *http.Request) {
			r.Header.Del(name)
			for _, v := range values {
				r.Header.Add(name, v)
			}
		}
	}
	for _, c := range []call{
		{"the page", "GET", token, "", nil, 200},
		{"the style", "GET", token + "style.css", "", nil, 200},
		{"the script", "GET", token + "script.js", "", nil, 200},
		{"the state", "GET", token + "state", "", nil, 200},
		{"the progress", "GET", token + "progress", "", nil, 200},
		{"a picture", "GET", token + "picture?sample=3", "", nil, 200},
		{"an answer", "POST", token + "answer", good, nil, 200},

		{"no token", "GET", "/", "", nil, 403},
		{"no token, a file", "GET", "/state", "", nil, 403},
		{"another token", "GET", "/" + strings.Repeat("A", len(v.token)) + "/state", "", nil, 403},
		{"a part of the token", "GET", token[:10] + "/state", "", nil, 403},
		{"the token as a parameter", "GET", "/state?token=" + v.token, "", nil, 403},
		{"another host", "GET", token + "state", "", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"another name of this machine", "GET", token + "state", "", func(r *http.Request) { r.Host = strings.Replace(v.address, "127.0.0.1", "localhost", 1) }, 403},
		{"another port", "GET", token + "state", "", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		{"another origin", "POST", token + "undo", "{}", header("Origin", "http://evil.example"), 403},
		{"another origin that reads", "GET", token + "state", "", header("Origin", "http://evil.example"), 403},
		{"no origin", "POST", token + "undo", "{}", header("Origin"), 403},
		{"an opaque origin", "POST", token + "undo", "{}", header("Origin", "null"), 403},
		{"two origins", "POST", token + "undo", "{}", header("Origin", here, "http://evil.example"), 403},
		{"another site", "GET", token + "picture?sample=3", "", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another site of this machine", "POST", token + "undo", "{}", header("Sec-Fetch-Site", "same-site"), 403},
		{"a form", "POST", token + "undo", "{}", header("Content-Type", "text/plain"), 415},
		{"a way out", "GET", token + "../state", "", nil, 404},
		{"an unknown file", "GET", token + "review.csv", "", nil, 404},
		{"a wrong method", "GET", token + "answer", "", nil, 405},
		{"a wrong method of a file", "POST", token + "state", "{}", nil, 405},
		{"an unknown method", "PUT", token + "answer", good, nil, 405},
		{"a body that is too large", "POST", token + "name", `{"cluster":0,"name":"` + strings.Repeat("x", mostBody) + `"}`, nil, 413},
		{"one of unknown length", "POST", token + "name", `{"cluster":0,"name":"` + strings.Repeat("x", mostBody) + `"}`, func(r *http.Request) { r.ContentLength = -1 }, 413},
		{"a body of a file", "GET", token + "state", "{}", nil, 413},
		{"no JSON", "POST", token + "answer", "same", nil, 400},
		{"two values", "POST", token + "undo", "{}{}", nil, 400},
		{"an unknown field", "POST", token + "undo", `{"file":"/etc/passwd"}`, nil, 400},
		{"no samples", "POST", token + "answer", `{"answer":"same"}`, nil, 400},
		{"no verdict", "POST", token + "answer", strings.Replace(good, "skip", "maybe", 1), nil, 400},
		{"a verdict that is no text", "POST", token + "answer", strings.Replace(good, `"skip"`, "1", 1), nil, 400},
		{"a sample that is no number", "POST", token + "answer", `{"a":"../../etc/passwd","b":1,"answer":"same"}`, nil, 400},
		{"no such cluster", "POST", token + "split", `{"cluster":-1}`, nil, 400},
		{"no such clusters", "POST", token + "merge", `{"clusters":[0,99999]}`, nil, 400},
		{"one cluster", "POST", token + "merge", `{"clusters":[0,0]}`, nil, 400},
		{"three clusters", "POST", token + "merge", `{"clusters":[0,1,2]}`, nil, 400},
		{"a name of no cluster", "POST", token + "name", `{"cluster":99999,"name":"x"}`, nil, 400},
		{"no level", "POST", token + "level", `{}`, nil, 400},
		{"no such level", "POST", token + "level", `{"level":99}`, nil, 400},
		{"a level below 0", "POST", token + "level", `{"level":-1}`, nil, 400},
		{"a level beyond all numbers", "POST", token + "level", `{"level":1e30}`, nil, 400},
		{"a level that is no number", "POST", token + "level", `{"level":"0; rm"}`, nil, 400},
		{"a part of a level", "POST", token + "level", `{"level":0.5}`, nil, 400},
		{"a level without the token", "POST", "/level", `{"level":0}`, nil, 403},
		{"a level for another origin", "POST", token + "level", `{"level":0}`, header("Origin", "http://evil.example"), 403},
		{"a level by a link", "GET", token + "level?level=0", "", nil, 405},
		{"a picture that is none", "GET", token + "picture?sample=1", "", nil, 404},
		{"a missing picture", "GET", token + "picture?sample=2", "", nil, 404},
		{"a picture of nobody", "GET", token + "picture?sample=240", "", nil, 404},
		{"a picture of a hostile id", "GET", token + "picture?sample=../../etc/passwd", "", nil, 404},
		{"a picture below 0", "GET", token + "picture?sample=-1", "", nil, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), c.method, here+c.path, strings.NewReader(c.body))
			if c.body == "" {
				r.Body, r.ContentLength = http.NoBody, 0
			}
			if c.method != "GET" {
				r.Header.Set("Origin", here)
				r.Header.Set("Content-Type", "application/json")
			}
			if c.change != nil {
				c.change(r)
			}
			before := state(t, s)
			w := httptest.NewRecorder()
			v.Handler().ServeHTTP(w, r)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d", w.Code, c.status)
			}
			if c.status != 200 && w.Body.Len() > 0 {
				t.Errorf("it gets %q", w.Body)
			}
			if after := state(t, s); c.status != 200 && (after.Answers != before.Answers || after.Steps != before.Steps || after.Levels.Now != before.Levels.Now || after.Question.A.Sample != before.Question.A.Sample) {
				t.Error("it changes something")
			}
			for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s is %q", name, got)
				}
			}
		})
	}
}

// A server on the network answers its page, and ends with its context.
func TestServe(t *testing.T) {
	s := begun(t, model(t), t.TempDir())
	v, err := NewServer(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewServer(s, s0port(t, v)); err == nil || !strings.Contains(err.Error(), "--port") {
		t.Errorf("a port that is taken: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- v.Serve(ctx) }()
	r, err := http.Get(v.URL() + "state") //nolint:noctx // of the test's own server
	if err != nil {
		t.Fatal(err)
	}
	var got State
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Samples != 240 || got.Question == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

func s0port(t *testing.T, v *Server) int {
	t.Helper()
	_, text, _ := strings.Cut(v.address, ":")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What was answered is there when the session ends without warning, also where the last line was
// cut off.
func TestAnswersSurvive(t *testing.T) {
	m, dir := model(t), t.TempDir()
	path := filepath.Join(dir, AnswersFile)
	s := begun(t, m, dir)
	for _, v := range []explain.Verdict{explain.Same, explain.Different, explain.Skip, explain.Same, explain.Same} {
		answer(t, s, v)
	}
	if err := s.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Name(t.Context(), state(t, s).Groups[0].Number, "  a\tname, \"quoted\" "); err != nil {
		t.Fatal(err)
	}
	want := state(t, s)
	if want.Groups[0].Name != `a name, "quoted"` {
		t.Errorf("the name is %q", want.Groups[0].Name)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := []byte("\"a \"\"thing\"\",\n17\",\"a")
	for cut := range len(torn) { // while the next answer was written; nothing was closed
		if err := os.WriteFile(path, slices.Concat(whole, torn[:cut]), 0o666); err != nil {
			t.Fatal(err)
		}
		again := begun(t, m, dir)
		got := state(t, again)
		if got.Answers != want.Answers || got.Clusters != want.Clusters || got.Question.A.Sample != want.Question.A.Sample || got.Groups[0].Name != want.Groups[0].Name {
			t.Fatalf("after %d bytes more: %+v, want %+v", cut, got, want)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, whole) {
			t.Fatalf("after %d bytes more the file is %q, want %q", cut, after, whole)
		}
	}
	for text, problem := range map[string]string{
		"nobody,nowhere,same,merge\n": "no sample has the id",
		"x\n":                         "1 cells",
		"a,b,c,d,e\n":                 "5 cells",
		`"a ""thing"",` + "\n" + `0","a ""thing"",` + "\n" + `1",perhaps,merge` + "\n": "perhaps",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), m, Options{Folder: dir}); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want %q", text, err, problem)
		}
	}
}

// A session without answers leaves no file, and what is no file of answers or names is refused.
func TestHostileFolder(t *testing.T) {
	m := model(t)
	refused := func(dir, problem string) {
		t.Helper()
		s, err := Open(t.Context(), m, Options{Folder: dir})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %q", err, problem)
		}
	}
	names := t.TempDir()
	text := "\"a \"\"thing\"\",\n7\"," + strings.Repeat("x", mostName+1) + "\n"
	if err := os.WriteFile(filepath.Join(names, NamesFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	refused(names, "81 characters")
	if left, _ := os.ReadDir(names); len(left) != 1 {
		t.Errorf("it leaves %v", left)
	}
	for _, name := range []string{AnswersFile, NamesFile} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		refused(dir, "no regular file")
		link := t.TempDir()
		if err := os.Symlink(filepath.Join(names, NamesFile), filepath.Join(link, name)); err != nil {
			continue // as on Windows
		}
		refused(link, "no regular file")
	}
	dir := t.TempDir()
	s, err := Open(t.Context(), m, Options{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a session without answers leaves %v", left)
	}
}

// Applied answers are the clusters of the model, cannot be undone, and are not asked again.
func TestApply(t *testing.T) {
	m, dir := model(t), t.TempDir()
	s := begun(t, m, dir)
	if err := s.Start(); err == nil {
		t.Error("no answers are applied")
	}
	groups := state(t, s).Groups
	if err := s.Merge(t.Context(), groups[0].Number, groups[1].Number); err != nil {
		t.Fatal(err)
	}
	if err := s.Split(t.Context(), groups[2].Number); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		answer(t, s, explain.Different)
	}
	before := state(t, s)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.working.Wait()
	after := state(t, s)
	if after.Progress.Problem != "" || after.Progress.Running || after.Progress.Times != 1 || after.Applied != 7 || after.Answers != 0 || after.Clusters != before.Clusters {
		t.Errorf("%+v, of %+v", after, before)
	}
	if c := after.Changes; c == nil || c.Answers != 7 || c.Before != m.Clusters() || c.After != before.Clusters || c.Moved == 0 {
		t.Errorf("the changes are %+v", c)
	}
	known, err := s.model.Constraints.Resolve(m.Samples())
	if err != nil {
		t.Fatal(err)
	}
	if pair, broken := known.Violation(s.model.Labels); broken {
		t.Errorf("%v are not as answered", pair)
	}
	if err := s.model.Validate(); err != nil {
		t.Error(err)
	}
	if err := s.Undo(t.Context()); !errors.Is(err, errNothing) {
		t.Errorf("an applied answer is undone: %v", err)
	}
	later := begun(t, s.model, dir)
	if got := state(t, later); got.Applied != 7 || got.Answers != 0 || got.Clusters != after.Clusters {
		t.Errorf("a later review has %+v", got)
	}
	s.Apply = func(context.Context, *Revision, func(string, float64)) (*mvclust.Model, error) {
		return nil, io.ErrShortWrite
	}
	answer(t, s, explain.Different)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.working.Wait()
	if got := state(t, s); got.Progress.Problem == "" || got.Answers != 1 {
		t.Errorf("after a failure: %+v", got.Progress)
	}
}

// same reports what the page shows otherwise.
func same(t *testing.T, what string, got, want *State) {
	t.Helper()
	if got.Clusters != want.Clusters || got.Answers != want.Answers || got.Steps != want.Steps || got.Levels.Now != want.Levels.Now || !reflect.DeepEqual(got.Question, want.Question) || !reflect.DeepEqual(got.Groups, want.Groups) {
		t.Errorf("%s: %d clusters at level %d, %d answers, %d steps; want %d at %d, %d, %d", what, got.Clusters, got.Levels.Now, got.Answers, got.Steps, want.Clusters, want.Levels.Now, want.Answers, want.Steps)
	}
}

// holds reports answers that the clusters contradict.
func holds(t *testing.T, s *Session) {
	t.Helper()
	set := s.questions.Constraints()
	known, err := set.Resolve(s.Samples())
	if err != nil {
		t.Fatal(err)
	}
	if pair, broken := known.Violation(s.questions.Labels()); broken {
		t.Errorf("at level %d, %v are not as answered", s.base.Level, pair)
	}
	answers := slices.DeleteFunc(slices.Clone(s.entries), func(e entry) bool { return e.level >= 0 || e.Verdict == explain.Skip })
	if n := len(set.MustLink) + len(set.CannotLink); n != len(answers) {
		t.Errorf("%d constraints of %d answers", n, len(answers))
	}
}

// At every level all answers hold; each step is on disk at once, and can be taken back.
func TestSteps(t *testing.T) {
	m, dir := model(t), t.TempDir()
	if len(m.Levels) < 2 {
		t.Fatalf("there are %d levels", len(m.Levels))
	}
	s := begun(t, m, dir)
	first := state(t, s)
	if l := first.Levels; l.Now != m.Level || l.Result != m.Level || len(l.Clusters) != len(m.Levels) || l.Undo {
		t.Errorf("the levels are %+v", l)
	}
	if err := s.SetLevel(t.Context(), m.Level); err != nil || len(s.entries) > 0 {
		t.Errorf("a step to where one is: %v, %v", s.entries, err)
	}
	seen := []*State{first}
	for _, to := range []int{0, len(m.Levels) - 1, 0, m.Level} {
		if to != s.base.Level {
			if err := s.SetLevel(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, state(t, s))
			if now := seen[len(seen)-1]; now.Levels.Now != to || !now.Levels.Undo || len(seen) == 2 && now.Clusters != m.Levels[to].Clusters {
				t.Errorf("level %d: %d clusters, %+v", to, now.Clusters, now.Levels)
			}
			holds(t, s)
		}
		for _, v := range []explain.Verdict{explain.Same, explain.Different} {
			if state(t, s).Question == nil {
				continue
			}
			seen = append(seen, answer(t, s, v))
			holds(t, s)
		}
		same(t, "a later review", state(t, begun(t, m, dir)), seen[len(seen)-1])
	}
	for k := len(seen) - 1; k > 0; k-- {
		same(t, fmt.Sprint("before it is taken back, ", k), state(t, s), seen[k])
		if err := s.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "in the end", state(t, s), first)
	if text, err := os.ReadFile(filepath.Join(dir, AnswersFile)); err != nil || len(text) > 0 {
		t.Errorf("in the end there is %q, %v", text, err)
	}
}

// What is applied is the level with the answers; steps to it are then forgotten, and answers are not.
func TestApplyLevel(t *testing.T) {
	m, dir := model(t), t.TempDir()
	s := begun(t, m, dir)
	applied := func() *State {
		t.Helper()
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		s.working.Wait()
		got := state(t, s)
		if got.Progress.Problem != "" || got.Answers+got.Steps != 0 {
			t.Fatalf("%+v", got)
		}
		if err := s.model.Validate(); err != nil {
			t.Error(err)
		}
		return got
	}
	to := (m.Level + 1) % len(m.Levels)
	if err := s.SetLevel(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	got := applied()
	if c := got.Changes; got.Levels.Now != to || got.Levels.Result != to || c == nil || c.Levels != 1 || c.Answers != 0 || c.After != m.Levels[to].Clusters || !slices.Equal(s.model.Labels, m.Levels[to].Labels) || s.model.Settings.Resolution != m.Levels[to].Resolution {
		t.Errorf("a level alone: %+v, %+v", got.Levels, got.Changes)
	}
	answer(t, s, explain.Different)
	if err := s.SetLevel(t.Context(), m.Level); err != nil {
		t.Fatal(err)
	}
	groups := state(t, s).Groups
	if err := s.Merge(t.Context(), groups[0].Number, groups[1].Number); err != nil {
		t.Fatal(err)
	}
	before := state(t, s)
	got = applied()
	if c := got.Changes; got.Clusters != before.Clusters || got.Applied != 2 || got.Levels.Now != -1 || got.Levels.Result != -1 || c.Levels != 1 || c.Answers != 2 {
		t.Errorf("%+v, %+v, of %+v", got, got.Changes, before)
	}
	text, err := os.ReadFile(filepath.Join(dir, AnswersFile))
	if err != nil || len(s.journal.ends) != 2 || strings.Contains(string(text), goTo) {
		t.Errorf("what is left is %q, %v", text, err)
	}
	// An end before the steps are forgotten changes nothing: a later review is where this one is.
	cutOff := t.TempDir()
	step := entry{level: m.Level}
	if err := os.WriteFile(filepath.Join(cutOff, AnswersFile), slices.Concat(text, step.line(nil)), 0o666); err != nil {
		t.Fatal(err)
	}
	later := begun(t, s.model, cutOff)
	if again := state(t, later); again.Clusters != got.Clusters || again.Levels.Now != m.Level || compare(numbered(later.questions.Labels()), s.model.Labels).Moved != 0 {
		t.Errorf("after an end before the steps are forgotten: %d clusters, %+v", again.Clusters, again.Levels)
	}
	// Applied answers hold at other levels, whole, and cannot be taken back.
	if err := s.SetLevel(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	holds(t, s)
	if err := s.SetLevel(t.Context(), m.Level); err != nil {
		t.Fatal(err)
	}
	if again := state(t, s); again.Clusters != before.Clusters {
		t.Errorf("back at the level there are %d clusters, %d before", again.Clusters, before.Clusters)
	}
	for range 2 {
		if err := s.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Undo(t.Context()); !errors.Is(err, errNothing) {
		t.Errorf("an applied answer is undone: %v", err)
	}
}

// A level that the model does not have is no reason to lose the answers: the line is named.
func TestLevelLines(t *testing.T) {
	m, dir := model(t), t.TempDir()
	for text, problem := range map[string]string{
		",,level,99\n": "there is no level 99", ",,level,-1\n": "no level", ",,level,x\n": "no level", ",,level\n": "no level", "a,b,level,0\n": "no level",
	} {
		if err := os.WriteFile(filepath.Join(dir, AnswersFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), m, Options{Folder: dir}); err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "remove the line") {
			t.Errorf("%q: %v, want %q", text, err, problem)
		}
	}
	bare := *m
	bare.Levels, bare.Level = nil, -1
	s := begun(t, &bare, t.TempDir())
	if got := state(t, s); got.Levels.Coarser != -1 || got.Levels.Finer != -1 || len(got.Levels.Clusters) != 0 {
		t.Errorf("without levels: %+v", got.Levels)
	}
	if err := s.SetLevel(t.Context(), 0); !errors.Is(err, errMalformed) {
		t.Errorf("without levels there is one: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("a,b,same,merge\n"))
	f.Add([]byte("\"a\n\",b,same\nc,d,skip,sample"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, ends, err := parse(text)
		if err != nil {
			return
		}
		if len(lines) != len(ends) {
			t.Fatalf("%d lines, %d ends", len(lines), len(ends))
		}
		if len(ends) == 0 {
			return
		}
		// What is left when the rest is dropped says the same.
		again, _, err := parse(text[:ends[len(ends)-1]])
		if err != nil || !slices.EqualFunc(again, lines, slices.Equal) {
			t.Fatalf("%q, then %q: %v", lines, again, err)
		}
	})
}
