// Package param holds the settings of the method that "mvclust fit --param" gives:
// the one place from which the parser, the help text and the settings in run.json
// come.
package param

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/suggest"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/view"
)

// Param is a setting of the method.
type Param struct {
	// Name is what --param calls it.
	Name string
	// Default is the value that it has where none is given.
	Default string
	// Equation is where the paper has it.
	Equation string
	// Meaning says what it does.
	Meaning string

	value value
}

// Allowed says in words what may be given.
func (p *Param) Allowed() string { return p.value.allowed }

// Value returns the value that resolved options, those of a result, have: an int,
// a float64 or a string.
func (p *Param) Value(o *mvclust.Options) any { return p.value.get(o) }

// value reads and writes the field of the options that a param sets.
type value struct {
	paper   bool   // whether only the paper preset heeds it
	allowed string // what may be given, in words
	set     func(o *mvclust.Options, text string) bool
	get     func(o *mvclust.Options) any // of resolved options
}

// List returns the settings by stage.
func List() []Param {
	return []Param{
		{"scale", view.NoScale.String(), "not in the paper", "minmax maps every feature of a view to [0, 1] before similarities are measured; mixed joins rows as they are, so mapped, and with features of equal variance; under the automatic preset none stands for mixed, where the metric is cosine",
			oneOf(func(o *mvclust.Options) *view.Scale { return &o.Scale },
				named(view.NoScale), named(view.MinMax), named(view.Mixed))},
		{"local", "off", "not in the paper", "measures similarities against how far samples are from their neighbours; always on under the automatic preset",
			paperOnly(on(func(o *mvclust.Options) *bool { return &o.Local }))},
		{"candidates", "auto", "Eq. f_function", "nearest neighbours per view whose pairs are looked at, K or more; auto is 960 over the number of views, 20 to 80, under the automatic preset, and 8 K over that number, K to 4 K, under paper's",
			wholeOr("auto", 1, math.MaxInt32, func(o *mvclust.Options) *int { return &o.Candidates })},
		{"neighbor-search", neighbour.Auto.String(), "not in the paper", "how those are found; auto is approximate where that is faster, and exact else", //nolint:misspell // spelt as --neighbors is
			oneOf(func(o *mvclust.Options) *neighbour.Method { return &o.Search.Method },
				named(neighbour.Auto), named(neighbour.Exact), named(neighbour.Approximate))},
		{"recall", text(neighbour.DefaultRecall), "not in the paper", "share of the true neighbours below which an approximate search goes on",
			number(above, 1, func(o *mvclust.Options) *float64 { return &o.Search.Recall })},
		{"pairs", text(probability.DefaultPairs), "Eq. f_function", "T, the most pairs that are trained on",
			whole(1, math.MaxInt32, func(o *mvclust.Options) *int { return &o.Learning.Pairs })},
		{"segments", "auto", "Eq. f_function", "I, the segments of a probability function; auto is one per 50 training pairs, 100 to 1000",
			wholeOr("auto", 1, 100_000, func(o *mvclust.Options) *int { return &o.Learning.Segments })},
		{"lambda", text(probability.DefaultLambda), "Eq. loss_all", "weight of the consistency loss against the constraint loss",
			paperOnly(number(above, 1e9, func(o *mvclust.Options) *float64 { return &o.Learning.Lambda }))},
		{"low", text(probability.DefaultLow), "Eq. loss_2", "indi, how many of the lowest segments are drawn to 0; a quarter of a view's at most",
			paperOnly(whole(0, 100_000, func(o *mvclust.Options) *int { return &o.Learning.Low }))},
		{"high", text(probability.DefaultHigh), "Eq. loss_2", "indj+1, how many of the highest segments are drawn to 1; a quarter at most",
			paperOnly(whole(0, 100_000, func(o *mvclust.Options) *int { return &o.Learning.High }))},
		{"epochs", text(probability.DefaultEpochs), "Eq. loss_all", "steps of gradient descent",
			paperOnly(whole(1, 10_000_000, func(o *mvclust.Options) *int { return &o.Learning.Epochs }))},
		{"rate", text(probability.DefaultRate), "Eq. loss_all", "learning rate of gradient descent",
			paperOnly(number(above, 1e3, func(o *mvclust.Options) *float64 { return &o.Learning.Rate }))},
		{"momentum", text(probability.DefaultMomentum), "Eq. loss_all", "momentum of gradient descent",
			paperOnly(number(0, 1, func(o *mvclust.Options) *float64 { return &o.Learning.Momentum }))},
		{"decay", text(probability.DefaultDecay), "Eq. loss_all", "weight decay of gradient descent",
			paperOnly(number(0, 1, func(o *mvclust.Options) *float64 { return &o.Learning.Decay }))},
		{"loss", "mixed", "Eqs. loss_1, loss_fz", "form of the consistency loss: mixed is Eq. loss_1, direct Eq. loss_fz",
			paperOnly(oneOf(func(o *mvclust.Options) *probability.Loss { return &o.Learning.Loss },
				choice[probability.Loss]{"mixed", probability.Mixed}, choice[probability.Loss]{"direct", probability.Direct}))},
		{"single", "on", "Eqs. loss_1, loss_fz", "the term of Fsingle in the consistency loss",
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Learning.WithoutSingle }))},
		{"cross", "on", "Eqs. loss_1, loss_fz", "the term of Fcross in the consistency loss",
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Learning.WithoutCross }))},
		{"constraint", "on", "Eq. loss_2", "the constraint loss",
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Learning.WithoutConstraint }))},
		{"training", "on", "Eq. loss_all", "off keeps the straight lines that the learning starts from",
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Learning.Untrained }))},
		{"fusion", "symmetric", "Eq. p_bayesian_new", "how a pair's views become one probability; asymmetric is Eq. p_bayesian; under the automatic preset symmetric stands for pooled",
			oneOf(func(o *mvclust.Options) *posterior.Fusion { return &o.Posterior.Fusion },
				named(posterior.Symmetric), named(posterior.Asymmetric), named(posterior.Max),
				named(posterior.Mean), named(posterior.Min), named(posterior.Multiply), named(posterior.Pooled))},
		{"completion", "off", "Eqs. f_joint_com1-3", "estimates a view that a sample lacks from two or more others",
			paperOnly(on(func(o *mvclust.Options) *bool { return &o.Posterior.Completion }))},
		{"function-clip", text(posterior.DefaultClip), "Eq. p_bayesian_new", "keeps a view's probability within [c, 1-c]",
			number(1e-12, 0.49, func(o *mvclust.Options) *float64 { return &o.Posterior.Clip })},
		{"paths", "on", "Eq. pb_optpath", "path propagation",
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Refinement.WithoutPaths }))},
		{"co-neighbor-propagation", "on", "Eq. pb_optknn", "co-neighbour propagation", //nolint:misspell // spelt as --neighbors is
			paperOnly(off(func(o *mvclust.Options) *bool { return &o.Refinement.WithoutCoNeighbours }))},
		{"rounds", "1", "Eq. pb_optknn", "how often co-neighbour propagation is applied",
			paperOnly(whole(1, 100, func(o *mvclust.Options) *int { return &o.Refinement.Rounds }))},
		{"sweeps", text(partition.DefaultSweeps), "Algorithm 1", "the most passes over the samples; the search ends when none moves",
			whole(1, 1_000_000, func(o *mvclust.Options) *int { return &o.Partition.Sweeps })},
		{"resolution", "auto", "not in the paper", "has modularity of this resolution take the place of Eq. pi_loss, the higher the finer; auto is chosen from the data under the automatic preset, and Eq. pi_loss under paper's",
			numberOr("auto", above, 1e12, func(o *mvclust.Options) *float64 { return &o.Partition.Resolution })},
		{"levels", "auto", "Algorithm 1", "how often clusters are moved as wholes, and those of clusters, after the samples; 1 moves samples alone; auto is 20 under the automatic preset, 1 under paper's",
			wholeOr("auto", 1, 100, func(o *mvclust.Options) *int { return &o.Partition.Levels })},
		{"edge-clip", text(partition.DefaultClip), "Eq. pi_loss", "keeps an edge's probability within [c, 1-c]",
			paperOnly(number(1e-12, 0.49, func(o *mvclust.Options) *float64 { return &o.Partition.Clip }))},
	}
}

