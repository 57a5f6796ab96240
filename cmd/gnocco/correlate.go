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

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/pairs"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/correlate/csv"
	"github.com/gnocco-db/gnocco/internal/bytesize"
	"github.com/gnocco-db/gnocco/internal/devices"
)

// correlateFlags are the flags of correlate.
type correlateFlags struct {
	options    correlate.Options
	selection  correlate.Selection
	reading    csv.Options
	method     string
	format     string
	comma      string
	bad        string
	memory     bytesize.Size
	maxReports int
	quiet      bool
	gpu        string
	devices    devices.Flags
	plot       plotFlags
	stored     storedFlags
}

func newCorrelate() *cobra.Command {
	flags := correlateFlags{memory: 1 << 30}
	cmd := &cobra.Command{
		Use:   "correlate FILE.csv | --url URL",
		Short: "Correlate all pairs of columns of a CSV file, or of stored metrics",
		Long: `Compute the correlation of all pairs of columns of a CSV file, and print one line per pair:
(i,j) r, where i < j are the numbers of the columns that hold numbers, from 0. FILE may be -,
standard input.

The file has a header, and may be larger than memory: --memory bounds what is used. Where the
sums of all pairs need more than that, the file is read several times. Columns without numbers
are left out and named. So is the column of timestamps: the one called timestamp, time, date or
datetime, else the first if its numbers are times since 1970. Cells that are empty or contain NA,
NaN or null are missing: a pair counts the rows that both columns have. Other text in a column of
numbers is a bad cell.

A constant column has no coefficients: they are NaN.

With --url the server correlates the aggregates of stored metrics: those that --metric names, or
those of the resources that --search finds whose names match --name. The strongest pairs come
first, with the IDs of their metrics.`,
		Example: `  gnocco correlate metrics.csv
  gnocco correlate --min-abs 0.95 --format csv metrics.csv >same.csv
  zcat metrics.csv.gz | gnocco correlate --top-per-column 5 --lag 10 -
  gnocco correlate --url http://127.0.0.1:8041 --name 'cpu*' --aggregation mean --start -1d --min-abs 0.9`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.stored.remote.url != "" {
				if len(args) > 0 {
					return errors.New("name a file or --url, not both")
				}
				if !cmd.Flags().Changed("format") {
					flags.format = "names"
				}
				return flags.runStored(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if len(args) != 1 {
				return errors.New("name a file (- for standard input), or --url for stored metrics")
			}
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
	f.StringVar(&flags.format, "format", "text", "output format: "+pairs.Formats+" (default with --url: names)")
	f.StringSliceVar(&flags.reading.Skip, "skip", nil, "column to leave out (may be repeated)")
	f.StringVar(&flags.reading.TimestampColumn, "timestamp-column", "",
		"column of timestamps, which is left out (default: the one called timestamp, time, date or datetime, else "+
			"the first if it holds times)")
	f.BoolVar(&flags.reading.NoHeader, "no-header", false, "the file has no header: columns are called 1, 2, 3")
	f.StringVar(&flags.comma, "delimiter", ",", "character between fields; the word tab means a tabulator")
	f.StringVar(&flags.bad, "bad", "missing", "how to treat a bad cell: missing or error")
	f.IntVar(&flags.maxReports, "max-reports", 20, "most bad cells that are reported one by one")
	f.Var(&flags.memory, "memory", "approximate bound on memory")
	f.IntVar(&flags.options.Workers, "workers", 0, "goroutines that compute, and as many that parse (0: one per core)")
	f.StringVar(&flags.gpu, "gpu", "auto",
		"correlate on CUDA devices: auto (where they are faster), off, on (always), or the number of one device; "+
			"ranks and standard input always take the CPU")
	flags.devices.Define(f)
	flags.plot.define(f)
	flags.stored.define(f)
	f.BoolVar(&flags.quiet, "quiet", false, "print no progress and no notes on standard error")
	return cmd
}

// complete checks the flags and fills in what they say together.
func (flags *correlateFlags) complete() error {
	switch {
	case flags.method != "pearson" && flags.method != "spearman":
		return fmt.Errorf("--method: %q is neither pearson nor spearman", flags.method)
	case flags.bad != "missing" && flags.bad != "error":
		return fmt.Errorf("--bad: %q is neither missing nor error", flags.bad)
	case !(flags.selection.MinAbs >= 0 && flags.selection.MinAbs <= 1):
		return errors.New("--min-abs must be between 0 and 1")
	case flags.selection.Top < 0 || flags.selection.TopPerColumn < 0:
		return errors.New("--top and --top-per-column must not be negative")
	case flags.options.MaxLag < 0:
		return errors.New("--lag must not be negative")
	case flags.options.MinOverlap < 2:
		return errors.New("--min-overlap must be at least 2")
	case flags.options.Workers < 0:
		return errors.New("--workers must not be negative")
	}
	var err error
	if flags.reading.Comma, err = parseComma(flags.comma); err != nil {
		return err
	}
	flags.options.MemoryBytes = int64(flags.memory)
	flags.reading.Workers = flags.options.Workers
	flags.reading.BadIsError = flags.bad == "error"
	return nil
}

// parseComma reads --delimiter.
func parseComma(text string) (byte, error) {
	switch {
	case text == "tab":
		return '\t', nil
	case len(text) == 1:
		return text[0], nil
	}
	return 0, fmt.Errorf("--delimiter: %q is not one ASCII character", text)
}

func (flags *correlateFlags) run(ctx context.Context, name string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := flags.complete(); err != nil {
		return err
	}
	if flags.quiet {
		stderr = io.Discard
	}
	file := &csvFile{name: name, stdin: stdin, stderr: stderr}
	defer file.close()
	reports := 0
	flags.reading.Report = func(cell csv.BadCell) {
		if reports++; reports <= flags.maxReports {
			file.print(cell.Error())
		}
	}
	started := time.Now()
	if name != "-" {
		flags.reading.Bytes = totalBytes([]string{name})
	}
	reader, err := csv.Open(file.open, flags.reading)
	if err != nil {
		return err
	}
	defer reader.Close()
	if text := reader.Text(); len(text) > 0 {
		file.print(fmt.Sprintf("left out %d columns without numbers: %s", len(text), shortList(text)))
	}
	if name := reader.Timestamps(); name != "" {
		file.print(fmt.Sprintf("left out column %s: it holds timestamps", name))
	}
	plots, err := flags.plot.plots(reader.Names())
	if err != nil {
		return err
	}
	out, err := pairs.New(flags.format, stdout, reader.Names(), flags.options.MaxLag > 0)
	if err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	engine, err := flags.engine(name, stderr)
	if err != nil {
		return err
	}
	selection, each, finish := flags.selection, out.Write, func() error { return nil }
	if plots.matrix != nil { // it needs all pairs
		selector := correlate.NewSelector(selection, reader.Columns(), out.Write)
		selection, each, finish = correlate.Selection{}, plots.pair(selector.Add), selector.Finish
	}
	result, err := engine.Correlate(ctx, plots.source(reader), flags.options, selection, each)
	file.close()
	if err == nil {
		err = finish()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := plots.draw(); err != nil {
		return err
	}
	flags.tell(stderr, reader, result, file.bytes(), time.Since(started))
	return nil
}

// tell says what was read, and what has to be known about it.
func (flags *correlateFlags) tell(stderr io.Writer, reader *csv.Reader, result correlate.Result, bytes int64,
	took time.Duration) {
	if len(result.Constant) > 0 {
		names := make([]string, len(result.Constant))
		for i, j := range result.Constant {
			names[i] = reader.Names()[j]
		}
		fmt.Fprintf(stderr, "%d columns are constant, so they have no coefficients: %s\n", len(names), shortList(names))
	}
	if bad := reader.Bad(); bad > 0 {
		fmt.Fprintf(stderr, "%d bad cells, taken as missing\n", bad)
	}
	seconds := took.Seconds()
	on := ""
	if result.Engine != "" {
		on = " on " + result.Engine
	}
	fmt.Fprintf(stderr, "correlated %d columns of %d rows%s in %.2f s; read %.1f MB in %d passes (%.0f MB/s)\n",
		reader.Columns(), result.Rows, on, seconds, float64(bytes)/1e6, result.Passes, float64(bytes)/1e6/seconds)
}

// shortList shows the first names.
func shortList(names []string) string {
	const most = 10
	text := ""
	for i, name := range names {
		if i == most {
			return text + fmt.Sprintf(" and %d more", len(names)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// csvFile opens the file, for each pass over it, and shows how far it has been read.
type csvFile struct {
	name   string
	stdin  io.Reader
	stderr io.Writer
	opened int

	mu       sync.Mutex // the file is read, and bad cells are told, by different goroutines
	progress *progress
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
	f.start(totalBytes([]string{f.name}))
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(file, f), file}, nil
}

func (f *csvFile) start(total int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress = newProgress(f.stderr, total)
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
	f.progress.print(line)
}

// close takes the bar away. It may be called again.
func (f *csvFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.progress != nil {
		f.progress.close()
		f.before += f.progress.read
		f.progress.read = 0
	}
}

// bytes returns how much was read, once closed.
func (f *csvFile) bytes() int64 { return f.before }
