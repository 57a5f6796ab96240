package series

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// A Store makes the batch of a sender without HTTP durable, wherever the index is. The batch stays the caller's.
// Refused rows are counted; the error is of the whole batch, or Temporary.
type Store func(ctx context.Context, creator, protocol string, batch *Batch) error

// A batch for a Store is full with so many measures, or bytes of labels: it goes to the holder of the index in one
// request.
const (
	fullMeasures    = 5000
	fullLabelsBytes = 4 << 20
)

// Full reports whether a Store should have the batch before more is added to it.
func (b *Batch) Full() bool { return len(b.values) >= fullMeasures || len(b.labels) >= fullLabelsBytes }

// Measures returns the number of measures in the batch.
func (b *Batch) Measures() int { return len(b.values) }

// Retry returns a Store that tries again for so long, 0: until its context ends.
func Retry(store Store, patience time.Duration, logger *slog.Logger) Store {
	return func(ctx context.Context, creator, protocol string, batch *Batch) error {
		began := time.Now()
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			err := store(ctx, creator, protocol, batch)
			if !Temporary(err) || patience > 0 && time.Since(began) > patience || ctx.Err() != nil {
				return err
			}
			if wait == 800*time.Millisecond { // not while the index is handed over
				logger.Warn("series wait until they can be stored", "protocol", protocol, "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}
}

// Store is a Store where the index is. Its senders may do everything: an operator has opened the port.
func (w *Writer) Store(ctx context.Context, creator, protocol string, batch *Batch) error {
	if err := budget.Of(ctx).Acquire(budget.Measures, int64(batch.Bytes())); err != nil {
		return err
	}
	push := Push{Creator: creator, Rights: ingest.Unrestricted{}, Protocol: protocol, Rows: batch,
		MaxFuture: ingest.MaxFutureOfSenders}
	first, err := w.Append(ctx, &push, &batch.Named)
	if err == nil && Temporary(first) {
		err = first
	}
	return err
}

// Encode returns the batch for another process: of each row the labels and the measures, each with its length. A
// measure is its time and the bits of its value, 8 bytes each.
func (b *Batch) Encode() []byte {
	dst := make([]byte, 0, len(b.labels)+16*len(b.values)+4*len(b.rows))
	for i, r := range b.rows {
		labels, _ := b.readLabels(i) // the heads of such a batch mean labels
		dst = protowire.AppendVarint(protowire.AppendString(dst, string(labels)), uint64(16*(r.to-r.from)))
		for i := r.from; i < r.to; i++ {
			dst = protowire.AppendFixed64(dst, uint64(b.timestamps[i]))
			dst = protowire.AppendFixed64(dst, math.Float64bits(b.values[i]))
		}
	}
	return dst
}

// Decode makes the batch that of encoded bytes. An error is a model.ErrInvalid.
func (b *Batch) Decode(encoded []byte) (err error) {
	b.Reset()
	next := func() (part []byte) {
		part, n := protowire.ConsumeBytes(encoded)
		if n < 0 {
			err = fmt.Errorf("series: a batch is damaged: %w: %w", model.ErrInvalid, protowire.ParseError(n))
			return nil
		}
		encoded = encoded[n:]
		return part
	}
	for err == nil && len(encoded) > 0 {
		labels := next()
		for measures := next(); len(measures) >= 16; measures = measures[16:] {
			b.timestamps = append(b.timestamps, carbonara.Timestamp(binary.LittleEndian.Uint64(measures)))
			b.values = append(b.values, math.Float64frombits(binary.LittleEndian.Uint64(measures[8:])))
		}
		b.labels = append(b.labels, labels...)
		_ = b.end(len(b.labels)-len(labels), false) // it acquires no memory
	}
	return err
}
