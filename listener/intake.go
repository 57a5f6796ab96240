package listener

import (
	"context"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
)

// gatherFor is how long the first measure of a datagram waits for others, and datagramRetry how long a batch of them is
// tried to be stored.
const (
	gatherFor     = 200 * time.Millisecond
	datagramRetry = 10 * time.Second // also statsd's
)

// An intake gathers the measures of one connection, or of all datagrams.
type intake struct {
	batch  series.Batch
	server *Server
}

// AddHead implements Sink.
func (in *intake) AddHead(head []byte, at carbonara.Timestamp, value float64) {
	_ = in.batch.AddHead(head, at, value) // it acquires no memory
}

// Refuse implements Sink. The log shows the first element of each reason.
func (in *intake) Refuse(reason string, example []byte) { in.server.refuse(reason, 1, string(example)) }

// flush makes the batch durable. A patient one tries again until it succeeds or ctx ends.
func (in *intake) flush(ctx context.Context, patient bool) {
	if in.batch.Measures() == 0 {
		return
	}
	defer in.batch.Reset()
	o := &in.server.options
	var patience time.Duration
	if !patient {
		patience = datagramRetry
	}
	if err := series.Retry(o.Store, patience, o.Logger)(ctx, o.Creator, o.Protocol, &in.batch); err != nil {
		in.server.refuse("unavailable", in.batch.Measures(), err.Error())
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
