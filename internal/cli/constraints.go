package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
)

// constraintOptions name the files of constraints.
type constraintOptions struct {
	mustLink, cannotLink, distinct string
}

func (o *constraintOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.mustLink, "must-link", "", "`FILE` of two columns of ids: pairs of samples that belong together")
	f.StringVar(&o.cannotLink, "cannot-link", "", "`FILE` of two columns of ids: pairs of samples that do not belong together")
	f.StringVar(&o.distinct, "distinct", "", "`FILE:COLUMN` of groups: samples of the same value are never together; those without a value have no group")
}

// known holds the constraints of the files.
type known struct {
	set          constraint.Set
	must, cannot *dataset.Pairs
	groups       *dataset.Groups
}

// read reads the files. Whether the constraints contradict each other is found out by the fit.
func (o *constraintOptions) read(ctx context.Context, ids []string, samples int) (*known, error) {
	k := &known{}
	var err error
	if o.mustLink != "" {
		if k.must, err = dataset.ReadPairs(ctx, o.mustLink, ids, samples, "same"); err != nil {
			return nil, err
		}
		k.set.MustLink = k.must.Pairs
	}
	if o.cannotLink != "" {
		if k.cannot, err = dataset.ReadPairs(ctx, o.cannotLink, ids, samples, "different"); err != nil {
			return nil, err
		}
		k.set.CannotLink = k.cannot.Pairs
	}
	if o.distinct != "" {
		if k.groups, err = dataset.ReadGroups(ctx, o.distinct, ids, samples); err != nil {
			return nil, err
		}
		k.set.Distinct = k.groups.Groups
		if ids == nil {
			k.set.Distinct = byRow(k.groups.Groups, k.groups.IDs)
		}
	}
	return k, nil
}

// byRow orders values by their ids, if these are row numbers.
func byRow(values []int, ids []string) []int {
	order, ok := rowNumbers(ids)
	if !ok {
		return values
	}
	out := make([]int, len(values))
	for i, row := range order {
		out[row] = values[i]
	}
	return out
}

// explain names files, lines and ids in an error about constraints.
func (k *known) explain(err error, ids []string) error {
	bad, ok := errors.AsType[*constraint.Error](err)
	if !ok {
		return err
	}
	return errors.New(bad.Describe(func(sample int) string { return sampleName(sample, ids) }, k.place))
}

// sampleName names a sample for an error.
func sampleName(sample int, ids []string) string {
	if ids == nil {
		return "sample " + strconv.Itoa(sample)
	}
	return strconv.Quote(ids[sample])
}

// place names the file and lines of constraints.
func (k *known) place(kind constraint.Kind, places []int) string {
	switch kind {
	case constraint.MustLink:
		return k.must.Where(places)
	case constraint.CannotLink:
		return k.cannot.Where(places)
	default:
		return k.groups.File.Path
	}
}

// paths returns the files that were read.
func (k *known) paths() []string {
	var list []string
	for _, f := range []*dataset.File{k.mustFile(), k.cannotFile(), k.distinctFile()} {
		if f != nil {
			list = append(list, f.Path)
		}
	}
	return list
}

func (k *known) mustFile() *dataset.File {
	if k.must == nil {
		return nil
	}
	return &k.must.File
}

func (k *known) cannotFile() *dataset.File {
	if k.cannot == nil {
		return nil
	}
	return &k.cannot.File
}

func (k *known) distinctFile() *dataset.File {
	if k.groups == nil {
		return nil
	}
	return &k.groups.File
}

// constraintReport says which constraints were given, and that the result honours them.
type constraintReport struct {
	MustLink   *dataset.File `json:"must_link,omitempty"`
	CannotLink *dataset.File `json:"cannot_link,omitempty"`
	Distinct   *dataset.File `json:"distinct,omitempty"`
	constraint.Count
	Honoured bool `json:"honoured"`
}

// report checks the labels against the constraints; nil without constraints.
func (k *known) report(resolved *constraint.Resolved, labels []int) (*constraintReport, error) {
	if resolved == nil {
		return nil, nil
	}
	if pair, broken := resolved.Violation(labels); broken {
		return nil, fmt.Errorf("samples %d and %d (counted from 0) break a constraint, which is a defect of mvclust; report it with the command and the data", pair[0], pair[1])
	}
	if k.must == nil && k.cannot == nil && k.groups == nil {
		return nil, nil // they follow from examples
	}
	given, err := k.set.Resolve(len(labels)) // without what follows from examples
	if err != nil {
		return nil, err
	}
	return &constraintReport{k.mustFile(), k.cannotFile(), k.distinctFile(), given.Count(), true}, nil
}

// summary is the line of the summary.
func (r *constraintReport) summary() string {
	var parts []string
	if r.MustLink != nil {
		parts = append(parts, words.Count(r.MustLinks, "must-link"))
	}
	if r.CannotLink != nil {
		parts = append(parts, words.Count(r.CannotLinks, "cannot-link"))
	}
	if r.Distinct != nil {
		parts = append(parts, fmt.Sprintf("%s of distinct samples, %d in all", words.Count(r.Groups, "group"), r.Grouped))
	}
	line := strings.Join(parts, ", ") + "; all honoured\n"
	if pairs := r.MustLinks + r.CannotLinks; pairs > 0 {
		line = words.Count(pairs, "constraint") + ": " + line
	}
	return line
}
