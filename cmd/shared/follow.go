package shared

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/repeated"
	"github.com/gnocco-db/gnocco/model"
)

// ExitSucceeded is the exit status of a follower whose cluster was replaced.
const ExitSucceeded = 3

// following is a command that takes a backup at intervals.
type following struct {
	cmd     *cobra.Command
	options backup.Options
	every   time.Duration

	follower *backup.Follower
	record   model.Backup // of the last round that went well, with the error of a later one
}

// run follows until the command is stopped or another cluster takes this one's place. The first round must succeed.
func (f *following) run() error {
	ctx := f.cmd.Context()
	backups, err := backup.Records(&datafolder.Folder{Path: f.options.Data})
	if err != nil {
		return err
	}
	for _, b := range backups {
		if b.Follows && b.To == f.record.To {
			f.record = b // of an earlier process
		}
	}
	defer f.close()
	tell := func(text any) {
		fmt.Fprintf(f.cmd.ErrOrStderr(), "%s gnocco: %v\n", time.Now().Format(time.RFC3339), text)
	}
	faults := repeated.Warning{Warn: func(_ string, fields ...any) { tell(fields[1]) }}
	failing := false
	for first := true; ; first = false {
		begun := time.Now()
		err := f.round(begun)
		if ctx.Err() != nil {
			fmt.Fprintf(f.cmd.OutOrStdout(), "the copy ends at %s\n", f.record.Begun.Format(time.RFC3339))
			return nil
		}
		if faults.Note(err); err == nil && failing {
			tell("the copy is up to date again")
		}
		failing = err != nil
		if errors.Is(err, backup.ErrSucceeded) || first && err != nil && !errors.Is(err, backup.ErrIncomplete) {
			return err
		}
		if first {
			fmt.Fprintf(f.cmd.OutOrStdout(), "the first backup took %.1f s; from now on there is one every %s\n",
				time.Since(begun).Seconds(), f.every)
		}
		if pause.For(ctx, f.every-time.Since(begun)) != nil {
			continue // it says where the copy ends
		}
	}
}

// close ends the follower, if there is one. Each of its rounds is complete.
func (f *following) close() {
	if f.follower != nil {
		_ = f.follower.Close()
		f.follower = nil
	}
}

// round takes a backup, and records how far the copy is.
func (f *following) round(begun time.Time) (err error) {
	if f.follower == nil {
		f.follower, err = backup.Follow(f.cmd.Context(), f.options)
	}
	var result *backup.Result
	if err == nil {
		result, err = f.follower.Round()
	}
	if result != nil {
		f.record = newRecord(f.record.To, begun, result)
	} else if f.follower != nil && f.follower.Lost() {
		f.close()
	}
	if f.record.Error = ""; err != nil {
		f.record.Error = err.Error()
	}
	if f.record.Begun.IsZero() {
		return err // there is no copy yet
	}
	folder := &datafolder.Folder{Path: f.options.Data}
	if failed := backup.RecordFollower(folder, &f.record); failed != nil && err == nil {
		err = fmt.Errorf("servers do not know how far the copy is: %w", failed)
	}
	return err
}
