package metricd

import (
	"cmp"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Options of a Metricd. Sacks and Index are needed.
type Options struct {
	Sacks int // of the cluster
	Index Index

	// Sources is what is known of the sources until SetSources; nil: there is one, or their order does not matter.
	Sources *intake.Sources
	// ClockError bounds how far a clock is from the other ones of the cluster; nil: they agree.
	ClockError func(clock uuid.UUID) time.Duration

	Resampler carbonara.Resampler // nil: on the CPU
	// BatchMeasures is how many measures a checkpoint resamples together, more only of one metric or where a device is
	// faster for more. 0: 16 Ki.
	BatchMeasures      int
	Workers            int           // sacks worked on at a time; 0: one per core
	CheckpointInterval time.Duration // the longest that a measure waits in a head; 0: 30 minutes
	HeadBytes          int64         // memory for heads and the measures in them, all sacks together; 0: 1 GiB
	// GroupBytes bounds the memory for recent groups of metrics that are read, all sacks together. 0: 32 MiB, below:
	// none.
	GroupBytes      int64
	ExpungeInterval time.Duration // how often deleted metrics are looked for; 0: 30 s

	MemTableSize uint64 // of a sack's store, in bytes; 0: the default of package archive

	FS         vfs.FS
	Cache      *pebble.Cache
	FileCache  *pebble.FileCache
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Collector  *engine.PebbleCollector // takes the sacks' stores; nil for none
	Fail       func(error)             // as in engine.Options: told what made a store unusable; nil: ends the process
	// Damaged is told that the work on a sack met damaged bytes in its store, and has ended: the sack is to be closed
	// by Abandon, not before Damaged has returned. nil: the work is tried again for ever.
	Damaged func(sack int, err error)
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.Resampler == nil {
		o.Resampler = carbonara.NewCPUResampler(1)
	}
	if o.BatchMeasures <= 0 {
		o.BatchMeasures = 16 << 10
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.CheckpointInterval <= 0 {
		o.CheckpointInterval = 30 * time.Minute
	}
	if o.HeadBytes <= 0 {
		o.HeadBytes = 1 << 30
	}
	o.GroupBytes = cmp.Or(o.GroupBytes, 32<<20)
	if o.ExpungeInterval <= 0 {
		o.ExpungeInterval = 30 * time.Second
	}
	o.FS = cmp.Or(o.FS, vfs.Default)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	var errs []error
	if o.Sacks < 1 {
		errs = append(errs, errors.New("metricd: number of sacks must be positive"))
	}
	if o.Index == nil {
		errs = append(errs, errors.New("metricd: an index is needed"))
	}
	return errors.Join(errs...)
}
