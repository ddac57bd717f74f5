package view

import (
	"slices"
	"testing"
)

func TestOnly(t *testing.T) {
	v := &View{Name: "v", Samples: 4, Dims: 2, Data: []float32{1, 5, 2, 7, 3, 1, 9, 4}}
	s, err := v.Scaler(t.Context(), Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Versions(); !slices.Equal(got, []Version{Joined, Given, Ranged, Standard}) {
		t.Errorf("versions %v", got)
	}
	whole, err := s.Apply(t.Context(), v, 1)
	if err != nil {
		t.Fatal(err)
	}
	for part, version := range []Version{Given, Ranged, Standard} {
		only, err := s.Only(version)
		if err != nil {
			t.Fatal(err)
		}
		if got := only.Versions(); !slices.Equal(got, []Version{Joined, version}) {
			t.Errorf("versions of %v: %v", version, got)
		}
		rows, err := only.Apply(t.Context(), v, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Samples {
			for k, x := range rows.Row(i) {
				want := float32(0)
				if k/(v.Dims+1) == part {
					want = whole.Row(i)[k]
				}
				if x != want {
					t.Errorf("%v: value %d of row %d is %v, want %v", version, k, i, x, want)
				}
			}
		}
	}
	if s.Weights[0] == 0 || s.Weights[1] == 0 {
		t.Error("Only changes the scaler")
	}
	if same, err := s.Only(Joined); same != s || err != nil {
		t.Errorf("joined: %v, %v", same, err)
	}
	for _, scaler := range []*Scaler{{}, {Scale: MinMax, Weights: [3]float64{1, 1, 1}}, {Scale: Mixed}} {
		if got := scaler.Versions(); !slices.Equal(got, []Version{Joined}) {
			t.Errorf("versions of scale %v: %v", scaler.Scale, got)
		}
		if _, err := scaler.Only(Given); err == nil {
			t.Errorf("scale %v has a version", scaler.Scale)
		}
	}
	for _, version := range []Version{-1, 4, 1 << 40} {
		if _, err := s.Only(version); err == nil {
			t.Errorf("version %d is no error", version)
		}
	}
}

func TestVersionNames(t *testing.T) {
	for _, v := range []Version{Joined, Given, Ranged, Standard} {
		text, err := v.MarshalText()
		var back Version
		if err != nil || back.UnmarshalText(text) != nil || back != v || string(text) != v.String() {
			t.Errorf("%v: %s, %v", v, text, err)
		}
	}
	if _, err := Version(9).MarshalText(); err == nil {
		t.Error("version 9 has a name")
	}
}
