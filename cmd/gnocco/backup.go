package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cmd/shared"
)

// besideBackup is the program with the same commands for buckets and with encryption: a client of S3 is heavier than
// all that gnocco does with backups.
const besideBackup = "gnocco-backup"

func newBackup() *cobra.Command { return orBeside(shared.NewBackup(openFolder), "to") }

func newRestore() *cobra.Command {
	return new(selectedRestore).addTo(orBeside(shared.NewRestore(openFolder), "from"))
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
		if !strings.Contains(address, "://") && !flags.Changed(shared.RecipientFlag) && !flags.Changed(shared.IdentityFlag) {
			return run(cmd, args)
		}
		return becomeBeside(append([]string{cmd.Name()}, givenFlags(flags)...)...)
	}
	return cmd
}

// newDoctorBucket leaves all of its work, and its help, to the program beside this one.
func newDoctorBucket() *cobra.Command {
	return &cobra.Command{Use: "bucket s3://bucket/prefix", Short: "Check what a bucket may be used for", DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return becomeBeside(append([]string{"doctor", "bucket"}, args...)...)
		}}
}

// becomeBeside makes this process the program beside it.
func becomeBeside(args ...string) error {
	program, err := findBeside(besideBackup)
	if err != nil {
		return fmt.Errorf("buckets and encryption need the program %s beside gnocco or on PATH "+
			"(Debian package %[1]s, or make backup): %w", besideBackup, err)
	}
	return unix.Exec(program, append([]string{besideBackup}, args...), os.Environ())
}

// findBeside finds a program in the folder of this one, or else on PATH.
func findBeside(name string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		var found string
		if found, err = exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return found, nil
		}
	}
	found, onPath := exec.LookPath(name)
	if onPath == nil {
		return found, nil
	}
	return "", errors.Join(err, onPath)
}

// givenFlags returns the flags that the command line, the environment or a file has set, but for the file's own.
func givenFlags(flags *pflag.FlagSet) (args []string) {
	flags.Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if flag.Name != configFlag {
				args = append(args, "--"+flag.Name+"="+value)
			}
		}
	})
	return args
}
