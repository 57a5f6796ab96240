package inspect

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/offline"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Quarantine lists what did not decode and is kept: incoming blocks, and operands that a repair has set aside.
func Quarantine(d *offline.Data, out io.Writer) error {
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
