// Package review lets a person answer on a local page what a clustering leaves open.
//
// A Session holds the clusters as the answers have left them. Server serves it to a browser on
// this machine. An answer is on disk before the next question is asked.
package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
)

// Options say what a session shows, and how it applies answers.
type Options struct {
	// Title is the heading of the page.
	Title string
	// Folder holds the answers.
	Folder string
	// Pictures supplies the picture files of samples, as report.Pictures does; nil where there
	// are none.
	Pictures func(ctx context.Context, samples []int, take func(sample int, file []byte, problem error)) error
	// Columns are the names of Rows' cells, and Rows says what is known of a sample; nil where
	// there is no table.
	Columns []string
	Rows    func(sample int) []string
	// Apply writes the clusters as the answers have left them, and returns their model. It
	// tells from time to time what it does, and which share of it is done.
	Apply func(ctx context.Context, r *Revision, told func(doing string, share float64)) (*mvclust.Model, error)
}

// Revision is what answers have made of a model.
type Revision struct {
	Model       *mvclust.Model
	Labels      []int // numbered by falling size
	Level       int   // of the model's levels, the one of Labels; -1 where it is none
	Constraints mvclust.Constraints
	Answers     int      // how many are new
	Names       []string // of clusters, by label, empty for none; nil where none has a name
}

// Session is a review under way. Its methods may be called by several goroutines.
type Session struct {
	Options
	mu        sync.Mutex
	ctx       context.Context
	model     *mvclust.Model     // as it is on disk
	base      *mvclust.Model     // the same at the level that is looked at
	questions *explain.Questions // about base
	journal   *journal
	entries   []entry        // of the journal
	names     map[int]string // by a member of the cluster
	applied   int            // entries that the model has
	current   *explain.Explainer
	groups    []explain.Cluster // of current, by place
	numbers   []int             // place -> cluster
	changes   *Changes
	working   sync.WaitGroup

	looking  sync.Mutex // at pictures
	told     sync.Mutex
	progress Progress
}

// Progress says how far the application of the answers is.
type Progress struct {
	Running bool    `json:"running"`
	Doing   string  `json:"doing"`
	Share   float64 `json:"share"`
	Problem string  `json:"problem"`
	Times   int     `json:"times"` // that answers were applied
}

// Changes says what answers have changed, when they were applied.
type Changes struct {
	Before  int `json:"before"` // clusters
	After   int `json:"after"`
	Moved   int `json:"moved"` // samples that are with others than before
	Answers int `json:"answers"`
	Levels  int `json:"levels"` // steps to other levels
}

