package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/fsck"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// Exit statuses of fsck, beside 0.
const (
	statusDamaged   = 1
	statusUnchecked = 2
)

func newFsck() *cobra.Command {
	var data string
	var options fsck.Options
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check a data folder that no server uses, and repair it",
		Long: `Check a data folder that no server uses: the checksums of all tables, splits, raw series and
incoming blocks, and whether index, archives and incoming stores agree. The command reports what
is damaged by metric, granularity and time, what can be recomputed from the raw series or from a
finer granularity, and what is lost.

With --repair it recomputes that. It throws no data away: a value that does not decode is kept
under a key of its own. A store with damaged tables is copied as far as it can be read, and stays
beside the copy as damaged-e….

A store that is damaged so that a server does without it, no repair brings back: part of it is
missing. --give-up sacks/005 accepts that. The readable part of the store is kept, or nothing; the
report names the metrics that lost by it; the damaged store stays in the data folder.

The exit status is 0 if all is well or repaired, 1 if damage is left, and 2 if the folder could
not be checked.`,
		Example: `  gnocco fsck --data /var/lib/gnocco
  gnocco fsck --data /var/lib/gnocco --repair
  gnocco fsck --data /var/lib/gnocco --repair --give-up sacks/005`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(data)
			if err != nil {
				return exitStatus{statusUnchecked, err}
			}
			report, err := fsck.Check(cmd.Context(), d, options)
			if err = errors.Join(err, d.Close()); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if err := report.Print(cmd.OutOrStdout()); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if n := report.Damaged(); n > 0 {
				return exitStatus{statusDamaged, errors.New(counted.Of(n, "damaged place") + " left")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", shared.StateFolder("gnocco"), "data folder")
	cmd.Flags().BoolVar(&options.Repair, "repair", false,
		"recompute what can be recomputed, and set aside what does not decode")
	cmd.Flags().StringSliceVar(&options.GiveUp, "give-up", nil,
		"with --repair: accept the loss of a store that no repair brings back, such as sacks/005")
	return cmd
}
