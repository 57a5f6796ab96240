package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// plainInterval is how often progress is told where there is no terminal.
const plainInterval = 5 * time.Second

// progress shows how many bytes have been read: as a bar on a terminal, by a line from time to time elsewhere. What is
// written to it is counted.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil where there is no terminal
	total int64                    // bytes, -1 if not known
	read  int64
	told  time.Time
}

func newProgress(out io.Writer, total int64) *progress {
	p := &progress{out: out, total: total, told: time.Now()}
	if isTerminal(out) {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(out), progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionSpinnerType(14))
	}
	return p
}

// Write counts b as read.
func (p *progress) Write(b []byte) (int, error) {
	p.read += int64(len(b))
	if p.bar != nil {
		return len(b), p.bar.Add(len(b))
	}
	if now := time.Now(); now.Sub(p.told) >= plainInterval {
		p.told = now
		if p.total > 0 {
			fmt.Fprintf(p.out, "read %d of %d bytes (%d %%)\n", p.read, p.total, 100*p.read/p.total)
		} else {
			fmt.Fprintf(p.out, "read %d bytes\n", p.read)
		}
	}
	return len(b), nil
}

// print writes a line, above the bar if there is one.
func (p *progress) print(line string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.out, line)
}

// close removes the bar. It may be called again.
func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
