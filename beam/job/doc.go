// Package job clusters samples that no machine holds, on Apache Beam. The stages of the method do
// the work, in the packages under method; here is what brings together what they work on.
//
//	step        over         what it does                                          sends to
//	check       shards       reads all values, and refuses what cannot be used     -
//	sample      shards       takes rows at random                                  one worker
//	learn       sample       scales of the features, views left out, cells         all workers
//	assign      shards       ships each row, with all views, to its nearest cells  cells
//	near        cells        nearest neighbours by view                            homes
//	scale       homes        local scales                                          cells
//	training    some cells   similarities of some pairs                            one worker
//	functions   pairs        probability functions                                 all workers
//	score       cells        fused probabilities; each sample's most probable      homes
//	merge       homes        one list of neighbours per sample                     pieces
//	refine      pieces       a round of co-neighbours: samples become nodes        pieces
//	total       sums         sums of all weights                                   all workers
//	move, fold  pieces       nodes join within a piece, and are contracted         pieces, in turns
//	choose      all nodes    the granularity, on one worker                        links
//	unfold      links        labels of nodes become those of what they are made of shards
//	write       shards       labels, under temporary names                         -
//
// A cell holds rows that are near in all views. The first of the cells that a row is in is its home.
// A piece is a group of cells, and holds the samples and nodes that are at home there; what is near
// is mostly in one piece, so that little of the graph leaves it.
//
// The result does not depend on workers, bundles, or on which shard a sample is in: samples are
// known and ordered by a hash of their ids, every group is put in order before it is worked on, and
// weights are added up as whole numbers. A step keeps nothing between two groups.
package job