// Open begins a session about a model, or continues one: answers that are in the folder hold. It
// must be closed. Answers are applied until ctx is done.
func Open(ctx context.Context, m *mvclust.Model, opt Options) (*Session, error) {
	s := &Session{Options: opt, ctx: ctx}
	path := filepath.Join(opt.Folder, AnswersFile)
	j, entries, err := openJournal(path, m.Index)
	if err != nil {
		return nil, err
	}
	s.journal = j
	if s.names, err = readNames(filepath.Join(opt.Folder, NamesFile), m.Index); err == nil {
		err = s.begin(m, entries, len(entries)-fresh(m, entries))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the session.
func (s *Session) Close() {
	s.working.Wait()
	_ = s.journal.file.Close() // every answer is on disk
	if len(s.journal.ends) == 0 {
		_ = os.Remove(s.journal.file.Name())
	}
}

// Samples returns the number of samples.
func (s *Session) Samples() int { return s.model.Samples() }

// begin takes over a model and entries, some of which it has.
func (s *Session) begin(m *mvclust.Model, entries []entry, applied int) error {
	base, q, err := s.recall(s.ctx, m, entries, applied)
	if err != nil {
		return err
	}
	s.model, s.base, s.questions, s.current = m, base, q, nil
	s.entries, s.applied = entries, applied
	return nil
}

// recall returns the model at the level that entries lead to, and the questions about it with all
// answers.
func (s *Session) recall(ctx context.Context, m *mvclust.Model, entries []entry, applied int) (*mvclust.Model, *explain.Questions, error) {
	base := m
	for k, e := range slices.Backward(entries[applied:]) {
		if e.level < 0 {
			continue
		}
		if e.level >= len(m.Levels) {
			return nil, nil, fmt.Errorf("%s, answer %d: there is no level %d; the model has %s, counted from 0; remove the line", filepath.Join(s.Folder, AnswersFile), applied+k+1, e.level, words.Count(len(m.Levels), "level"))
		}
		var err error
		if base, err = at(ctx, m, e.level, entries); err != nil {
			return nil, nil, err
		}
		break
	}
	x, err := explain.New(ctx, base, 0)
	if err != nil {
		return nil, nil, err
	}
	q := x.Questions()
	for k, e := range entries {
		if e.level >= 0 {
			continue
		}
		if err := q.Recall(ctx, e.Answer); err != nil {
			return nil, nil, fmt.Errorf("%s, answer %d: %w", filepath.Join(s.Folder, AnswersFile), k+1, s.explain(m, err))
		}
	}
	return base, q, nil
}

// at returns a model at a level, without the answers that it has: they are given again there, and
// then join and cut whole clusters.
func at(ctx context.Context, m *mvclust.Model, level int, entries []entry) (*mvclust.Model, error) {
	answered := map[[2]int]bool{}
	for _, e := range entries {
		answered[[2]int{min(e.A, e.B), max(e.A, e.B)}] = e.level < 0
	}
	given := func(p [2]int) bool { return answered[[2]int{min(p[0], p[1]), max(p[0], p[1])}] }
	bare := *m
	bare.Constraints.MustLink = slices.DeleteFunc(slices.Clone(m.Constraints.MustLink), given)
	bare.Constraints.CannotLink = slices.DeleteFunc(slices.Clone(m.Constraints.CannotLink), given)
	base, err := bare.Cut(ctx, mvclust.CutOptions{Level: level})
	if err != nil {
		return nil, err
	}
	base.Level = level // also where constraints have changed it
	return base, nil
}

// fresh returns how many of the last entries the model does not have.
func fresh(m *mvclust.Model, entries []entry) int {
	has := map[[2]int]bool{}
	for _, p := range slices.Concat(m.Constraints.MustLink, m.Constraints.CannotLink) {
		has[[2]int{min(p[0], p[1]), max(p[0], p[1])}] = true
	}
	for k, e := range slices.Backward(entries) {
		if e.level < 0 && e.Verdict != explain.Skip && has[[2]int{min(e.A, e.B), max(e.A, e.B)}] {
			return len(entries) - 1 - k
		}
	}
	return len(entries)
}

// explain names samples in an error about constraints.
func (s *Session) explain(m *mvclust.Model, err error) error {
	bad, ok := errors.AsType[*constraint.Error](err)
	if !ok {
		return err
	}
	return errors.New(bad.Describe(func(i int) string { return words.Quote(m.ID(i)) }, func(constraint.Kind, []int) string { return "earlier answers" }))
}

var (
	errMalformed = errors.New("the request is malformed")
	errBusy      = errors.New("the answers are being applied; wait until that is done")
	errStale     = errors.New("that question has been answered; here is the next one")
	errNothing   = errors.New("no answer is left to undo")
)

// tell keeps an answer and carries it out, in the other order: one that cannot be carried out is
// not kept. The caller holds the lock.
func (s *Session) tell(ctx context.Context, a explain.Answer) error {
	if s.Progress().Running {
		return errBusy
	}
	if err := s.questions.Answer(ctx, a); err != nil {
		return s.explain(s.model, err)
	}
	e := entry{a, -1}
	if err := s.journal.append(e.line(s.model.ID)); err != nil {
		s.questions.Undo()
		return err
	}
	s.entries = append(s.entries, e)
	s.current, s.changes = nil, nil
	return nil
}

// SetLevel goes to a level of the model, with all answers.
func (s *Session) SetLevel(ctx context.Context, level int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if level < 0 || level >= len(s.model.Levels) {
		return errMalformed
	}
	if s.Progress().Running {
		return errBusy
	}
	if level == s.base.Level {
		return nil
	}
	e := entry{level: level}
	entries := append(slices.Clone(s.entries), e)
	base, q, err := s.recall(ctx, s.model, entries, s.applied)
	if err != nil {
		return err
	}
	if err := s.journal.append(e.line(s.model.ID)); err != nil {
		return err
	}
	s.base, s.questions, s.entries = base, q, entries
	s.current, s.changes = nil, nil
	return nil
}

// Answer answers the open question, which is about samples a and b.
func (s *Session) Answer(ctx context.Context, a, b int, verdict string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, err := s.questions.Next(ctx, 1)
	if err != nil {
		return err
	}
	if !slices.Contains([]explain.Verdict{explain.Same, explain.Different, explain.Skip}, explain.Verdict(verdict)) {
		return errMalformed
	}
	if len(open) == 0 || open[0].A.Sample != a || open[0].B.Sample != b {
		return errStale
	}
	return s.tell(ctx, explain.Answer{A: a, B: b, About: open[0].About, Verdict: explain.Verdict(verdict)})
}

// Undo takes the last answer back that was not applied, or the last step to another level.
func (s *Session) Undo(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Progress().Running {
		return errBusy
	}
	last := len(s.entries) - 1
	if last < s.applied {
		return errNothing
	}
	base, q := s.base, s.questions
	if s.entries[last].level >= 0 {
		var err error
		if base, q, err = s.recall(ctx, s.model, s.entries[:last], s.applied); err != nil {
			return err
		}
	}
	if err := s.journal.undo(); err != nil {
		return err
	}
	if s.entries[last].level < 0 {
		q.Undo()
	}
	s.base, s.questions, s.entries, s.current = base, q, s.entries[:last:last], nil
	return nil
}

// Merge joins two clusters whole.
func (s *Session) Merge(ctx context.Context, a, b int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, okX, err := s.central(ctx, a)
	if err != nil {
		return err
	}
	y, okY, err := s.central(ctx, b)
	if err != nil {
		return err
	}
	if a == b || !okX || !okY {
		return errMalformed
	}
	return s.tell(ctx, explain.Answer{A: x, B: y, About: explain.AboutClusters, Verdict: explain.Same})
}

// Split cuts a cluster where it is least connected.
func (s *Session) Split(ctx context.Context, cluster int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok, err := s.central(ctx, cluster); err != nil || !ok {
		return errors.Join(err, errMalformed)
	}
	halves, ok, err := s.questions.Halves(ctx, cluster)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("cluster %d cannot be split: it has too few samples, or what is known keeps its halves together", cluster)
	}
	return s.tell(ctx, explain.Answer{A: halves[0], B: halves[1], About: explain.AboutClusters, Verdict: explain.Different})
}

// mostName bounds the characters of a name.
const mostName = 80

// Name gives a cluster a name, or takes it away.
func (s *Session) Name(ctx context.Context, cluster int, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := nameOf(name)
	if err != nil {
		return err
	}
	central, ok, err := s.central(ctx, cluster)
	if err != nil || !ok {
		return errors.Join(err, errMalformed)
	}
	labels, next := s.questions.Labels(), maps.Clone(s.names)
	maps.DeleteFunc(next, func(i int, _ string) bool { return labels[i] == cluster })
	if name != "" {
		next[central] = name
	}
	if err := writeNames(filepath.Join(s.Folder, NamesFile), next, s.model.ID); err != nil {
		return err
	}
	s.names = next
	return nil
}

// nameOf returns a name without what cannot be printed, or an error where it is too long.
func nameOf(name string) (string, error) {
	name = strings.Join(strings.Fields(name), " ")
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if len([]rune(name)) > mostName {
		return "", fmt.Errorf("the name has %d characters; use %d at most", len([]rune(name)), mostName)
	}
	return name, nil
}

// central returns the most central sample of a cluster, if there is one of that number.
func (s *Session) central(ctx context.Context, cluster int) (int, bool, error) {
	if err := s.describe(ctx); err != nil {
		return 0, false, err
	}
	place, ok := slices.BinarySearch(s.numbers, cluster)
	if !ok {
		return 0, false, nil
	}
	return s.groups[place].Central[0], true, nil
}

// describe describes the clusters as they are.
func (s *Session) describe(ctx context.Context) error {
	if s.current != nil {
		return nil
	}
	x, err := s.questions.Current(ctx)
	if err != nil {
		return err
	}
	if s.groups, s.numbers, err = x.Clusters(ctx, explain.DescribeSettings{Members: 6, Merges: 5}); err != nil {
		return err
	}
	s.current = x
	return nil
}

// picture returns the picture file of a sample and its media type, or nothing.
func (s *Session) picture(ctx context.Context, i int) (file []byte, kind string) {
	if s.Pictures == nil {
		return nil, ""
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	err := s.Pictures(ctx, []int{i}, func(_ int, b []byte, problem error) {
		if problem == nil {
			file = b
		}
	})
	kind = http.DetectContentType(file)
	if err != nil || !slices.Contains([]string{"image/jpeg", "image/png", "image/webp", "image/gif"}, kind) {
		return nil, ""
	}
	return file, kind
}

// Progress says how far the application of the answers is.
func (s *Session) Progress() Progress {
	s.told.Lock()
	defer s.told.Unlock()
	return s.progress
}

func (s *Session) tellProgress(p Progress) {
	s.told.Lock()
	defer s.told.Unlock()
	p.Times = s.progress.Times
	if !p.Running && p.Problem == "" {
		p.Times++
	}
	s.progress = p
}

// Start begins to apply the answers, in the background.
func (s *Session) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Progress().Running {
		return errBusy
	}
	if len(s.entries) == s.applied {
		return errors.New("there is no new answer to apply")
	}
	r := &Revision{Model: s.base, Labels: numbered(s.questions.Labels()), Level: -1, Constraints: s.questions.Constraints(), Answers: answersIn(s.entries[s.applied:])}
	if l := s.base.Level; l >= 0 && l < len(s.base.Levels) && slices.Equal(r.Labels, s.base.Levels[l].Labels) {
		r.Level = l
	}
	r.Names = s.namesOf(r.Labels)
	s.tellProgress(Progress{Running: true, Doing: "applying the answers"})
	s.working.Go(func() {
		p := Progress{}
		if err := s.apply(r); err != nil {
			p.Problem = err.Error()
		}
		s.tellProgress(p)
	})
	return nil
}

// namesOf returns Revision.Names.
func (s *Session) namesOf(labels []int) []string {
	if len(s.names) == 0 {
		return nil
	}
	names := make([]string, 1+slices.Max(labels))
	for c, name := range s.named(labels) {
		names[c] = name
	}
	return names
}

// apply applies what is new, and goes on from the new model.
func (s *Session) apply(r *Revision) error {
	next, err := s.Apply(s.ctx, r, func(doing string, share float64) {
		s.tellProgress(Progress{Running: true, Doing: doing, Share: share})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := compare(s.model.Labels, next.Labels)
	changes.Answers, changes.Levels = r.Answers, len(s.entries)-s.applied-r.Answers
	if err := s.begin(next, s.entries, len(s.entries)); err != nil {
		return err
	}
	s.changes = changes
	return s.forget()
}

// forget removes the steps to other levels, all of which the model has.
func (s *Session) forget() error {
	var entries []entry
	var lines [][]byte
	for _, e := range s.entries {
		if e.level < 0 {
			entries, lines = append(entries, e), append(lines, e.line(s.model.ID))
		}
	}
	if len(entries) == len(s.entries) {
		return nil
	}
	if err := s.journal.rewrite(lines); err != nil {
		return err
	}
	s.entries, s.applied = entries, len(entries)
	return nil
}

// numbered numbers clusters by falling size and, among equals, by the first sample.
func numbered(labels []int) []int {
	size, first := map[int]int{}, map[int]int{}
	for i, l := range labels {
		if size[l]++; size[l] == 1 {
			first[l] = i
		}
	}
	order := slices.SortedFunc(maps.Keys(size), func(a, b int) int {
		if size[a] != size[b] {
			return size[b] - size[a]
		}
		return first[a] - first[b]
	})
	place := map[int]int{}
	for at, l := range order {
		place[l] = at
	}
	out := make([]int, len(labels))
	for i, l := range labels {
		out[i] = place[l]
	}
	return out
}

// compare counts what differs between two partitions. A sample has moved where most of its
// cluster came from another cluster, or most of its old one went elsewhere.
func compare(before, after []int) *Changes {
	both, from, to := map[[2]int]int{}, map[int]int{}, map[int]int{}
	for i, l := range before {
		both[[2]int{l, after[i]}]++
		from[l]++
		to[after[i]]++
	}
	best, origin := map[int]int{}, map[int]int{} // the largest share of each
	for p, n := range both {
		best[p[0]], origin[p[1]] = max(best[p[0]], n), max(origin[p[1]], n)
	}
	c := &Changes{Before: len(from), After: len(to)}
	for p, n := range both {
		if n < best[p[0]] || n < origin[p[1]] {
			c.Moved += n
		}
	}
	return c
}
