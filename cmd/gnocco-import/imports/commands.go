package imports

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

// Options are the flags of an import.
type Options struct {
	Remote remote.Flags

	Resource string // generic resource that the metrics belong to; "": "csv"
	// ArchivePolicy is that of new metrics: auto for one that keeps the measures, rules for the server's choice.
	// "" is auto for metrics of resources, and rules for series with labels.
	ArchivePolicy       string
	CreateArchivePolicy bool // if none keeps the measures

	Metric string // name of the metric of a file with one column of values; "": the file's name

	TimestampColumn string   // "": the one whose cells are times; "date,clock" are two
	TimeFormat      string   // s, ms, us or ns since 1970, or a format of strptime; "": by the cells
	Timezone        string   // IANA's name of the zone of times that name none; "": UTC
	Decimal         byte     // decimal separator of numbers; 0: by the cells
	NaN             bool     // NaN is a value, not a gap
	Gaps            []string // cells that stand for no value, beside the usual ones
	MetricColumns   []string // columns whose cells name the metric of a row; with a point between several
	ResourceColumn  string   // column whose cells name the resource; "": Resource
	LabelColumns    []string // columns whose cells are labels: metrics are series with labels, without a resource
	Ignore          []string // columns left out
	NoHeader        bool     // the first line also holds measures; columns are called by number
	Comma           byte     // between fields; 0: by the lines

	Database  string   // label db of InfluxDB's series; "": as the file says, or none
	Precision string   // unit of InfluxDB's timestamps; "": nanoseconds
	Templates []string // of Graphite's names, as the server's flag --graphite-template has them

	Batch      int  // measures of a request
	Requests   int  // requests in flight at once
	DryRun     bool // nothing is sent
	MaxReports int  // most rejected lines that are reported one by one
}

// Run runs an import of files, or folders.
type Run func(cmd *cobra.Command, o *Options, files []string) error

func (o *Options) defineRemote(cmd *cobra.Command) {
	o.Remote.Define(cmd.Flags(), remote.DefaultURL, "address of the server, with its prefix if it has one")
}

// define defines the flags of every import of measures, and makes a command run by them.
func (o *Options) define(cmd *cobra.Command, run Run) {
	f := cmd.Flags()
	o.defineRemote(cmd)
	f.StringVar(&o.ArchivePolicy, "archive-policy", "",
		"archive policy of new metrics: a name, auto for one that keeps each measure, or rules for the server's\n"+
			"rules (default: auto; for series the one that senders' series get, prometheus or prometheus-counter)")
	f.BoolVar(&o.CreateArchivePolicy, "create-archive-policy", false,
		"where no archive policy keeps each measure, create one that does (needs the role admin)")
	f.BoolVar(&o.DryRun, "dry-run", false, "read the files, say what they hold and how they are read, and send nothing")
	f.IntVar(&o.Batch, "batch", 10_000, "measures per request")
	f.IntVar(&o.Requests, "requests", 4, "requests in flight at once")
	f.IntVar(&o.MaxReports, "max-reports", 20, "most rejected lines that are reported one by one")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if o.Batch < 1 || o.Requests < 1 {
			return errors.New("--batch and --requests must be at least 1")
		}
		return run(cmd, o, files)
	}
}