// above as the lower end of a range leaves out 0.
const above = math.SmallestNonzeroFloat64

// text writes a number as briefly as possible.
func text(x float64) string {
	return strings.NewReplacer("e+0", "e", "e-0", "e-").Replace(strconv.FormatFloat(x, 'g', -1, 64))
}

// whole is a whole number from low to high. Where 0 is allowed, the options have a
// negative number for it, since their 0 stands for the default.
func whole(low, high int, field func(o *mvclust.Options) *int) value {
	return value{
		allowed: fmt.Sprintf("a whole number from %d to %d", low, high),
		set: func(o *mvclust.Options, s string) bool {
			x, err := strconv.Atoi(s)
			return err == nil && store(field(o), x, low, high)
		},
		get: func(o *mvclust.Options) any { return max(0, *field(o)) },
	}
}

// number is a number from low to high, with 0 as for whole.
func number(low, high float64, field func(o *mvclust.Options) *float64) value {
	from := "from " + text(low)
	if low == above {
		from = "above 0 and up"
	}
	return value{
		allowed: fmt.Sprintf("a number %s to %s", from, text(high)),
		set: func(o *mvclust.Options, s string) bool {
			x, err := strconv.ParseFloat(s, 64)
			return err == nil && store(field(o), x, low, high)
		},
		get: func(o *mvclust.Options) any { return max(0, *field(o)) },
	}
}

