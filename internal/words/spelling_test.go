package words_test

import (
	"testing"

	"github.com/mvclust/mvclust/internal/words"
)

func TestDidYouMean(t *testing.T) {
	choices := []string{"epochs", "rate", "candidates", "fit", "IMG_0012.jpg"}
	for word, want := range map[string]string{
		"epoch": "epochs", "Epochs": "epochs", "eopchs": "epochs", "fti": "fit", "ca": "candidates", "rates": "rate", "zebra": "", "": "", "img_0021.JPG": "IMG_0012.jpg", "img_00": "IMG_0012.jpg",
	} {
		got := words.DidYouMean(word, choices)
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
