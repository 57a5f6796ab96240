package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/csvimport"
)

// importCSVFlags are the flags of import csv.
type importCSVFlags struct {
	importFlags
	comma, decimal string
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
the metric and the resource of a row; --label-column makes metrics series with labels. A file that
gnocco export csv wrote needs no flag. The command creates resources, and a missing metric with its
first measure.

The first 10,000 rows decide how the file is read, and the command says how: separators, the column
of times and their form (ISO 8601, seconds to nanoseconds since 1970, dates as most countries write
them), decimal commas, units. It refuses anything ambiguous, and names the flag that decides.
Empty cells, NA, null and - are gaps. Columns without a name or a number are left out. Files may be
compressed (gzip, zstd, bzip2, xz) or in UTF-16. --dry-run stops before anything is sent.

Lines may stand in any order: the command reads all files first, and then sends all in order
of time. More than 2^20 measures wait in a temporary file (20 bytes each; TMPDIR). Measures older
than a metric's back window go where the metric has nothing, if the archive policy allows that. The
command prints how many measures the server dropped or refused, and how many the archive policy
does not keep.

The exit status is 2 if a file cannot be read so, or lines were rejected, or measures dropped, refused
or too old for the archive policy; it is 1 if the import failed otherwise.`,
		Example: `  gnocco import csv --archive-policy high cpu.csv memory.csv
  gnocco import csv --dry-run --archive-policy auto export.csv.gz
  gnocco import csv --metric-column entity_id --timezone Europe/Paris history.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := flags.parse(); err != nil {
				return err
			}
			return flags.run(cmd, files, (*csvimport.Importer).File)
		},
	}
	o := &flags.options
	f := cmd.Flags()
	flags.define(f)
	f.StringVar(&o.Resource, "resource", "csv", "generic resource to which the metrics belong")
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
	f.StringSliceVar(&o.LabelColumns, "label-column", nil,
		"column that is a label: metrics are series with labels, as senders push them (may be repeated)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "column to leave out (may be repeated)")
	f.BoolVar(&o.NoHeader, "no-header", false,
		"the file has no header: columns are called 1, 2, 3")
	f.StringVar(&flags.comma, "delimiter", "",
		"character between fields; the word tab means a tabulator (default: by the lines)")
	completeFlags(cmd, &flags.remote)
	return cmd
}

// parse checks the flags of single characters.
func (flags *importCSVFlags) parse() error {
	if len(flags.decimal) > 1 {
		return fmt.Errorf("--decimal is , or ., not %q", flags.decimal)
	}
	if flags.decimal != "" {
		flags.options.Decimal = flags.decimal[0]
	}
	switch {
	case flags.comma == "":
	case flags.comma == "tab":
		flags.options.Comma = '\t'
	case len(flags.comma) == 1:
		flags.options.Comma = flags.comma[0]
	default:
		return fmt.Errorf("--delimiter: %q is not one ASCII character", flags.comma)
	}
	return nil
}

func newImportLines() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "jsonl FILE...",
		Short: "Send the measures of JSON lines to a server",
		Long: `Send the measures of files of JSON lines to a server, through its REST API; - means standard input.

A line is a metric, as gnocco export jsonl and VictoriaMetrics write it: an object with the labels of
"metric", the numbers of "values" and of "timestamps", in milliseconds. Each set of labels is a series
of its own, the one that senders push with them. In an export of Gnocco's, the member "gnocco" names
the resource, the unit and the archive policy, and the metric goes back to where it was.

Order, history, compression, reports and exit statuses are those of gnocco import csv.`,
		Example: `  gnocco export jsonl --url http://old:8041 > all.jsonl
  gnocco import jsonl --url http://new:8041 all.jsonl
  gnocco import jsonl --archive-policy auto victoria.jsonl.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			return flags.run(cmd, files, (*csvimport.Importer).Lines)
		},
	}
	flags.define(cmd.Flags())
	completeFlags(cmd, &flags.remote)
	return cmd
}

func newImportBlocks() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "blocks DIR...",
		Short: "Send the samples of Prometheus' blocks to a server",
		Long: `Send the samples of blocks of Prometheus, Thanos or Mimir to a server, through its REST API. DIR is a
block or a folder with blocks below it, such as Prometheus' data folder or a snapshot of it. Samples
that only the write-ahead log has are in no block. Blocks are only read.

Each set of labels is a series of its own, the one that Prometheus pushes with them by remote write.
Labels that Thanos or Mimir has for a whole block count as well. Native histograms are named and left
out.

Aggregates of 5 minutes and an hour, in blocks that Thanos downsampled, become the groups of that
width and of its multiples that the archive policy has; they need the role admin. Where a metric has
other measures, these stay. Import all blocks of a series at once, or older ones later.

Order, history, reports and exit statuses are those of gnocco import csv. Samples wait in a temporary
file (20 bytes each; TMPDIR).`,
		Example: `  gnocco import blocks --dry-run --archive-policy prometheus /var/lib/prometheus
  gnocco import blocks --archive-policy prometheus snapshots/20260101T000000Z-0123456789abcdef`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, folders []string) error {
			return flags.run(cmd, folders, func(i *csvimport.Importer, folder string, _ io.Reader) error {
				return i.Blocks(cmd.Context(), folder)
			})
		},
	}
	flags.define(cmd.Flags())
	completeFlags(cmd, &flags.remote)
	return cmd
}
