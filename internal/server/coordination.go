package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gnocco/internal/diskprobe"
	"gnocco/storage/claim"
	"gnocco/storage/claim/etcd"
)

// coordinationFile is the kind of coordination that needs nothing but the data folder.
const coordinationFile = "file"

// coordinationKind returns what cluster.json says of Options.Coordination: its kind, without addresses, which may change.
func (o *Options) coordinationKind() string {
	if kind, _, ok := strings.Cut(o.Coordination, "://"); ok {
		return kind
	}
	return coordinationFile
}

// validateCoordination returns an error if Coordination is nothing that we know.
func (o *Options) validateCoordination() error {
	kind, rest, _ := strings.Cut(o.Coordination, "://")
	switch {
	case o.Coordination == "", o.Coordination == coordinationFile, kind == "etcd" && rest != "":
		return nil
	}
	return fmt.Errorf("server: coordination is %q, neither file nor like etcd://host:2379,host:2379", o.Coordination)
}

// claimOptions are what all kinds of coordination go by.
func (o *Options) claimOptions() claim.Options {
	options := claim.Options{TTL: o.LeaseTTL, Slack: o.LeaseSlack, Logger: o.Logger}
	options.EnsureDefaults()
	return options
}

// coordinator returns who knows the members of a folder and what they hold.
func (o *Options) coordinator(folder *Folder) (claim.Coordinator, error) {
	kind, rest, ok := strings.Cut(o.Coordination, "://")
	if !ok || kind != "etcd" {
		return claim.NewFile(folder.Path, o.claimOptions())
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

// probe asks the disk whether it does what several processes rely on. One process that others cannot reach does without.
func (o *Options) probe(ctx context.Context, folder *Folder, address string) error {
	if o.Role == RoleBoth && isLoopback(address) {
		return nil
	}
	leases := o.claimOptions()
	results, err := diskprobe.Run(ctx, folder.Path, diskprobe.Options{TTL: leases.TTL, Slack: leases.Slack, MinFreeBytes: max(o.MinFreeBytes, 1), Brief: true})
	if err != nil {
		return fmt.Errorf("server: disk: %w", err)
	}
	var faults []error
	for _, r := range results {
		switch r.Verdict {
		case diskprobe.Warning:
			o.Logger.Warn("the disk is not as good as it should be", "check", r.Check, "says", r.Text)
		case diskprobe.No:
			faults = append(faults, fmt.Errorf("server: the disk is not fit for several processes: %s: %s", r.Check, r.Text))
		}
	}
	return errors.Join(faults...)
}
