package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/internal/diskprobe"
)

var errUnfit = errors.New("the disk is not fit for a data folder")

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Check a disk, a data folder, a bucket or etcd, and say what to do"}
	cmd.AddCommand(newDoctorDisk(), newDoctorData(), newDoctorEtcd(), newDoctorBucket())
	return cmd
}

func newDoctorDisk() *cobra.Command {
	var peer bool
	var options diskprobe.Options
	cmd := &cobra.Command{
		Use:   "disk DIR",
		Short: "Check how a folder's disk handles links, renames, locks and syncs",
		Long: `Check whether the disk of a folder does what several processes on one data folder rely on. Each
check is answered yes, warn or no. The exit status is 0 unless an answer is no.

With --peer, run the command on two machines at the same time, on the same shared folder: it then
also measures for how long one machine does not see what the other has written.`,
		Example: `  gnocco doctor disk /srv/gnocco
  gnocco doctor disk --peer /srv/gnocco`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return doctorDisk(cmd.Context(), cmd.OutOrStdout(), args[0], peer, options)
		},
	}
	cmd.Flags().BoolVar(&peer, "peer", false,
		"wait for the same command on another machine, and measure together with it")
	cmd.Flags().DurationVar(&options.PeerWait, "peer-wait", time.Minute, "how long to wait for the other machine")
	cmd.Flags().DurationVar(&options.TTL, "ttl", 10*time.Second,
		"lease time-out to check for, as --lease-ttl of the server")
	cmd.Flags().DurationVar(&options.Slack, "slack", 5*time.Second,
		"slack to check for, as --lease-slack of the server")
	return cmd
}

func doctorDisk(ctx context.Context, w io.Writer, dir string, peer bool, options diskprobe.Options) error {
	results, err := diskprobe.Run(ctx, dir, options)
	if err == nil && peer {
		var more []diskprobe.Result
		more, err = diskprobe.RunPeer(ctx, dir, options)
		results = append(results, more...)
	}
	for _, r := range results {
		if _, err := fmt.Fprintf(w, "%-5s %-17s %s\n", r.Verdict, r.Check, r.Text); err != nil {
			return err
		}
	}
	if err == nil && diskprobe.Worst(results) == diskprobe.No {
		err = errUnfit
	}
	return err
}
