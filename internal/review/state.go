package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/words"
)

// State is all that the page shows.
type State struct {
	Samples  int      `json:"samples"`
	Clusters int      `json:"clusters"`
	Answers  int      `json:"answers"` // that are not applied
	Steps    int      `json:"steps"`   // to other levels, that are not applied
	Applied  int      `json:"applied"` // answers
	Levels   Levels   `json:"levels"`
	Left     Left     `json:"left"`
	Question *Ask     `json:"question"`
	Groups   []Group  `json:"groups"` // the largest
	Columns  []string `json:"columns"`
	Changes  *Changes `json:"changes"`
	Progress Progress `json:"progress"`
	Problem  string   `json:"problem"`
}

// Levels are the granularities that can be looked at. Each is named by its place, or by -1 for none.
type Levels struct {
	Clusters []int `json:"clusters"` // of each, coarse to fine
	Now      int   `json:"now"`      // the one that is looked at
	Result   int   `json:"result"`   // that of the files
	Coarser  int   `json:"coarser"`
	Finer    int   `json:"finer"`
	// Undo says that what can be taken back next is a step from another level.
	Undo bool `json:"undo"`
}

// Left counts open questions.
type Left struct {
	Clusters int `json:"clusters"`
	Samples  int `json:"samples"`
}

// Ask is a question, and what its answers lead to.
type Ask struct {
	A         Shown         `json:"a"`
	B         Shown         `json:"b"`
	About     explain.Topic `json:"about"`
	Why       string        `json:"why"`
	Same      string        `json:"same"`
	Different string        `json:"different"`
	Yes       float64       `json:"yes"`
	Samples   int           `json:"samples"`
}

// Shown is a sample as the page shows it.
type Shown struct {
	Sample  int      `json:"sample"`
	ID      string   `json:"id"`
	Cluster int      `json:"cluster"`
	Size    int      `json:"size"` // of its cluster
	Name    string   `json:"name"` // of its cluster
	Picture bool     `json:"picture"`
	Cells   []string `json:"cells"`
}

// Group is a cluster.
type Group struct {
	Number  int     `json:"number"`
	Size    int     `json:"size"`
	Name    string  `json:"name"`
	Central []Shown `json:"central"`
	// Linked are the clusters that it may be one with, the most probable first.
	Linked []int `json:"linked"`
}

// mostGroups bounds the clusters on the page.
const mostGroups = 100

// State describes the session. It looks for the next question.
func (s *Session) State(ctx context.Context) (*State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, err := s.questions.Next(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := s.describe(ctx); err != nil {
		return nil, err
	}
	t := &State{
		Samples: s.model.Samples(), Clusters: len(s.groups), Answers: answersIn(s.entries[s.applied:]), Applied: answersIn(s.entries[:s.applied]),
		Levels: s.levels(), Columns: s.Columns, Changes: s.changes, Progress: s.Progress(), Groups: []Group{},
	}
	t.Steps = len(s.entries) - s.applied - t.Answers
	if t.Left.Clusters, t.Left.Samples, err = s.questions.Left(ctx); err != nil {
		return nil, err
	}
	labels := s.questions.Labels()
	names := s.named(labels)
	show := func(i int) Shown {
		c := labels[i]
		place, _ := slices.BinarySearch(s.numbers, c)
		out := Shown{Sample: i, ID: s.model.ID(i), Cluster: c, Size: s.groups[place].Size, Name: names[c], Picture: s.Pictures != nil}
		if s.Rows != nil {
			out.Cells = s.Rows(i)
		}
		return out
	}
	if len(open) > 0 {
		t.Question = ask(&open[0], show)
	}
	order := make([]int, len(s.groups))
	for at := range order {
		order[at] = at
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(s.groups[b].Size-s.groups[a].Size, a-b) })
	for _, at := range order[:min(len(order), mostGroups)] {
		x := &s.groups[at]
		g := Group{Number: s.numbers[at], Size: x.Size, Name: names[s.numbers[at]], Central: []Shown{}, Linked: []int{}}
		for _, i := range x.Central {
			g.Central = append(g.Central, show(i))
		}
		for _, l := range x.Merges {
			g.Linked = append(g.Linked, l.Cluster)
		}
		t.Groups = append(t.Groups, g)
	}
	return t, nil
}

// levels describes the levels.
func (s *Session) levels() Levels {
	l := Levels{Clusters: []int{}, Now: s.base.Level, Result: s.model.Level}
	for k := range s.model.Levels {
		l.Clusters = append(l.Clusters, s.model.Levels[k].Clusters)
	}
	l.Coarser, l.Finer = s.base.Beside()
	if last := len(s.entries) - 1; last >= s.applied {
		l.Undo = s.entries[last].level >= 0
	}
	return l
}

// named returns the names of clusters. Of several names, that of the lowest sample counts.
func (s *Session) named(labels []int) map[int]string {
	names, from := map[int]string{}, map[int]int{}
	for i, name := range s.names {
		c := labels[i]
		if first, taken := from[c]; !taken || i < first {
			names[c], from[c] = name, i
		}
	}
	return names
}

// ask puts a question into words.
func ask(q *explain.Question, show func(int) Shown) *Ask {
	a := &Ask{A: show(q.A.Sample), B: show(q.B.Sample), About: q.About, Yes: q.Yes, Samples: q.Samples}
	moves := words.Count(q.Samples, "sample")
	switch {
	case q.About == explain.AboutMerge && q.Second:
		a.Why = fmt.Sprintf("A second look: are clusters %d and %d one?", a.A.Cluster, a.B.Cluster)
		a.Same = fmt.Sprintf("clusters %d and %d become one, of %d", a.A.Cluster, a.B.Cluster, a.A.Size+a.B.Size)
		a.Different = "they stay two"
	case q.About == explain.AboutMerge:
		a.Why = fmt.Sprintf("Are clusters %d and %d one?", a.A.Cluster, a.B.Cluster)
		a.Same = fmt.Sprintf("they become one, which moves %s", moves)
		if q.Samples >= explain.Twice {
			a.Same = fmt.Sprintf("one more pair decides on %s", moves)
		}
		a.Different = "they stay two, and are not asked about again"
	case q.About == explain.AboutSplit:
		a.Why = fmt.Sprintf("Is cluster %d two?", a.A.Cluster)
		a.Same = fmt.Sprintf("cluster %d stays one", a.A.Cluster)
		a.Different = fmt.Sprintf("%s become a cluster of their own", moves)
	default:
		a.Why = fmt.Sprintf("Does %s belong in cluster %d?", words.Name(a.A.ID), a.A.Cluster)
		a.Same, a.Different = "it stays", "it moves to its next best cluster"
	}
	return a
}
