package mvclust

import (
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/selection"
)

// constrain enters what is known of pairs into the fused graph.
func (r *run) constrain(fused *graph.Graph) (*graph.Graph, error) {
	r.known = r.known.Renumber(r.order)
	return r.known.Fix(r.ctx, fused, r.opt.Threads)
}

// constraintFootprint returns how many bytes the constraints take at most where so many
// samples have so many pairs.
func (o Options) constraintFootprint(samples, pairs int64) int64 {
	if o.Constraints.Empty() {
		return 0
	}
	threads := int64(parallel.Threads(o.Threads))
	tokens := int64(2*len(o.Constraints.CannotLink) + len(o.Constraints.Distinct))
	// What is known, in both numberings; what the surroundings hear of it; the claims.
	bytes := 40*samples + tokens*(80+80*threads)
	if links := int64(len(o.Constraints.MustLink)); links > 0 {
		// The links told around; the fused graph once more, and refined ones.
		bytes += 400*links*threads + 16*pairs + threads*16*min(pairs, samples*selection.DefaultMost)
	}
	return bytes
}
