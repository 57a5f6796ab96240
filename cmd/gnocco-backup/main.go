package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/licenses"
	"github.com/gnocco-db/gnocco/internal/version"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -of . -o licenses.txt

// licensesOfParts are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licensesOfParts string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newProgram().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gnocco-backup:", err)
		if errors.Is(err, backup.ErrIncomplete) {
			os.Exit(2)
		}
		if errors.Is(err, errOneWriter) {
			os.Exit(statusOneWriter)
		}
		if errors.Is(err, backup.ErrSucceeded) {
			os.Exit(shared.ExitSucceeded)
		}
		os.Exit(1)
	}
}

func newProgram() *cobra.Command {
	root := &cobra.Command{
		Use:           "gnocco-backup",
		Short:         "Backups of Gnocco in buckets of S3, encrypted by age",
		Version:       version.Number,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	commandline.DefineSettings(root)
	root.AddCommand(shared.NewBackup(open), shared.NewRestore(open), newDoctor(), licenses.NewCommand(licensesOfParts))
	return root
}

// open opens what --to or --from names.
func open(ctx context.Context, place string, recipients []string, identity string) (*shared.Place, error) {
	found := &shared.Place{Storage: backup.Folder(place)}
	if strings.Contains(place, "://") {
		b, err := openBucket(ctx, place)
		if err != nil {
			return nil, err
		}
		found.Storage = b
	}
	if len(recipients) > 0 || identity != "" {
		c, err := newEncryption(recipients, identity)
		if err != nil {
			return nil, err
		}
		found.Cipher = c
	}
	return found, nil
}
