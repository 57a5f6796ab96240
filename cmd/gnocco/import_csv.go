package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gnocco/cmd/gnocco/internal/csvimport"
)

// errRejected ends an import that did not take all lines.
var errRejected = errors.New("some lines were rejected")

// importCSVFlags are the flags of import csv.
type importCSVFlags struct {
	options    csvimport.Options
	remote     remoteFlags
	comma      string
	maxReports int
}

func newImportCSV() *cobra.Command {
	var flags importCSVFlags
	cmd := &cobra.Command{
		Use:   "csv FILE...",
		Short: "Send the measures of CSV files to a server",
		Long: `Send the measures of CSV files to a server, through its REST API; - means standard input.

A file has a column of timestamps and one or more columns of values. The measures of a single
column go to a metric named after the file; those of several columns go to metrics named after
the columns. The command creates the resource and the metrics that are missing. Timestamps are
ISO 8601 or seconds since 1970; an empty value is a gap.

Files are read one after the other. Sort each by time, and name the files of one metric oldest
first: a server drops measures that are older than the back window of what it already has.

The exit status is 2 if lines were rejected and all others sent, and 1 if the import failed.`,
		Example: `  gnocco import csv --archive-policy high cpu.csv memory.csv
  zcat wide.csv.gz | gnocco import csv --resource rack-7 --ignore comment -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			return flags.run(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), files)
		},
	}
	o := &flags.options
	f := cmd.Flags()
	flags.remote.define(f, defaultURL, "address of the server, with its prefix if it has one")
	f.StringVar(&o.Resource, "resource", "csv", "generic resource to which the metrics belong")
	f.StringVar(&o.ArchivePolicy, "archive-policy", "",
		"archive policy of new metrics (default: the server's rules decide)")
	f.StringVar(&o.Metric, "metric", "",
		"name of the metric, for files with one column of values (default: the file's name)")
	f.StringVar(&o.TimestampColumn, "timestamp-column", "",
		"column of timestamps (default: timestamp, time, date or datetime, else the first)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "column to leave out (may be repeated)")
	f.BoolVar(&o.NoHeader, "no-header", false,
		"the file has no header: columns are called 1, 2, 3, and the first holds the timestamps")
	f.StringVar(&flags.comma, "delimiter", ",", "character between fields; the word tab means a tabulator")
	f.IntVar(&o.Batch, "batch", 10_000, "measures per request")
	f.IntVar(&o.Requests, "requests", 4, "requests in flight at once")
	f.IntVar(&flags.maxReports, "max-reports", 20, "most rejected lines that are reported one by one")
	return cmd
}

func (flags *importCSVFlags) run(ctx context.Context, stdin io.Reader, stderr io.Writer, files []string) (err error) {
	o := flags.options
	switch {
	case flags.comma == "tab":
		o.Comma = '\t'
	case len(flags.comma) == 1:
		o.Comma = flags.comma[0]
	default:
		return fmt.Errorf("--delimiter: %q is not one ASCII character", flags.comma)
	}
	if o.Batch < 1 || o.Requests < 1 {
		return errors.New("--batch and --requests must be at least 1")
	}
	if o.Client, err = flags.remote.client(); err != nil {
		return err
	}
	progress := newProgress(stderr, totalBytes(files))
	defer progress.close()
	reports := 0
	o.Reject = func(file string, line int, reason string) {
		if reports++; reports <= flags.maxReports {
			progress.print(fmt.Sprintf("%s:%d: %s", file, line, reason))
		} else if reports == flags.maxReports+1 {
			progress.print("further rejected lines are only counted")
		}
	}
	started := time.Now()
	importer, err := csvimport.New(ctx, o)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err = importFile(importer, file, stdin, progress); err != nil {
			break
		}
	}
	result, closeErr := importer.Close()
	progress.close()
	if err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	seconds := time.Since(started).Seconds()
	fmt.Fprintf(stderr, "sent %d measures of %d metrics from %d files in %.1f s (%.0f/s); rejected %d\n",
		result.Measures, result.Metrics, result.Files, seconds, float64(result.Measures)/seconds, result.Rejected)
	if result.Rejected > 0 {
		return errRejected
	}
	return nil
}

func importFile(importer *csvimport.Importer, name string, stdin io.Reader, progress *progress) error {
	source := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		source = file
	}
	return importer.File(name, io.TeeReader(source, progress))
}

// totalBytes is how much there is to read, -1 if that cannot be known.
func totalBytes(files []string) int64 {
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

// isTerminal reports whether w shows a progress bar to somebody.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
