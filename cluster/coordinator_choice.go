package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
)

// coordinationKind returns the part of Options.Coordination that cluster.json keeps: the kind, without addresses, which
// may change.
func (o *Options) coordinationKind() string {
	if etcdaccess.IsURL(o.Coordination) {
		return datafolder.CoordinationEtcd
	}
	return datafolder.CoordinationFile
}

// validateCoordination returns an error if Coordination has an unknown form.
func (o *Options) validateCoordination() error {
	switch given := o.Etcd != (etcdaccess.Access{}); {
	case etcdaccess.IsURL(o.Coordination):
		o.Etcd.URL = o.Coordination
		return o.Etcd.Validate()
	case given:
		return errors.New("cluster: certificates and a login of etcd are for coordination by etcd")
	case o.Coordination != "" && o.Coordination != datafolder.CoordinationFile:
		return fmt.Errorf("cluster: coordination is %q, neither file nor like etcds://host:2379,host:2379", o.Coordination)
	}
	return nil
}

// claimOptions are the options of all kinds of coordination.
func (o *Options) claimOptions() claim.Options {
	options := claim.Options{FS: o.FS, Clock: o.Machine.Clock, TTL: o.Lease.TTL, Slack: o.Lease.Slack, Logger: o.Logger}
	if etcdaccess.IsURL(o.Coordination) {
		options.TTL = cmp.Or(options.TTL, etcdaccess.LeaseTTL)
	}
	options.EnsureDefaults()
	return options
}

// coordinator returns the record of a folder's members and of their claims. The members are asked by client. known says
// that a process of this machine uses the mount already.
func (o *Options) coordinator(folder *datafolder.Folder, client *peer.Client, known bool) (claim.Coordinator, error) {
	if !etcdaccess.IsURL(o.Coordination) {
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
	access, err := o.Etcd.Read()
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return etcd.New(folder.Path, etcd.Options{Options: o.claimOptions(), Settings: access})
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
	return false, diskprobe.Judge(results, o.Logger)
}
