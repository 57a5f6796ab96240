package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/cmd/shared/bytesize"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/server"
)

// serverFlags are the flags of commands that run a server.
type serverFlags struct {
	options          server.Options
	maxBody, minFree bytesize.Size
	memory           bytesize.Size
	log              process.LogFlags
	stopTimeout      time.Duration
	statsd           statsdFlags
	listeners        listenerFlags
	resampler        resamplerFlags
}

// define defines the flags of a process of both roles.
func (f *serverFlags) define(flags *pflag.FlagSet, dataDefault string) {
	f.defineFor(flags, cluster.RoleBoth, dataDefault)
}

// defineFor defines the flags that mean something to a role.
func (f *serverFlags) defineFor(flags *pflag.FlagSet, role cluster.Role, dataDefault string) {
	o := &f.options
	o.Cluster.Role = role
	f.maxBody, f.minFree = 64<<20, 256<<20
	flags.StringVar(&o.Cluster.Data, "data", dataDefault,
		"data folder; the same for all processes of a cluster")
	flags.StringVar(&o.Cluster.ClusterID, "cluster-id", "",
		"refuse a data folder of another cluster than this; gnocco init prints it (default: any)")
	flags.StringVar(&o.Cluster.State, "state", "", shared.StateUsage)
	flags.BoolVar(&o.Cluster.Init, "init", false, "make a new cluster of a data folder that never held one")
	flags.IntVar(&o.Cluster.Sacks, "sacks", 0,
		"number of sacks, into which the metrics are divided; fixed by the first start (default there: 16)")
	flags.Var(&f.memory, "memory-limit",
		"approximate memory of the process (0: a quarter of the machine's or, if that is less, of its control group's)")
	flags.Var(&f.minFree, "min-free-bytes", "refuse measures while the disk has less free space than this")
	flags.DurationVar(&f.stopTimeout, "stop-timeout", 45*time.Second,
		"longest time to finish requests and checkpoints when stopping")
	f.log.Define(flags)
	flags.StringVar(&o.ProfileListen, "pprof", "",
		"address to serve profiles of the process on, such as 127.0.0.1:6060: anybody who reaches it can read the command line "+
			"(default: none)")
	f.defineMember(flags)
	if role != cluster.RoleAPI {
		flags.IntVar(&o.Cluster.Workers, "workers", 0, "sacks processed at once (0: one per core)")
		flags.DurationVar(&o.Cluster.CheckpointInterval, "checkpoint-interval", 30*time.Minute,
			"longest time between two checkpoints of a sack; a sixth of it where metrics have many measures by then")
		flags.Float64Var(&o.Cluster.Weight, "weight", 1, "share of the sacks, relative to other processes")
	}
	flags.StringVar(&o.TLS.Certificate, "tls-cert", "",
		"PEM certificate for TLS on --listen, read again when it changes; needs --tls-key")
	flags.StringVar(&o.TLS.Key, "tls-key", "", "private key of --tls-cert")
	flags.StringVar(&o.TLS.ClientCA, "tls-client-ca", "",
		"PEM certificates of the authority that must have signed clients' certificates (default: clients need none)")
	f.resampler.define(flags)
	if role == cluster.RoleMetricd {
		flags.StringVar(&o.Listen, "listen", "", "address to serve /metrics, /ready and /live on (default: none)")
		return
	}
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8041", "address to serve on")
	flags.IntVar(&o.MaxConnections, "max-connections", 0,
		"most connections of clients (0: one for each 256 KiB of --memory-limit, 10,000 at most)")
	flags.DurationVar(&o.DrainDelay, "drain-delay", 5*time.Second,
		"when stopping, how long /ready answers 503 before the port closes; skipped if nobody asked lately")
	f.defineAPI(flags)
}

// defineMember defines what a process needs to find the others, and they it.
func (f *serverFlags) defineMember(flags *pflag.FlagSet) {
	o := &f.options
	flags.StringVar(&o.Cluster.Node, "node", "",
		"unique name of this process in the cluster (default: the host's name and a random part)")
	flags.StringVar(&o.Cluster.Peers.Listen, "peer-listen", "127.0.0.1:0",
		"address for the cluster's other processes; loopback is enough on one machine")
	flags.StringVar(&o.Cluster.Peers.Advertise, "peer-advertise", "",
		"host:port by which the other processes reach this one (default: --peer-listen)")
	flags.StringVar(&o.Cluster.Peers.TLS.Certificate, "peer-cert", "",
		"PEM certificate for mutual TLS between processes; needs --peer-cert-key and --peer-ca")
	flags.StringVar(&o.Cluster.Peers.TLS.Key, "peer-cert-key", "", "private key of --peer-cert")
	flags.StringVar(&o.Cluster.Peers.TLS.Authority, "peer-ca", "",
		"PEM certificates of the authority that signed the other processes' certificates")
	defineCoordination(flags, &o.Cluster.Coordination, &o.Cluster.Etcd)
	flags.DurationVar(&o.Cluster.Lease.TTL, "lease-ttl", 0,
		"a process ends, or by etcd waits, when it could not write to the data folder for this long; the same for all "+
			"processes (default 10s; by etcd 5s)")
	flags.DurationVar(&o.Cluster.Lease.Slack, "lease-slack", 5*time.Second,
		"how much longer others wait before they take over; must exceed the time for which the file system's caches "+
			"hide changes")
	flags.DurationVar(&o.Cluster.OrderWait, "order-wait", time.Minute,
		"how long to wait for a silent API process; after that its measures may be too old")
	flags.DurationVar(&o.Cluster.ClockShift, "test-clock-shift", 0, "")
	_ = flags.MarkHidden("test-clock-shift") // the flag is defined a line above
}

