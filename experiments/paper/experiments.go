package paper

import (
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/experiments/lab"
)

// noHumbi is why no cell of Humbi240 is run.
const noHumbi = "we do not have the set: features of faces and bodies that two recognition models took from 240 persons of Humbi"

// four makes the figures of most of the paper's tables.
func four(pairwise, bcubed, nmi, ari float64) figures {
	return figures{lab.PairwiseF: pairwise, lab.BCubedF: bcubed, lab.NMI: nmi, lab.ARI: ari}
}

// tables lists the experiments in the order of the page, with every figure that
// the paper prints for SLS-MPC.
func tables() []table {
	return []table{
		completeTwo(), incompleteTwo(), fourViews(), missingRates(),
		fusions(), estimates(), completeSimilarity(), incompleteSimilarity(),
		consistencyLoss(), lossComponents(), refinement(), lambdas(),
		convergence(), functions(), learning(), bounds(), otherMethods(),
	}
}

// usual are the columns of most tables.
func usual() []lab.Metric { return []lab.Metric{lab.PairwiseF, lab.BCubedF, lab.NMI, lab.ARI} }

// main is the cell of the method itself.
func main(group string, s lab.Setup, paper figures) cell {
	return cell{Group: group, Label: "SLS-MPC", Setup: s, Paper: paper}
}

// absent is a cell of a set that we do not have.
func absent(label string, paper figures) cell {
	return cell{Group: humbi, Label: label, Paper: paper, Reason: noHumbi}
}

// beside marks cells that are not counted.
func beside(c cell) cell {
	c.Beside = true
	return c
}

// The figures of the paper's main results, which most ablations repeat.
func figures2() figures     { return four(87.03, 86.51, 87.62, 85.73) }
func figuresHalf() figures  { return four(77.80, 78.65, 79.62, 75.46) }
func figures4() figures     { return four(93.28, 92.99, 92.13, 92.56) }
func figuresSplit() figures { return four(91.73, 91.42, 90.92, 90.86) }
func figuresSplitCompleted() figures {
	return four(92.48, 92.18, 91.56, 91.69)
}
func figuresLeaves() figures     { return four(85.46, 86.39, 95.03, 85.34) }
func figuresLeavesHalf() figures { return four(59.91, 62.87, 84.16, 59.56) }

func completeTwo() table {
	return table{
		ID: "complete", Title: "Two views, complete",
		Source: "tables res-3datasets and res-add, MVC",
		Text: "Every sample has both views. The paper prints four scores for the first three sets, and BCubed precision and F for BUAA and BBCSport. " +
			"It calls the views of 100Leaves shape and texture, but the figures that it has for other methods come out on margin and texture only; those are counted, and shape and texture are shown beside. " +
			"Its own figures on that set, under three of four similarity measures (see below), come out only if every feature is first scaled to [0, 1]; that is what is counted, and the features as they are distributed are shown beside. " +
			"So are raw counts of BBCSport, of which it does not say whether they were weighted.",
		Columns: append(usual(), lab.BCubedPrecision, lab.Clusters),
		Cells: []cell{
			main(handwritten2, complete(handwritten2), figures2()),
			main(leaves, complete(leaves), figuresLeaves()),
			beside(main(leavesAsIs, complete(leavesAsIs), figuresLeaves())),
			beside(main(leavesShape, complete(leavesShape), figuresLeaves())),
			absent("SLS-MPC", four(98.12, 98.77, 99.62, 98.11)),
			main(buaa, complete(buaa), figures{lab.BCubedPrecision: 79.22, lab.BCubedF: 49.50}),
			main(sport, complete(sport), figures{lab.BCubedPrecision: 95.04, lab.BCubedF: 94.68}),
			beside(main(sportCounts, complete(sportCounts), figures{lab.BCubedPrecision: 95.04, lab.BCubedF: 94.68})),
		},
	}
}

func incompleteTwo() table {
	return table{
		ID: "incomplete", Title: "Two views, half of the samples incomplete",
		Source:  "tables res-3datasets and res-add, IMVC",
		Text:    "A quarter of the samples, drawn anew for every seed, lacks the first view, and another quarter the second.",
		Columns: append(usual(), lab.BCubedPrecision, lab.Clusters),
		Cells: []cell{
			main(handwritten2, halved(handwritten2), figuresHalf()),
			main(leaves, halved(leaves), figuresLeavesHalf()),
			beside(main(leavesAsIs, halved(leavesAsIs), figuresLeavesHalf())),
			beside(main(leavesShape, halved(leavesShape), figuresLeavesHalf())),
			absent("SLS-MPC", four(92.69, 94.02, 97.55, 92.66)),
			main(buaa, halved(buaa), figures{lab.BCubedPrecision: 44.88, lab.BCubedF: 39.25}),
			main(sport, halved(sport), figures{lab.BCubedPrecision: 91.01, lab.BCubedF: 90.44}),
			beside(main(sportCounts, halved(sportCounts), figures{lab.BCubedPrecision: 91.01, lab.BCubedF: 90.44})),
		},
	}
}

