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
	decimal    string
	dryRun     bool
	maxReports int
}

func newImportCSV() *cobra.Command {
	var flags importCSVFlags
	cmd := &cobra.Command{
		Use:   "csv FILE...",
		Short: "Send the measures of CSV files to a server",
		Long: `Send the measures of CSV files to a server, through its REST API; - means standard input.

A file has a column of times and one or more columns of values. The measures of a single
column go to a metric named after the file, and the measures of several columns to metrics named
after the columns. In the long format, --metric-column and --resource-column say which cells name
the metric and the resource of a row. The command creates resources, and a missing metric with its
first measure.

The first 10,000 rows decide how the file is read, and the command says how: separators, the column
of times and their form (ISO 8601, seconds to nanoseconds since 1970, dates as most countries write
them), decimal commas, units. It refuses anything ambiguous, and names the flag that decides.
Empty cells, NA, null and - are gaps. Columns without a name or a number are left out. Files may be
compressed (gzip, zstd, bzip2, xz) or in UTF-16. --dry-run stops before anything is sent.

Lines may stand in any order: the command reads all files first, and then sends all in order
of time. More than 2^20 measures wait in a temporary file (20 bytes each; TMPDIR). Measures older
than a metric's back window are loaded by a backfill, where the archive policy allows that. The
command prints how many measures the server dropped or refused, and how many the archive policy
does not keep.

The exit status is 2 if a file cannot be read so, or lines were rejected, or measures dropped, refused
or too old for the archive policy; it is 1 if the import failed otherwise.`,
		Example: `  gnocco import csv --archive-policy high cpu.csv memory.csv
  gnocco import csv --dry-run --archive-policy auto export.csv.gz
  gnocco import csv --metric-column entity_id --timezone Europe/Paris history.csv`,
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
		"archive policy of new metrics, or auto for one that fits (default: the server's rules decide)")
	f.StringVar(&o.Metric, "metric", "",
		"name of the metric, for files with one column of values (default: the file's name)")
	f.StringVar(&o.TimestampColumn, "timestamp-column", "",
		"column of times, or several with commas between, such as DATE,CLOCK (default: the one whose\n"+
			"cells are times; of several, the one called timestamp, time, date or datetime, else the first)")
	f.StringVar(&o.TimeFormat, "time-format", "",
		"form of the times: s, ms, us or ns since 1970, or like %d.%m.%Y %H:%M (default: by the cells)")
	f.StringVar(&o.Timezone, "timezone", "", "zone of times that name none, such as Europe/Paris (default: UTC)")
	f.StringVar(&flags.decimal, "decimal", "", "decimal separator of numbers: . or , (default: by the cells)")
	f.BoolVar(&o.NaN, "nan", false, "NaN is a value, not a gap")
	f.StringSliceVar(&o.MetricColumns, "metric-column", nil, "column that names the metric of a row (may be repeated)")
	f.StringVar(&o.ResourceColumn, "resource-column", "", "column that names the resource of a row")
	f.BoolVar(&flags.dryRun, "dry-run", false, "read the files, say what they hold and how they are read, and send nothing")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "column to leave out (may be repeated)")
	f.BoolVar(&o.NoHeader, "no-header", false,
		"the file has no header: columns are called 1, 2, 3")
	f.StringVar(&flags.comma, "delimiter", "",
		"character between fields; the word tab means a tabulator (default: by the lines)")
	f.IntVar(&o.Batch, "batch", 10_000, "measures per request")
	f.IntVar(&o.Requests, "requests", 4, "requests in flight at once")
	f.IntVar(&flags.maxReports, "max-reports", 20, "most rejected lines that are reported one by one")
	return cmd
}

func (flags *importCSVFlags) run(ctx context.Context, stdin io.Reader, stderr io.Writer, files []string) (err error) {
	o := flags.options
	if len(flags.decimal) > 1 {
		return fmt.Errorf("--decimal is , or ., not %q", flags.decimal)
	}
	if flags.decimal != "" {
		o.Decimal = flags.decimal[0]
	}
	switch {
	case flags.comma == "":
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
	extent, err := importer.Extent()
	if err != nil {
		return err
	}
	reading.Print(extent.String())
	if o.ArchivePolicy == "auto" {
		name, err := importer.ChoosePolicy(ctx, extent)
		if err != nil {
			return err
		}
		o.ArchivePolicy = name
		reading.Print("archive policy " + name)
	}
	if flags.dryRun {
		reading.Close()
		return preview(ctx, stderr, importer, o.ArchivePolicy, reports)
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

// preview prints what a policy would keep of the measures; the server's rules decide about "".
func preview(ctx context.Context, w io.Writer, importer *csvimport.Importer, policy string, rejected int) error {
	if policy != "" {
		result, err := importer.Preview(ctx)
		if err != nil {
			return err
		}
		reportKept(w, &result)
	}
	if _, err := fmt.Fprintln(w, "dry run: stopped before sending"); err != nil || rejected == 0 {
		return err
	}
	return errIncomplete
}

// reportKept prints what archives will not have of the measures, or not as they are.
func reportKept(w io.Writer, r *csvimport.Result) {
	for _, granularity := range slices.Sorted(maps.Keys(r.Coarser)) {
		fmt.Fprintf(w, "%d measures are kept as groups of %v and wider only: older than the timespans below\n",
			r.Coarser[granularity], granularity)
	}
	if r.Expired > 0 {
		fmt.Fprintf(w, "%d measures are not kept: older than all timespans of the archive policy\n", r.Expired)
	}
}

// reportImport prints what an import did.
func reportImport(w io.Writer, r *csvimport.Result, took time.Duration) {
	reportKept(w, r)
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
