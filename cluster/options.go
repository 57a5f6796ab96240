package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Role is a process's part of the cluster's work.
type Role string

// The roles. A process of both, which needs no other, is what "serve" starts.
const (
	RoleBoth    Role = ""
	RoleAPI     Role = "api"     // takes measures, answers requests
	RoleMetricd Role = "metricd" // holds sacks
)

// HasAPI reports whether the role takes measures and answers requests.
func (r Role) HasAPI() bool { return r != RoleMetricd }

func (r Role) hasMetricd() bool { return r != RoleAPI }

// names are the roles as members announce them.
func (r Role) names() []string {
	if r == RoleBoth {
		return []string{string(RoleAPI), string(RoleMetricd)}
	}
	return []string{string(r)}
}

// Options of a Process. Data is needed. A zero field takes the default of the package that gets it.
type Options struct {
	Data string // folder
	FS   vfs.FS // that the stores and claims in it are on; nil: the disk
	Role Role
	// Machine is the machine beneath the process, except its disk.
	Machine Machine
	Sacks   int // 0: as the data folder has it, 16 for a new one

	ClusterID string // that the data folder must have; "": any
	State     string // folder in which this machine remembers the clusters of data folders; "": none
	// Init makes a data folder that holds no cluster into a new one. A process of both roles that no other machine
	// reaches does so unasked.
	Init bool

	Node         string  // unique name of this process in the cluster; "": the host's, and a random part
	Weight       float64 // share of the sacks relative to others; 0: 1
	Peers        Peers
	Coordination string            // keeps the members: "file", or a URL as etcdaccess.Access has it; "": file
	Etcd         etcdaccess.Access // its URL is Coordination
	Lease        Lease
	OrderWait    time.Duration // for an incoming store that says nothing, until others' measures are settled; 0: 60 s
	// ClockShift, for tests, makes this process's machine one of its own, whose clock is so far ahead; by a millisecond
	// or more, it is not set by others.
	ClockShift time.Duration

	Memory             Memory
	OpenTables         int            // tables of all stores that stay open; 0: 256
	Budget             *budget.Budget // of other processes' reads; nil: no bound
	Quotas             *quota.Book    // what projects send; nil for a process that takes no requests
	MinFreeBytes       uint64
	CheckpointInterval time.Duration
	Workers            int

	// Figures reads what the members show of this process; nil: nothing. Figures about its work for the cluster are not
	// set.
	Figures func() model.MemberFigures

	Activity *activity.Tracker // of this process's queries; nil: it has none

	SkipDefaultPolicies bool

	ResourceAges // kept by the process that holds the index

	// Resampler makes the resampler of workers and requests, and registers its metrics. A nil function or a nil
	// resampler stands for the CPU's. Its maker closes it.
	Resampler func(prometheus.Registerer) carbonara.Resampler

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: none
}

// Peers says how the cluster's other processes and this one reach each other.
type Peers struct {
	Listen      string              // address for the others; "": 127.0.0.1, any port
	Advertise   string              // address by which they reach it; "": Listen
	TLS         peer.TLSFiles       // for mutual TLS; zero: none
	Connections func(sacks int) int // how many the others may have open; nil: 1024
}

// Lease is for how long a process may go on without a write to the data folder.
type Lease struct {
	TTL   time.Duration // 0: 10 s
	Slack time.Duration // 0: 5 s
}

// Memory bounds what the stores and the workers use.
type Memory struct {
	BlockBytes  int64 // the block cache that all stores share; 0: 128 MiB
	HeadBytes   int64 // heads of metrics that take measures, with the measures that are in no checkpoint yet
	GroupBytes  int64 // recent groups of metrics that are read
	RecentBytes int   // measures just accepted that workers need not read back
	Lookups     int   // metrics kept by the index

	// MemTableBytes is what the memtables that take writes have together, of all stores; a flush needs as much again
	// for a while. They lie within BlockBytes as long as these suffice. 0: the stores' defaults.
	MemTableBytes int64
}

