package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gnocco/correlate"
	"gnocco/internal/server"
)

// serverFlags are the flags of commands that run a server.
type serverFlags struct {
	options          server.Options
	maxBody, minFree byteSize
	memory           byteSize
	log              logFlags
	stopTimeout      time.Duration
	statsd           statsdFlags
	resampler        resamplerFlags
}

// define defines the flags of a process of both roles.
func (f *serverFlags) define(flags *pflag.FlagSet, dataDefault string) {
	f.defineFor(flags, server.RoleBoth, dataDefault)
}

// defineFor defines the flags that mean something to a role.
func (f *serverFlags) defineFor(flags *pflag.FlagSet, role server.Role, dataDefault string) {
	o := &f.options
	o.Role = role
	f.maxBody, f.minFree, f.memory = 64<<20, 256<<20, 512<<20
	flags.StringVar(&o.Data, "data", dataDefault, "data folder, made at the first start; shared by all processes of a cluster")
	flags.IntVar(&o.Sacks, "sacks", 0, "number of sacks: how finely work is divided; said at the first start (16), fixed from then on")
	flags.Var(&f.memory, "memory-limit", "memory for caches and for measures not yet in a checkpoint, roughly")
	flags.Var(&f.minFree, "min-free-bytes", "refuse measures while the disk has less than this free")
	flags.DurationVar(&f.stopTimeout, "stop-timeout", 30*time.Second, "longest time to finish requests and checkpoints when stopping")
	f.log.define(flags)
	flags.BoolVar(&o.Pprof, "pprof", false, "serve profiles of the process below /debug/pprof")
	f.defineMember(flags)
	if role != server.RoleAPI {
		flags.IntVar(&o.Workers, "workers", 0, "sacks worked on at a time (0: one a core)")
		flags.DurationVar(&o.CheckpointInterval, "checkpoint-interval", 5*time.Minute, "longest time between two checkpoints of a sack")
		flags.Float64Var(&o.Weight, "weight", 1, "share of the sacks relative to other processes")
	}
	f.resampler.define(flags)
	if role == server.RoleMetricd {
		flags.StringVar(&o.Listen, "listen", "", "address to serve /metrics and /healthcheck on (none)")
		return
	}
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8041", "address to serve on")
	f.defineAPI(flags)
}

// defineMember defines what a process needs to find the others, and they it.
func (f *serverFlags) defineMember(flags *pflag.FlagSet) {
	o := &f.options
	flags.StringVar(&o.Node, "node", "", "name of this process in the cluster, unlike all others' (the host's and a random part)")
	flags.StringVar(&o.PeerListen, "peer-listen", "127.0.0.1:0", "address for the cluster's other processes; loopback is enough on one machine")
	flags.StringVar(&o.PeerAdvertise, "peer-advertise", "", "host:port by which the others reach --peer-listen (the same)")
	flags.StringVar(&o.PeerCert, "peer-cert", "", "certificate in PEM, for mutual TLS between processes; with --peer-cert-key and --peer-ca")
	flags.StringVar(&o.PeerCertKey, "peer-cert-key", "", "key of --peer-cert")
	flags.StringVar(&o.PeerCA, "peer-ca", "", "who signed the certificates of the other processes")
	flags.StringVar(&o.Coordination, "coordination", "file", "by what processes know each other: file (the data folder), or etcd://host:2379,host:2379")
	flags.DurationVar(&o.LeaseTTL, "lease-ttl", 10*time.Second, "a process that could not write to the data folder for this long ends; the same for all")
	flags.DurationVar(&o.LeaseSlack, "lease-slack", 5*time.Second, "how much longer others wait before they take over; more than the file system's caches hide")
}