func fourViews() table {
	eight := func(pp, pr, pf, bp, br, bf, nmi, ari float64) figures {
		return figures{
			lab.PairwisePrecision: pp, lab.PairwiseRecall: pr, lab.PairwiseF: pf,
			lab.BCubedPrecision: bp, lab.BCubedRecall: br, lab.BCubedF: bf, lab.NMI: nmi, lab.ARI: ari,
		}
	}
	return table{
		ID: "four", Title: "Four views", Source: "tables res-4v and sim2",
		Text: "In the incomplete case all samples have the first two views; half of them lack the third, the others the fourth. " +
			"Two samples may then have only two views in common. View completion estimates the others from these.",
		Columns: []lab.Metric{
			lab.PairwisePrecision, lab.PairwiseRecall, lab.PairwiseF, lab.BCubedPrecision, lab.BCubedRecall, lab.BCubedF, lab.NMI, lab.ARI, lab.Clusters,
		},
		Cells: []cell{
			{Group: handwritten4, Label: "complete", Setup: complete(handwritten4), Paper: eight(96.51, 90.25, 93.28, 95.85, 90.30, 92.99, 92.13, 92.56)},
			{Group: handwritten4, Label: "incomplete", Setup: split(), Paper: eight(96.77, 87.18, 91.73, 96.00, 87.25, 91.42, 90.92, 90.86)},
			{Group: handwritten4, Label: "incomplete, view completion", Setup: completed(), Paper: figuresSplitCompleted()},
		},
	}
}

func missingRates() table {
	e := table{
		ID: "missing", Title: "Missing rates", Source: "figure miss_diff, which prints no numbers",
		Text:    "At rate η, a share η/2 of the samples lacks the first view and as many others the second. At 0.5 this is the table above.",
		Columns: append(usual(), lab.BCubedPrecision),
		Plot:    scorePlot, XLabel: "missing rate",
	}
	for _, group := range []string{handwritten2, leaves} {
		for _, rate := range []float64{0.1, 0.3, 0.5, 0.7} {
			c := cell{Group: group, Label: fmt.Sprintf("rate %g", rate), Setup: lacking(group, rate/2, rate/2), X: rate}
			if rate == 0.5 {
				c.Paper = map[string]figures{handwritten2: figuresHalf(), leaves: figuresLeavesHalf()}[group]
			}
			e.Cells = append(e.Cells, c)
		}
	}
	return e
}

func fusions() table {
	e := table{
		ID: "fusion", Title: "How the views' probabilities become one", Source: "table ablation-formula",
		Text:    "The formula is the symmetric posterior, Eq. p_bayesian_new, which the method uses; the others are plain aggregations.",
		Columns: usual(),
	}
	for _, row := range []struct {
		name                  string
		humbi, two, fourViews figures
	}{
		{"max", four(87.67, 89.67, 96.39, 87.62), four(73.86, 74.33, 80.18, 71.45), four(80.15, 79.76, 83.56, 78.25)},
		{"mean", four(92.14, 93.46, 97.71, 92.11), four(80.6, 80.35, 83.52, 78.79), four(88.96, 88.53, 88.46, 87.83)},
		{"min", four(97.2, 98.04, 99.37, 97.19), four(83.83, 82.99, 84.42, 82.24), four(87.21, 86.64, 86.80, 85.90)},
		{"multiply", four(97.26, 98.03, 99.35, 97.25), four(84.16, 83.45, 85.01, 82.61), four(90.75, 90.23, 89.69, 89.78)},
		{"formula", four(98.12, 98.77, 99.62, 98.11), figures2(), figures4()},
	} {
		fused := func(s lab.Setup) lab.Setup {
			if row.name == "formula" {
				return s
			}
			return s.With("fusion=" + row.name)
		}
		e.Cells = append(e.Cells,
			cell{Group: handwritten2, Label: row.name, Setup: fused(complete(handwritten2)), Paper: row.two},
			cell{Group: handwritten4, Label: row.name, Setup: fused(complete(handwritten4)), Paper: row.fourViews},
			absent(row.name, row.humbi))
	}
	return e.grouped(handwritten2, handwritten4, humbi)
}

