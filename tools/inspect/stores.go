package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// listStores lists the stores: their keys, the bytes of keys and values, and what they take on disk.
func listStores(d *offline.Data, out io.Writer) error {
	fmt.Fprintf(out, "%s: format %d, %d sacks\n\n", d.Path, d.Cluster.Format, d.Cluster.Sacks)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "store\tkeys\tmetrics\tbytes\ton disk\t")
	row := func(name string, db *pebble.DB) error {
		keys, bytes, metrics, last := 0, 0, 0, uuid.Nil
		err := engine.Each(db, nil, nil, func(key, value []byte) error {
			keys++
			bytes += len(key) + len(value)
			if metric, _, _, ok := archive.ParseKey(key); ok && metric != last && name[0] == 's' {
				metrics, last = metrics+1, metric
			}
			return nil
		})
		count := fmt.Sprint(metrics)
		if name[0] != 's' {
			count = ""
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%d\t\n", name, keys, count, bytes, db.Metrics().DiskSpaceUsage())
		return err
	}
	dir, err := d.IndexDir()
	if err != nil {
		return err
	}
	if err := offline.InStore(dir, func(db *pebble.DB) error { return row("index", db) }); err != nil {
		return err
	}
	nodes, err := d.IncomingDirs()
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		if err := offline.InStore(nodes[node], func(db *pebble.DB) error {
			return row("incoming/"+node, db)
		}); err != nil {
			return err
		}
	}
	for sack := range d.Cluster.Sacks {
		err := d.InSack(sack, func(store *archive.Store) error {
			return row(fmt.Sprintf("sacks/%03d", sack), store.DB())
		})
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

// listQuarantine lists what did not decode and is kept: incoming blocks, and operands that a repair has set aside.
func listQuarantine(d *offline.Data, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "sack\twhat\tbytes\t")
	for sack := range d.Cluster.Sacks {
		err := d.InSack(sack, func(store *archive.Store) error {
			return store.EachAside(func(a archive.Aside) error {
				what := "operand of " + archive.KeyOf(a.Key)
				if a.Key == nil {
					what = fmt.Sprintf("block %d of incoming store %s", a.Sequence, a.Source)
				}
				_, err := fmt.Fprintf(table, "%03d\t%s\t%d\t\n", sack, what, len(a.Bytes))
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return table.Flush()
}
