package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gnocco/api"
	"gnocco/statsd"
)

// Options of a Server. Data is needed. What is zero takes the default of the package that it is handed to.
type Options struct {
	Data   string // folder
	Listen string // address; "": 127.0.0.1:8041; port 0 for any
	Sacks  int    // 0: as the data folder has it, 16 for a new one

	MemoryBytes        int64 // for caches and measures in memory, roughly; 0: 512 MiB
	MinFreeBytes       uint64
	CheckpointInterval time.Duration
	Workers            int

	MaxBodyBytes        int64
	MaxLimit            int
	Prefix              string
	ProxyHeaders        bool
	CORSOrigins         []string
	Pprof               bool
	SkipDefaultPolicies bool

	Auth       api.AuthOptions
	PolicyFile string // YAML of rules that replace Gnocchi's; "": none

	Correlations api.CorrelationOptions // limits of POST /v1/correlations

	PrometheusLabels bool            // keep all labels of a remote write
	Statsd           *statsd.Options // nil: no listener for statsd; stores, logger and metrics are the server's

	Build  string       // version that the API tells
	Logger *slog.Logger // nil: discard
}

const (
	defaultListen      = "127.0.0.1:8041"
	defaultSacks       = 16
	maxSacks           = 4096
	defaultMemoryBytes = 512 << 20
	minMemoryBytes     = 16 << 20
)

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.Listen == "" {
		o.Listen = defaultListen
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = defaultMemoryBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate lists every fault at once; those of the API's options are api.New's to find.
func (o *Options) Validate() error {
	var faults []error
	if o.Data == "" {
		faults = append(faults, errors.New("server: no data folder"))
	}
	if o.Sacks < 0 || o.Sacks > maxSacks {
		faults = append(faults, fmt.Errorf("server: number of sacks is %d, not 1 to %d", o.Sacks, maxSacks))
	}
	if o.MemoryBytes < minMemoryBytes {
		faults = append(faults, fmt.Errorf("server: memory limit is %d bytes, less than %d", o.MemoryBytes, minMemoryBytes))
	}
	if o.Workers < 0 {
		faults = append(faults, errors.New("server: number of workers is negative"))
	}
	if o.CheckpointInterval < 0 {
		faults = append(faults, errors.New("server: checkpoint interval is negative"))
	}
	if err := o.Auth.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
