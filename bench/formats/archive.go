package formats

import (
	"context"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
)

// ArchiveOptions say what Archive encodes.
type ArchiveOptions struct {
	Folder   string // of CSV files: a header, then timestamp and value; "" for generated series only
	Groups   int    // of generated series; 0: 3,600
	PerGroup []int  // measures in a group; nil: 1 and 12
	Each     bool   // a result for every series, not only their totals
	For      time.Duration
}

// EnsureDefaults fills in what was left zero.
func (o *ArchiveOptions) EnsureDefaults() {
	if o.Groups == 0 {
		o.Groups = carbonara.GroupsPerSplit
	}
	if len(o.PerGroup) == 0 {
		o.PerGroup = []int{1, 12}
	}
	if o.For == 0 {
		o.For = time.Second
	}
}

// archiveMethods are the six that a split answers here.
var archiveMethods = []string{"mean", "min", "max", "sum", "count", "std"}

// archiveStep is the time between two measures.
const archiveStep = time.Minute

// Archive measures how many bytes a group takes by six aggregation methods, and how fast groups are encoded and
// decoded, in our format and in others. A result is of one series, or of all of a folder, all decimals among them, or
// all generated ones. Speeds are bytes of float64 in a second on one core, counting in each format the columns that it
// stores.
func Archive(ctx context.Context, run report.Run, what ArchiveOptions) error {
	run.EnsureDefaults()
	what.EnsureDefaults()
	methods, err := carbonara.ParseMethods(archiveMethods)
	if err != nil {
		return err
	}
	type set struct {
		name   string
		series []archiveSeries
	}
	for _, perGroup := range what.PerGroup {
		var sets []set
		add := func(name string, series []archiveSeries) {
			if what.Each {
				for _, s := range series {
					sets = append(sets, set{s.name, []archiveSeries{s}})
				}
			}
			sets = append(sets, set{name, series})
		}
		for _, s := range generatedSeries(what.Groups*perGroup, run.Seed) {
			sets = append(sets, set{s.name, []archiveSeries{s}})
		}
		if what.Folder != "" {
			read, err := readSeries(what.Folder)
			if err != nil {
				return fmt.Errorf("bench: archive: %w", err)
			}
			add("files", read)
			var decimals []archiveSeries
			for _, s := range read {
				if s.decimal {
					decimals = append(decimals, s)
				}
			}
			sets = append(sets, set{"decimals", decimals})
		}
		for range run.Count {
			for _, s := range sets {
				if err := archiveSet(ctx, run.Report, s.name, s.series, perGroup, methods, what.For); err != nil {
					return fmt.Errorf("bench: archive %s: %w", s.name, err)
				}
			}
		}
	}
	return nil
}

// archiveSet measures all formats on a set of series.
func archiveSet(ctx context.Context, out *report.Report, name string, set []archiveSeries, perGroup int,
	methods []carbonara.Method, duration time.Duration) error {
	var splits []*archiveSplit
	groups := 0
	for _, s := range set {
		made, err := splitsOf(ctx, s.values, perGroup, methods)
		if err != nil {
			return err
		}
		for _, split := range made {
			groups += split.groups.Len()
		}
		splits = append(splits, made...)
	}
	if groups == 0 {
		return nil
	}
	zstd, err := newZstdFormat()
	if err != nil {
		return err
	}
	for _, format := range []archiveFormat{new(gnoccoFormat), new(gnocchiFormat), new(gorillaFormat), zstd} {
		if err := ctx.Err(); err != nil {
			return err
		}
		figures, err := archiveFigures(format, splits, groups, duration)
		if err != nil {
			return fmt.Errorf("%s: %w", format.name(), err)
		}
		if err := out.Add(fmt.Sprintf("Archive/series=%s/measures=%d/format=%s", name, perGroup, format.name()), groups,
			figures...); err != nil {
			return err
		}
	}
	return nil
}

// archiveFigures encodes and decodes the splits with a format, for so long each.
func archiveFigures(format archiveFormat, splits []*archiveSplit, groups int,
	duration time.Duration) ([]report.Figure, error) {
	var names []string
	perColumn := make(map[string]int)
	total, values := 0, 0
	var encoding, decoding time.Duration
	rounds := 0
	for rounds == 0 || encoding+decoding < duration {
		for _, s := range splits {
			started := time.Now()
			size, err := format.encode(s)
			if err != nil {
				return nil, err
			}
			encoded := time.Now()
			n, err := format.decode(s)
			decoding += time.Since(encoded)
			encoding += encoded.Sub(started)
			if err != nil {
				return nil, err
			}
			if rounds > 0 {
				continue
			}
			total += size
			values += n
			columns, err := format.columns(s)
			if err != nil {
				return nil, err
			}
			for _, c := range columns {
				if _, ok := perColumn[c.name]; !ok {
					names = append(names, c.name)
				}
				perColumn[c.name] += c.bytes
			}
			if ours, ok := format.(*gnoccoFormat); ok {
				if err := ours.verify(s); err != nil {
					return nil, err
				}
			}
		}
		rounds++
	}
	speed := func(d time.Duration) float64 { return float64(8*values*rounds) / 1e6 / d.Seconds() }
	figures := []report.Figure{report.Of(float64(total)/float64(groups), "B/group"),
		report.Of(speed(encoding), "encode-MB/s"), report.Of(speed(decoding), "decode-MB/s")}
	for _, name := range names {
		figures = append(figures, report.Of(float64(perColumn[name])/float64(groups), name+"-B/group"))
	}
	return figures, nil
}

// splitsOf puts regular measures into groups, and these into splits.
func splitsOf(ctx context.Context, values []float64, perGroup int,
	methods []carbonara.Method) ([]*archiveSplit, error) {
	granularity := time.Duration(perGroup) * archiveStep
	plan := carbonara.NewPlan([]time.Duration{granularity}, methods)
	batch := &carbonara.Batch{Values: values, Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
	for i := range values {
		batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(i)*carbonara.Timestamp(archiveStep))
	}
	var result carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(ctx, batch, &result); err != nil {
		return nil, err
	}
	groups := result.Groups(0, 0)
	var splits []*archiveSplit
	for from := 0; from < groups.Len(); {
		key := carbonara.SplitKeyOf(groups.Starts[from], granularity)
		to := max(groups.Search(key.Next().Start), from+1)
		splits = append(splits, newArchiveSplit(key, groups.Slice(from, to), methods))
		from = to
	}
	return splits, nil
}
