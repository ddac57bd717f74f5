package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// reference is what testdata/reference.py writes for one case.
type reference struct {
	precision, recall, f, nmi, geometric, ari, acc float64
}

// check compares all scores that the reference has.
func (want reference) check(t *testing.T, name string, got Scores, tolerance float64) {
	t.Helper()
	for _, c := range []struct {
		score     string
		got, want float64
	}{
		{"PairwisePrecision", got.PairwisePrecision, want.precision},
		{"PairwiseRecall", got.PairwiseRecall, want.recall},
		{"PairwiseF", got.PairwiseF, want.f},
		{"NMI", got.NMI, want.nmi},
		{"NMIGeometric", got.NMIGeometric, want.geometric},
		{"ARI", got.ARI, want.ari},
		{"ACC", got.ACC, want.acc},
	} {
		if !(math.Abs(c.got-c.want) <= tolerance) {
			t.Errorf("%s: %s = %.17g, want %.17g", name, c.score, c.got, c.want)
		}
	}
}

func compare(t testing.TB, truth, labels []int) Scores {
	t.Helper()
	s, err := Compare(truth, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// formula returns f(0), f(1), … f(n-1).
func formula(n int, f func(i int) int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

// TestGolden compares with scikit-learn 1.2.1 and SciPy 1.10.1. For the first
// case, and for those given by formulas, the figures come from
//
//	echo '{"truth":[0,0,0,1,1,1],"labels":[0,0,1,1,2,2]}' | python3 testdata/reference.py
//	python3 -c 'import json; n = 1000; print(json.dumps({"truth": [i%10 for i in range(n)],
//	    "labels": [i*i%7 for i in range(n)]}))' | python3 testdata/reference.py
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name          string
		truth, labels []int
		want          reference
	}{
		{
			"small", []int{0, 0, 0, 1, 1, 1}, []int{0, 0, 1, 1, 2, 2},
			reference{0.6666666666666666, 0.3333333333333333, 0.4444444444444444, 0.5158037429793888, 0.5295405780575618, 0.24242424242424243, 0.6666666666666666},
		},
		{"renamed", []int{0, 0, 1, 1}, []int{1, 1, 0, 0}, reference{1, 1, 1, 1, 1, 1, 1}},
		{"one group each", []int{0, 0, 0, 0}, []int{7, 7, 7, 7}, reference{1, 1, 1, 1, 1, 1, 1}},
		{"one sample", []int{5}, []int{-3}, reference{1, 1, 1, 1, 1, 1, 1}},
		{"all alone twice", []int{0, 1, 2, 3}, []int{3, 2, 1, 0}, reference{1, 1, 1, 1, 1, 1, 1}},
		{"one class, all alone", []int{0, 0, 0, 0}, []int{0, 1, 2, 3}, reference{1, 0, 0, 0, 0, 0, 0.25}},
		{"classes of one, one cluster", []int{0, 1, 2, 3}, []int{0, 0, 0, 0}, reference{0, 1, 0, 0, 0, 0, 0.25}},
		{"lowest ARI", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, reference{0, 0, 0, 0, 0, -0.5, 0.5}},
		{
			"one cluster", []int{0, 0, 0, 1, 1, 2}, []int{4, 4, 4, 4, 4, 4},
			reference{0.26666666666666666, 1, 0.42105263157894735, 0, 0, 0, 0.5},
		},
		{
			"all alone", []int{0, 0, 1, 1, 2}, []int{0, 1, 2, 3, 4},
			reference{1, 0, 0, 0.7918756684685216, 0.8096040720878852, 0, 0.6},
		},
		{
			"independent", formula(1000, func(i int) int { return i % 10 }), formula(1000, func(i int) int { return i * i % 7 }),
			reference{0.09664504703594105, 0.257979797979798, 0.14061321455902837, 0.0001476117540380144, 0.0001528754588363123, -0.00417205251062385, 0.103},
		},
		{
			"many", formula(1000, func(i int) int { return i * i % 101 }), formula(1000, func(i int) int { return i * i * i % 89 }),
			reference{0.010534529847834569, 0.005772314270443613, 0.0074580484773151025, 0.376335262437831, 0.3771687411006929, -0.005879135534415926, 0.061},
		},
		{
			"shifted", formula(1000, func(i int) int { return i / 100 }), formula(1000, func(i int) int { return (i + i*i%37) / 90 }),
			reference{0.6820527123134849, 0.5928484848484848, 0.6343298099993515, 0.7740987129279198, 0.774502537708861, 0.5972062505751402, 0.701},
		},
		{
			"hundreds", formula(100000, func(i int) int { return i / 250 }), formula(100000, func(i int) int { return (i + i*i%997) / 300 }),
			reference{0.2169643587744007, 0.2602506827309237, 0.23664435354427052, 0.7480586639425632, 0.7481438997109644, 0.23456552122395277, 0.26202},
		},
		{
			"million", formula(1000000, func(i int) int { return i % 7 }), formula(1000000, func(i int) int { return (i%7 + i*i%11/9) % 9 }),
			reference{0.7336606535377793, 0.7024774875921983, 0.717730527283343, 0.7776154533844158, 0.7777292567478281, 0.6718733830710486, 0.818182},
		},
	} {
		c.want.check(t, c.name, compare(t, c.truth, c.labels), 1e-12)
	}
}

// TestScikitLearn compares random cases with scikit-learn and SciPy, where a
// Python that has both is at hand.
func TestScikitLearn(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import scipy, sklearn").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("no python3 with scikit-learn and SciPy found; install them to run this comparison")
	}

	type input struct {
		Truth  []int `json:"truth"`
		Labels []int `json:"labels"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	cases := make([]input, 200)
	var stdin bytes.Buffer
	for i := range cases {
		cases[i].Truth, cases[i].Labels = randomCase(r, 1+r.IntN(300), 1+r.IntN(40), 1+r.IntN(40))
		if err := json.NewEncoder(&stdin).Encode(cases[i]); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "testdata/reference.py")
	cmd.Stdin = &stdin
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d results for %d cases", len(lines), len(cases))
	}
	for i, c := range cases {
		var w [7]float64
		if err := json.Unmarshal([]byte(lines[i]), &w); err != nil {
			t.Fatal(err)
		}
		reference{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}.check(t, fmt.Sprintf("case %d", i), compare(t, c.Truth, c.Labels), 1e-9)
	}
}

// randomCase returns up to classes classes and clusters clusters, in part alike.
func randomCase(r *rand.Rand, n, classes, clusters int) (truth, labels []int) {
	keep := r.Float64()
	for range n {
		class, cluster := r.IntN(classes)-classes/2, r.IntN(clusters)
		if r.Float64() < keep {
			cluster = (class + classes) % clusters
		}
		truth, labels = append(truth, class), append(labels, cluster)
	}
	return truth, labels
}

// TestDefinitions compares with the definitions taken at their word.
func TestDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		truth, labels := randomCase(r, 1+r.IntN(60), 1+r.IntN(7), 1+r.IntN(7))
		name := fmt.Sprintf("case %d, %v against %v", i, labels, truth)
		got := compare(t, truth, labels)
		n := float64(len(truth))

		var both, inClass, inCluster, precision, recall float64
		for a := range truth {
			var ab, class, cluster float64
			for b := range truth {
				if truth[a] == truth[b] {
					class++
				}
				if labels[a] == labels[b] {
					cluster++
				}
				if truth[a] == truth[b] && labels[a] == labels[b] {
					ab++
				}
			}
			precision += ab / cluster / n
			recall += ab / class / n
			both += ab - 1
			inClass += class - 1
			inCluster += cluster - 1
		}
		ratio := func(part, whole float64) float64 {
			if whole == 0 {
				return 1
			}
			return part / whole
		}
		p, q := ratio(both, inCluster), ratio(both, inClass)
		f := 0.0
		if p+q > 0 {
			f = 2 * p * q / (p + q)
		}
		ari, expected := 1.0, ratio(inClass*inCluster, n*(n-1))
		if most := (inClass + inCluster) / 2; most != expected {
			ari = (both - expected) / (most - expected)
		}
		nmi, geometric := naiveNMI(truth, labels)
		reference{p, q, f, nmi, geometric, ari, naiveACC(truth, labels)}.check(t, name, got, 1e-12)
		for _, c := range []struct {
			score     string
			got, want float64
		}{
			{"BCubedPrecision", got.BCubedPrecision, precision},
			{"BCubedRecall", got.BCubedRecall, recall},
			{"BCubedF", got.BCubedF, 2 * precision * recall / (precision + recall)},
		} {
			if !(math.Abs(c.got-c.want) <= 1e-12) {
				t.Errorf("%s: %s = %.17g, want %.17g", name, c.score, c.got, c.want)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// naiveNMI takes I = H(class) + H(cluster) - H(class, cluster).
func naiveNMI(truth, labels []int) (arithmetic, geometric float64) {
	h := func(key func(i int) [2]int) (sum float64, groups int) {
		sizes := map[[2]int]float64{}
		for i := range truth {
			sizes[key(i)]++
		}
		for _, c := range sizes {
			p := c / float64(len(truth))
			sum -= p * math.Log(p)
		}
		return sum, len(sizes)
	}
	a, classes := h(func(i int) [2]int { return [2]int{truth[i]} })
	b, clusters := h(func(i int) [2]int { return [2]int{labels[i]} })
	ab, _ := h(func(i int) [2]int { return [2]int{truth[i], labels[i]} })
	switch {
	case classes == 1 && clusters == 1:
		return 1, 1
	case classes == 1 || clusters == 1:
		return 0, 0
	}
	mutual := a + b - ab
	return 2 * mutual / (a + b), mutual / math.Sqrt(a*b)
}

// naiveACC tries every way to give each cluster a class of its own, or none.
func naiveACC(truth, labels []int) float64 {
	count := map[[2]int]int{}
	for i := range truth {
		count[[2]int{truth[i], labels[i]}]++
	}
	classes, clusters := distinct(truth), distinct(labels)
	if len(clusters) > len(classes) {
		classes, clusters = clusters, classes
		swapped := map[[2]int]int{}
		for k, n := range count {
			swapped[[2]int{k[1], k[0]}] = n
		}
		count = swapped
	}
	taken := map[int]bool{}
	var best func(k int) int
	best = func(k int) int {
		if k == len(clusters) {
			return 0
		}
		most := 0
		for _, c := range classes {
			if !taken[c] {
				taken[c] = true
				most = max(most, count[[2]int{c, clusters[k]}]+best(k+1))
				taken[c] = false
			}
		}
		return most
	}
	return float64(best(0)) / float64(len(truth))
}

func distinct(x []int) []int {
	x = slices.Clone(x)
	slices.Sort(x)
	return slices.Compact(x)
}

// TestAssignDense compares the assignment of larger tables, with ties, crowded
// columns and empty cells, with the method for dense tables.
func TestAssignDense(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		rows, cols, top := 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(12)
		filled, crowded := r.Float64(), r.Float64()
		var truth, labels []int
		count := make([][]int, rows)
		for a := range count {
			count[a] = make([]int, cols)
			for b := range cols {
				if r.Float64() > filled {
					continue
				}
				count[a][b] = r.IntN(top + 1)
				if r.Float64() < crowded && b < cols/3 {
					count[a][b] += top
				}
				for range count[a][b] {
					truth, labels = append(truth, a), append(labels, b)
				}
			}
		}
		if len(truth) == 0 {
			continue
		}
		r.Shuffle(len(truth), func(a, b int) {
			truth[a], truth[b] = truth[b], truth[a]
			labels[a], labels[b] = labels[b], labels[a]
		})
		if got, want := tabulate(truth, labels).assign(), denseAssign(count); got != int64(want) {
			t.Fatalf("case %d (%d x %d): %d samples matched, want %d", i, rows, cols, got, want)
		}
	}
}

// denseAssign returns the worth of the best assignment of a dense table, by the
// textbook Hungarian method on the square table filled up with zeros.
func denseAssign(count [][]int) int {
	n := max(len(count), len(count[0]))
	cost := func(i, j int) int {
		if i < len(count) && j < len(count[0]) {
			return -count[i][j]
		}
		return 0
	}
	u, v, match := make([]int, n+1), make([]int, n+1), make([]int, n+1)
	for i := 1; i <= n; i++ {
		least, from, done := make([]int, n+1), make([]int, n+1), make([]bool, n+1)
		for j := range least {
			least[j] = math.MaxInt
		}
		match[0] = i
		j := 0
		for {
			done[j] = true
			delta, next := math.MaxInt, 0
			for k := 1; k <= n; k++ {
				if done[k] {
					continue
				}
				if c := cost(match[j]-1, k-1) - u[match[j]] - v[k]; c < least[k] {
					least[k], from[k] = c, j
				}
				if least[k] < delta {
					delta, next = least[k], k
				}
			}
			for k := range done {
				if done[k] {
					u[match[k]] += delta
					v[k] -= delta
				} else {
					least[k] -= delta
				}
			}
			if j = next; match[j] == 0 {
				break
			}
		}
		for ; j != 0; j = from[j] {
			match[j] = match[from[j]]
		}
	}
	total := 0
	for j := 1; j <= n; j++ {
		total -= cost(match[j]-1, j-1)
	}
	return total
}

// TestAssignProof checks on many clusters that the assignment is one, and that
// its prices prove that none is worth more.
func TestAssignProof(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, keep := range []float64{0, 0.3, 0.8} {
		truth, labels := make([]int, 100000), make([]int, 100000)
		for i := range truth {
			truth[i] = r.IntN(10000)
			labels[i] = truth[i] * 7 / 10
			if r.Float64() >= keep {
				labels[i] = min(r.IntN(8000), r.IntN(8000))
			}
		}
		tab := tabulate(truth, labels)
		a := tab.match()
		var worth int64
		for i := range a.colOf {
			j := a.colOf[i]
			if j == none && a.u[i] != 0 {
				t.Fatalf("row %d is left out at price %d", i, a.u[i])
			}
			if j != none && a.rowOf[j] != int32(i) {
				t.Fatalf("row %d has column %d, which has row %d", i, j, a.rowOf[j])
			}
			for _, c := range tab.row(i) {
				price := a.u[i] + a.v[c.col]
				if price < int64(c.count) || c.col == j && price != int64(c.count) {
					t.Fatalf("cell of %d at price %d", c.count, price)
				}
				if c.col == j {
					worth += int64(c.count)
				}
			}
		}
		for j, i := range a.rowOf {
			if a.v[j] < 0 || i == none && a.v[j] != 0 || i != none && a.colOf[i] != int32(j) {
				t.Fatalf("column %d has row %d at price %d", j, i, a.v[j])
			}
		}
		if got := tab.assign(); got != worth {
			t.Errorf("assign says %d, the cells matched hold %d", got, worth)
		}
	}
}

// TestInvariance: names of labels and the order of samples do not matter.
func TestInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		truth, labels := randomCase(r, 2+r.IntN(500), 1+r.IntN(30), 1+r.IntN(30))
		want := compare(t, truth, labels)

		renamed := formula(len(labels), func(i int) int { return math.MaxInt - labels[i]*labels[i]*1000003 })
		if got := compare(t, formula(len(truth), func(i int) int { return -5 * truth[i] }), renamed); got != want {
			t.Fatalf("renamed: %+v, want %+v", got, want)
		}

		p := r.Perm(len(truth))
		got := compare(t, formula(len(p), func(i int) int { return truth[p[i]] }), formula(len(p), func(i int) int { return labels[p[i]] }))
		near(t, "reordered", got, want)

		// Exchanging the sides exchanges precision and recall.
		swapped := compare(t, labels, truth)
		swapped.PairwisePrecision, swapped.PairwiseRecall = swapped.PairwiseRecall, swapped.PairwisePrecision
		swapped.BCubedPrecision, swapped.BCubedRecall = swapped.BCubedRecall, swapped.BCubedPrecision
		swapped.Clusters, swapped.Classes = swapped.Classes, swapped.Clusters
		near(t, "exchanged", swapped, want)
	}
}

// near compares scores that may differ by rounding.
func near(t *testing.T, name string, got, want Scores) {
	t.Helper()
	if got.Samples != want.Samples || got.Clusters != want.Clusters || got.Classes != want.Classes {
		t.Fatalf("%s: %+v, want %+v", name, got, want)
	}
	g, w := values(got), values(want)
	for i := range g {
		if !(math.Abs(g[i]-w[i]) <= 1e-12) {
			t.Fatalf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func values(s Scores) []float64 {
	return []float64{
		s.PairwisePrecision, s.PairwiseRecall, s.PairwiseF, s.BCubedPrecision, s.BCubedRecall, s.BCubedF,
		s.NMI, s.NMIGeometric, s.ACC, s.ARI,
	}
}

func TestPerfect(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{1, 2, 3, 10, 1000, 30000} {
		for _, k := range []int{1, 2, 17, n} {
			truth := formula(n, func(int) int { return r.IntN(k) })
			labels := formula(n, func(i int) int { return 3 - 2*truth[i] })
			for i, x := range values(compare(t, truth, labels)) {
				if x != 1 {
					t.Errorf("%d samples of %d classes: score %d is %v, want 1", n, k, i, x)
				}
			}
		}
	}
}

func TestRange(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 500 {
		truth, labels := randomCase(r, 1+r.IntN(30), 1+r.IntN(30), 1+r.IntN(30))
		v := values(compare(t, truth, labels))
		for i, x := range v {
			low := 0.0
			if i == len(v)-1 {
				low = -0.5
			}
			if !(x >= low && x <= 1) {
				t.Fatalf("score %d of %v against %v is %v", i, labels, truth, x)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		truth, labels []int
		want          string
	}{
		{nil, nil, "no sample"},
		{[]int{}, []int{}, "no sample"},
		{[]int{1, 2}, []int{1}, "truth has length 2 and labels has length 1;"},
		{nil, []int{1}, "truth has length 0 and labels has length 1;"},
	} {
		s, err := Compare(c.truth, c.labels)
		if err == nil || !strings.Contains(err.Error(), c.want) || s != (Scores{}) {
			t.Errorf("Compare(%v, %v) = %v, %v; want an error with %q", c.truth, c.labels, s, err, c.want)
		}
	}
}

func ExampleCompare() {
	truth := []int{0, 0, 0, 1, 1, 1}
	labels := []int{7, 7, 8, 8, 9, 9}
	s, err := Compare(truth, labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("pairwise F %.3f, BCubed F %.3f, NMI %.3f, ARI %.3f, ACC %.3f\n", s.PairwiseF, s.BCubedF, s.NMI, s.ARI, s.ACC)
	fmt.Printf("%d clusters for %d classes of %d samples\n", s.Clusters, s.Classes, s.Samples)
	// Output:
	// pairwise F 0.444, BCubed F 0.667, NMI 0.516, ARI 0.242, ACC 0.667
	// 3 clusters for 2 classes of 6 samples
}

func BenchmarkCompare(b *testing.B) {
	for _, k := range []int{100, 10000} {
		b.Run(fmt.Sprintf("samples=1000000/classes=%d", k), func(b *testing.B) {
			r := rand.New(rand.NewPCG(15, 16))
			truth := formula(1000000, func(int) int { return r.IntN(k) })
			labels := formula(len(truth), func(i int) int {
				if r.Float64() < 0.2 {
					return r.IntN(k)
				}
				return truth[i]
			})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compare(truth, labels); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