// store puts x in the field if it lies between low and high, which NaN does not.
func store[T int | float64](field *T, x, low, high T) bool {
	if !(x >= low && x <= high) {
		return false
	}
	if x == 0 {
		x = -1
	}
	*field = x
	return true
}

// paperOnly is a value that the automatic preset decides by itself.
func paperOnly(v value) value {
	v.paper = true
	return v
}

// numberOr is as number, with a word for the default.
func numberOr(word string, low, high float64, field func(o *mvclust.Options) *float64) value {
	v := number(low, high, field)
	return value{
		allowed: v.allowed + ", or " + word,
		set: func(o *mvclust.Options, s string) bool {
			if s == word {
				*field(o) = 0
				return true
			}
			return v.set(o, s)
		},
		get: v.get,
	}
}

// wholeOr is as whole, with a word for the default.
func wholeOr(word string, low, high int, field func(o *mvclust.Options) *int) value {
	v := whole(low, high, field)
	return value{
		allowed: v.allowed + ", or " + word,
		set: func(o *mvclust.Options, s string) bool {
			if s == word {
				*field(o) = 0
				return true
			}
			return v.set(o, s)
		},
		get: v.get,
	}
}

// choice is one of the values that a setting can have, and its name.
type choice[T any] struct {
	name  string
	value T
}

// named is the choice of a value that knows its name.
func named[T fmt.Stringer](value T) choice[T] { return choice[T]{value.String(), value} }

// oneOf is a choice by name.
func oneOf[T comparable](field func(o *mvclust.Options) *T, choices ...choice[T]) value {
	var names []string
	for _, c := range choices {
		names = append(names, c.name)
	}
	last := len(names) - 1
	return value{
		allowed: strings.Join(names[:last], ", ") + " or " + names[last],
		set: func(o *mvclust.Options, s string) bool {
			i := slices.Index(names, s)
			if i >= 0 {
				*field(o) = choices[i].value
			}
			return i >= 0
		},
		get: func(o *mvclust.Options) any {
			i := slices.IndexFunc(choices, func(c choice[T]) bool { return c.value == *field(o) })
			return names[i]
		},
	}
}

// on is a switch that sets the field, off one that clears it.
func on(field func(o *mvclust.Options) *bool) value  { return toggle(true, field) }
func off(field func(o *mvclust.Options) *bool) value { return toggle(false, field) }

func toggle(whenOn bool, field func(o *mvclust.Options) *bool) value {
	return value{
		allowed: "on or off",
		set: func(o *mvclust.Options, s string) bool {
			if s != "on" && s != "off" {
				return false
			}
			*field(o) = (s == "on") == whenOn
			return true
		},
		get: func(o *mvclust.Options) any {
			if *field(o) == whenOn {
				return "on"
			}
			return "off"
		},
	}
}

// Apply sets what an assignment "NAME=VALUE" says. The error names the assignment
// as one of --param.
func Apply(o *mvclust.Options, assignment string) error {
	name, given, ok := strings.Cut(assignment, "=")
	if !ok {
		return fmt.Errorf("--param %s: the value is missing; write NAME=VALUE, such as epochs=500", assignment)
	}
	var names []string
	for _, p := range List() {
		if p.Name == name {
			if !p.value.set(o, given) {
				return fmt.Errorf("--param %s: %q cannot be used; give %s", name, given, p.value.allowed)
			}
			if p.value.paper && o.Preset != mvclust.Paper {
				return fmt.Errorf("--param %s: the automatic preset decides this by itself; leave it out, or add --preset paper", name)
			}
			return nil
		}
		names = append(names, p.Name)
	}
	return fmt.Errorf("--param %s: there is no such setting%s; see mvclust fit --help", name, suggest.Among(name, names))
}

// Help describes every setting, two lines for each.
func Help() string {
	var b strings.Builder
	for _, p := range List() {
		fmt.Fprintf(&b, "  %-33s %s; %s\n      %s\n", p.Name+"="+p.Default, p.value.allowed, p.Equation, p.Meaning)
	}
	return b.String()
}
