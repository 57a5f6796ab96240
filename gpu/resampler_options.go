package gpu

import (
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// ResamplerOptions of a Resampler. The zero value works.
type ResamplerOptions struct {
	// Workers is how many goroutines pack and unpack a batch, and resample on the CPU; 0 for one per processor.
	Workers int

	// PieceMeasures is how many measures go to a device together; 0 for 512 Ki. Larger batches go in pieces, so that packing,
	// both directions of copying, and computing overlap.
	PieceMeasures int

	// Always uses a device for every batch, whatever the model says.
	Always bool

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// EnsureDefaults fills in what is zero.
func (o *ResamplerOptions) EnsureDefaults() {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.PieceMeasures == 0 {
		o.PieceMeasures = 512 << 10
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
