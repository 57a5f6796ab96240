package reading

import (
	"fmt"
	"io"
	"os"

	"github.com/gnocco-db/gnocco/cmd/shared/progress"
)

// Progress shows how many bytes have been read. It counts the bytes that are written to it.
type Progress struct {
	*progress.Meter
	out  io.Writer
	done int64
}

// New returns the progress of reading total bytes, -1 if that is unknown, which is shown on out.
func New(out io.Writer, total int64) *Progress {
	return &Progress{Meter: progress.NewMeter(out, "read", "bytes", total), out: out}
}

// Write counts b as read.
func (p *Progress) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.Set(p.done)
	return len(b), nil
}

// Read returns how many bytes have been read.
func (p *Progress) Read() int64 { return p.done }

// Print writes a line of text above the progress.
func (p *Progress) Print(line string) {
	p.Close()
	fmt.Fprintln(p.out, line)
}

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
