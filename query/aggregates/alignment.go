package aggregates

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Series is the aggregates of one metric, in order of time.
type Series struct {
	Reference int                   // index into the operation's References: through which the metric was found
	Starts    []carbonara.Timestamp // may be shared with other series
	Values    []float64             // len(Starts)
	Found     int                   // in Table.Combined: the number of the metric that it is of; -1: of several
}

// Table is the series of one granularity. It is only read.
type Table struct {
	Granularity time.Duration
	Series      []Series
	Combined    [][]Series // of an Exact operation, instead: of each of its Combinations
}

// Options say how series are aligned, and on what they are computed.
type Options struct {
	Resampler carbonara.Resampler // of resamples and medians; nil: the CPU's

	Fill          Fill
	NeededOverlap float64 // percent of the timestamps that all series have; counts only without Fill
	// HasFrom reports whether the request has a start: without it, and without Fill, the series begin where all are
	// present.
	HasFrom bool
	HasTo   bool // the request has a stop: likewise at their end
	Part    bool // the table is a part of the time: its rows are cut by Join
}

// grid is a table's series on the same timestamps.
type grid struct {
	table *Table
	fill  Fill
	times []carbonara.Timestamp
	all   []carbonara.Timestamp // times are these from index from on
	from  int

	overlapping []int // rows in which no series is NaN, of a part without Fill
}

// align finds the timestamps that any series has, and cuts them to where the series overlap if that is asked for.
func align(ctx context.Context, table *Table, options *Options) (*grid, error) {
	g := &grid{table: table, fill: options.Fill, all: union(table.Series)}
	g.times = g.all
	if options.Fill.mode != fillNone {
		return g, nil
	}
	overlap, err := g.overlap(ctx)
	if err != nil {
		return nil, err
	}
	if options.Part {
		g.overlapping = overlap
		return g, nil
	}
	from, to, err := cut(overlap, len(g.times), options)
	if err != nil {
		return nil, err
	}
	g.times, g.from = g.times[from:to], from
	return g, nil
}

// cut returns which of so many rows stay, given those that overlap.
func cut(overlap []int, rows int, options *Options) (from, to int, err error) {
	if len(overlap) == 0 && options.NeededOverlap > 0 {
		return 0, 0, &UnaggregableError{"No overlap"}
	}
	if rows == 0 {
		return 0, 0, nil
	}
	from, to = 0, rows
	if len(overlap) > 0 {
		if !options.HasTo {
			to = overlap[len(overlap)-1] + 1
		}
		if !options.HasFrom {
			from = overlap[0]
		}
	}
	if percent := float64(len(overlap)) * 100 / float64(to-from); percent < options.NeededOverlap {
		return 0, 0, &UnaggregableError{fmt.Sprintf("Less than %f%% of datapoints overlap in this timespan (%.2f%%)",
			options.NeededOverlap, percent)}
	}
	return from, to, nil
}

// union merges the timestamps of all series. It may return those of one of them.
func union(series []Series) []carbonara.Timestamp {
	switch len(series) {
	case 0:
		return nil
	case 1:
		return series[0].Starts
	}
	half := len(series) / 2
	a, b := union(series[:half]), union(series[half:])
	if len(b) == 0 || same(a, b) {
		return a
	}
	if len(a) == 0 {
		return b
	}
	merged := make([]carbonara.Timestamp, 0, max(len(a), len(b))+min(len(a), len(b))/8)
	for len(a) > 0 && len(b) > 0 {
		next := min(a[0], b[0])
		if a[0] == next {
			a = a[1:]
		}
		if b[0] == next {
			b = b[1:]
		}
		merged = append(merged, next)
	}
	return append(append(merged, a...), b...)
}

// same reports whether two lists of timestamps are equal; often they are one.
func same(a, b []carbonara.Timestamp) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// overlap returns the rows in which no series is NaN.
func (g *grid) overlap(ctx context.Context) ([]int, error) {
	missing := make([]bool, len(g.times))
	if err := sideBySide(len(g.times), func(from, to int) error {
		values := make([]float64, to-from)
		for i := range g.table.Series {
			if err := ctx.Err(); err != nil {
				return err
			}
			g.read(i, from, values)
			for row, v := range values {
				if v != v {
					missing[from+row] = true
				}
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var rows []int
	for row, is := range missing {
		if !is {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// read writes series i into dst: a value for each timestamp, from a row on.
func (g *grid) read(i, row int, dst []float64) {
	if len(dst) == 0 {
		return
	}
	s, times := &g.table.Series[i], g.times[row:row+len(dst)]
	from, to := g.from+row, g.from+row+len(dst)
	if len(s.Starts) != len(g.all) || &s.Starts[0] != &g.all[0] { // else they are all of the grid's, as often
		from, _ = slices.BinarySearch(s.Starts, times[0])
		to, _ = slices.BinarySearch(s.Starts, times[len(times)-1]+1)
	}
	starts, values := s.Starts[from:to], s.Values[from:to]
	if len(starts) == len(dst) {
		copy(dst, values) // the grid's timestamps are a superset
	} else {
		missing := g.fill.missing()
		at := 0
		for row, t := range times {
			if at < len(starts) && starts[at] == t {
				dst[row] = values[at]
				at++
			} else {
				dst[row] = missing
			}
		}
	}
	g.fill.apply(dst)
}

var nan = math.NaN()
