package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// showMetric lists what is stored of a metric: each split's operands, with version, bytes and columns, and the raw
// series.
func showMetric(ctx context.Context, d *offline.Data, out io.Writer, id uuid.UUID) error {
	m, err := find(ctx, d, id)
	if err != nil {
		return err
	}
	if m == nil {
		fmt.Fprintf(out, "metric %s is not in the index\n", id)
	} else {
		fmt.Fprintf(out, "metric %s %q, archive policy %s, creator %q, deleted %t\n",
			m.ID, m.Name, m.ArchivePolicy.Name, m.Creator, m.Deleted)
	}
	return inMetricSack(d, id, func(store *archive.Store) error {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		lower, upper := archive.MetricBounds(id)
		err := engine.Each(store.DB(), lower, upper, func(key, value []byte) error {
			_, kind, split, ok := archive.ParseKey(key)
			switch {
			case !ok:
				fmt.Fprintf(table, "unknown key %x\t\t%d bytes\t\n", key, len(value))
			case kind == archive.KindSplit:
				writeSplit(table, split, value)
			case kind == archive.KindRaw:
				timestamps, _, corrupt, err := store.Raw(id, nil, nil)
				if err != nil {
					return err
				}
				fmt.Fprintf(table, "raw series\t%d measures\t%d bytes\t%s\t%s\n",
					len(timestamps), len(value), between(timestamps), corruptText(corrupt))
			case kind == archive.KindCount:
				name, count := "dropped", store.Dropped
				if archive.IsLate(key) {
					name, count = "late", store.Late
				}
				n, err := count(id)
				if err != nil {
					return err
				}
				fmt.Fprintf(table, "%s\t%d measures\t\t\t\n", name, n)
			case kind == archive.KindPartial:
				partial, err := store.PartialGroups(id)
				if err != nil {
					fmt.Fprintf(table, "partial groups\t\t%d bytes\tdoes not decode: %v\t\n", len(value), err)
					return nil
				}
				fmt.Fprintf(table, "partial groups\t%d groups\t%d bytes\tbefore %s\t\n",
					len(partial.Rows), len(value), partial.Before.Time().Format(time.RFC3339Nano))
			case kind == archive.KindUnsettled:
				unsettled, err := store.Unsettled(id)
				if err != nil {
					fmt.Fprintf(table, "unsettled measures\t\t%d bytes\tdo not decode: %v\t\n", len(value), err)
					return nil
				}
				fmt.Fprintf(table, "unsettled measures\t%d requests\t%d bytes\t\t\n", len(unsettled.Runs), len(value))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return table.Flush()
	})
}

// writeSplit describes each operand of a split, and under it its columns.
func writeSplit(out io.Writer, key carbonara.SplitKey, value []byte) {
	for _, operand := range archive.Operands(value) {
		info, err := carbonara.SplitInfo(operand)
		if err != nil {
			fmt.Fprintf(out, "split %s\t\t%d bytes\tdoes not decode: %v\t\n", key, len(operand), err)
			continue
		}
		fmt.Fprintf(out, "split %s\t%d groups\t%d bytes\tversion %d, presence by %s\t\n",
			key, info.Groups, info.Bytes, info.Version, info.Presence)
		for _, column := range info.Columns {
			fmt.Fprintf(out, "  %s\t\t%d bytes\t%s\t\n", column.Column, column.Bytes, column.Codec)
		}
	}
}

// between says from when to when a series goes.
func between(timestamps []carbonara.Timestamp) string {
	if len(timestamps) == 0 {
		return ""
	}
	first, last := timestamps[0].Time(), timestamps[len(timestamps)-1].Time()
	return first.Format(time.RFC3339Nano) + " to " + last.Format(time.RFC3339Nano)
}

func corruptText(operands int) string {
	if operands == 0 {
		return ""
	}
	return fmt.Sprintf("%d operands do not decode", operands)
}