// NewCSV returns the command for CSV files, and its options.
func NewCSV(run Run) (*cobra.Command, *Options) {
	o := &Options{Resource: "csv"}
	var comma, decimal string
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
Empty cells, NA, null and - are gaps; --gap names others. Columns without a name or a number, and of
IDs, are left out. A line of units below the header gives units. JSON objects, one a line or in an
array, are rows as well. Files may be compressed (gzip, zstd, bzip2, xz), in UTF-16 or in Windows-1252.
--dry-run stops before anything is sent.

Lines may stand in any order: the command reads all files first, and then sends all in order
of time. More than 2^20 measures wait in a temporary file (20 bytes each; TMPDIR). Measures older
than a metric's back window go where the metric has nothing, if the archive policy allows that.

New metrics get the coarsest archive policy that keeps each measure in a group of its own. The command
names it. If there is none, it sends nothing and proposes one; --create-archive-policy creates it. For
an archive policy that you name, and for metrics that are there already, it says how many measures are
kept: measures of one group are merged, measures older than all timespans are not kept.

The exit status is 0 if the archives have each measure by itself. It is 2 if a file cannot be read so,
no archive policy keeps it, lines were rejected, or measures were merged, replaced by a later line,
dropped, refused or too old, also with --dry-run. It is 1 if the import failed otherwise.`,
		Example: `  gnocco import csv cpu.csv memory.csv
  gnocco import csv --dry-run --archive-policy high export.csv.gz
  gnocco import csv --metric-column entity_id --timezone Europe/Paris history.csv`,
		Args: cobra.MinimumNArgs(1),
	}
	o.define(cmd, func(cmd *cobra.Command, o *Options, files []string) (err error) {
		if o.Decimal, o.Comma, err = separators(decimal, comma); err != nil {
			return err
		}
		return run(cmd, o, files)
	})
	o.defineColumns(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&decimal, "decimal", "", "decimal separator of numbers: . or , (default: by the cells)")
	f.StringVar(&comma, "delimiter", "",
		"character between fields; the word tab means a tabulator (default: by the lines)")
	return cmd, o
}

// defineColumns defines the flags that say what columns are.
func (o *Options) defineColumns(f *pflag.FlagSet) {
	f.StringVar(&o.Resource, "resource", "csv", "generic resource to which the metrics belong")
	f.StringVar(&o.Metric, "metric", "",
		"name of the metric, for files with one column of values (default: the file's name)")
	f.StringVar(&o.TimestampColumn, "timestamp-column", "",
		"column of times, or several with commas between, such as DATE,CLOCK (default: the one whose\n"+
			"cells are times; of several, the one called timestamp, time, date or datetime, else the first)")
	f.StringVar(&o.TimeFormat, "time-format", "",
		"form of the times: s, ms, us or ns since 1970, excel for days of a spreadsheet, or like\n"+
			"%d.%m.%Y %H:%M (default: by the cells)")
	f.StringVar(&o.Timezone, "timezone", "", "zone of times that name none, such as Europe/Paris (default: UTC)")
	f.BoolVar(&o.NaN, "nan", false, "NaN is a value, not a gap")
	f.StringSliceVar(&o.Gaps, "gap", nil, "cell that stands for no value, such as -9999 (may be repeated)")
	f.StringSliceVar(&o.MetricColumns, "metric-column", nil, "column that names the metric of a row (may be repeated)")
	f.StringVar(&o.ResourceColumn, "resource-column", "", "column that names the resource of a row")
	f.StringSliceVar(&o.LabelColumns, "label-column", nil,
		"column that is a label: metrics are series with labels, as senders push them (may be repeated)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "column to leave out (may be repeated)")
	f.BoolVar(&o.NoHeader, "no-header", false,
		"the file has no header: columns are called 1, 2, 3")
}

// separators returns those of numbers and fields, 0 for "".
func separators(decimal, comma string) (point, field byte, err error) {
	if len(decimal) > 1 {
		return 0, 0, fmt.Errorf("--decimal is , or ., not %q", decimal)
	}
	if decimal != "" {
		point = decimal[0]
	}
	switch {
	case comma == "":
	case comma == "tab":
		field = '\t'
	case len(comma) == 1:
		field = comma[0]
	default:
		return 0, 0, fmt.Errorf("--delimiter: %q is not one ASCII character", comma)
	}
	return point, field, nil
}

// NewLines returns the command for JSON lines, and its options.
func NewLines(run Run) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "jsonl FILE...",
		Short: "Send the measures of JSON lines to a server",
		Long: `Send the measures of files of JSON lines to a server, through its REST API; - means standard input.

A line is a metric, as gnocco export jsonl and VictoriaMetrics write it: an object with the labels of
"metric", the numbers of "values" and of "timestamps", in milliseconds. Each set of labels is a series
of its own, the one that senders push with them, of the archive policy that a pushed series gets. In an
export of Gnocco's, the member "gnocco" names the resource, the unit, the type and the archive policy,
and the metric goes back to where it was.

Other objects are records: one has a time and values, by name. They are read as gnocco import csv reads
the rows of a table, and its flags say what columns are.

Order, history, compression, reports and exit statuses are those of gnocco import csv.`,
		Example: `  gnocco export jsonl --url http://old:8041 > all.jsonl
  gnocco import jsonl --url http://new:8041 all.jsonl
  gnocco import jsonl --archive-policy auto victoria.jsonl.gz`,
		Args: cobra.MinimumNArgs(1),
	}
	o.define(cmd, run)
	o.defineColumns(cmd.Flags())
	return cmd, o
}

// NewInflux returns the command for files of InfluxDB's line protocol, and its options.
func NewInflux(run Run) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "influx FILE...",
		Short: "Send the measures of files in InfluxDB's line protocol to a server",
		Long: `Send the measures of files in InfluxDB's line protocol to a server, through its REST API; - means
standard input. influx_inspect export and influxd inspect export-lp write such files: of their comments,
CONTEXT-DATABASE names the database.

Each numeric field is a series, the one that clients of InfluxDB get at the server's /write, with the
database as label db. Text is not stored: its fields are counted as rejected. So is a line without a
timestamp.

Order, history, compression, reports and exit statuses are those of gnocco import csv.`,
		Example: `  influx_inspect export -datadir /var/lib/influxdb/data -waldir /var/lib/influxdb/wal -compress -out all.gz
  gnocco import influx --dry-run all.gz
  gnocco import influx --archive-policy auto --database telegraf --precision s lines.txt`,
		Args: cobra.MinimumNArgs(1),
	}
	o.define(cmd, run)
	cmd.Flags().StringVar(&o.Database, "database", "", "label db of the series (default: the file's, or none)")
	cmd.Flags().StringVar(&o.Precision, "precision", "ns", "unit of timestamps: ns, us, ms, s, m, h, or auto for the nearest to now")
	return cmd, o
}

// NewGraphite returns the command for files of Graphite's lines, and its options.
func NewGraphite(run Run) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "graphite FILE...",
		Short: "Send the measures of files in Graphite's plaintext protocol to a server",
		Long: `Send the measures of files of Graphite's lines, "NAME VALUE TIME", to a server, through its REST API;
- means standard input. The time is in seconds since 1970. A name may have tags: disk.used;host=web-1.

Each name is a series, the one that senders get at the server's --graphite-listen. Give this command
the templates that the server has. A line without a time is rejected.

Order, history, compression, reports and exit statuses are those of gnocco import csv.`,
		Example: `  gnocco import graphite --dry-run lines.txt
  gnocco import graphite --graphite-template 'servers.* -.host.name*' lines.txt.gz`,
		Args: cobra.MinimumNArgs(1),
	}
	o.define(cmd, run)
	cmd.Flags().StringArrayVar(&o.Templates, "graphite-template", nil,
		"how parts of a name become labels, as [FILTER ]PARTS (may be repeated; gnocco help senders)")
	return cmd, o
}

// NewBlocks returns the command for Prometheus' blocks, and its options.
func NewBlocks(run Run) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "blocks DIR...",
		Short: "Send the samples of Prometheus' blocks to a server",
		Long: `Send the samples of blocks of Prometheus, Thanos or Mimir to a server, through its REST API. DIR is a
block or a folder with blocks below it, such as Prometheus' data folder or a snapshot of it. Samples
that only the write-ahead log has are in no block. Blocks are only read.

Each set of labels is a series of its own, the one that Prometheus pushes with them by remote write,
and of the archive policy that it would get there. Remote write by the same user goes on in it.
Labels that Thanos or Mimir has for a whole block count as well. Each part of a native histogram is a
measure.

Aggregates of 5 minutes and an hour, in blocks that Thanos downsampled, become the groups of that
width and of its multiples that the archive policy has; they need the role admin. Where a metric has
other measures, these stay. Import all blocks of a series at once, or older ones later.

Order, history, reports and exit statuses are those of gnocco import csv. Samples wait in a temporary
file (20 bytes each; TMPDIR).`,
		Example: `  gnocco import blocks --dry-run /var/lib/prometheus
  gnocco import blocks snapshots/20260101T000000Z-0123456789abcdef`,
		Args: cobra.MinimumNArgs(1),
	}
	o.define(cmd, run)
	return cmd, o
}

// NewArchive returns the command for exported archives, and its options.
func NewArchive(run Run) (*cobra.Command, *Options) {
	o := new(Options)
	cmd := &cobra.Command{
		Use:   "archive FILE",
		Short: "Put the archives of an export into a server",
		Long: `Put the archives that gnocco export archive wrote into a server; - means standard input. Needs the
role admin.

The command creates what the server lacks: archive policies and their rules, types of resources,
resources and metrics, which belong to the user who imports. A metric gets all of its archive, to the
bit, and goes on as the exported one would. One that has other measures is refused, as is an archive
policy of the same name with another definition. After an interruption run the command again:
imported metrics stay as they are. Of a file that was cut, the command imports the whole metrics, and
then fails.`,
		Example: `  gnocco export archive --url http://old:8041 | gnocco import archive --url http://new:8041 -`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, files []string) error { return run(cmd, o, files) },
	}
	o.defineRemote(cmd)
	return cmd, o
}
