package correlation

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/bench/report"
	gnoccocsv "github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/correlate/tile"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Options say what Run measures.
type Options struct {
	Columns, Rows int    // of the matrix; held in memory
	CSVBytes      int    // of the text that is parsed
	Python        string // interpreter with numpy, which is measured in the same run; "": none

	Device *device.Device // also measured; nil: none
	// Wide is another matrix; the device finds its Top strongest pairs of every column.
	Wide struct{ Columns, Rows, Top int }
}

// Run measures the correlation of all pairs of columns in memory, beside numpy.corrcoef on as large an array, and the
// parsing of CSV on one core, beside encoding/csv with strconv.ParseFloat on the same text.
func Run(ctx context.Context, o report.Run, what Options) error {
	o.EnsureDefaults()
	if what.Columns < 2 || what.Rows < 2 || what.CSVBytes < 1 {
		return errors.New("bench: correlate needs two columns, two rows and some bytes of CSV")
	}
	if err := o.Report.Note(
		"the seed of this project: 256 columns x 1,000,000 rows in 307 s on one CPU core, 660 ms on a GTX 1080 Ti"); err != nil {
		return err
	}
	for range o.Count {
		if err := correlateMatrix(ctx, o, what); err != nil {
			return err
		}
		if what.Python != "" {
			if err := correlateNumpy(ctx, o, what); err != nil {
				return err
			}
		}
	}
	if what.Device != nil {
		if err := correlateWide(ctx, o, what); err != nil {
			return err
		}
	}
	for range o.Count {
		if err := correlateCSV(ctx, o, what); err != nil {
			return err
		}
	}
	text := csvText(what.CSVBytes, o.Seed)
	for range o.Count {
		if err := parseCSV(ctx, o, "gnocco", text, readOurs); err != nil {
			return err
		}
		if err := parseCSV(ctx, o, "encoding-csv", text, readStandard); err != nil {
			return err
		}
	}
	return nil
}

// cpuSeconds is what this process has used.
func cpuSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// normalValues are columns that have nothing in common.
func normalValues(columns, rows int, seed uint64) correlate.Values {
	values := make(correlate.Values, columns)
	var made errgroup.Group
	made.SetLimit(runtime.GOMAXPROCS(0))
	for j := range values {
		made.Go(func() error {
			random := rand.New(rand.NewPCG(seed, uint64(j)))
			values[j] = make([]float64, rows)
			for t := range values[j] {
				values[j][t] = random.NormFloat64()
			}
			return nil
		})
	}
	_ = made.Wait()
	runtime.GC()
	return values
}

func correlateMatrix(ctx context.Context, o report.Run, what Options) error {
	values := normalValues(what.Columns, what.Rows, o.Seed)
	var pairs []correlate.Pair
	cpu, started := cpuSeconds(), time.Now()
	result, err := correlate.Run(ctx, values, correlate.Options{MemoryBytes: 4 << 30}, func(p correlate.Pair) error {
		if !(p.R >= -1 && p.R <= 1) || p.Overlap != int64(what.Rows) {
			return fmt.Errorf("bench: columns %d and %d correlate with %v over %d rows", p.I, p.J, p.R, p.Overlap)
		}
		pairs = append(pairs, p)
		return nil
	})
	seconds := time.Since(started).Seconds()
	cpu = cpuSeconds() - cpu
	if err != nil {
		return err
	}
	if len(pairs) != what.Columns*(what.Columns-1)/2 || result.Rows != int64(what.Rows) {
		return fmt.Errorf("bench: %d pairs of %d rows", len(pairs), result.Rows)
	}
	if err := reportMatrix(o, "gnocco-"+tile.Engine(), what, seconds, cpu); err != nil || what.Device == nil {
		return err
	}
	return correlateDevice(ctx, o, what.Device, values, correlate.Selection{}, pairs)
}

func reportMatrix(o report.Run, engine string, what Options, seconds, cpu float64) error {
	flops := float64(what.Columns) * float64(what.Columns+1) * float64(what.Rows)
	return o.Report.Add(fmt.Sprintf("Correlate/engine=%s/columns=%d/rows=%d/cores=%d", engine, what.Columns, what.Rows,
		runtime.GOMAXPROCS(0)), 1,
		report.Of(seconds, "s"), report.Of(cpu, "cpu-s"), report.Of(flops/1e9/cpu, "Gflop/cpu-s"))
}

// numpyScript times numpy on an array of the same shape.
const numpyScript = `
import json, resource, sys, time
import numpy
columns, rows = int(sys.argv[1]), int(sys.argv[2])
values = numpy.random.default_rng(1).standard_normal((columns, rows))
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
before, started = cpu(), time.monotonic()
numpy.corrcoef(values)
print(json.dumps({"seconds": time.monotonic() - started, "cpu": cpu() - before}))
`

func correlateNumpy(ctx context.Context, o report.Run, what Options) error {
	out, err := exec.CommandContext(ctx, what.Python, "-c", numpyScript, strconv.Itoa(what.Columns),
		strconv.Itoa(what.Rows)).Output()
	if err != nil {
		return fmt.Errorf("bench: numpy by %s: %w", what.Python, err)
	}
	var measured struct{ Seconds, CPU float64 }
	if err := json.Unmarshal(out, &measured); err != nil {
		return fmt.Errorf("bench: numpy: %w", err)
	}
	return reportMatrix(o, "numpy", what, measured.Seconds, measured.CPU)
}

// csvText is lines of 64 numbers with six decimals.
func csvText(size int, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 2))
	const columns = 64
	var text strings.Builder
	text.Grow(size + 1024)
	for j := range columns {
		fmt.Fprintf(&text, "%sc%d", ","[:min(j, 1)], j)
	}
	var line []byte
	for text.Len() < size {
		line = append(line[:0], '\n')
		for j := range columns {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, 100+10*random.NormFloat64(), 'f', 6, 64)
		}
		text.Write(line)
	}
	return text.String()
}

// parseCSV measures one reader, which returns the sum of all numbers.
func parseCSV(ctx context.Context, o report.Run, name, text string,
	read func(context.Context, string) (float64, error)) error {
	cpu, started := cpuSeconds(), time.Now()
	sum, err := read(ctx, text)
	seconds := time.Since(started).Seconds()
	cpu = cpuSeconds() - cpu
	if err != nil {
		return err
	}
	if !(sum > 0) {
		return fmt.Errorf("bench: %s read numbers with a sum of %v", name, sum)
	}
	return o.Report.Add("ParseCSV/reader="+name, 1, report.Of(seconds, "s"),
		report.Of(float64(len(text))/1e6/cpu, "MB/cpu-s"))
}

func readOurs(ctx context.Context, text string) (sum float64, err error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	r, err := gnoccocsv.Open(open, gnoccocsv.Options{Workers: 1})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	err = r.Read(ctx, func(columns [][]float64) error {
		for _, column := range columns {
			for _, v := range column {
				sum += v
			}
		}
		return nil
	})
	return sum, err
}

func readStandard(_ context.Context, text string) (sum float64, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return 0, err
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
		for _, cell := range record {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
}
