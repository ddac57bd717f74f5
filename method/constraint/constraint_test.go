package constraint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestErrors(t *testing.T) {
	pairs := func(p ...[2]int) [][2]int { return p }
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{MustLink: pairs([2]int{0, 5})}, "must-link 0: there is no sample 5; name samples from 0 to 4"},
		{Set{MustLink: pairs([2]int{0, 1}), CannotLink: pairs([2]int{1, 2}, [2]int{-1, 0})}, "cannot-link 1: there is no sample -1; name samples from 0 to 4"},
		{Set{CannotLink: pairs([2]int{3, 3})}, "cannot-link 0: sample 3 is linked to itself; name two samples, or remove the pair"},
		{Set{MustLink: pairs([2]int{3, 3})}, "must-link 0: sample 3 is linked to itself; name two samples, or remove the pair"},
		{Set{Distinct: []int{1, 2}}, "distinct: 2 groups for 5 samples; give every sample a group, or -1"},
		{Set{MustLink: pairs([2]int{2, 1}), CannotLink: pairs([2]int{3, 4}, [2]int{1, 2})}, "cannot-link 1: sample 1 and sample 2 cannot be together, but must be by must-link 0; remove one of these"},
		{Set{MustLink: pairs([2]int{3, 1}, [2]int{0, 4}, [2]int{1, 2}, [2]int{3, 0}), CannotLink: pairs([2]int{4, 2})}, "cannot-link 0: sample 4 and sample 2 cannot be together, but must be by must-links 1, 3, 0 and 2; remove one of these"},
		{Set{MustLink: pairs([2]int{3, 1}, [2]int{1, 2}), Distinct: []int{-1, 0, 7, 7, -1}}, "distinct: sample 2 and sample 3 are in one group and cannot be together, but must be by must-links 1 and 0; take one of them out of the group, or remove a link"},
	} {
		known, err := c.set.Resolve(5)
		if bad, ok := errors.AsType[*Error](err); !ok || known != nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", bad, err, c.want)
		}
	}
}

func TestEnumerate(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{0, ""}, {1, "0"}, {2, "0 and 1"}, {8, "0, 1, 2, 3, 4, 5, 6 and 7"}, {20, "0, 1, 2, 3, 4, 5, 6, 7 and 12 more"}} {
		var numbers []int
		for i := range c.n {
			numbers = append(numbers, i)
		}
		if got := enumerate(numbers); got != c.want {
			t.Errorf("%d: %q", c.n, got)
		}
	}
}

func TestNothing(t *testing.T) {
	var s Set
	known, err := s.Resolve(3)
	if known != nil || err != nil || !s.Empty() {
		t.Error(known, err)
	}
	joined, _ := known.Violations([]int32{0, 0, 0})
	if known.Count() != (Count{}) || known.Gather([]int{2, 0, 1}) != nil || joined != 0 {
		t.Error("nothing is known, and yet something")
	}
	if pair, broken := known.Violation([]int{0, 0, 0}); broken {
		t.Error(pair)
	}
}

