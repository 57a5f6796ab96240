package correlate

import (
	"cmp"
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// Options of a Correlator. The zero value works.
type Options struct {
	// Workers is how many goroutines copy rows into pinned memory; 0 for one per processor.
	Workers int

	// Always uses devices for everything that they can do, also where the CPU is done before a device is open.
	Always bool

	// Open says that the process has the first device open for other work, so that to open it takes a moment.
	Open bool

	// ChunkBytes is how much goes to a device together; 0 for 96 MiB.
	ChunkBytes int

	// Job, unless nil, returns the job that runs in place of each of a correlation's, and calls that: for measurements.
	Job func(device.Job) device.Job

	Logger     *slog.Logger
	Registerer prometheus.Registerer // another correlator's is no harm: their figures are added
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.ChunkBytes = cmp.Or(o.ChunkBytes, defaultChunkBytes)
	if o.Job == nil {
		o.Job = func(job device.Job) device.Job { return job }
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}