// grouped puts the cells of each group together.
func (e table) grouped(groups ...string) table {
	slices.SortStableFunc(e.Cells, func(a, b cell) int {
		return slices.Index(groups, a.Group) - slices.Index(groups, b.Group)
	})
	return e
}

func estimates() table {
	e := table{
		ID: "estimation", Title: "MPC's estimate against self-learning", Source: "figure fg_estimation; MPC's rows of tables res-3datasets and res-4v",
		Text: "MPC fits each view's function by isotonic regression on pseudo labels, here the clusters of k-means in the view, and fuses by its asymmetric form, Eq. p_bayesian. " +
			"K-means is told the true number of classes, SLS-MPC is not. The paper's figures of MPC are of that method's own program, the one of \"MPC, symmetric\" is computed from what its text says; neither is counted.",
		Columns: usual(),
	}
	for _, row := range []struct {
		group               string
		mpc, symmetric, sls figures
	}{
		{handwritten2, four(84.57, 84.45, 85.60, 83.04), nil, figures2()},
		{handwritten4, four(90.17, 89.78, 89.77, 89.15), figures{lab.BCubedF: 90.58}, figures4()},
		{leaves, four(84.18, 85.65, 94.40, 84.04), nil, figuresLeaves()},
	} {
		s := complete(row.group)
		e.Cells = append(e.Cells,
			beside(cell{Group: row.group, Label: "MPC", Setup: s.By(lab.PseudoLabels).With("fusion=asymmetric"), Paper: row.mpc}),
			beside(cell{Group: row.group, Label: "MPC, symmetric", Setup: s.By(lab.PseudoLabels), Paper: row.symmetric}),
			main(row.group, s, row.sls))
	}
	return e
}

// metrics are the cells of one group under four similarity measures.
func metrics(group string, s lab.Setup, l1, l2, l3, cosine figures) []cell {
	return []cell{
		{Group: group, Label: "L1", Setup: s.With("metric=l1"), Paper: l1},
		{Group: group, Label: "L2", Setup: s.With("metric=l2"), Paper: l2},
		{Group: group, Label: "L3", Setup: s.With("metric=l3"), Paper: l3},
		{Group: group, Label: "cosine", Setup: s, Paper: cosine},
	}
}

// leavesMetrics are the cells of a group of 100Leaves.
func leavesMetrics(group string) []cell {
	return metrics(group, complete(group), four(89.65, 90.60, 96.49, 89.56), four(84.35, 85.70, 94.83, 84.22), four(79.35, 80.64, 92.96, 79.18), figuresLeaves())
}

// each changes every cell.
func each(change func(cell) cell, cells []cell) []cell {
	for i := range cells {
		cells[i] = change(cells[i])
	}
	return cells
}

func completeSimilarity() table {
	return table{
		ID: "similarity", Title: "Similarity measures, complete", Source: "table sim",
		Text: "Minus the distance, and the cosine, which the method uses. " +
			"The figures of 100Leaves tell that the paper scaled its features: unscaled, all but that of L1 are three to five points lower.",
		Columns: usual(),
		Cells: slices.Concat(
			leavesMetrics(leaves),
			each(beside, leavesMetrics(leavesAsIs)),
			[]cell{
				absent("L1", four(96.94, 98.09, 99.44, 96.93)), absent("L2", four(97.75, 98.60, 99.59, 97.74)),
				absent("L3", four(97.79, 98.63, 99.60, 97.78)), absent("cosine", four(98.12, 98.77, 99.62, 98.11)),
			},
			metrics(handwritten2, complete(handwritten2), four(86.08, 85.55, 87.04, 84.69), four(86.91, 86.44, 87.47, 85.59), four(87.07, 86.69, 87.66, 85.76), figures2()),
			metrics(handwritten4, complete(handwritten4), four(93.32, 93.03, 92.15, 92.60), four(92.32, 92.06, 91.35, 91.51), four(91.76, 91.49, 91.18, 90.89), figures4()),
		),
	}
}

func incompleteSimilarity() table {
	withCompletion := handwritten4 + ", view completion"
	return table{
		ID: "similarity-incomplete", Title: "Similarity measures, incomplete", Source: "table sim2",
		Text:    "The incomplete case of four views, without and with view completion.",
		Columns: usual(),
		Cells: slices.Concat(
			metrics(handwritten4, split(), four(89.06, 88.97, 89.06, 87.94), four(88.17, 88.18, 88.36, 86.97), four(89.47, 89.15, 89.04, 88.39), figuresSplit()),
			metrics(withCompletion, completed(), four(90.04, 89.95, 89.83, 89.01), four(89.51, 89.45, 89.29, 88.44), four(90.32, 90.04, 89.81, 89.33), figuresSplitCompleted()),
		),
	}
}