// defineAPI defines what the REST API can be told.
func (f *serverFlags) defineAPI(flags *pflag.FlagSet) {
	o := &f.options
	flags.Var(&f.maxBody, "max-body-bytes", "largest body of a request")
	flags.IntVar(&o.API.MaxLimit, "max-limit", 1000, "most items on one page of a list")
	f.defineLimits(flags)
	flags.StringVar(&o.API.PromQLNames, "promql-names", "gnocchi",
		"how PromQL calls metrics of resources and their labels: gnocchi, or ceilometer, as Ceilometer's exporter for "+
			"Prometheus does (ceilometer_cpu, project, resource)")
	flags.StringVar(&o.API.PromQLEngine, "promql-engine", "columns",
		"evaluator of PromQL: columns (common expressions, on all cores) or upstream (Prometheus' engine alone)")
	flags.BoolVar(&o.API.AccessLog.All, "access-log", false, "log every request once it is answered")
	flags.DurationVar(&o.API.AccessLog.Slow, "slow-request", 0,
		"log requests that take longer, with their queries and how much they read (0: none)")
	flags.StringVar(&o.API.Prefix, "prefix", "", "path below which the API is served as well, such as /gnocchi")
	flags.BoolVar(&o.API.ProxyHeaders, "proxy-headers", false, "trust the headers Forwarded and X-Forwarded-*")
	flags.StringSliceVar(&o.API.CORSOrigins, "cors-allowed-origin", nil,
		"origin whose pages may call the API from a browser, * for any (may be repeated)")
	flags.BoolVar(&o.Cluster.SkipDefaultPolicies, "no-default-policies", false,
		"start without Gnocchi's default archive policies")
	flags.DurationVar(&o.Cluster.MetricInactiveAfter, "metric-inactive-after", 0,
		"end resources all of whose metrics have had no measure for this long (0: never)")
	flags.DurationVar(&o.Cluster.ResourceCleanupAfter, "resource-cleanup-after", 0,
		"delete resources, with all their aggregates, that ended this long ago (0: never)")
	flags.StringVar(&o.Auth.Mode, "auth-mode", "basic",
		"how users are identified: basic (by name; passwords are not checked), htpasswd, remoteuser or keystone")
	flags.StringVar(&o.Auth.HtpasswdFile, "htpasswd-file", "",
		"file of users and bcrypt hashes for --auth-mode htpasswd, as written by htpasswd -B; read again when it "+
			"changes")
	flags.StringVar(&o.Auth.RemoteUserHeader, "remote-user-header", "",
		"header in which a proxy names the user, for --auth-mode remoteuser (default X-Remote-User)")
	flags.StringVar(&o.Auth.KeystoneURL, "keystone-url", "",
		"Keystone server that validates tokens, for --auth-mode keystone; without it, headers such as X-User-Id are "+
			"trusted")
	flags.StringVar(&o.Auth.KeystoneCAFile, "keystone-ca-file", "",
		"PEM certificates of the authority that signed Keystone's certificate, besides the system's")
	account := &o.Auth.KeystoneAccount
	flags.StringVar(&account.User, "keystone-user", "",
		"user of this service that validates tokens (default: each token validates itself)")
	flags.StringVar(&account.UserDomain, "keystone-user-domain", "", "domain of --keystone-user (default Default)")
	flags.StringVar(&account.Project, "keystone-project", "", "project of --keystone-user")
	flags.StringVar(&account.ProjectDomain, "keystone-project-domain", "",
		"domain of --keystone-project (default Default)")
	flags.StringVar(&account.UserDomainID, "keystone-user-domain-id", "",
		"the same by its ID, which goes before the name")
	flags.StringVar(&account.ProjectDomainID, "keystone-project-domain-id", "",
		"ID of the domain of --keystone-project, which goes before the name")
	flags.StringVar(&account.Secret, "keystone-secret", "",
		"the secret itself, for a configuration file or the environment: a command line is seen by everyone on the machine")
	flags.StringVar(&account.ApplicationCredential, "keystone-application-credential", "",
		"ID of an application credential, instead of --keystone-user")
	flags.StringVar(&account.SecretFile, "keystone-secret-file", "",
		"file that holds the user's password or the application credential's secret")
	flags.StringVar(&o.PolicyFile, "policy-file", "",
		"YAML file of access rules that replace Gnocchi's, in oslo.policy's language")
	flags.IntVar(&o.API.Correlations.MaxMetrics, "correlation-max-metrics", 2000,
		"most metrics in a request for correlations")
	flags.IntVar(&o.API.Correlations.MaxValues, "correlation-max-values", 20_000_000,
		"most values in a request for correlations: metrics times groups")
	flags.IntVar(&o.API.Correlations.MaxPairs, "correlation-max-pairs", 100_000,
		"how many of the strongest pairs of a correlation are kept")
	flags.IntVar(&o.API.Correlations.MaxJobs, "correlation-max-jobs", 32, "most correlations kept in memory")
	f.statsd.define(flags)
	f.listeners.define(flags)
}

