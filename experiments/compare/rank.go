package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/experiments/lab"
)

// ranking is how systems compare over several sets.
type ranking struct {
	systems []string // by rising mean rank
	rank    []float64
	sets    int
	// difference is that of two mean ranks from which on they differ significantly.
	difference float64
}

// rank ranks systems by their scores, which are by system and set: on every set the best has rank
// 1, and equal ones the mean of theirs. Two systems differ at the 5% level where their mean ranks
// differ by at least
//
//	q sqrt(k (k + 1) / (6 N))
//
// for k systems and N sets: the test of Nemenyi, after
//
//	Demšar, "Statistical comparisons of classifiers over multiple data sets", 2006.
func rank(systems []string, scores [][]float64) ranking {
	k, n := len(systems), len(scores[0])
	mean := make([]float64, k)
	for set := range n {
		for a := range k {
			better, equal := 0, 0
			for b := range k {
				switch x, y := scores[a][set], scores[b][set]; {
				case y > x:
					better++
				case y == x:
					equal++
				}
			}
			mean[a] += (float64(better) + float64(equal+1)/2) / float64(n)
		}
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	r := ranking{sets: n, difference: studentised(k) * math.Sqrt(float64(k*(k+1))/float64(6*n))}
	for _, i := range order {
		r.systems, r.rank = append(r.systems, systems[i]), append(r.rank, mean[i])
	}
	return r
}

// cliques returns, as first and last place, the longest runs of systems of which no two differ
// significantly.
func (r *ranking) cliques() [][2]int {
	var list [][2]int
	last := -1
	for i := range r.rank {
		j := i
		for j+1 < len(r.rank) && r.rank[j+1]-r.rank[i] < r.difference {
			j++
		}
		if j > i && j > last {
			list = append(list, [2]int{i, j})
		}
		last = max(last, j)
	}
	return list
}

// studentised returns the value that the range of k independent standard normal numbers exceeds
// in 5 of 100 cases, over the root of 2.
func studentised(k int) float64 {
	low, high := 0.0, 10.0
	for range 60 {
		middle := (low + high) / 2
		if below(middle, k) < 0.95 {
			low = middle
		} else {
			high = middle
		}
	}
	return low / math.Sqrt2
}

// below is the probability that the range of k independent standard normal numbers is below q.
func below(q float64, k int) float64 {
	const step = 0.01
	sum := 0.0
	for z := -8.0; z <= 8; z += step {
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		sum += step * density * math.Pow(normal(z)-normal(z-q), float64(k-1))
	}
	return float64(k) * sum
}

// normal is the probability that a standard normal number is below x.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// shared returns the subjects of a state that all of the returned contestants were run on: these
// are the ones that were run on four fifths of those on which any was.
func (e *Experiment) shared(lacking bool) ([]*subject, []contestant) {
	count := make(map[string]int)
	var some []*subject
	for i := range e.subjects {
		x := &e.subjects[i]
		if x.lacking != lacking {
			continue
		}
		found := false
		for _, c := range e.all {
			if v := e.value(x, c, lab.ARI); v == v {
				count[c.Name]++
				found = true
			}
		}
		if found {
			some = append(some, x)
		}
	}
	enough := slices.DeleteFunc(slices.Clone(e.all), func(c contestant) bool { return 5*count[c.Name] < 4*len(some) || count[c.Name] == 0 })
	some = slices.DeleteFunc(some, func(x *subject) bool {
		return slices.ContainsFunc(enough, func(c contestant) bool { return math.IsNaN(e.value(x, c, lab.ARI)) })
	})
	return some, enough
}

// ranking ranks the systems on the subjects of a state by ARI; nil where there are fewer than two
// of either.
func (e *Experiment) ranking(lacking bool) *ranking {
	some, systems := e.shared(lacking)
	if len(some) < 2 || len(systems) < 2 {
		return nil
	}
	var names []string
	var scores [][]float64
	for _, c := range systems {
		var of []float64
		for _, x := range some {
			of = append(of, e.value(x, c, lab.ARI))
		}
		names, scores = append(names, c.Name), append(scores, of)
	}
	r := rank(names, scores)
	return &r
}

// groups are the names of the series of a figure: what the systems are told.
var groups = []string{"told the number", "told nothing", "mvclust"}

// group returns the series of a system.
func (c contestant) group() string {
	switch {
	case c.Name == published || c.Name == ours:
		return groups[2]
	case c.Told:
		return groups[0]
	default:
		return groups[1]
	}
}

// clouds are the points of systems by their groups.
func clouds(systems []contestant, at func(i int) (x, y float64)) []lab.Series {
	var list []lab.Series
	for _, group := range groups {
		s := lab.Series{Name: group}
		for i, c := range systems {
			if c.group() == group {
				x, y := at(i)
				s.X, s.Y, s.Names = append(s.X, x), append(s.Y, y), append(s.Names, c.Name)
			}
		}
		if s.Names != nil {
			list = append(list, s)
		}
	}
	return list
}

// figure draws the mean ranks, the best on top, and below them lines over systems that do not
// differ significantly.
func (e *Experiment) figure(r *ranking, name, title string) lab.Figure {
	var systems []contestant
	for _, of := range r.systems {
		i := slices.IndexFunc(e.all, func(c contestant) bool { return c.Name == of })
		systems = append(systems, e.all[i])
	}
	p := lab.Panel{X: fmt.Sprintf("mean rank on %s, 1 is best; the critical difference is %.2f", lab.Count(r.sets, "set"), r.difference), Bare: true}
	p.Series = clouds(systems, func(i int) (x, y float64) { return r.rank[i], float64(len(systems) - i) })
	for i, c := range r.cliques() {
		y := -float64(i) / 2
		p.Series = append(p.Series, lab.Series{Name: "not different", X: []float64{r.rank[c[0]], r.rank[c[1]]}, Y: []float64{y, y}})
	}
	return lab.Figure{Name: name, Title: title, Panels: []lab.Panel{p}, Tall: 120 + 22*len(r.rank)}
}

// cost draws the mean ARI over the time of processors on the subjects of a state; no panel where there are none.
func (e *Experiment) cost(lacking bool, name, title string) lab.Figure {
	some, systems := e.shared(lacking)
	f := lab.Figure{Name: name, Title: title, Tall: 420}
	if len(some) > 0 {
		f.Panels = []lab.Panel{{
			X: "seconds of a processor, the geometric mean of the sets", Y: "mean ARI", LogX: true,
			Series: clouds(systems, func(i int) (seconds, quality float64) {
				logarithm := 0.0
				for _, x := range some {
					quality += e.value(x, systems[i], lab.ARI) / float64(len(some))
					logarithm += math.Log(max(1e-4, e.value(x, systems[i], lab.Processor))) / float64(len(some))
				}
				return math.Exp(logarithm), quality
			}),
		}}
	}
	return f
}