func consistencyLoss() table {
	direct := func(group string, paper, own figures) []cell {
		s := complete(group)
		return []cell{
			{Group: group, Label: "Eq. loss_fz", Setup: s.With("loss=direct"), Paper: paper},
			{Group: group, Label: "Eq. loss_1", Setup: s, Paper: own},
		}
	}
	return table{
		ID: "consistency", Title: "Two forms of the consistency loss", Source: "table loss2",
		Text:    "Eq. loss_1, which the method uses, holds every estimate to a compromise of all; Eq. loss_fz holds a view's own estimate to the others.",
		Columns: usual(),
		Cells: slices.Concat(
			direct(handwritten2, four(77.82, 77.95, 82.64, 75.66), figures2()),
			direct(handwritten4, four(80.43, 80.34, 82.41, 78.71), figures4()),
		),
	}
}

func lossComponents() table {
	without := func(group string, single, cross, constraint, own figures) []cell {
		s := complete(group)
		return []cell{
			{Group: group, Label: "without L_consistency1", Setup: s.With("single=off"), Paper: single},
			{Group: group, Label: "without L_consistency2", Setup: s.With("cross=off"), Paper: cross},
			{Group: group, Label: "without L_constraint", Setup: s.With("constraint=off"), Paper: constraint},
			main(group, s, own),
		}
	}
	return table{
		ID: "components", Title: "Parts of the loss", Source: "table loss",
		Text:    "The method without one of the three terms of Eq. loss_all.",
		Columns: usual(),
		Cells: slices.Concat(
			without(handwritten2, four(83.63, 83.00, 84.60, 82.03), four(86.15, 85.95, 87.39, 84.77), four(80.81, 80.41, 83.97, 79.06), figures2()),
			without(handwritten4, four(90.13, 89.74, 89.63, 89.12), four(85.61, 85.44, 86.17, 84.25), four(83.50, 83.44, 84.75, 81.98), figures4()),
		),
	}
}

func refinement() table {
	e := table{
		ID: "refinement", Title: "Graph refinement",
		Text:    "Path propagation, Eq. pb_optpath, and co-neighbour propagation, Eq. pb_optknn, each alone, both, and neither.",
		Columns: append(usual(), lab.Clusters),
	}
	for _, group := range []string{handwritten2, handwritten4, leaves} {
		s := complete(group)
		e.Cells = append(e.Cells,
			cell{Group: group, Label: "none", Setup: s.With("paths=off", "co-neighbor-propagation=off")}, //nolint:misspell // spelt as --neighbors is
			cell{Group: group, Label: "paths", Setup: s.With("co-neighbor-propagation=off")},             //nolint:misspell // spelt as --neighbors is
			cell{Group: group, Label: "co-neighbours", Setup: s.With("paths=off")},
			cell{Group: group, Label: "both", Setup: s})
	}
	return e
}

func lambdas() table {
	e := table{
		ID: "lambda", Title: "The weight λ of the consistency loss", Source: "figure lam, which prints no numbers",
		Text:    "The paper uses 20 here.",
		Columns: append(usual(), lab.BCubedPrecision),
		Plot:    scorePlot, XLabel: "λ",
	}
	for _, l := range []float64{5, 10, 15, 20, 30, 40, 50, 60, 80} {
		e.Cells = append(e.Cells, cell{
			Group: handwritten2, Label: fmt.Sprintf("λ = %g", l), X: l,
			Setup: complete(handwritten2).With(fmt.Sprintf("lambda=%g", l)),
		})
	}
	return e
}

func convergence() table {
	e := table{
		ID: "convergence", Title: "Convergence", Source: "figure epoch, which prints no numbers",
		Text: "Every row stops the learning after so many epochs; 0 is the straight line that it starts from. The loss is that of the longest run. " +
			"The paper's figure has two views or four, it does not say which, and its scores rise for 300 epochs.",
		Columns: append(usual(), lab.Clusters, lab.Seconds),
		Plot:    lossPlot, XLabel: "epochs",
	}
	for _, group := range []string{handwritten2, handwritten4} {
		for _, n := range []int{0, 10, 25, 50, 100, 200, 300, 500, 1000} {
			c := cell{Group: group, Label: fmt.Sprint(n), X: float64(n)}
			if c.Setup = complete(group).With("training=off"); n > 0 {
				c.Setup = complete(group).With(fmt.Sprint("epochs=", n))
			}
			if n > 300 {
				c.Seeds = 2 // they take long
			}
			if group == handwritten2 || n <= 300 {
				e.Cells = append(e.Cells, c)
			}
		}
	}
	return e
}

