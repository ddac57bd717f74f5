// Package compare holds mvclust beside the methods that the paper compares with, on sets whose
// classes are known.
package compare

import (
	"slices"

	"github.com/mvclust/mvclust/experiments/compare/affinity"
	"github.com/mvclust/mvclust/experiments/compare/dbscan"
	"github.com/mvclust/mvclust/experiments/compare/eeimc"
	"github.com/mvclust/mvclust/experiments/compare/gmc"
	"github.com/mvclust/mvclust/experiments/compare/imccp"
	"github.com/mvclust/mvclust/experiments/compare/mcdcf"
	"github.com/mvclust/mvclust/experiments/compare/mpc"
	"github.com/mvclust/mvclust/experiments/compare/oslf"
	"github.com/mvclust/mvclust/experiments/compare/pic"
	"github.com/mvclust/mvclust/experiments/compare/sfmc"
	"github.com/mvclust/mvclust/experiments/compare/simple"
	"github.com/mvclust/mvclust/experiments/compare/smsc"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/ueaf"
)

// Systems lists the compared systems in the order of the page: those that everyone knows, those
// that know nothing of missing views, and those that do.
func Systems() []system.System {
	return slices.Concat(
		simple.Systems(),
		[]system.System{
			affinity.System(),
			dbscan.System(),
			smsc.System(),
			sfmc.System(),
			gmc.System(),
			mcdcf.System(),
			imccp.System(),
			ueaf.System(),
			oslf.System(),
			eeimc.System(),
			pic.System(),
			mpc.System(),
			eeimc.OnProbabilities(),
			pic.OnProbabilities(),
		},
	)
}
