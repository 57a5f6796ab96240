package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

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
}

func (f *serverFlags) define(flags *pflag.FlagSet, dataDefault string) {
	o := &f.options
	f.maxBody, f.minFree, f.memory = 64<<20, 256<<20, 512<<20
	flags.StringVar(&o.Data, "data", dataDefault, "data folder, made at the first start")
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8041", "address to serve on")
	flags.IntVar(&o.Sacks, "sacks", 0, "number of sacks: how finely work is divided; said at the first start (16), fixed from then on")
	flags.IntVar(&o.Workers, "workers", 0, "sacks worked on at a time (0: one a core)")
	flags.DurationVar(&o.CheckpointInterval, "checkpoint-interval", 5*time.Minute, "longest time between two checkpoints of a sack")
	flags.Var(&f.memory, "memory-limit", "memory for caches and for measures not yet in a checkpoint, roughly")
	flags.Var(&f.minFree, "min-free-bytes", "refuse measures while the disk has less than this free")
	flags.Var(&f.maxBody, "max-body-bytes", "largest body of a request")
	flags.IntVar(&o.MaxLimit, "max-limit", 1000, "most items of one page of a listing")
	flags.StringVar(&o.Prefix, "prefix", "", "serve the API below this path too, such as /gnocchi")
	flags.BoolVar(&o.ProxyHeaders, "proxy-headers", false, "believe Forwarded and X-Forwarded-* headers")
	flags.StringSliceVar(&o.CORSOrigins, "cors-allowed-origin", nil, "origin from which browsers may call, * for any (may be repeated)")
	flags.BoolVar(&o.Pprof, "pprof", false, "serve profiles of the process below /debug/pprof")
	flags.BoolVar(&o.SkipDefaultPolicies, "no-default-policies", false, "start without Gnocchi's default archive policies")
	flags.StringVar(&o.Auth.Mode, "auth-mode", "basic", "who users are: basic (a user name, no password is checked), htpasswd, remoteuser, keystone")
	flags.StringVar(&o.Auth.HtpasswdFile, "htpasswd-file", "", "users and bcrypt hashes for --auth-mode htpasswd, as htpasswd -B writes them; read again when it changes")
	flags.StringVar(&o.Auth.RemoteUserHeader, "remote-user-header", "", "header in which a proxy names the user, for --auth-mode remoteuser (default X-Remote-User)")
	flags.StringVar(&o.Auth.KeystoneURL, "keystone-url", "", "where tokens are validated, for --auth-mode keystone; without it, headers such as X-User-Id are believed")
	flags.StringVar(&o.PolicyFile, "policy-file", "", "YAML file of policy rules that replace Gnocchi's, in oslo.policy's language")
	flags.BoolVar(&o.PrometheusLabels, "prometheus-labels", false, "keep all labels of what Prometheus writes, as attributes of resources; else Gnocchi's mapping, which keeps job and instance")
	flags.IntVar(&o.Correlations.MaxMetrics, "correlation-max-metrics", 2000, "most metrics of a request for correlations")
	flags.IntVar(&o.Correlations.MaxValues, "correlation-max-values", 20_000_000, "most values of a request for correlations, metrics x groups")
	flags.IntVar(&o.Correlations.MaxPairs, "correlation-max-pairs", 100_000, "strongest pairs kept of a correlation")
	flags.IntVar(&o.Correlations.MaxJobs, "correlation-max-jobs", 32, "correlations kept in memory")
	f.statsd.define(flags)
	flags.DurationVar(&f.stopTimeout, "stop-timeout", 30*time.Second, "longest time to finish requests and checkpoints when stopping")
	f.log.define(flags)
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
	return server.Start(ctx, o)
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
