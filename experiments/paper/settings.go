package paper

import "github.com/mvclust/mvclust/experiments/lab"

// The groups: a set of data with a choice of its views.
const (
	handwritten2 = "Handwritten, 2 views"
	handwritten4 = "Handwritten, 4 views"
	leaves       = "100Leaves, margin + texture"
	leavesShape  = "100Leaves, shape + texture"
	leavesAsIs   = "100Leaves, margin + texture, unscaled"
	buaa         = "BUAA"
	sport        = "BBCSport, tf-idf"
	sportCounts  = "BBCSport, raw counts"
	humbi        = "Humbi240"

	// Sets that the paper does not have.
	leaves3      = "100Leaves, 3 views"
	handwritten6 = "Handwritten, 6 views"
	msrc         = "MSRC"
	orl          = "ORL"
	cub          = "CUB"
	landUse      = "LandUse-21"
	webKB        = "WebKB-course"
)

// choice is how the method is run on a group.
type choice struct {
	file  string
	views []int
	// settings are those of complete data, and incomplete what replaces them, or is
	// added, where samples lack views.
	settings, incomplete []string
}

// choices is the one table of the settings of all experiments. Lambda is that of the
// paper's table "setting", and so are low and high but on 100Leaves, where drawing the
// ends to 0 and 1 does harm. Its segments are kept for Handwritten; 200 for the other
// sets do worse than the default. The paper does not print its numbers of neighbours,
// candidates and epochs, how it clips probabilities, or how features are scaled: these
// were set by hand, for each set. The sets that the paper does not have run with the
// mean size of their classes, at most a quarter of the samples, and the defaults.
func choices() map[string]choice {
	asIs := []string{"neighbors=14", "candidates=112", "low=0", "high=0", "lambda=2"}
	scaled := append([]string{"scale=minmax"}, asIs...)
	incomplete := []string{"neighbors=11", "candidates=99", "function-clip=0.005", "edge-clip=0.06"}
	return map[string]choice{
		handwritten2: {
			"Handwritten.npz", []int{0, 1},
			[]string{"neighbors=133", "candidates=399", "segments=1000", "low=10", "high=4", "lambda=20", "epochs=200", "function-clip=0.0001"},
			[]string{"neighbors=117", "candidates=585", "epochs=50"},
		},
		handwritten4: {
			"Handwritten.npz", nil,
			[]string{"neighbors=150", "candidates=450", "segments=1000", "low=10", "high=4", "lambda=80", "epochs=10", "function-clip=0.0001"},
			[]string{"epochs=50"},
		},
		leaves:      {"100Leaves.npz", []int{2, 1}, scaled, incomplete},
		leavesShape: {"100Leaves.npz", []int{0, 1}, scaled, incomplete},
		leavesAsIs:  {"100Leaves.npz", []int{2, 1}, asIs, incomplete},
		buaa: {
			"BUAA.npz", nil,
			[]string{"neighbors=5", "candidates=20", "low=10", "high=4", "lambda=20", "function-clip=0.0001"},
			nil,
		},
		sport: {
			"BBCSport_tfidf.npz", nil,
			[]string{"neighbors=170", "candidates=340", "low=10", "high=4", "lambda=20", "function-clip=0.0001"},
			[]string{"neighbors=150", "candidates=300"},
		},
		sportCounts: {
			"BBCSport.npz", nil,
			[]string{"neighbors=150", "candidates=450", "low=10", "high=4", "lambda=20", "function-clip=0.0001"},
			nil,
		},
		leaves3:      {"100Leaves.npz", nil, []string{"neighbors=16"}, nil},
		handwritten6: {"Handwritten6.npz", nil, []string{"neighbors=200"}, nil},
		msrc:         {"MSRC.npz", nil, []string{"neighbors=30"}, nil},
		orl:          {"ORL.npz", nil, []string{"neighbors=10"}, nil},
		cub:          {"CUB.npz", nil, []string{"neighbors=60"}, nil},
		landUse:      {"LandUse-21.npz", nil, []string{"neighbors=100"}, nil},
		webKB:        {"WebKB-course.npz", nil, []string{"neighbors=262"}, nil},
	}
}

// complete returns the setup of a group with all its data.
func complete(group string) lab.Setup {
	c := choices()[group]
	return lab.Setup{File: c.file, Views: c.views, Settings: c.settings}
}

// Case is a set of data with a choice of its views, as the paper's main tables have it, and how
// the method is run on it.
type Case struct {
	Name                 string
	Complete, Incomplete lab.Setup
}

// Cases lists those of the sets that are there.
func Cases() []Case {
	list := []Case{{handwritten2, complete(handwritten2), halved(handwritten2)}, {handwritten4, complete(handwritten4), split()}}
	for _, group := range []string{leaves, buaa, sport} {
		list = append(list, Case{group, complete(group), halved(group)})
	}
	return list
}

// lacking returns the setup of a group with the given shares of the samples lacking
// each of its views.
func lacking(group string, missing ...float64) lab.Setup {
	return complete(group).With(choices()[group].incomplete...).Lacking(missing...)
}

// halved returns the setup of a group of two views at the paper's missing rate of
// 0.5: a quarter of the samples lacks the one, another quarter the other.
func halved(group string) lab.Setup { return lacking(group, 0.25, 0.25) }

// split returns the setup of the four views of Handwritten of which half of the
// samples lack the third, and the others the fourth.
func split() lab.Setup { return lacking(handwritten4, 0, 0, 0.5, 0.5) }

// completed returns split with view completion.
func completed() lab.Setup { return split().With("completion=on") }
