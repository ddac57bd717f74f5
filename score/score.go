// Package score compares a clustering with known classes: pairwise and BCubed
// precision, recall and F, NMI, ARI and ACC.
//
// All scores are computed from the contingency table, stored as a sparse matrix:
//
//	           cluster j
//	class i    n_ij          a_i    n_ij: samples of class i in cluster j
//	           b_j           n      a_i, b_j, n: sizes of the class, of the cluster, of all
//
// A clustering that equals the classes up to the names of the labels has exactly 1
// in every score, even for a single class, a single sample, or classes of one
// sample each. If either the classes or the clusters form a single group and the
// other does not, NMI and ARI are 0, as in scikit-learn.
package score

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Scores holds the scores of a clustering. 1 is best. All are in [0, 1] except ARI,
// which is in [-0.5, 1].
type Scores struct {
	// PairwisePrecision is the share of pairs of one class among the pairs of one
	// cluster:
	//
	//	sum n_ij (n_ij - 1) / sum b_j (b_j - 1)
	//
	// It is 1 if no two samples share a cluster.
	PairwisePrecision float64 `json:"pairwise_precision"`
	// PairwiseRecall is the share of pairs of one cluster among the pairs of one
	// class:
	//
	//	sum n_ij (n_ij - 1) / sum a_i (a_i - 1)
	//
	// It is 1 if no two samples share a class.
	PairwiseRecall float64 `json:"pairwise_recall"`
	// PairwiseF is the harmonic mean of the two, or 0 if either is 0.
	PairwiseF float64 `json:"pairwise_f"`

	// BCubedPrecision is the average, over the samples, of the share of a sample's
	// cluster that is of its class, the sample included:
	//
	//	1/n sum n_ij² / b_j
	//
	// Amigó, Gonzalo, Artiles and Verdejo, "A comparison of extrinsic
	// clustering evaluation metrics based on formal constraints", 2009.
	BCubedPrecision float64 `json:"bcubed_precision"`
	// BCubedRecall is the average, over the samples, of the share of a sample's class
	// that is in its cluster, the sample included:
	//
	//	1/n sum n_ij² / a_i
	BCubedRecall float64 `json:"bcubed_recall"`
	// BCubedF is the harmonic mean of the two averages.
	BCubedF float64 `json:"bcubed_f"`

	// NMI is the mutual information divided by the arithmetic mean of the entropies,
	// I / ((H(class) + H(cluster)) / 2), where
	//
	//	I = sum n_ij/n log(n n_ij / (a_i b_j)),  H(class) = sum a_i/n log(n / a_i)
	NMI float64 `json:"nmi"`
	// NMIGeometric is the mutual information divided by the geometric mean of the
	// entropies, I / sqrt(H(class) H(cluster)).
	//
	// Strehl and Ghosh, "Cluster ensembles: a knowledge reuse framework for
	// combining multiple partitions", 2002, equation 3.
	NMIGeometric float64 `json:"nmi_geometric"`

	// ARI is the Rand index corrected for chance, with t = sum C(n_ij, 2),
	// p = sum C(a_i, 2) and q = sum C(b_j, 2):
	//
	//	(t - p q / C(n, 2)) / ((p + q) / 2 - p q / C(n, 2))
	//
	// Hubert and Arabie, "Comparing partitions", 1985, equation 5.
	ARI float64 `json:"ari"`

	// ACC is the accuracy: the share of samples whose cluster is assigned to their
	// class, under the one-to-one assignment of clusters to classes that maximises
	// this share.
	ACC float64 `json:"acc"`

	// Samples is the number of samples.
	Samples int `json:"samples"`
	// Clusters is the number of distinct values in labels.
	Clusters int `json:"clusters"`
	// Classes is the number of distinct values in truth.
	Classes int `json:"classes"`
}

// Compare returns the scores of labels, the cluster of each sample, against truth, its
// class. Any integers will do as labels. Time and memory are linear in the number of
// samples, except for ACC, which solves a sparse assignment problem. It is an error
// if truth and labels differ in length, are empty, or have more than 2^31-1 samples.
func Compare(truth, labels []int) (Scores, error) {
	switch {
	case len(truth) != len(labels):
		return Scores{}, fmt.Errorf("truth has length %d and labels has length %d; give one of each per sample, in the same order", len(truth), len(labels))
	case len(truth) == 0:
		return Scores{}, errors.New("there is no sample to score; give at least one")
	case len(truth) > math.MaxInt32:
		return Scores{}, fmt.Errorf("%d samples are too many to score; give at most %d", len(truth), math.MaxInt32)
	}
	t := tabulate(truth, labels)
	s := Scores{Samples: len(truth), Clusters: len(t.cols), Classes: len(t.rows)}
	t.pairs(&s)
	t.bcubed(&s)
	t.information(&s)
	s.ACC = float64(t.assign()) / float64(s.Samples)
	return s, nil
}

