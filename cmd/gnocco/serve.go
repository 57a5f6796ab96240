package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
)

func newServe() *cobra.Command {
	var flags serverFlags
	var from string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API and process its measures, in one process",
		Long: `Serve the REST API, and turn the measures that it accepts into aggregates, in one process.

The data folder holds everything. Other processes may share it: see "gnocco api" and "gnocco
metricd". SIGTERM, SIGINT and SIGHUP stop the server: it finishes requests and writes measures to
the archives. After a crash the next start, or another process, processes every measure that was
answered with 202.

With --restore-from an empty data folder is made of a copy first (gnocco backup --every), and the
cluster takes the place of the one that was copied. A folder that has a cluster is served as it is.

"gnocco help limits" lists flags for limits and times, "gnocco help keystone" those for Keystone,
"gnocco help senders" those for senders without HTTP.`,
		Example: `  gnocco serve --data /var/lib/gnocco --listen 127.0.0.1:8041
  curl -u admin: http://127.0.0.1:8041/v1/archive_policy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.restore(cmd, from); err != nil {
				return fmt.Errorf("--restore-from: %w", err)
			}
			return flags.serve(cmd)
		},
	}
	flags.define(cmd.Flags(), shared.StateFolder("gnocco"))
	cmd.Flags().StringVar(&from, "restore-from", "",
		"repository, as backup --to wrote it: an empty data folder is made of its newest backup")
	return cmd
}

// restore makes the data folder of a repository's newest backup, unless it has a cluster. If parts of the
// backup cannot be read, the command names them, and the rest is served.
func (f *serverFlags) restore(cmd *cobra.Command, from string) error {
	o := &f.options.Cluster
	if from == "" {
		return nil
	}
	if _, err := (&datafolder.Folder{Path: o.Data}).ReadClusterFile(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"restore", "--from=" + from, "--data=" + o.Data, "--succeed"}
	if o.State != "" {
		args = append(args, "--state="+o.State)
	}
	restore := exec.CommandContext(cmd.Context(), self, args...)
	restore.Stdout, restore.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	if err := restore.Run(); restore.ProcessState == nil || restore.ProcessState.ExitCode() != exitRejected {
		return err
	}
	return nil
}

func newMetricd() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "metricd",
		Short: "Turn measures into aggregates, as one process of a cluster",
		Long: `Turn the measures that processes of "gnocco api" accept into aggregates, and keep these. The
sacks are spread over all running processes of metricd: a new process gets its share from the
others, and the remaining ones take over from a process that ends or dies.

Exit status 3 means that the process lost its lease, because it could not write to the data
folder for too long: start it again. Status 4 means that the data folder is not the cluster's own:
its mount is missing or dead.`,
		Example: `  gnocco init --data /srv/gnocco
  gnocco metricd --data /srv/gnocco
  gnocco metricd --data /mnt/shared --peer-listen 10.0.0.6:8042 --weight 2 --listen 127.0.0.1:9041`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.defineFor(cmd.Flags(), cluster.RoleMetricd, shared.StateFolder("gnocco"))
	return cmd
}

func newAPI() *cobra.Command {
	var flags serverFlags
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Serve the API, as one process of a cluster",
		Long: `Serve the REST API over a data folder that several processes share, on one machine or on a disk
that several machines have mounted. The API accepts measures even while no other process runs;
processes of "gnocco metricd" turn them into aggregates. Any number of both may start and stop
in any order.

One of these processes holds the index; the others forward the requests that need it. The flags
about users (--auth-mode and those that belong to it) must be the same for all of them.

Exit status 3 means that the process lost its lease, because it could not write to the data
folder for too long: start it again. Status 4 means that the data folder is not the cluster's own:
its mount is missing or dead.`,
		Example: `  gnocco init --data /srv/gnocco
  gnocco api --data /srv/gnocco --listen 127.0.0.1:8041
  gnocco api --data /mnt/shared --listen :8041 --auth-mode htpasswd --htpasswd-file users --peer-listen 10.0.0.5:8042`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.serve(cmd) },
	}
	flags.defineFor(cmd.Flags(), cluster.RoleAPI, shared.StateFolder("gnocco"))
	return cmd
}
