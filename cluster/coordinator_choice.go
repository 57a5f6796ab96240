package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
)

// coordinationKind returns the part of Options.Coordination that cluster.json keeps: the kind, without addresses, which
// may change.
func (o *Options) coordinationKind() string {
	if kind, _, ok := strings.Cut(o.Coordination, "://"); ok {
		return kind
	}
	return datafolder.CoordinationFile
}

// validateCoordination returns an error if Coordination has an unknown form.
func (o *Options) validateCoordination() error {
	kind, rest, _ := strings.Cut(o.Coordination, "://")
	switch {
	case o.Coordination == "", o.Coordination == datafolder.CoordinationFile,
		kind == datafolder.CoordinationEtcd && rest != "":
		return nil
	}
	return fmt.Errorf("cluster: coordination is %q, neither file nor like etcd://host:2379,host:2379", o.Coordination)
}

// claimOptions are the options of all kinds of coordination.
func (o *Options) claimOptions() claim.Options {
	options := claim.Options{FS: o.FS, Clock: o.Machine.Clock, TTL: o.Lease.TTL, Slack: o.Lease.Slack, Logger: o.Logger}
	options.EnsureDefaults()
	return options
}

// coordinator returns the record of a folder's members and of their claims. The members are asked by client. known says
// that a process of this machine uses the mount already.
func (o *Options) coordinator(folder *datafolder.Folder, client *peer.Client, known bool) (claim.Coordinator, error) {
	kind, rest, ok := strings.Cut(o.Coordination, "://")
	if !ok || kind != datafolder.CoordinationEtcd {
		options := o.claimOptions()
		options.Ask = func(m claim.Member) (claim.Pulse, bool) {
			ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
			defer cancel()
			pulse, err := client.Pulse(ctx, m.Address)
			return pulse.Pulse, err == nil && pulse.Member == m.ID
		}
		if !known {
			options.Show = func(m claim.Member) (uint64, bool) {
				ctx, cancel := context.WithTimeout(context.Background(), options.Slack)
				defer cancel()
				round, err := client.ShowNames(ctx, m.Address)
				return round, err == nil
			}
		}
		return claim.NewFile(folder.Path, options)
	}
	options := etcd.Options{Options: o.claimOptions()}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		options.User, options.Password, _ = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	options.Endpoints = strings.Split(hosts, ",")
	if prefix != "" {
		options.Prefix = "/" + prefix
	}
	return etcd.New(folder.Path, options)
}

// askTimeout is how long a member has to say that it lives, before the disk is asked.
const askTimeout = time.Second

// probe checks that the disk does what several processes rely on, unless one that runs on the same mount did: then
// known is true. A process that others cannot reach goes without, and so does a file system that is no disk.
func (o *Options) probe(ctx context.Context, folder *datafolder.Folder, address string) (known bool, err error) {
	if o.Role == RoleBoth && isLoopback(address) || vfs.Root(o.FS) != vfs.Default {
		return false, nil
	}
	// A process that was killed and is started again must not be away for as long as the probe takes: 6 s on CephFS.
	if known, err := claim.SharesMount(o.FS, folder.Path); known || err != nil {
		return known, err
	}
	leases := o.claimOptions()
	results, err := diskprobe.Run(ctx, folder.Path, diskprobe.Options{
		TTL: leases.TTL, Slack: leases.Slack, MinFreeBytes: max(o.MinFreeBytes, 1), Brief: true})
	if err != nil {
		return false, fmt.Errorf("cluster: disk: %w", err)
	}
	var faults []error
	for _, r := range results {
		switch r.Verdict {
		case diskprobe.Warning:
			o.Logger.Warn("the disk is not as good as it should be", "check", r.Check, "says", r.Text)
		case diskprobe.No:
			faults = append(faults,
				fmt.Errorf("cluster: the disk is not fit for several processes: %s: %s", r.Check, r.Text))
		}
	}
	return false, errors.Join(faults...)
}