// defineLimits defines what one request may take.
func (f *serverFlags) defineLimits(flags *pflag.FlagSet) {
	l := &f.options.API.Limits
	flags.DurationVar(&l.QueryTimeout, "query-timeout", time.Minute, "longest time for a request that reads (0: any)")
	flags.IntVar(&l.Queries, "max-queries", 0,
		"most queries across metrics or resources that are evaluated at once (0: two per core, 4 at least)")
	flags.IntVar(&l.QueuedQueries, "max-queued-queries", 256, "most such queries that wait for their turn")
	flags.IntVar(&l.SearchTerms, "max-search-terms", 1000, "most comparisons in a search")
	flags.DurationVar(&l.MaxFuture, "max-future", 100*365*24*time.Hour,
		"refuse measures that are further ahead of the clock than this (0: none, as Gnocchi does)")
	flags.IntVar(&l.NewSeries, "max-new-series", 100_000,
		"most series that a project may begin in a minute by remote write to /api/v1/write")
	flags.StringSliceVar(&l.ReplicaLabels, "replica-labels", nil,
		"labels by which senders of the same series differ, as prometheus_replica or __replica__: they become one series")
	q := &f.options.API.Quota
	flags.Int64Var(&q.Series, "quota-series", 0, "most metrics of a project without a quota of its own (0: any number)")
	flags.Int64Var(&q.Measures, "quota-measures", 0, "most measures of such a project in a second (0: any number)")
	flags.Int64Var(&q.Requests, "quota-requests", 0, "most requests of such a project in a second (0: any number)")
	flags.IntVar(&l.Rows, "max-rows", 5_000_000, "most rows of an answer")
}

// start starts the server that the flags describe; it logs to logs.
func (f *serverFlags) start(ctx context.Context, logs io.Writer) (*server.Server, error) {
	o := f.options
	o.API.MaxBodyBytes, o.Cluster.MinFreeBytes = int64(f.maxBody), uint64(f.minFree)
	if o.Cluster.Data == "" {
		return nil, errors.New("--data: there is no home folder for the data; name a folder")
	}
	o.Cluster.State = shared.StateOf(o.Cluster.State, o.Cluster.Data)
	o.Statsd = f.statsd.options()
	var err error
	if o.Listeners, err = f.listeners.options(); err != nil {
		return nil, err
	}
	if o.MemoryBytes, err = memoryLimit(int64(f.memory)); err != nil {
		return nil, err
	}
	if o.Logger, err = f.log.Logger(logs); err != nil {
		return nil, err
	}
	if o.Cluster.Resampler, err = f.resampler.resampler(ctx, o.MemoryBytes, o.Logger); err != nil {
		return nil, err
	}
	if o.Cluster.Role != cluster.RoleMetricd {
		o.Correlator = func(registerer prometheus.Registerer) correlate.Engine {
			// The resampler has the devices open.
			return devices.NewCorrelator(f.resampler.gpu, f.resampler.devices.Driver,
				gpucorrelate.Options{Open: true, Logger: o.Logger, Registerer: registerer})
		}
	}
	return server.Start(ctx, o)
}

// serve starts a server and runs it until the command's context ends.
func (f *serverFlags) serve(cmd *cobra.Command) error {
	paceCollector()
	s, err := f.start(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return orderly(cmd.Context(), err)
	}
	if f.options.Cluster.Role.HasAPI() {
		showConsole(cmd.OutOrStdout(), s)
	}
	return f.run(cmd.Context(), s)
}

// showConsole tells where to look.
func showConsole(out io.Writer, s *server.Server) { fmt.Fprintf(out, "%s/ui/\n", s.URL()) }

// orderly returns err, unless it only says that ctx ended while the server was started: to be stopped then is no
// failure.
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
	if errors.Is(failed, cluster.ErrFenced) || errors.Is(failed, datafolder.ErrRefused) {
		return failed // others may hold the stores, so write nothing down
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.stopTimeout+f.options.DrainDelay)
	defer cancel()
	return errors.Join(failed, s.Close(stop))
}
