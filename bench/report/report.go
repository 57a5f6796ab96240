package report

import (
	"bufio"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/gnocco-db/gnocco/internal/version"
)

// Report writes results as lines of Go's benchmark format, one result a line, flushed at once.
type Report struct {
	mu     sync.Mutex
	out    io.Writer
	header bool
}

// New returns a report that writes to out.
func New(out io.Writer) *Report { return &Report{out: out} }

// A Figure is one number of a result; the unit says what it counts and per what.
type Figure struct {
	Value float64
	Unit  string
}

// Of returns the figure of a value in a unit.
func Of(value float64, unit string) Figure { return Figure{value, unit} }

// higherIsBetter are the units of which benchstat has to be told.
var higherIsBetter = []string{"measures/s-acked", "measures/s-visible", "requests/s", "measures/s-drained",
	"encode-MB/s", "decode-MB/s", "resources/s", "GB/s", "GB/s-up", "GB/s-down", "%-of-copy", "%-of-PCIe", "x-one"}

// Add writes one result: n operations under name, "Ingest/server=gnocco/shape=100x60".
func (r *Report) Add(name string, n int, figures ...Figure) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var line strings.Builder
	if !r.header {
		r.header = true
		fmt.Fprintf(&line, "goos: %s\ngoarch: %s\npkg: gnocco/bench\n", runtime.GOOS, runtime.GOARCH)
		fmt.Fprintf(&line, "cpu: %s\ncores: %d\ncommit: %s\n", cpuModel(), runtime.NumCPU(), version.Revision())
		for _, unit := range higherIsBetter {
			fmt.Fprintf(&line, "Unit %s better=higher\n", unit)
		}
	}
	fmt.Fprintf(&line, "Benchmark%s \t%8d", name, n)
	for _, f := range figures {
		fmt.Fprintf(&line, "\t%10s %s", formatFigure(f.Value), f.Unit)
	}
	line.WriteByte('\n')
	_, err := io.WriteString(r.out, line.String())
	return err
}

// Note writes a line that benchstat skips.
func (r *Report) Note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := fmt.Fprintf(r.out, "# "+format+"\n", args...)
	return err
}

// formatFigure keeps four significant digits, and every digit before the point.
func formatFigure(v float64) string {
	if v >= 1000 || v <= -1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if strings.Contains(s, "e") {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return s
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// Revision returns the revision that a program was built from; "+dirty" when the tree had changes, "unknown" if the
// program does not say.
func Revision(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "unknown"
	}
	return revision(info)
}

func revision(info *debug.BuildInfo) string {
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	return revision + dirty
}
