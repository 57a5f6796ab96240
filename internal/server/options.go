package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/api"
	"gnocco/carbonara"
	"gnocco/correlate"
	"gnocco/statsd"
)

// Role is what a process does of the cluster's work.
type Role string

// The roles. A process of both, which needs no other, is what "serve" starts.
const (
	RoleBoth    Role = ""
	RoleAPI     Role = "api"     // takes measures, answers requests
	RoleMetricd Role = "metricd" // holds sacks
)

func (r Role) api() bool     { return r != RoleMetricd }
func (r Role) metricd() bool { return r != RoleAPI }

// names are the roles as members tell them.
func (r Role) names() []string {
	if r == RoleBoth {
		return []string{string(RoleAPI), string(RoleMetricd)}
	}
	return []string{string(r)}
}

// Options of a Server. Data is needed. What is zero takes the default of the package that it is handed to.
type Options struct {
	Data   string // folder
	Role   Role
	Listen string // address; "": 127.0.0.1:8041, and none for RoleMetricd, which has /metrics there; port 0 for any
	Sacks  int    // 0: as the data folder has it, 16 for a new one

	Node          string        // name of this process in the cluster, which no other has; "": the host's, and a random part
	Weight        float64       // share of the sacks relative to others; 0: 1
	PeerListen    string        // address for the other processes; "": 127.0.0.1, any port
	PeerAdvertise string        // address by which others reach it; "": PeerListen
	PeerCert      string        // files in PEM, for mutual TLS between processes: certificate,
	PeerCertKey   string        // its key,
	PeerCA        string        // and who signed those of the others; all or none
	Coordination  string        // who knows the members: "file", or etcd://[user:password@]host:port,…[/prefix]; "": file
	LeaseTTL      time.Duration // 0: 10 s
	LeaseSlack    time.Duration // 0: 5 s

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

	PrometheusLabels bool // keep all labels of a remote write
	// Resampler makes what workers and requests resample with, and registers its metrics; nil: the CPU's. It is closed by who made it.
	Resampler func(prometheus.Registerer) carbonara.Resampler
	// Correlator makes the engine of Correlations, and registers its metrics; nil: the one that it has. It is closed by who made it.
	Correlator func(prometheus.Registerer) correlate.Engine

	Statsd *statsd.Options // nil: no listener for statsd; stores, logger and metrics are the server's

	Build  string       // version that the API tells
	Logger *slog.Logger // nil: discard
}

const (
	defaultListen      = "127.0.0.1:8041"
	defaultPeerListen  = "127.0.0.1:0"
	defaultSacks       = 16
	maxSacks           = 4096
	defaultMemoryBytes = 512 << 20
	minMemoryBytes     = 16 << 20
)

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.Listen == "" && o.Role.api() {
		o.Listen = defaultListen
	}
	if o.PeerListen == "" {
		o.PeerListen = defaultPeerListen
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
	switch o.Role {
	case RoleBoth, RoleAPI, RoleMetricd:
	default:
		faults = append(faults, fmt.Errorf("server: there is no role %q", o.Role))
	}
	faults = append(faults, o.validateCoordination())
	if given := (o.PeerCert != "") == (o.PeerCertKey != "") && (o.PeerCert != "") == (o.PeerCA != ""); !given {
		faults = append(faults, errors.New("server: TLS between processes needs a certificate, its key and an authority"))
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
