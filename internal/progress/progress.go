package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Interval is how often progress is reported where there is no terminal.
const Interval = 5 * time.Second

// Reading shows how many bytes have been read: as a bar on a terminal, by a line from time to time elsewhere. It counts
// the bytes that are written to it.
type Reading struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil where there is no terminal
	total int64                    // bytes, -1 if not known
	read  int64
	told  time.Time
}

// New returns the progress of reading total bytes, -1 if that is not known, which is shown on out.
func New(out io.Writer, total int64) *Reading {
	p := &Reading{out: out, total: total, told: time.Now()}
	if IsTerminal(out) {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(out), progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionSpinnerType(14))
	}
	return p
}

// Write counts b as read.
func (p *Reading) Write(b []byte) (int, error) {
	p.read += int64(len(b))
	if p.bar != nil {
		return len(b), p.bar.Add(len(b))
	}
	if now := time.Now(); now.Sub(p.told) >= Interval {
		p.told = now
		if p.total > 0 {
			fmt.Fprintf(p.out, "read %d of %d bytes (%d %%)\n", p.read, p.total, 100*p.read/p.total)
		} else {
			fmt.Fprintf(p.out, "read %d bytes\n", p.read)
		}
	}
	return len(b), nil
}

// Print writes a line, above the bar if there is one.
func (p *Reading) Print(line string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.out, line)
}

// Close removes the bar. It may be called again.
func (p *Reading) Close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// Read returns how many bytes have been read.
func (p *Reading) Read() int64 { return p.read }

// TotalBytes is how much there is to read in files, -1 if that cannot be known.
func TotalBytes(files ...string) int64 {
	var total int64
	for _, name := range files {
		info, err := os.Stat(name)
		if name == "-" || err != nil || !info.Mode().IsRegular() {
			return -1
		}
		total += info.Size()
	}
	return total
}

// IsTerminal reports whether w shows a progress bar to somebody.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
