package report

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// pageData is what the script gets, as JSON. Lists of numbers are little-endian, in base64.
type pageData struct {
	Drawn   int               `json:"drawn"`
	Height  float64           `json:"height"`
	Places  []byte            `json:"places"` // uint16 x, y of every point
	Levels  []levelData       `json:"levels"`
	Level   int               `json:"level"`   // the result's
	Near    []byte            `json:"near"`    // uint32 x 5 of every point: entries of IDs or Rows
	Odds    []byte            `json:"odds"`    // uint8 x 5 of every point: probabilities x 255; 0 for none
	Present []byte            `json:"present"` // a bit per view: for every eight views, a byte per point; empty where no view is missing
	IDs     []string          `json:"ids"`     // of the points, and then of other samples
	Rows    []byte            `json:"rows"`    // uint32, in place of ids
	Views   []string          `json:"views"`
	Thumbs  map[string]string `json:"thumbs"` // by entry of IDs or Rows
}

// levelData is a level for the script.
type levelData struct {
	Clusters string `json:"clusters"` // their number, in words
	Lead     string `json:"lead"`
	Largest  string `json:"largest"`
	Mean     string `json:"mean"`    // confidence
	Labels   []byte `json:"labels"`  // uint32 of every sample in IDs or Rows
	Sure     []byte `json:"sure"`    // uint8, confidence x 255, of every point
	Colours  []int  `json:"colours"` // of the first clusters
	Sizes    []int  `json:"sizes"`
	Singles  int    `json:"singles"` // the first cluster of a single sample
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
		Drawn: len(m.Samples), Height: m.Height, Level: r.Level, Present: m.presence(),
	}
	for _, v := range r.Views {
		d.Views = append(d.Views, v.Name)
	}
	d.addPoints(r, e)
	for _, l := range r.Levels {
		for _, c := range l.Profile { // whose listed members can be searched for as well
			for _, i := range slices.Concat(c.Central, c.Uncertain) {
				e.add(i)
			}
		}
	}
	for at := range r.Levels {
		d.Levels = append(d.Levels, r.Levels[at].data(r, e))
	}
	for _, i := range e.samples {
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

// data returns what the script gets of a level.
func (l *Level) data(r *Report, e *entries) levelData {
	mean := 0.0
	for _, c := range l.confidence {
		mean += c / float64(len(l.confidence))
	}
	d := levelData{
		Clusters: grouped(l.Clusters), Lead: fmt.Sprintf("%s in %s", count(l.Clusters, "cluster"), count(r.Samples, "sample")),
		Largest: "the largest has " + count(l.sizes[0], "sample"), Mean: percent(mean),
		Colours: l.Colours, Sizes: l.sizes[:min(len(l.sizes), maxClusters)], Singles: l.Clusters - l.singles(),
	}
	for _, i := range e.samples {
		d.Labels = binary.LittleEndian.AppendUint32(d.Labels, uint32(l.labels[i]))
	}
	for _, i := range r.Map.Samples {
		d.Sure = append(d.Sure, share(l.confidence[i]))
	}
	return d
}

// addPoints adds the place and neighbours of every point.
func (d *pageData) addPoints(r *Report, known *entries) {
	m, le := r.Map, binary.LittleEndian
	scale := 65535 / max(1, m.Height)
	for k := range m.Samples {
		d.Places = le.AppendUint16(le.AppendUint16(d.Places, uint16(float64(m.X[k])*scale)), uint16(float64(m.Y[k])*scale))
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
