package listener

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
)

// Most measures of a batch, and how long the first of a datagram's waits for others.
const (
	maxBatch      = 5000
	gatherFor     = 200 * time.Millisecond
	datagramRetry = 10 * time.Second // also statsd's
)

// An intake gathers the measures of one connection, or of all datagrams.
type intake struct {
	batch    series.Batch
	server   *Server
	measures int
}

// Add implements Sink.
func (in *intake) Add(labels series.Labels, at carbonara.Timestamp, value float64) {
	_ = in.batch.Add(labels, at, value) // it acquires no memory
	in.measures++
}

// AddHead implements Sink.
func (in *intake) AddHead(head []byte, at carbonara.Timestamp, value float64) {
	_ = in.batch.AddHead(head, at, value)
	in.measures++
}

// Refuse implements Sink. The log shows the first element of each reason.
func (in *intake) Refuse(reason string, example []byte) { in.server.refuse(reason, 1, string(example)) }

// flush makes the batch durable. A patient one tries again until it succeeds or ctx ends.
func (in *intake) flush(ctx context.Context, patient bool) {
	if in.measures == 0 {
		return
	}
	defer func() {
		in.batch.Reset()
		in.measures = 0
	}()
	o := &in.server.options
	var patience time.Duration
	if !patient {
		patience = datagramRetry
	}
	if err := Retry(o.Store, patience)(ctx, o.Creator, o.Protocol, &in.batch); err != nil {
		in.server.refuse("unavailable", in.measures, err.Error())
	}
}

// A Store makes a batch durable. It reports an ErrAgain where another attempt may succeed.
type Store func(ctx context.Context, creator, protocol string, batch *series.Batch) error

// Retry returns a Store that tries again for so long, 0: until its context ends.
func Retry(store Store, patience time.Duration) Store {
	return func(ctx context.Context, creator, protocol string, batch *series.Batch) error {
		began := time.Now()
		for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			err := store(ctx, creator, protocol, batch)
			if !errors.Is(err, ErrAgain) || patience > 0 && time.Since(began) > patience || ctx.Err() != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}
}

// refuse counts refused elements.
func (s *Server) refuse(reason string, n int, example string) {
	s.instruments.refused.WithLabelValues(reason).Add(float64(n))
	if _, logged := s.logged.LoadOrStore(reason, true); !logged {
		s.options.Logger.Warn("a sender's elements are refused; gnocco_listener_refused_total counts further ones",
			"protocol", s.options.Protocol, "reason", reason, "example", fmt.Sprintf("%.300q", example))
	}
}
