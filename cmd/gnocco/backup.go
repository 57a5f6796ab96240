package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

// besideBackup is the program with the same commands for buckets and with encryption: a client of S3 is heavier than
// all that gnocco does with backups.
const besideBackup = "gnocco-backup"

func newBackup() *cobra.Command { return orBeside(shared.NewBackup(openFolder), "to") }

// newRestore returns a command that leaves --select to the importer.
func newRestore() *cobra.Command {
	cmd := orBeside(shared.NewRestore(openFolder), "from")
	var selectors []string
	whole := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(selectors) == 0 {
			return whole(cmd, args)
		}
		return process.Become(importer)
	}
	cmd.Long += `

With --select it puts metrics of a backup into the server at --url while that serves, as gnocco import
archive does. Metrics that have other measures there are refused: delete them first. The whole
backup is restored into a temporary folder meanwhile, below TMPDIR.`
	cmd.Example += `
  gnocco restore --from /mnt/backup/gnocco --select house/outside --select '{project_id="p"}'`
	flags := cmd.Flags()
	flags.StringArrayVar(&selectors, "select", nil,
		"put these metrics into the server at --url: a name, RESOURCE/NAME, an ID, or a selector in PromQL")
	new(remote.Flags).Define(flags, remote.DefaultURL, "with --select, address of the server")
	for _, other := range []string{"data", "list", "verify"} {
		cmd.MarkFlagsMutuallyExclusive("select", other)
	}
	return cmd
}

func openFolder(_ context.Context, dir string, _ []string, _ string) (*shared.Place, error) {
	return &shared.Place{Storage: backup.Folder(dir)}, nil
}

// orBeside makes a command leave what is not in a plain folder to the program beside this one.
func orBeside(cmd *cobra.Command, place string) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags := cmd.Flags()
		address := flags.Lookup(place).Value.String()
		if strings.Contains(address, "://") || flags.Changed(shared.RecipientFlag) || flags.Changed(shared.IdentityFlag) {
			return becomeBackup()
		}
		return run(cmd, args)
	}
	return cmd
}

// newDoctorBucket leaves all of its work, and its help, to the program beside this one.
func newDoctorBucket() *cobra.Command {
	return &cobra.Command{Use: "bucket s3://bucket/prefix", Short: "Check what a bucket may be used for", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := becomeBackup()
			if strings.Join(args, "") == "--help" {
				return cmd.Help() // without that program
			}
			return err
		}}
}

func becomeBackup() error {
	if _, err := process.Find(besideBackup); err != nil {
		return fmt.Errorf("buckets and encryption need the program %s beside gnocco or on PATH "+
			"(Debian package %[1]s, or make backup)", besideBackup)
	}
	return process.Become(besideBackup)
}
