package dataset

import (
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

func TestFill(t *testing.T) {
	f := newFolder(t)
	a := f.text("a.csv", "id,p,q", "u,1,2", "v,,4", "w,,")
	b := f.text("b.csv", "id,p,q", "u,5,", "w,7,8")
	set := f.load(Options{Fill: []string{"zero", "b.csv=mean"}}, a, b)
	if x := set.Views[0]; x.Has(2) || x.Row(1)[0] != 0 || x.Filling.How != view.Zero || x.Filling.Cells != 1 {
		t.Errorf("%+v", x)
	}
	// The ids make three samples, of which b lacks one.
	if x := set.Views[1]; x.Has(1) || x.Row(0)[1] != 8 || x.Filling.How != view.Mean || x.Filling.Cells != 1 {
		t.Errorf("%+v", x)
	}
	if !slices.Contains(set.Notes, "a.csv: 1 missing value filled in by zero") {
		t.Error(set.Notes)
	}
	f.refuse(Options{Fill: []string{"a.csv=mean"}}, []string{a, b}, "b.csv", `with the id "u" has 1 NaN`)
	f.refuse(Options{Fill: []string{"c.csv=mean"}}, []string{a, b}, "--fill: there is no view")
	f.refuse(Options{Fill: []string{"most"}}, []string{a, b}, "--fill: ", "most")
}
