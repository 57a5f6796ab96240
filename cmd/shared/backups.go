package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared/progress"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// Opener opens the repository that --to or --from names. A recipient and the file of identities are age's.
type Opener func(ctx context.Context, place string, recipients []string, identity string) (*Place, error)

// Place is where a repository is, and how its objects are encrypted.
type Place struct {
	Storage backup.Storage
	Cipher  backup.Cipher // nil: not at all
}

// keptByFollowers is the default of --keep with --every.
const keptByFollowers = "12"

// Flags that are of use to gnocco-backup alone.
const (
	RecipientFlag = "recipient"
	IdentityFlag  = "identity"
)

// NewBackup returns the command that makes backups.
func NewBackup(open Opener) *cobra.Command {
	var options backup.Options
	var every time.Duration
	var to, keep, identity string
	var recipients []string
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Copy a data folder while servers use it",
		Long: `Copy a data folder while servers use it, or while none does. Run the command on a machine that has
the folder, as the user of the servers. It asks no server, and neither reads nor writes wait for it.

The backup has every measure that was acknowledged before it began, once; measures that came
meanwhile may be in it. Many backups share a repository: files that it has are not stored again.
An interrupted backup leaves nothing but such files; run the command again. The data folder knows the
last 100 backups: gnocco list backups.

The exit status is 1 if there is no backup, as where the folder lacks a store that it should have, and
2 if something damaged is in the folder: the backup has the rest, and names it. Each backup verifies
a thirtieth of what it takes from earlier ones, with --verify all, and stores it again if it is damaged.
Earlier backups are dropped only if nothing was damaged.

With --every the command follows the folder until it is stopped: it takes a backup so often, and stores
of each what changed since the one before. Then gnocco_copy_behind_seconds, gnocco list backups and
gnocco status say how far the copy is, and the last 12 stay unless --keep says otherwise. It ends with
status 3 once another cluster was made of the copy (gnocco serve --restore-from).

--keep says which backups stay, as the last of each period: 7d,4w,12m are those of seven days, four
weeks and twelve months that have one, 10 the last ten. Without it all stay. Those of other clusters,
as of the one that was there before a restore, stay until their files in backups/ are deleted, unless
the restore was with --succeed.

A bucket, as s3://bucket/prefix, and encryption by age need the program gnocco-backup beside gnocco or
on PATH, which this command then runs. Region, endpoint, CA and credentials are found as AWS's own
tools do: AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_CA_BUNDLE, AWS_PROFILE and ~/.aws.`,
		Example: `  gnocco backup --data /srv/gnocco --to /mnt/backup/gnocco --keep 7d,4w,12m
  gnocco backup --data /srv/gnocco --to s3://backups/gnocco --recipient age1...
  gnocco backup --data /srv/gnocco --to s3://backups/gnocco --every 5s
  gnocco restore --from /mnt/backup/gnocco --list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if every > 0 && keep == "" {
				keep = keptByFollowers
			}
			if options.Keep, err = backup.ParseKeep(keep); err != nil {
				return err
			}
			place, err := open(cmd.Context(), to, recipients, identity)
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			options.To, options.Cipher, options.Warn = place.Storage, place.Cipher, warnTo(cmd)
			if every > 0 {
				f := &following{cmd: cmd, options: options, every: every, record: model.Backup{To: to}}
				return f.run()
			}
			begun := time.Now()
			result, err := backup.Take(cmd.Context(), options)
			if failed := recordBackup(options.Data, to, begun, result, err); failed != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "gnocco list backups will not show this one:", failed)
			}
			if result != nil {
				printBackup(cmd.OutOrStdout(), result.Manifest)
				fmt.Fprintf(cmd.OutOrStdout(), "%.1f MiB of it new, in %.1f s; %s dropped\n",
					mebibytes(result.Written), result.Ended.Sub(result.Begun).Seconds(),
					counted.Of(result.Dropped, "earlier backup"))
				if keep != "" && result.Others > 0 {
					fmt.Fprintf(cmd.OutOrStdout(), "%s of other clusters kept\n", counted.Of(result.Others, "backup"))
				}
			}
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Data, "data", StateFolder("gnocco"), "data folder")
	flags.StringVar(&to, "to", "", "repository: a folder, which is made if it is missing, or s3://bucket/prefix")
	flags.StringArrayVar(&recipients, RecipientFlag, nil, "encrypt for this public key of age, or those of this file")
	flags.StringVar(&keep, "keep", "", "which backups stay, as 7d,4w,12m (default: all)")
	flags.StringVar(&identity, IdentityFlag, "", "file with the secret key of age, to verify encrypted objects with")
	flags.DurationVar(&every, "every", 0,
		"follow the folder: take a backup so often, until the command is stopped (0: take one)")
	flags.BoolVar(&options.Verify, "verify", false, "verify all of the backup, also what earlier backups stored")
	flags.DurationVar(&options.Patience, "patience", 5*time.Minute,
		"how long to wait for a store that changes all the time, and for a rebuild")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// recordBackup makes a backup known to the cluster, or one that failed, unless data is no data folder.
func recordBackup(data, to string, begun time.Time, result *backup.Result, failed error) error {
	folder := &datafolder.Folder{Path: data}
	if _, err := folder.ReadClusterFile(); err != nil {
		return nil
	}
	b := newRecord(to, begun, result)
	if failed != nil {
		b.Error = failed.Error()
	}
	return backup.Record(folder, &b)
}

func newRecord(to string, begun time.Time, result *backup.Result) model.Backup {
	b := model.Backup{Begun: begun.UTC(), Ended: time.Now().UTC(), To: to,
		User: cmp.Or(os.Getenv("USER"), strconv.Itoa(os.Getuid()))}
	if host, err := os.Hostname(); err == nil {
		b.User += "@" + host
	}
	if result != nil {
		b.Files, b.Bytes = result.Size()
		b.Written, b.Incremental = result.Written, result.Incremental
	}
	return b
}

// NewRestore returns the command that makes a data folder of a backup.
func NewRestore(open Opener) *cobra.Command {
	var from, name, data, state, identity string
	var list, verify, partial, succeed bool
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Make a data folder of a backup",
		Long: `Make a data folder of a backup. The folder must be empty or missing. It becomes a new cluster, with
a new ID and a new key: no process of the earlier cluster uses it by mistake. All checksums are
verified. If the command is interrupted, run it again; until then no server starts on the folder.

With --succeed the new cluster takes the place of the one that was backed up: whoever follows that one
into the repository (gnocco backup --every) stops, and says so. Where the newest backup is not whole, it
takes one that is, if it is at most ten minutes older. gnocco serve --restore-from does this.

With --list it lists the backups of a repository, with --verify it only verifies one. A backup that
lacks a store is refused without --partial.

The exit status is 2 if not all could be read, or was damaged when the backup was taken: the rest is
restored. Servers name the damaged stores and serve the others; gnocco fsck repairs.`,
		Example: `  gnocco restore --from /mnt/backup/gnocco --list
  gnocco restore --from /mnt/backup/gnocco --data /srv/gnocco
  gnocco restore --from /mnt/backup/gnocco --backup 20260131T0200 --verify`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			place, err := open(cmd.Context(), from, nil, identity)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			r := backup.Open(place.Storage, place.Cipher)
			r.Warn = warnTo(cmd)
			if list {
				all, err := r.Backups(cmd.Context())
				if err == nil && len(all) == 0 {
					err = fmt.Errorf("%s has no backups", place.Storage)
				}
				for _, m := range all {
					printBackup(out, m)
				}
				return err
			}
			m, err := r.Find(cmd.Context(), name)
			if err == nil && succeed {
				if err = r.Succeed(cmd.Context(), m); err == nil {
					m, err = r.Find(cmd.Context(), name) // followers stop after the one that they are at
				}
				if err == nil && name == "" {
					m, err = preferWhole(cmd, r, m)
				}
			}
			if err == nil && verify {
				err = r.Verify(cmd.Context(), m)
			} else if err == nil {
				_, size := m.Size()
				meter := progress.NewMeter(cmd.ErrOrStderr(), "restored", "MiB", size>>20)
				r.Progress = func(done int64) { meter.Set(done >> 20) }
				err = r.Restore(cmd.Context(), m, data, partial)
				meter.Close()
			}
			if err != nil {
				err = fmt.Errorf("restore: %w", err)
			}
			if err != nil && !errors.Is(err, backup.ErrIncomplete) {
				return err
			}
			printBackup(out, m)
			if verify {
				return err
			}
			c, _, initErr := datafolder.Init(data, datafolder.Terms{State: StateOf(state, data),
				Coordination: cmp.Or(m.Coordination, datafolder.CoordinationFile)})
			if initErr != nil {
				return errors.Join(err, initErr)
			}
			fmt.Fprintf(out, "%s is new and holds the cluster %s, %s\n", data, c.ID, counted.Of(c.Sacks, "sack"))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "repository, as backup --to wrote it")
	flags.StringVar(&identity, IdentityFlag, "", "file with the secret key of age")
	flags.StringVar(&name, "backup", "", "name of the backup, or its beginning (default: the newest)")
	flags.StringVar(&data, "data", StateFolder("gnocco"), "data folder to make")
	flags.StringVar(&state, "state", "", StateUsage)
	flags.BoolVar(&list, "list", false, "list the backups, and restore none")
	flags.BoolVar(&verify, "verify", false, "verify the backup's checksums, and restore nothing")
	flags.BoolVar(&succeed, "succeed", false, "take the place of the cluster that was backed up: its followers stop")
	flags.BoolVar(&partial, "partial", false, "restore a backup that lacks stores: servers will name them as missing")
	cmd.MarkFlagsMutuallyExclusive("list", "verify", "succeed")
	if err := cmd.MarkFlagRequired("from"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// wholeWithin is how much older than the newest backup one may be that takes its place as it has everything.
const wholeWithin = 10 * time.Minute

// preferWhole returns the newest whole backup if m, the newest, is not: a disk that dies damages the last ones first.
// It says so.
func preferWhole(cmd *cobra.Command, r *backup.Repository, m *backup.Manifest) (*backup.Manifest, error) {
	all, err := r.Backups(cmd.Context())
	for _, other := range slices.Backward(all) {
		age := m.Begun.Sub(other.Begun)
		if other.Cluster != m.Cluster || age < 0 || len(other.Lacking())+len(other.Damage()) > 0 {
			continue
		}
		if age > 0 && age < wholeWithin && len(m.Lacking())+len(m.Damage()) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "gnocco: %s, the newest backup, is not whole; this takes one that is, from %s "+
				"before. --backup %[1]s names the other\n", m.Name(), age.Round(time.Second))
			return other, err
		}
		break
	}
	return m, err
}

// printBackup writes a line about a backup.
func printBackup(out io.Writer, m *backup.Manifest) {
	files, bytes := m.Size()
	flaw := ""
	if names := m.Lacking(); len(names) > 0 {
		flaw = ", lacks " + strings.Join(names, ", ")
	}
	if damage := m.Damage(); len(damage) > 0 {
		flaw += fmt.Sprintf(", %d damaged", len(damage))
	}
	fmt.Fprintf(out, "%s  begun %s, %s, %s, %.1f MiB%s\n", m.Name(),
		m.Begun.Format(time.RFC3339), counted.Of(len(m.Stores), "store"), counted.Of(files, "file"), mebibytes(bytes), flaw)
}

// warnTo returns a function that prints the warnings of a repository.
func warnTo(cmd *cobra.Command) func(error) {
	return func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), "gnocco:", err) }
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