func functions() table {
	s := complete(handwritten4).With("epochs=300")
	return table{
		ID: "functions", Title: "The learned functions against the truth's", Source: "figure fg_plt, which prints no numbers",
		Text:    "The probability that a pair is of one class, by its similarity in a view, as it is and as it is learned in 300 epochs.",
		Columns: []lab.Metric{lab.BCubedF, lab.ARI},
		Plot:    functionPlot, XLabel: "similarity",
		Cells: []cell{
			{Group: handwritten4, Label: "truth", Setup: complete(handwritten4).By(lab.Oracle)},
			{Group: handwritten4, Label: "SLS-MPC", Setup: s},
			{Group: handwritten4, Label: "untrained", Setup: complete(handwritten4).With("training=off")},
			{Group: handwritten4, Label: "Eq. loss_fz", Setup: s.With("loss=direct")},
			{Group: handwritten4, Label: "without L_constraint", Setup: s.With("constraint=off")},
		},
	}
}

func learning() table {
	e := table{
		ID: "learning", Title: "Learning against the straight line",
		Text:      "What learning is worth: the default against the same run with the straight lines that the learning starts from.",
		Columns:   append(usual(), lab.Clusters),
		Reading:   "straight line / learned ± deviation / difference",
		Tolerance: 0.5,
	}
	add := func(group, label string, s lab.Setup) {
		line := s.With("training=off")
		e.Cells = append(e.Cells, cell{Group: group, Label: label, Setup: s, Against: &line})
	}
	two := []string{handwritten2, leaves, leavesAsIs, leavesShape, buaa, sport, sportCounts}
	for _, group := range append(slices.Clone(two), handwritten4, leaves3, handwritten6, msrc, orl, cub, landUse, webKB) {
		add(group, "complete", complete(group))
	}
	for _, group := range two {
		add(group, "incomplete", halved(group))
	}
	add(handwritten4, "incomplete", split())
	return e
}

func bounds() table {
	e := table{
		ID: "bounds", Title: "Bounds",
		Text: "What the rest of the method makes of better probabilities than can be learned without classes: of functions that are fitted on the true classes, and of candidate pairs that are known to be of one class or not. " +
			"Where a cell stays below the paper though the second is far above it, the probabilities hold it back; where the second is near, the candidates, the refinement or the partition do. " +
			"True functions are the truth about each view alone; they are not always what the fusion and the partition do best with, so that learned functions can score above them.",
		Columns: append(usual(), lab.BCubedPrecision, lab.Clusters),
		Reading: "SLS-MPC / bound ± deviation / difference",
	}
	add := func(group, label string, s lab.Setup) {
		e.Cells = append(e.Cells,
			cell{Group: group, Label: label + ", true functions", Setup: s.By(lab.Oracle), Against: &s},
			cell{Group: group, Label: label + ", true neighbours", Setup: s.By(lab.TrueNeighbours), Against: &s})
	}
	two := []string{handwritten2, leaves, leavesAsIs, leavesShape, buaa, sport, sportCounts}
	for _, group := range two {
		add(group, "complete", complete(group))
	}
	for _, group := range two {
		add(group, "incomplete", halved(group))
	}
	add(handwritten4, "complete", complete(handwritten4))
	add(handwritten4, "incomplete", split())
	add(handwritten4, "incomplete, view completion", completed())
	// The aggregation that stays farthest below the paper.
	add(handwritten4, "complete, max", complete(handwritten4).With("fusion=max"))
	return e
}

func otherMethods() table {
	e := table{
		ID: "others", Title: "Our probabilities in other methods", Source: "table mp",
		Text:    "The paper prints how much ARI EEIMC and PIC gain by the probabilities of SLS-MPC.",
		Columns: []lab.Metric{lab.ARI},
	}
	for _, row := range []struct {
		method                     string
		handwritten, leaves, humbi float64
	}{{"EEIMC", 10.81, 14.73, 0.48}, {"PIC", 17.24, 12.66, 2.62}} {
		for _, c := range []struct {
			group string
			gain  float64
		}{{handwritten2, row.handwritten}, {leaves, row.leaves}, {humbi, row.humbi}} {
			e.Cells = append(e.Cells, cell{
				Group: c.group, Label: row.method + ", gain", Paper: figures{lab.ARI: c.gain},
				Reason: "it needs the programs of other methods, with our probabilities put in",
			})
		}
	}
	return e
}
