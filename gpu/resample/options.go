package resample

import (
	"cmp"
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Options of a Resampler. The zero value works.
type Options struct {
	// Workers is how many goroutines pack and unpack a batch, and resample on the CPU; 0 for one per processor.
	Workers int

	// ChunkMeasures is how many measures go to a device together; 0 for an eighth of the batch, of 64 Ki to 256 Ki.
	// Larger batches go in chunks, so that packing, both directions of copying, and computing overlap.
	ChunkMeasures int

	// Always uses a device for every batch, against the cost model if need be.
	Always bool

	// Job, unless nil, returns the job that runs in place of a chunk's, and calls that: for measurements and tests.
	Job func(device.Job) device.Job

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

// A chunk costs its device's owner some 20 µs, in which 64 Ki measures go over PCIe; packing before the first upload,
// and computing and downloading after the last, overlap with nothing.
const (
	chunkShare = 8
	leastChunk = 64 << 10
	mostChunk  = 256 << 10
)

// chunkMeasures is how many measures a chunk of the batch has at most.
func (o *Options) chunkMeasures(batch *carbonara.Batch) int {
	if o.ChunkMeasures > 0 {
		return o.ChunkMeasures
	}
	return min(max(batch.Measures()/chunkShare, leastChunk), mostChunk)
}
