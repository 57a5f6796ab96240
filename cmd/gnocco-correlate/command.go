package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/pairs"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/reading"
	"github.com/gnocco-db/gnocco/cmd/shared/bytesize"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/version"
)

// flags are the command's.
type flags struct {
	options    correlate.Options
	selection  correlate.Selection
	reading    csv.Options
	method     string
	format     string
	comma      string
	decimal    string
	bad        string
	memory     bytesize.Size
	maxReports int
	quiet      bool
	gpu        string
	devices    devices.Flags
}

func newCommand() *cobra.Command {
	flags := flags{memory: 1 << 30}
	cmd := &cobra.Command{
		Use:   "gnocco-correlate FILE.csv",
		Short: "Correlate all pairs of columns of a CSV file",
		Long: `Compute the correlation of all pairs of columns of a CSV file, and print one line per pair:
(i,j) r, where i < j are the numbers of the columns that hold numbers, from 0. FILE may be -,
standard input.

The file has a header, and may be larger than memory: --memory bounds what is used. Where the
sums of all pairs need more than that, the file is read several times. The file is read by the
rules of "gnocco import csv": packed or in UTF-16, with any separator, decimal commas, units and
blanks, after leading lines. Columns without numbers are left out and named. So is the column of
timestamps: the one whose cells are times, where numbers are times in the first column only, or
in one called timestamp, time, date or datetime. Cells that are empty or contain NA, NaN or null
are missing: a pair counts the rows that both columns have. Other text in a column of numbers is
a bad cell.

A constant column has no coefficients: they are NaN.

The metrics that a server stores are correlated by "gnocco correlate --url".`,
		Example: `  gnocco-correlate metrics.csv
  gnocco-correlate --min-abs 0.95 --format csv metrics.csv >same.csv
  gnocco-correlate --top-per-column 5 --lag 10 - <metrics.csv.gz`,
		Args:          cobra.ExactArgs(1),
		Version:       version.Number,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.method, "method", "pearson",
		"pearson (of the values), or spearman (of their ranks; holds all columns in memory)")
	f.IntVar(&flags.options.MaxLag, "lag", 0,
		"find for each pair the best shift of up to this many rows in either direction, and print it after r")
	f.IntVar(&flags.options.MinOverlap, "min-overlap", 2, "least number of rows that both columns of a pair must have")
	f.Float64Var(&flags.selection.MinAbs, "min-abs", 0, "leave out pairs whose |r| is smaller")
	f.IntVar(&flags.selection.Top, "top", 0, "print only this many pairs, the strongest, in order")
	f.IntVar(&flags.selection.TopPerColumn, "top-per-column", 0,
		"print only pairs that are among this many strongest of one of their columns")
	f.StringVar(&flags.format, "format", "text", "output format: "+pairs.Formats)
	f.StringSliceVar(&flags.reading.Skip, "skip", nil, "column to leave out (may be repeated)")
	f.StringVar(&flags.reading.TimestampColumn, "timestamp-column", "",
		"column of timestamps, which is left out; \"date,clock\" are two (default: the one whose cells are times)")
	f.BoolVar(&flags.reading.NoHeader, "no-header", false, "the file has no header: columns are called 1, 2, 3")
	f.StringVar(&flags.comma, "delimiter", "", "character between fields; the word tab means a tabulator (default: by the lines)")
	f.StringVar(&flags.decimal, "decimal", "", "decimal separator of numbers, . or , (default: by the cells)")
	f.StringVar(&flags.bad, "bad", "missing", "how to treat a bad cell: missing or error")
	f.IntVar(&flags.maxReports, "max-reports", 20, "most bad cells that are reported one by one")
	f.Var(&flags.memory, "memory", "approximate bound on memory")
	f.IntVar(&flags.options.Workers, "workers", 0, "goroutines that compute, and as many that parse (0: one per core)")
	f.StringVar(&flags.gpu, "gpu", "auto",
		"correlate on CUDA devices: auto (where they are faster), off, on (always), or the number of one device; "+
			"ranks and standard input always take the CPU")
	flags.devices.Define(f)
	f.BoolVar(&flags.quiet, "quiet", false, "print no progress and no notes on standard error")
	return cmd
}

// complete checks the flags and fills in what they say together.
func (f *flags) complete() error {
	switch {
	case f.method != "pearson" && f.method != "spearman":
		return fmt.Errorf("--method: %q is neither pearson nor spearman", f.method)
	case f.bad != "missing" && f.bad != "error":
		return fmt.Errorf("--bad: %q is neither missing nor error", f.bad)
	case !(f.selection.MinAbs >= 0 && f.selection.MinAbs <= 1):
		return errors.New("--min-abs must be between 0 and 1")
	case f.selection.Top < 0 || f.selection.TopPerColumn < 0:
		return errors.New("--top and --top-per-column must not be negative")
	case f.options.MaxLag < 0:
		return errors.New("--lag must not be negative")
	case f.options.MinOverlap < 2:
		return errors.New("--min-overlap must be at least 2")
	case f.options.Workers < 0:
		return errors.New("--workers must not be negative")
	}
	var err error
	if f.reading.Comma, err = parseComma(f.comma); err != nil {
		return err
	}
	switch f.decimal {
	case "":
	case ".", ",":
		f.reading.Decimal = f.decimal[0]
	default:
		return fmt.Errorf("--decimal: %q is neither . nor ,", f.decimal)
	}
	f.options.MemoryBytes = int64(f.memory)
	f.reading.Workers = f.options.Workers
	f.reading.BadIsError = f.bad == "error"
	return nil
}

