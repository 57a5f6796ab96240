package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/internal/diskprobe"
	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
)

// defineCoordination defines what a process needs to reach etcd.
func defineCoordination(flags *pflag.FlagSet, url *string, access *etcdaccess.Access) {
	flags.StringVar(url, "coordination", "file",
		"how processes find each other: file (in the data folder), or etcds://host:2379,host:2379/prefix, etcd:// without TLS")
	flags.StringVar(&access.CA, "coordination-ca", "",
		"PEM certificates of the authority that signed etcd's certificates (default: the system's)")
	flags.StringVar(&access.Certificate, "coordination-cert", "",
		"PEM certificate of this process for etcd, read again for each connection; needs --coordination-cert-key")
	flags.StringVar(&access.Key, "coordination-cert-key", "", "private key of --coordination-cert")
	flags.StringVar(&access.Login, "coordination-login", "", "file with one line, user:password, for etcd")
	flags.BoolVar(&access.PlainLogin, "coordination-plain-login", false,
		"send the password by etcd://, where everyone on the way reads it")
}

var errEtcdUnfit = errors.New("etcd is not fit to coordinate processes")

func newDoctorEtcd() *cobra.Command {
	var access etcdaccess.Access
	cmd := &cobra.Command{
		Use:   "etcd",
		Short: "Check etcd's members, certificates, login and quota",
		Long: `Check each member of etcd that --coordination names: its certificate and this machine's, the login,
whether it knows a leader, and whether its quota is used up. The exit status is 0 if a majority of them
is well.`,
		Example: `  gnocco doctor etcd --coordination etcds://etcd1:2379,etcd2:2379,etcd3:2379 \
    --coordination-ca ca.crt --coordination-cert gnocco.crt --coordination-cert-key gnocco.key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctorEtcd(cmd.Context(), cmd.OutOrStdout(), access)
		},
	}
	defineCoordination(cmd.Flags(), &access.URL, &access)
	return cmd
}

func doctorEtcd(ctx context.Context, w io.Writer, access etcdaccess.Access) error {
	if !etcdaccess.IsURL(access.URL) {
		return errors.New("--coordination names no etcd: etcds://host:2379,host:2379")
	}
	settings, err := access.Read()
	if err != nil {
		return err
	}
	options := etcd.Options{Settings: settings}
	options.EnsureDefaults()
	well := 0
	for _, e := range options.Probe(ctx) {
		verdict, text := diskprobe.No, e.Fault()
		if text == "" {
			verdict = diskprobe.Yes
			text = fmt.Sprintf("etcd %s, %d KiB, answers in %s.", e.Version, e.Bytes>>10, e.Took.Round(time.Microsecond))
			well++
		}
		if _, err := fmt.Fprintf(w, "%-5s %-21s %s\n", verdict, e.Address, text); err != nil {
			return err
		}
	}
	if expires := access.Expires(); !expires.IsZero() {
		verdict := diskprobe.Yes
		if time.Until(expires) < 30*24*time.Hour {
			verdict = diskprobe.Warning
		}
		if _, err := fmt.Fprintf(w, "%-5s %-21s expires at %s.\n", verdict, "certificate",
			expires.UTC().Format(time.RFC3339)); err != nil {
			return err
		}
	}
	if 2*well <= len(options.Endpoints) {
		return errEtcdUnfit
	}
	return nil
}

// coordinationMove changes how the processes of a stopped cluster find each other.
type coordinationMove struct {
	data, to string
	access   etcdaccess.Access
	lost     bool
	leases   claim.Options
}

func newCoordination() *cobra.Command {
	var m coordinationMove
	cmd := &cobra.Command{
		Use:   "coordination",
		Short: "Move a stopped cluster from files to etcd, or back",
		Long: `Change how the processes of a data folder find each other. All of them have to be stopped, on all
machines: the command joins both by files and by etcd, and refuses while another process is a member of
either. It waits for the lease of one that was killed. Epochs go on above those of the other kind.

With --lost the way back to files does not ask etcd, which is lost. Then only you know that all processes
are stopped.`,
		Example: `  gnocco coordination --data /mnt/shared/gnocco --to etcd --coordination etcds://etcd1:2379,etcd2:2379
  gnocco coordination --data /mnt/shared/gnocco --to file --coordination etcds://etcd1:2379,etcd2:2379`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&m.data, "data", shared.StateFolder("gnocco"), "data folder")
	flags.StringVar(&m.to, "to", "", "file or etcd")
	flags.BoolVar(&m.lost, "lost", false, "do not ask etcd, which is lost; all processes are stopped")
	flags.DurationVar(&m.leases.TTL, "lease-ttl", 10*time.Second, "as the servers have it")
	flags.DurationVar(&m.leases.Slack, "lease-slack", 5*time.Second, "as the servers have it")
	defineCoordination(flags, &m.access.URL, &m.access)
	return cmd
}

func (m *coordinationMove) run(ctx context.Context, w io.Writer) (err error) {
	if m.to != datafolder.CoordinationFile && m.to != datafolder.CoordinationEtcd {
		return errors.New("--to is file or etcd")
	}
	if m.lost && m.to != datafolder.CoordinationFile {
		return errors.New("--lost is for the way back to files")
	}
	folder, err := datafolder.Hold(m.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Release()) }()
	files, err := claim.NewFile(folder.Path, m.leases)
	if err != nil {
		return err
	}
	coordinators := []claim.Coordinator{files}
	if !m.lost {
		settings, err := m.access.Read()
		if err != nil {
			return err
		}
		byEtcd, err := etcd.New(folder.Path, etcd.Options{Options: m.leases, Settings: settings})
		if err != nil {
			return err
		}
		coordinators = append(coordinators, byEtcd)
	}
	for _, c := range coordinators {
		if err := m.alone(ctx, c); err != nil {
			return err
		}
	}
	was, err := folder.SetCoordination(m.to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "the processes of %s find each other by %s, before by %s: start them with --coordination\n",
		folder.Path, m.to, was)
	return err
}

// alone returns an error if the cluster has members that are not dead after a while.
func (m *coordinationMove) alone(ctx context.Context, c claim.Coordinator) error {
	s, err := c.Join(ctx, claim.Member{Node: "gnocco-coordination"})
	if err != nil {
		return err
	}
	m.leases.EnsureDefaults()
	for began := time.Now(); ; {
		members, err := s.Members(ctx)
		var others []string
		for _, other := range members {
			if other.ID != s.Member().ID {
				others = append(others, other.ID+" on "+other.Process.Host)
			}
		}
		if err == nil && len(others) > 0 && time.Since(began) > m.leases.Grace() {
			err = fmt.Errorf("processes run: %s", strings.Join(others, ", "))
		}
		if err == nil && len(others) > 0 {
			err = pause.For(ctx, 100*time.Millisecond)
		}
		if err != nil || len(others) == 0 {
			return errors.Join(err, s.Leave(context.WithoutCancel(ctx)))
		}
	}
}