// table is a sparse contingency table with a row per class and a column per
// cluster, both numbered in the order of their first sample.
type table struct {
	n    int64   // samples
	rows []int64 // samples of each row
	cols []int64 // samples of each column
	// The cells of row i that hold samples are cells[start[i]:start[i+1]].
	start []int
	cells []cell
}

type cell struct {
	col   int32
	count int32
}

func tabulate(truth, labels []int) *table {
	class, rows := number(truth)
	cluster, cols := number(labels)
	t := &table{n: int64(len(truth)), rows: rows, cols: cols, start: make([]int, 1, len(rows)+1)}

	// Sort the clusters of the samples by class.
	byClass := make([]int32, len(cluster))
	next := make([]int, len(rows))
	for i := range len(rows) - 1 {
		next[i+1] = next[i] + int(rows[i])
	}
	for s, i := range class {
		byClass[next[i]] = cluster[s]
		next[i]++
	}

	// at[j]-1 is the index in cells of column j of the current row, if at[j] is past
	// the row's start; entries of earlier rows are not.
	at := make([]int, len(cols))
	for i, size := range rows {
		first := t.start[i]
		for _, j := range byClass[next[i]-int(size) : next[i]] {
			if at[j] <= first {
				t.cells = append(t.cells, cell{col: j})
				at[j] = len(t.cells)
			}
			t.cells[at[j]-1].count++
		}
		t.start = append(t.start, len(t.cells))
	}
	return t
}

// number replaces labels by 0, 1, 2, ... in the order of their first sample, and
// returns how many samples have each.
func number(labels []int) (ids []int32, sizes []int64) {
	ids = make([]int32, len(labels))
	known := make(map[int]int32)
	for s, label := range labels {
		id, ok := known[label]
		if !ok {
			id = int32(len(sizes))
			known[label] = id
			sizes = append(sizes, 0)
		}
		ids[s] = id
		sizes[id]++
	}
	return ids, sizes
}

func (t *table) row(i int) []cell { return t.cells[t.start[i]:t.start[i+1]] }

// pairs sets the pairwise scores and ARI. Everything is counted exactly, in
// ordered pairs of two different samples; fewer than 2^62 of them exist.
func (t *table) pairs(s *Scores) {
	var both, inClass, inCluster int64
	for _, c := range t.cells {
		both += int64(c.count) * int64(c.count-1)
	}
	for _, a := range t.rows {
		inClass += a * (a - 1)
	}
	for _, b := range t.cols {
		inCluster += b * (b - 1)
	}
	s.PairwisePrecision = share(both, inCluster)
	s.PairwiseRecall = share(both, inClass)
	s.PairwiseF = share(2*both, inClass+inCluster)

	// Hubert and Arabie's formula in integers, so that only the last division rounds.
	// The denominator is 0 only if both sides are a single group, or both consist of
	// groups of one sample.
	all := t.n * (t.n - 1)
	num := new(big.Int).Sub(product(both, all), product(inClass, inCluster))
	den := new(big.Int).Sub(product(inClass+inCluster, all), product(2*inClass, inCluster))
	if den.Sign() == 0 {
		s.ARI = 1
		return
	}
	s.ARI, _ = new(big.Rat).SetFrac(num.Lsh(num, 1), den).Float64()
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// share returns part/whole, or 1 if whole is 0.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (t *table) bcubed(s *Scores) {
	squares := make([]int64, len(t.cols)) // of the cells of each column
	var precision, recall float64
	for i, a := range t.rows {
		var row int64
		for _, c := range t.row(i) {
			sq := int64(c.count) * int64(c.count)
			row += sq
			squares[c.col] += sq
		}
		recall += float64(row) / float64(a)
	}
	for j, b := range t.cols {
		precision += float64(squares[j]) / float64(b)
	}
	s.BCubedPrecision = precision / float64(t.n)
	s.BCubedRecall = recall / float64(t.n)
	s.BCubedF = 2 * s.BCubedPrecision * s.BCubedRecall / (s.BCubedPrecision + s.BCubedRecall)
}

func (t *table) information(s *Scores) {
	if len(t.cells) == len(t.rows) && len(t.cells) == len(t.cols) {
		s.NMI, s.NMIGeometric = 1, 1 // equal, even with an entropy of 0
		return
	}
	n := float64(t.n)
	var mutual float64
	for i, a := range t.rows {
		for _, c := range t.row(i) {
			// A single logarithm, which is exactly 0 for independent sides.
			q := n * float64(c.count) / (float64(a) * float64(t.cols[c.col]))
			mutual += float64(c.count) / n * math.Log(q)
		}
	}
	if mutual <= 0 {
		return
	}
	h, k := entropy(t.rows, n), entropy(t.cols, n)
	s.NMI = min(1, 2*mutual/(h+k))
	s.NMIGeometric = min(1, mutual/math.Sqrt(h*k))
}

func entropy(sizes []int64, n float64) float64 {
	var h float64
	for _, c := range sizes {
		h += float64(c) / n * math.Log(n/float64(c))
	}
	return h
}
