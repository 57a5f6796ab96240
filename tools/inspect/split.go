package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// showSplit decodes the split of a metric that holds time t at this granularity, and prints its groups, all columns.
func showSplit(d *offline.Data, out io.Writer, metric uuid.UUID, granularity time.Duration,
	t carbonara.Timestamp) error {
	key := carbonara.SplitKeyOf(t, granularity)
	return inMetricSack(d, metric, func(store *archive.Store) error {
		var columns []carbonara.Column
		lower, upper := archive.MetricBounds(metric)
		err := engine.Each(store.DB(), lower, upper, func(k, value []byte) error {
			if _, kind, split, ok := archive.ParseKey(k); !ok || kind != archive.KindSplit || split != key {
				return nil
			}
			for _, operand := range archive.Operands(value) {
				info, err := carbonara.SplitInfo(operand)
				if err != nil {
					fmt.Fprintf(out, "left out: an operand of %d bytes does not decode: %v\n", len(operand), err)
					continue
				}
				for _, column := range info.Columns {
					columns = append(columns, column.Column)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.Sort(columns)
		columns = slices.Compact(columns)
		if len(columns) == 0 {
			return fmt.Errorf("metric %s has no split %s", metric, key)
		}
		var groups carbonara.Groups
		groups.Reset(granularity, columns)
		if _, err := store.Groups(metric, granularity, key.Start, key.End(), &groups); err != nil {
			return err
		}
		return writeGroups(out, &groups)
	})
}

func writeGroups(out io.Writer, groups *carbonara.Groups) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "group\t")
	for _, column := range groups.Columns {
		fmt.Fprintf(table, "%s\t", column)
	}
	fmt.Fprintln(table)
	for row, start := range groups.Starts {
		fmt.Fprintf(table, "%s\t", start.Time().Format(time.RFC3339Nano))
		for i, values := range groups.Values {
			if groups.Columns[i].IsSketch() {
				fmt.Fprintf(table, "%d bytes\t", len(groups.Sketch(row)))
				continue
			}
			fmt.Fprintf(table, "%s\t", strconv.FormatFloat(values[row], 'g', -1, 64))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
