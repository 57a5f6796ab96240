package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/statsd"
)

// Options of a Server. Cluster.Data is needed. A zero field takes the default of the package that gets it.
type Options struct {
	Cluster cluster.Options // its Memory, Budget, Logger and Registerer are set by the server
	// Listen is an address. "": 127.0.0.1:8041, none for RoleMetricd, which has /metrics there; port 0: any.
	Listen      string
	MemoryBytes int64 // of the whole process, see divideMemory; 0: 512 MiB
	// MaxConnections is how many connections clients may have open; 0: one for each 256 KiB of MemoryBytes, 64 at least
	// and 10,000 at most.
	MaxConnections int

	TLS TLS // of Listen

	ProfileListen string // address that serves /debug/pprof, to any client; "": none

	// DrainDelay is how long Close says that the process is not ready before it accepts no more requests, if anybody
	// asks.
	DrainDelay time.Duration

	API        api.Settings
	Auth       auth.Options
	PolicyFile string // YAML of rules that replace Gnocchi's; "": none

	// Correlator makes the engine of API.Correlations, and registers its metrics; nil: the one that it has. Its maker
	// closes it.
	Correlator func(prometheus.Registerer) correlate.Engine

	Statsd *statsd.Options // nil: no listener for statsd; stores, logger and metrics are the server's

	Listeners []listener.Options // Store, Logger and Registerer are the server's

	Logger *slog.Logger // nil: discard

	pairs *series.Pairs // of the series that clients push
}

const (
	defaultListen      = "127.0.0.1:8041"
	defaultMemoryBytes = 512 << 20
	minMemoryBytes     = 16 << 20
	bytesPerConnection = 256 << 10 // a connection takes a tenth of that, and its headers as much again
)

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.Listen == "" && o.Cluster.Role.HasAPI() {
		o.Listen = defaultListen
	}
	o.MemoryBytes = cmp.Or(o.MemoryBytes, defaultMemoryBytes)
	o.MaxConnections = cmp.Or(o.MaxConnections, int(min(max(o.MemoryBytes/bytesPerConnection, 64), 10_000)))
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Cluster.EnsureDefaults()
}

// Validate lists every fault at once, but for those of the API's options, which api.New finds.
func (o *Options) Validate() error {
	faults := []error{o.Cluster.Validate(), o.TLS.Validate(), o.Auth.Validate()}
	if o.MemoryBytes < minMemoryBytes {
		faults = append(faults, fmt.Errorf("server: memory limit is %d bytes, less than %d",
			o.MemoryBytes, minMemoryBytes))
	}
	if o.MaxConnections < 0 {
		faults = append(faults, errors.New("server: the number of connections is negative"))
	}
	if o.DrainDelay < 0 {
		faults = append(faults, fmt.Errorf("server: drain delay is %v, negative", o.DrainDelay))
	}
	return errors.Join(faults...)
}
