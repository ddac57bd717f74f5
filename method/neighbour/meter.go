package neighbour

import "sync"

// meter turns the work of several stages into a number of rows that never falls. The unit of
// work is one pair of rows compared by tiles.
type meter struct {
	mu         sync.Mutex
	rows       int
	progress   func(done int)
	shown      int
	begin, end float64 // of the stage, as shares of the whole
	left       float64 // work that is foreseen after the stage
}

func newMeter(rows int, progress func(done int)) *meter {
	return &meter{rows: rows, progress: progress}
}

// expect says how much work is ahead.
func (m *meter) expect(work float64) { m.left = work }

// Weights of other work, as measured at 128 dimensions.
const (
	placing  = 0.7 // per pair of a row and a centre
	visiting = 1   // per pair of rows in cells
	linking  = 7   // per pair of scattered rows alone
	ranking  = 40  // per entry of a list
)

// stage begins a stage of the given number of units, each of the given weight. It returns a
// function that counts units done, for any number of goroutines. A stage that was not
// foreseen takes half of what is left.
func (m *meter) stage(units, weight float64) func(done float64) {
	work, share := units*weight, 0.5
	if work <= m.left {
		share = work / m.left
	}
	m.left -= work
	m.begin = m.end
	m.end += share * (1 - m.end)
	begin, width, total := m.begin, m.end-m.begin, 0.0
	return func(done float64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		total += done
		m.show(int((begin + width*min(1, total/units)) * float64(m.rows)))
	}
}

// finish reports all rows as done.
func (m *meter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.show(m.rows)
}

func (m *meter) show(rows int) {
	if rows > m.shown {
		m.shown = rows
		if m.progress != nil {
			m.progress(rows)
		}
	}
}
