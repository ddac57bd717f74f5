package lab

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/mvclust/mvclust/score"
)

// Labels are the clusters of samples, numbered from 0. In JSON they are a word of base64: numbers
// of the lengths of encoding/binary, deflated.
type Labels []int

// MarshalJSON writes the labels.
func (l Labels) MarshalJSON() ([]byte, error) {
	var raw []byte
	for _, x := range l {
		if x < 0 {
			return nil, errors.New("a label is below 0")
		}
		raw = binary.AppendUvarint(raw, uint64(x))
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(b.Bytes())
}

// mostLabels bounds the bytes of labels that are read.
const mostLabels = 1 << 24

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Labels) UnmarshalJSON(text []byte) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), mostLabels))
	if err != nil {
		return err
	}
	*l = nil
	for len(raw) > 0 {
		x, n := binary.Uvarint(raw)
		if n <= 0 || x > math.MaxInt32 {
			return errors.New("it has no labels")
		}
		*l, raw = append(*l, int(x)), raw[n:]
	}
	return nil
}

// Alike returns the mean and the least ARI, in percent, of the labels of every two records; NaN
// where there are no two with labels.
func (list Records) Alike() (mean, least float64) {
	pairs, sum := 0.0, 0.0
	least = math.NaN()
	for i, a := range list {
		for _, b := range list[:i] {
			s, err := score.Compare(a.Labels, b.Labels)
			if err != nil { // not as many, or none
				continue
			}
			pairs, sum = pairs+1, sum+100*s.ARI
			if !(least <= 100*s.ARI) {
				least = 100 * s.ARI
			}
		}
	}
	return sum / pairs, least
}