func TestCount(t *testing.T) {
	s := Set{
		MustLink: [][2]int{{0, 1}, {1, 0}, {1, 2}, {5, 6}}, CannotLink: [][2]int{{0, 5}, {3, 4}},
		Distinct: []int{9, -1, -1, 9, 9, 4, -1},
	}
	known, err := s.Resolve(7)
	if err != nil {
		t.Fatal(err)
	}
	want := Count{MustLinks: 4, CannotLinks: 2, Groups: 1, Grouped: 3, Components: 2, Joined: 5}
	if got := known.Count(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := []int32{0, 0, 0, 3, 4, 5, 5}; !slices.Equal(known.Component, want) {
		t.Errorf("the components are %v", known.Component)
	}
}

// draw returns constraints, which may contradict each other, on a few samples.
func draw(r *rand.Rand, n int) Set {
	var s Set
	pairs := func(most int) (out [][2]int) {
		for range r.IntN(most) {
			if a, b := r.IntN(n), r.IntN(n); a != b {
				out = append(out, [2]int{a, b})
			}
		}
		return out
	}
	s.MustLink, s.CannotLink = pairs(n), pairs(n)
	if r.IntN(2) == 0 {
		for range n {
			s.Distinct = append(s.Distinct, r.IntN(n)-1)
		}
	}
	return s
}

// relation transcribes what follows: who must be together, by repeated chaining, and who
// cannot.
func relation(s *Set, n int) (must, cannot [][]bool, consistent bool) {
	for range n {
		must, cannot = append(must, make([]bool, n)), append(cannot, make([]bool, n))
	}
	for i := range n {
		must[i][i] = true
	}
	for _, p := range s.MustLink {
		must[p[0]][p[1]], must[p[1]][p[0]] = true, true
	}
	for h := range n {
		for i := range n {
			for j := range n {
				must[i][j] = must[i][j] || must[i][h] && must[h][j]
			}
		}
	}
	direct := func(a, b int) bool {
		return slices.Contains(s.CannotLink, [2]int{a, b}) || slices.Contains(s.CannotLink, [2]int{b, a}) ||
			s.Distinct != nil && a != b && s.Distinct[a] >= 0 && s.Distinct[a] == s.Distinct[b]
	}
	consistent = true
	for i := range n {
		for j := range n {
			for a := range n {
				for b := range n {
					cannot[i][j] = cannot[i][j] || must[i][a] && must[j][b] && direct(a, b)
				}
			}
			consistent = consistent && !(must[i][j] && cannot[i][j])
		}
	}
	return must, cannot, consistent
}

// TestResolve holds what is known, renumbered or not, to the relation.
func TestResolve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	refused, broken, whole := 0, 0, 0
	for range 1000 {
		n := 2 + r.IntN(8)
		s := draw(r, n)
		must, cannot, consistent := relation(&s, n)
		known, err := s.Resolve(n)
		if (err == nil) != consistent {
			t.Fatalf("%+v: %v", s, err)
		}
		if err != nil {
			refused++
			bad, _ := errors.AsType[*Error](err)
			checkChain(t, &s, bad)
			continue
		}
		if known == nil {
			continue
		}
		labels := make([]int, n)
		narrow := make([]int32, n)
		for i := range labels {
			labels[i] = r.IntN(3)
			narrow[i] = int32(labels[i])
		}
		want := false
		for i := range n {
			for j := range n {
				together := labels[i] == labels[j]
				want = want || must[i][j] && !together || cannot[i][j] && together
			}
		}
		pair, got := known.Violation(labels)
		if got != want {
			t.Fatalf("%+v: %v breaks %v, want %v", s, labels, pair, want)
		}
		if got {
			broken++
			i, j := pair[0], pair[1]
			if same := labels[i] == labels[j]; !(must[i][j] && !same || cannot[i][j] && same) {
				t.Fatalf("%+v: %v does not break %v", s, labels, pair)
			}
		} else {
			whole++
		}
		order := r.Perm(n)
		moved := make([]int, n)
		movedNarrow := make([]int32, n)
		for i, from := range order {
			moved[i], movedNarrow[i] = labels[from], narrow[from]
		}
		renumbered := known.Gather(order)
		if _, again := renumbered.Violation(moved); again != got {
			t.Fatalf("%+v in the order %v: %v", s, order, again)
		}
		joined, all := known.Violations(narrow)
		if j, a := renumbered.Violations(movedNarrow); j != joined || a != all {
			t.Fatalf("%+v in the order %v joins others", s, order)
		}
		for i, c := range renumbered.Component {
			first := slices.IndexFunc(order, func(from int) bool { return must[from][order[i]] })
			if int(c) != first {
				t.Fatalf("%+v in the order %v: the components are %v", s, order, renumbered.Component)
			}
		}
	}
	if refused < 50 || broken < 50 || whole < 50 {
		t.Errorf("%d refused, %d broken, %d whole: the test tells little", refused, broken, whole)
	}
}

// checkChain wants the must-links of an error to lead from one of its samples to the other.
func checkChain(t *testing.T, s *Set, bad *Error) {
	t.Helper()
	at := bad.Samples[0]
	for _, link := range bad.Chain {
		p := s.MustLink[link]
		if p[0] != at && p[1] != at {
			t.Fatalf("%+v: %v leads nowhere", s, bad)
		}
		at = p[0] + p[1] - at
	}
	if at != bad.Samples[1] || len(bad.Chain) == 0 {
		t.Fatalf("%+v: %v does not arrive", s, bad)
	}
}

// TestViolations counts the pairs one by one.
func TestViolations(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for range 300 {
		n := 2 + r.IntN(30)
		s := draw(r, n)
		s.MustLink = nil
		known, err := s.Resolve(n)
		if err != nil {
			t.Fatal(err)
		}
		if known == nil {
			continue
		}
		labels := make([]int32, n)
		for i := range labels {
			labels[i] = int32(r.IntN(4))
		}
		joined, all := 0, 0
		pair := func(a, b int) {
			all++
			if labels[a] == labels[b] {
				joined++
			}
		}
		for _, p := range s.CannotLink {
			pair(p[0], p[1])
		}
		for i, g := range s.Distinct {
			for j := range i {
				if g >= 0 && s.Distinct[j] == g {
					pair(i, j)
				}
			}
		}
		if j, a := known.Violations(labels); j != joined || a != all {
			t.Fatalf("%+v, %v: %d of %d, want %d of %d", s, labels, j, a, joined, all)
		}
	}
}

// Two photos show two people each, and the same person may be on both.
func ExampleSet_Resolve() {
	s := Set{MustLink: [][2]int{{0, 2}, {2, 1}}, Distinct: []int{0, 0, 1, 1}}
	_, err := s.Resolve(4)
	fmt.Println(err)
	s.MustLink = s.MustLink[:1]
	known, err := s.Resolve(4)
	fmt.Println(known.Count().Components, err)
	// Output:
	// distinct: sample 0 and sample 1 are in one group and cannot be together, but must be by must-links 0 and 1; take one of them out of the group, or remove a link
	// 1 <nil>
}
