package dataset

import (
	"fmt"
	"io"

	"github.com/mvclust/mvclust/internal/npy"
	"github.com/mvclust/mvclust/view"
)

// Write writes a .npz file that Load and Labels read: the views as view0, view1 and so
// on, and the labels.
func Write(w io.Writer, views []*view.View, labels []int) error {
	z := npy.NewWriter(w)
	for i, v := range views {
		if err := z.Add(fmt.Sprint("view", i), []int{v.Samples, v.Dims}, v.Data); err != nil {
			return err
		}
	}
	wide := make([]int64, len(labels))
	for i, l := range labels {
		wide[i] = int64(l)
	}
	if err := z.Add("labels", []int{len(wide)}, wide); err != nil {
		return err
	}
	return z.Close()
}
