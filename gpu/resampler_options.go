package gpu

import (
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/carbonara"
)

// ResamplerOptions of a Resampler. The zero value works.
type ResamplerOptions struct {
	// Workers is how many goroutines pack and unpack a batch, and resample on the CPU; 0 for one per processor.
	Workers int

	// PieceMeasures is how many measures go to a device together; 0 for an eighth of the batch, of 64 Ki to 256 Ki. Larger batches go
	// in pieces, so that packing, both directions of copying, and computing overlap.
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
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// A piece costs its device's owner some 20 µs, in which 64 Ki measures go over PCIe; what is packed before the first piece goes up, and
// what is computed and comes back after the last, overlaps with nothing.
const (
	pieceShare = 8
	leastPiece = 64 << 10
	mostPiece  = 256 << 10
)

// pieceMeasures is how many measures a piece of the batch has at most.
func (o *ResamplerOptions) pieceMeasures(batch *carbonara.Batch) int {
	if o.PieceMeasures > 0 {
		return o.PieceMeasures
	}
	return min(max(batch.Measures()/pieceShare, leastPiece), mostPiece)
}
