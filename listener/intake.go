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
	datagramRetry = 10 * time.Second
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
	began := time.Now()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := o.Store(ctx, o.Creator, o.Protocol, &in.batch)
		if err == nil {
			return
		}
		if !errors.Is(err, ErrAgain) || !patient && time.Since(began) > datagramRetry || ctx.Err() != nil {
			in.server.refuse("unavailable", in.measures, err.Error())
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
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
