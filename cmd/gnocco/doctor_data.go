package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/fsck"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/internal/counted"
)

func newDoctorData() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Check a data folder and say what to do, command by command",
		Long: `Check a data folder as fsck does, which takes as long, and say what to do about each damaged store,
command by command. The command changes nothing. Servers that use the folder have to be stopped
first; until then GET /v1/status lists the stores that they do without.

The exit status is that of fsck: 0 if all is well, 1 if there is damage, 2 if the folder could not
be checked.`,
		Example: `  gnocco doctor data --data /var/lib/gnocco`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(data)
			if errors.Is(err, datafolder.ErrInUse) {
				err = fmt.Errorf("%w; GET /v1/status lists damaged stores; "+
					"stop all servers of the folder, then run this again", err)
			}
			if err != nil {
				return exitStatus{statusUnchecked, err}
			}
			report, err := fsck.Check(cmd.Context(), d, fsck.Options{})
			if err = errors.Join(err, d.Close()); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if err := errors.Join(report.Print(cmd.OutOrStdout()),
				prescribe(cmd.OutOrStdout(), data, report)); err != nil {
				return exitStatus{statusUnchecked, err}
			}
			if n := report.Damaged(); n > 0 {
				return exitStatus{statusDamaged, errors.New(counted.Of(n, "damaged place"))}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", shared.StateFolder("gnocco"), "data folder")
	return cmd
}

// prescribe says what to do about a report.
func prescribe(w io.Writer, data string, report *fsck.Report) error {
	steps := []string{"# Nothing is to be done."}
	if report.Damaged() > 0 {
		steps = []string{"# Keep a copy first: what follows changes the folder.",
			fmt.Sprintf("cp -a %s %s.copy", data, data)}
	}
	if report.Repairable() {
		steps = append(steps, "# Compute again what can be, and set aside what does not decode:",
			fmt.Sprintf("gnocco fsck --data %s --repair", data))
	}
	for _, name := range report.Refused() {
		if name == datafolder.IndexName {
			steps = append(steps,
				"# Restore the folder index from a backup; fsck says above what it costs to do without.")
			continue
		}
		steps = append(steps, "# If no backup has "+name+", accept its loss; the report says what that is:",
			fmt.Sprintf("gnocco fsck --data %s --repair --give-up %s", data, name))
	}
	if report.Damaged() > 0 {
		steps = append(steps, "# Check once more, then start the servers:", fmt.Sprintf("gnocco fsck --data %s", data))
	}
	for _, step := range steps {
		if _, err := fmt.Fprintln(w, step); err != nil {
			return err
		}
	}
	return nil
}
