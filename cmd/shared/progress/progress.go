package progress

import (
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// Interval is how often progress is reported where there is no terminal.
	Interval = 5 * time.Second

	redrawInterval = 100 * time.Millisecond
	clearLine      = "\r\x1b[K"
)

// Meter shows how much of something is done: in a line that changes on a terminal, by a line from time to time
// elsewhere.
type Meter struct {
	out         io.Writer
	verb, unit  string
	total       int64
	terminal    bool
	drawn       bool // the line stands on the terminal
	began, told time.Time
}

// NewMeter returns a meter that shows on out "verb done of total unit"; total is -1 if it is unknown.
func NewMeter(out io.Writer, verb, unit string, total int64) *Meter {
	now := time.Now()
	return &Meter{out: out, verb: verb, unit: unit, total: total, terminal: IsTerminal(out), began: now, told: now}
}

// Set reports how much is done.
func (m *Meter) Set(done int64) {
	interval := Interval
	if m.terminal {
		interval = redrawInterval
	}
	now := time.Now()
	if now.Sub(m.told) < interval {
		return
	}
	m.told = now
	text := fmt.Sprintf("%s %d %s", m.verb, done, m.unit)
	if m.total > 0 {
		text = fmt.Sprintf("%s %d of %d %s (%d %%)", m.verb, done, m.total, m.unit, 100*done/m.total)
	}
	if !m.terminal {
		fmt.Fprintln(m.out, text)
		return
	}
	if m.total > 0 && done > 0 {
		left := time.Duration(float64(now.Sub(m.began)) * float64(m.total-done) / float64(done))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	fmt.Fprint(m.out, clearLine, text)
	m.drawn = true
}

// Close removes the meter from a terminal. Later calls of Set show it again.
func (m *Meter) Close() {
	if m.drawn {
		fmt.Fprint(m.out, clearLine)
		m.drawn = false
	}
}

// IsTerminal reports whether w shows progress to somebody: a terminal, or another device of characters.
func IsTerminal(w io.Writer) bool {
	file, _ := w.(*os.File)
	info, err := file.Stat() // an error for none
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
