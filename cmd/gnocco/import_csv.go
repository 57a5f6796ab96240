package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/csvimport"
	"github.com/gnocco-db/gnocco/internal/progress"
)

// errIncomplete ends an import after which the server does not have all that the files hold.
var errIncomplete = errors.New("not all lines are kept")

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
column go to a metric named after the file, and the measures of several columns to metrics named
after the columns. The command creates the resource, and a missing metric with its first measure.
Timestamps are ISO 8601 or seconds since 1970; an empty value is a gap. Columns without a name
are left out.

Lines may stand in any order: the command reads all files first, and then sends all in order
of time. More than 2^20 measures wait in a temporary file (20 bytes each; TMPDIR). Measures older
than a metric's back window are loaded by a backfill, where the archive policy allows that. The command prints how many measures the server dropped or refused, and how many the
archive policy does not keep.

The exit status is 2 if all was sent, but lines were rejected, or measures dropped, refused or too
old for the archive policy; it is 1 if the import failed.`,
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
		"column of timestamps (default: the one whose first cells are times; of several, the one\n"+
			"called timestamp, time, date or datetime, else the first)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "column to leave out (may be repeated)")
	f.BoolVar(&o.NoHeader, "no-header", false,
		"the file has no header: columns are called 1, 2, 3")
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
	reading := progress.New(stderr, progress.TotalBytes(files...))
	defer reading.Close()
	reports := 0
	o.Reject = func(file string, line int, reason string) {
		if reports++; reports <= flags.maxReports {
			reading.Print(fmt.Sprintf("%s:%d: %s", file, line, reason))
		} else if reports == flags.maxReports+1 {
			reading.Print("further rejected lines are only counted")
		}
	}
	o.Note = reading.Print
	started := time.Now()
	importer, err := csvimport.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, importer.Close()) }()
	for _, file := range files {
		if err = importFile(importer, file, stdin, reading); err != nil {
			return err
		}
	}
	result, err := importer.Send(ctx)
	reading.Close()
	if err != nil {
		return err
	}
	reportImport(stderr, &result, time.Since(started))
	if result.Rejected > 0 || result.Lost() > 0 {
		return errIncomplete
	}
	return nil
}

// reportImport prints what an import did.
func reportImport(w io.Writer, r *csvimport.Result, took time.Duration) {
	if r.EqualTimes > 0 {
		fmt.Fprintf(w, "%d measures have the time of a later line of their metric, which replaces them\n", r.EqualTimes)
	}
	for _, granularity := range slices.Sorted(maps.Keys(r.Coarser)) {
		fmt.Fprintf(w, "%d measures are kept as groups of %v and wider only: older than the timespans below\n",
			r.Coarser[granularity], granularity)
	}
	if r.Expired > 0 {
		fmt.Fprintf(w, "%d measures are not kept: older than all timespans of the archive policy\n", r.Expired)
	}
	fmt.Fprintf(w, "sent %d measures of %d metrics from %d files in %.1f s (%.0f/s); rejected %d, "+
		"dropped by the server %d, refused %d\n",
		r.Measures, r.Metrics, r.Files, took.Seconds(), float64(r.Measures)/took.Seconds(), r.Rejected, r.Dropped,
		r.Refused)
}

func importFile(importer *csvimport.Importer, name string, stdin io.Reader, reading *progress.Reading) error {
	source := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		source = file
	}
	return importer.File(name, io.TeeReader(source, reading))
}