// memTable returns the size of each of n memtables that get a share of all, most at most; 0 for the store's default.
func (m Memory) memTable(share int64, n int, most int64) uint64 {
	if m.MemTableBytes == 0 {
		return 0
	}
	const least = 256 << 10
	return uint64(min(max(m.MemTableBytes/share/int64(n), least), most))
}

const (
	defaultPeerListen = "127.0.0.1:0"
	defaultBlockBytes = 128 << 20
	defaultOrderWait  = time.Minute
	defaultOpenTables = 256
	defaultPeers      = 1024
	minOrderWait      = 5 * time.Second // longer than an answer takes if there is nothing to tell
)

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.Peers.Listen = cmp.Or(o.Peers.Listen, defaultPeerListen)
	o.Memory.BlockBytes = cmp.Or(o.Memory.BlockBytes, defaultBlockBytes)
	o.OrderWait = cmp.Or(o.OrderWait, defaultOrderWait)
	o.OpenTables = cmp.Or(o.OpenTables, defaultOpenTables)
	if o.Peers.Connections == nil {
		o.Peers.Connections = func(int) int { return defaultPeers }
	}
	o.Memory.Lookups = cmp.Or(o.Memory.Lookups, index.DefaultCachedMetrics)
	o.FS = cmp.Or(o.FS, vfs.Default)
	o.Machine.ensureDefaults()
	if o.Figures == nil {
		o.Figures = func() model.MemberFigures { return model.MemberFigures{Device: model.DeviceNone} }
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
}

// terms say which data folder the process accepts.
func (o *Options) terms() datafolder.Terms {
	alone := o.Role == RoleBoth && isLoopback(o.Peers.Listen) && o.ClusterID == "" &&
		o.coordinationKind() == datafolder.CoordinationFile
	return datafolder.Terms{Sacks: o.Sacks, Coordination: o.coordinationKind(), Cluster: o.ClusterID,
		State: o.State, FS: o.FS, Make: o.Init || alone}
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	var faults []error
	if o.Data == "" {
		faults = append(faults, errors.New("cluster: no data folder"))
	}
	if o.Sacks < 0 || o.Sacks > datafolder.MaxSacks {
		faults = append(faults, fmt.Errorf("cluster: number of sacks is %d, not 1 to %d", o.Sacks, datafolder.MaxSacks))
	}
	switch o.Role {
	case RoleBoth, RoleAPI, RoleMetricd:
	default:
		faults = append(faults, fmt.Errorf("cluster: there is no role %q", o.Role))
	}
	terms := o.terms()
	faults = append(faults, o.validateCoordination(), terms.Validate(), o.Peers.TLS.Validate())
	if o.OrderWait < minOrderWait {
		faults = append(faults, fmt.Errorf("cluster: order wait is %v, less than %v", o.OrderWait, minOrderWait))
	}
	for name, value := range map[string]int64{"metric inactive after": int64(o.MetricInactiveAfter),
		"resource cleanup after": int64(o.ResourceCleanupAfter), "number of workers": int64(o.Workers),
		"checkpoint interval": int64(o.CheckpointInterval)} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("cluster: %s is negative", name))
		}
	}
	return errors.Join(faults...)
}

// Machine is what a process runs on. A zero field is that of the machine itself; a simulation has its own.
type Machine struct {
	Listen func(network, address string) (net.Listener, error) // to clients and to other processes
	Dial   peer.Dialer                                         // to other processes
	Clock  claim.Clock
	Exit   func(status int) // ends the process, and does not return
}

func (m *Machine) ensureDefaults() {
	if m.Listen == nil {
		m.Listen = net.Listen
	}
	if m.Dial == nil {
		m.Dial = peer.TCP
	}
	m.Clock = cmp.Or[claim.Clock](m.Clock, claim.BootClock{})
	if m.Exit == nil {
		m.Exit = os.Exit
	}
}
