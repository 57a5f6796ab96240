package listener

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
)

// Options configure a Server. Protocol, Listen, Decoder and Store have no default.
type Options struct {
	Protocol string // in counters and logs
	Listen   string // address
	Stream   bool   // lines by TCP too, not datagrams alone
	Creator  string // of the series; "" for none

	Decoder Decoder
	Read    func(head []byte, labels *series.Labels) error // of a Decoder that adds heads
	Store   Store

	MaxConnections int // 0: 1,000
	MaxLineBytes   int // 0: 16 KiB

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
	Now        func() time.Time      // nil: time.Now
}

// ErrAgain is of a batch that may be stored later.
var ErrAgain = errors.New("listener: try again")

// A Decoder reads one line, or one datagram, which came in now. It keeps no reference to data. Several goroutines use
// it.
type Decoder interface {
	Decode(data []byte, now carbonara.Timestamp, to Sink)
}

// A Sink takes the elements that a Decoder reads. It keeps no reference to labels, heads and examples.
type Sink interface {
	Add(labels series.Labels, at carbonara.Timestamp, value float64)
	AddHead(head []byte, at carbonara.Timestamp, value float64) // Options.Read can read the head
	Refuse(reason string, example []byte)
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	o.MaxConnections = cmp.Or(o.MaxConnections, 1000)
	o.MaxLineBytes = cmp.Or(o.MaxLineBytes, 16<<10)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	if o.Protocol == "" || o.Listen == "" || o.Decoder == nil || o.Store == nil {
		faults = append(faults, errors.New("listener: Protocol, Listen, Decoder and Store are needed"))
	}
	if o.MaxConnections < 0 || o.MaxLineBytes < 0 {
		faults = append(faults, fmt.Errorf("listener: %s: a limit is negative", o.Protocol))
	}
	return errors.Join(faults...)
}
