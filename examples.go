package mvclust

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/selection"
)

// Example is a sample whose class is known. Samples of one label are in one cluster, and samples
// of two labels are not.
type Example struct {
	// Sample is its number in the views.
	Sample int `json:"sample"`
	// Label is the name of its class: any text in UTF-8 of at most 1000 bytes.
	Label string `json:"label"`
}

// mostClasses bounds the labels of examples: each two of them are a constraint.
const mostClasses = 1000

// mostLabel bounds the bytes of a label, which is written beside every sample of its cluster.
const mostLabel = 1000

// examplesSet returns the constraints that follow from examples: must-links within a label, and a
// cannot-link between the first samples of any two.
func examplesSet(examples []Example, samples int) (constraint.Set, error) {
	var set constraint.Set
	of, first, last := map[int]string{}, map[string]int{}, map[string]int{}
	var firsts []int
	for _, x := range examples {
		label, again := of[x.Sample]
		switch {
		case x.Sample < 0 || x.Sample >= samples:
			return set, option.Errorf("Examples", "there is no sample %d; name samples from 0 to %d", x.Sample, samples-1)
		case x.Label == "":
			return set, option.Errorf("Examples", "sample %d has no label; give it one, or leave it out", x.Sample)
		case len(x.Label) > mostLabel:
			return set, option.Errorf("Examples", "the label of sample %d has %d bytes; shorten it to %d at most", x.Sample, len(x.Label), mostLabel)
		case !utf8.ValidString(x.Label):
			return set, option.Errorf("Examples", "the label of sample %d is no text in UTF-8; give it another", x.Sample)
		case again && label != x.Label:
			return set, option.Errorf("Examples", "sample %d has the labels %s and %s; keep one of them", x.Sample, words.Quote(label), words.Quote(x.Label))
		case again:
			continue
		}
		of[x.Sample] = x.Label
		if _, has := first[x.Label]; has {
			set.MustLink = append(set.MustLink, [2]int{last[x.Label], x.Sample})
		} else {
			first[x.Label] = x.Sample
			for _, other := range firsts {
				set.CannotLink = append(set.CannotLink, [2]int{other, x.Sample})
			}
			if firsts = append(firsts, x.Sample); len(firsts) > mostClasses {
				return set, option.Errorf("Examples", "there are more than %d labels; give fewer", mostClasses)
			}
		}
		last[x.Label] = x.Sample
	}
	return set, nil
}

// numbered returns the examples with their labels numbered, each sample once.
func numbered(examples []Example) []selection.Example {
	class, seen := map[string]int{}, map[int]bool{}
	var out []selection.Example
	for _, x := range examples {
		if seen[x.Sample] {
			continue
		}
		seen[x.Sample] = true
		if _, has := class[x.Label]; !has {
			class[x.Label] = len(class)
		}
		out = append(out, selection.Example{Sample: x.Sample, Class: class[x.Label]})
	}
	return out
}

// Names returns the names of the clusters of labels, by their numbers: the label that most of the
// examples in a cluster have, of several the one that comes first among the examples; empty where
// a cluster has none. It is nil without examples. Examples of samples that are not there are
// left out, and labels that are too large for so many samples have no names.
func Names(labels []int, examples []Example) []string {
	for _, l := range labels {
		if l >= maxNumbers(len(labels)) {
			return nil
		}
	}
	examples = slices.DeleteFunc(slices.Clone(examples), func(x Example) bool {
		return x.Sample < 0 || x.Sample >= len(labels) || labels[x.Sample] < 0
	})
	if len(examples) == 0 {
		return nil
	}
	text := map[int]string{}
	list := numbered(examples)
	of := map[int]string{}
	for _, x := range examples {
		if _, has := of[x.Sample]; !has {
			of[x.Sample] = x.Label
		}
	}
	for _, x := range list {
		text[x.Class] = of[x.Sample]
	}
	rules, clusters := rulers(labels, list)
	names := make([]string, clusters)
	for l, class := range rules {
		names[l] = text[class]
	}
	return names
}

// Against returns the examples that are in a cluster that another label rules.
func Against(labels []int, examples []Example) []Example {
	names := Names(labels, examples)
	var against []Example
	for _, x := range examples {
		if x.Sample >= 0 && x.Sample < len(labels) && labels[x.Sample] >= 0 && labels[x.Sample] < len(names) && names[labels[x.Sample]] != x.Label {
			against = append(against, x)
		}
	}
	return against
}

// validateExamples checks Examples.
func (m *Model) validateExamples() error {
	if _, err := examplesSet(m.Examples, len(m.Labels)); err != nil {
		return fmt.Errorf("the examples cannot be used: %w", err)
	}
	return nil
}
