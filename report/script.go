package report

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// pageData is what the script gets, as JSON. Lists of numbers are little-endian, in base64.
type pageData struct {
	Drawn   int               `json:"drawn"`
	Height  float64           `json:"height"`
	Places  []byte            `json:"places"`  // uint16 x, y of every point
	Labels  []byte            `json:"labels"`  // uint32 of every sample in IDs or Rows
	Sure    []byte            `json:"sure"`    // uint8, confidence x 255, of every point
	Near    []byte            `json:"near"`    // uint32 x 5 of every point: entries of IDs or Rows
	Odds    []byte            `json:"odds"`    // uint8 x 5 of every point: probabilities x 255; 0 for none
	Present []byte            `json:"present"` // a bit per view: for every eight views, a byte per point; empty where no view is missing
	IDs     []string          `json:"ids"`     // of the points, and then of other samples
	Rows    []byte            `json:"rows"`    // uint32, in place of ids
	Views   []string          `json:"views"`
	Colours []int             `json:"colours"` // of the first clusters
	Sizes   []int             `json:"sizes"`
	Singles int               `json:"singles"` // the first cluster of a single sample
	Thumbs  map[string]string `json:"thumbs"`  // by entry of IDs or Rows
}

// entries numbers the samples that the script knows: the points of the map, and then others
// as they are asked for.
type entries struct {
	samples []int
	of      map[int]int // sample -> entry
}

func newEntries(points []int) *entries {
	e := &entries{slices.Clone(points), make(map[int]int, len(points))}
	for k, i := range points {
		e.of[i] = k
	}
	return e
}

// add returns the entry of sample i, a new one if need be.
func (e *entries) add(i int) int {
	k, ok := e.of[i]
	if !ok {
		k = len(e.samples)
		e.of[i] = k
		e.samples = append(e.samples, i)
	}
	return k
}

// data returns the JSON for the script, and the entries of its samples.
func (r *Report) data() ([]byte, *entries, error) {
	m, e := r.Map, newEntries(r.Map.Samples)
	d := pageData{
		Drawn: len(m.Samples), Height: m.Height, Colours: m.Colours, Sizes: r.Sizes, Singles: r.Number - r.Singles,
		Present: m.presence(),
	}
	for _, v := range r.Views {
		d.Views = append(d.Views, v.Name)
	}
	d.addPoints(r, e)
	for _, c := range r.Clusters { // whose listed members can be searched for as well
		for _, i := range slices.Concat(c.Central, c.Uncertain) {
			e.add(i)
		}
	}
	for _, i := range e.samples {
		d.Labels = binary.LittleEndian.AppendUint32(d.Labels, uint32(r.labels[i]))
		if r.ids == nil {
			d.Rows = binary.LittleEndian.AppendUint32(d.Rows, uint32(i))
		} else {
			d.IDs = append(d.IDs, r.ids[i])
		}
	}
	if len(r.thumbs) > 0 {
		d.Thumbs = make(map[string]string, len(r.thumbs))
		for i, uri := range r.thumbs {
			d.Thumbs[strconv.Itoa(e.of[i])] = uri
		}
	}
	text, err := json.Marshal(d)
	return text, e, err
}

// addPoints adds the place, confidence and neighbours of every point.
func (d *pageData) addPoints(r *Report, known *entries) {
	m, le := r.Map, binary.LittleEndian
	scale := 65535 / max(1, m.Height)
	for k, i := range m.Samples {
		d.Places = le.AppendUint16(le.AppendUint16(d.Places, uint16(float64(m.X[k])*scale)), uint16(float64(m.Y[k])*scale))
		d.Sure = append(d.Sure, share(r.confidence[i]))
		for e := range shownNeighbours {
			to, p := 0, uint8(0)
			if e < len(m.Near[k]) {
				to, p = known.add(m.Near[k][e].Sample), max(1, share(float64(m.Near[k][e].Probability)))
			}
			d.Near, d.Odds = le.AppendUint32(d.Near, uint32(to)), append(d.Odds, p)
		}
	}
}

// presence returns pageData.Present.
func (m *Map) presence() []byte {
	if !slices.ContainsFunc(m.present, func(p []bool) bool { return p != nil }) {
		return nil
	}
	n := len(m.Samples)
	bits := make([]byte, n*((len(m.present)+7)/8))
	for v, present := range m.present {
		for k, i := range m.Samples {
			if present == nil || present[i] {
				bits[v/8*n+k] |= 1 << (v % 8)
			}
		}
	}
	return bits
}

// share writes a number from 0 to 1 in a byte.
func share(x float64) uint8 { return uint8(math.Round(255 * min(1, max(0, x)))) }
