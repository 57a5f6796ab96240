package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gnocco/cmd/gnocco/internal/fsck"
	"gnocco/cmd/gnocco/internal/offline"
)

// Exit statuses of fsck, beside 0.
const (
	statusDamaged   = 1
	statusUnchecked = 2
)

func newFsck() *cobra.Command {
	var data string
	var repair bool
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check the data folder of a server that is not running, and repair it",
		Long: `Check the data folder of a server that is not running: the checksums of all tables, splits, raw
series and incoming blocks, and what index, archives and incoming stores say of each other. It
tells what is damaged by metric, granularity and time, what of that can be computed again from
the raw series or from a finer granularity, and what is lost.

With --repair it does so. Nothing is thrown away: what does not decode is kept under a key of its
own ("gnocco inspect quarantine" lists it), and a store with damaged tables is copied as far as
it can be read, and stays beside the copy as damaged-e….

It ends with status 0 if all is well or repaired, 1 if damage is left, 2 if it could not check.`,
		Example: `  gnocco fsck --data /var/lib/gnocco
  gnocco fsck --data /var/lib/gnocco --repair`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(data)
			if err != nil {
				return exitStatus{statusUnchecked, err}
			}
			report, err := fsck.Check(cmd.Context(), d, repair)
			if err = errors.Join(err, d.Close()); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if err := report.Print(cmd.OutOrStdout()); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if n := report.Damaged(); n > 0 {
				return exitStatus{statusDamaged, fmt.Errorf("%d damaged", n)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", stateFolder("gnocco"), "data folder")
	cmd.Flags().BoolVar(&repair, "repair", false, "compute again what can be, and set aside what does not decode")
	return cmd
}