// defineAPI defines what the REST API can be told.
func (f *serverFlags) defineAPI(flags *pflag.FlagSet) {
	o := &f.options
	flags.Var(&f.maxBody, "max-body-bytes", "largest body of a request")
	flags.IntVar(&o.MaxLimit, "max-limit", 1000, "most items of one page of a listing")
	flags.StringVar(&o.Prefix, "prefix", "", "serve the API below this path too, such as /gnocchi")
	flags.BoolVar(&o.ProxyHeaders, "proxy-headers", false, "believe Forwarded and X-Forwarded-* headers")
	flags.StringSliceVar(&o.CORSOrigins, "cors-allowed-origin", nil, "origin from which browsers may call, * for any (may be repeated)")
	flags.BoolVar(&o.SkipDefaultPolicies, "no-default-policies", false, "start without Gnocchi's default archive policies")
	flags.StringVar(&o.Auth.Mode, "auth-mode", "basic", "who users are: basic (a user name, no password is checked), htpasswd, remoteuser, keystone")
	flags.StringVar(&o.Auth.HtpasswdFile, "htpasswd-file", "", "users and bcrypt hashes for --auth-mode htpasswd, as htpasswd -B writes them; read again when it changes")
	flags.StringVar(&o.Auth.RemoteUserHeader, "remote-user-header", "", "header in which a proxy names the user, for --auth-mode remoteuser (default X-Remote-User)")
	flags.StringVar(&o.Auth.KeystoneURL, "keystone-url", "", "where tokens are validated, for --auth-mode keystone; without it, headers such as X-User-Id are believed")
	account := &o.Auth.KeystoneAccount
	flags.StringVar(&account.User, "keystone-user", "", "user in whose name tokens are validated (default: the token itself)")
	flags.StringVar(&account.UserDomain, "keystone-user-domain", "", "domain of --keystone-user (default Default)")
	flags.StringVar(&account.Project, "keystone-project", "", "project that --keystone-user acts in")
	flags.StringVar(&account.ProjectDomain, "keystone-project-domain", "", "domain of --keystone-project (default Default)")
	flags.StringVar(&account.ApplicationCredential, "keystone-application-credential", "", "ID of an application credential, instead of --keystone-user")
	flags.StringVar(&account.SecretFile, "keystone-secret-file", "", "file with the user's password, or the application credential's secret")
	flags.StringVar(&o.PolicyFile, "policy-file", "", "YAML file of policy rules that replace Gnocchi's, in oslo.policy's language")
	flags.BoolVar(&o.PrometheusLabels, "prometheus-labels", false, "keep all labels of what Prometheus writes, as attributes of resources; else Gnocchi's mapping, which keeps job and instance")
	flags.IntVar(&o.Correlations.MaxMetrics, "correlation-max-metrics", 2000, "most metrics of a request for correlations")
	flags.IntVar(&o.Correlations.MaxValues, "correlation-max-values", 20_000_000, "most values of a request for correlations, metrics x groups")
	flags.IntVar(&o.Correlations.MaxPairs, "correlation-max-pairs", 100_000, "strongest pairs kept of a correlation")
	flags.IntVar(&o.Correlations.MaxJobs, "correlation-max-jobs", 32, "correlations kept in memory")
	f.statsd.define(flags)
}

// start starts the server that the flags describe; it logs to logs.
func (f *serverFlags) start(ctx context.Context, logs io.Writer) (*server.Server, error) {
	o := f.options
	o.MaxBodyBytes, o.MinFreeBytes, o.MemoryBytes = int64(f.maxBody), uint64(f.minFree), int64(f.memory)
	if o.Data == "" {
		return nil, errors.New("--data: there is no home folder to put data in; name a folder")
	}
	o.Build, o.Statsd = readBuild().version, f.statsd.options()
	var err error
	if o.Logger, err = f.log.logger(logs); err != nil {
		return nil, err
	}
	if o.Resampler, err = f.resampler.resampler(ctx, o.Logger); err != nil {
		return nil, err
	}
	if o.Role != server.RoleMetricd {
		o.Correlator = func(registerer prometheus.Registerer) correlate.Engine {
			return newCorrelator(f.resampler.gpu, f.resampler.devices.driver, 0, o.Logger, registerer)
		}
	}
	return server.Start(ctx, o)
}

// serve starts a server and runs it until the command's context ends.
func (f *serverFlags) serve(cmd *cobra.Command) error {
	s, err := f.start(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return orderly(cmd.Context(), err)
	}
	return f.run(cmd.Context(), s)
}

// orderly returns err, unless it only says that ctx ended while the server was started: to be stopped then is no failure.
func orderly(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// run waits until ctx ends or the server fails, and stops the server.
func (f *serverFlags) run(ctx context.Context, s *server.Server) error {
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-s.Failed():
	}
	if errors.Is(failed, server.ErrFenced) {
		return failed // others may hold the stores: nothing here may be written down
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.stopTimeout)
	defer cancel()
	return errors.Join(failed, s.Close(stop))
}

// stateFolder is where a user's data lies unless told otherwise: name below the XDG state folder. It is "" without a home.
func stateFolder(name string) string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, name)
}