// parseComma reads --delimiter.
func parseComma(text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab":
		return '\t', nil
	case len(text) == 1:
		return text[0], nil
	}
	return 0, fmt.Errorf("--delimiter: %q is not one ASCII character", text)
}

func (f *flags) run(ctx context.Context, name string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.complete(); err != nil {
		return err
	}
	if f.quiet {
		stderr = io.Discard
	}
	file := &csvFile{name: name, stdin: stdin, stderr: stderr}
	defer file.close()
	reports := 0
	f.reading.Report = func(cell csv.BadCell) {
		if reports++; reports <= f.maxReports {
			file.print(cell.Error())
		}
	}
	started := time.Now()
	if name != "-" {
		f.reading.Bytes = reading.TotalBytes(name)
	}
	reader, err := csv.Open(file.open, f.reading)
	if err != nil {
		return err
	}
	defer reader.Close()
	if text := reader.Text(); len(text) > 0 {
		file.print(fmt.Sprintf("left out %s without numbers: %s", counted.Of(len(text), "column"), pairs.ShortList(text)))
	}
	if n := reader.Nameless(); n > 0 {
		file.print(fmt.Sprintf("left out %s without a name", counted.Of(n, "column")))
	}
	if name := reader.Timestamps(); name != "" {
		file.print(fmt.Sprintf("left out column %s: it holds timestamps", name))
	}
	out, err := pairs.New(f.format, stdout, reader.Names(), f.options.MaxLag > 0)
	if err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	engine, err := f.engine(name, stderr)
	if err != nil {
		return err
	}
	result, err := engine.Correlate(ctx, reader, f.options, f.selection, out.Write)
	file.close()
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	f.tell(stderr, reader, result, file.bytes(), time.Since(started))
	return nil
}

// tell says what was read, and what has to be known about it.
func (f *flags) tell(stderr io.Writer, reader *csv.Reader, result correlate.Result, bytes int64,
	took time.Duration) {
	if len(result.Constant) > 0 {
		names := make([]string, len(result.Constant))
		for i, j := range result.Constant {
			names[i] = reader.Names()[j]
		}
		fmt.Fprintf(stderr, "constant, so without coefficients: %s: %s\n", counted.Of(len(names), "column"),
			pairs.ShortList(names))
	}
	if bad := reader.Bad(); bad > 0 {
		fmt.Fprintf(stderr, "%s, taken as missing\n", counted.Of(bad, "bad cell"))
	}
	seconds := took.Seconds()
	on := ""
	if result.Engine != "" {
		on = " on " + result.Engine
	}
	fmt.Fprintf(stderr, "correlated %s of %s%s in %.2f s; read %.1f MB in %s (%.0f MB/s)\n",
		counted.Of(reader.Columns(), "column"), counted.Of(result.Rows, "row"), on, seconds, float64(bytes)/1e6,
		counted.Of(result.Passes, "pass"), float64(bytes)/1e6/seconds)
}

// csvFile opens the file, for each pass over it, and shows how far it has been read.
type csvFile struct {
	name   string
	stdin  io.Reader
	stderr io.Writer
	opened int

	mu       sync.Mutex // the file is read, and bad cells are told, by different goroutines
	progress *reading.Progress
	before   int64 // bytes of earlier passes
}

func (f *csvFile) open() (io.ReadCloser, error) {
	f.close()
	f.opened++
	if f.name == "-" {
		if f.opened > 1 {
			return nil, correlate.ErrOnce
		}
		f.start(-1)
		return io.NopCloser(io.TeeReader(f.stdin, f)), nil
	}
	file, err := os.Open(f.name)
	if err != nil {
		return nil, err
	}
	f.start(reading.TotalBytes(f.name))
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(file, f), file}, nil
}

func (f *csvFile) start(total int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress = reading.New(f.stderr, total)
}

// Write counts b as read.
func (f *csvFile) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.progress.Write(b)
}

func (f *csvFile) print(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress.Print(line)
}

// close takes the bar away. It may be called again.
func (f *csvFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.progress != nil {
		f.progress.Close()
		f.before += f.progress.Read()
		f.progress = nil
	}
}

// bytes returns how much was read, once closed.
func (f *csvFile) bytes() int64 { return f.before }
