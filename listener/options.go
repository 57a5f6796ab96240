package listener

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
)

// Options configure a Server. Protocol, Listen, Decoder, Read and Store have no default.
type Options struct {
	Protocol string // in counters and logs
	Listen   string // address, of TCP and UDP
	Creator  string // of the series; "" for none

	Decoder Decoder
	Read    func(head []byte, labels *series.Labels) error // sets the labels that a head means
	Store   series.Store

	MaxConnections int // 0: 1,000
	MaxLineBytes   int // 0: 16 KiB

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
	Now        func() time.Time      // nil: time.Now
}

// A Decoder reads one line, which came in now. It keeps no reference to data. Several goroutines use it.
type Decoder interface {
	Decode(data []byte, now carbonara.Timestamp, to Sink)
}

// A Sink takes the elements that a Decoder reads. Options.Read can read their heads.
type Sink = plaintext.Sink

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
	if o.Protocol == "" || o.Listen == "" || o.Decoder == nil || o.Read == nil || o.Store == nil {
		faults = append(faults, errors.New("listener: Protocol, Listen, Decoder, Read and Store are needed"))
	}
	if o.MaxConnections < 0 || o.MaxLineBytes < 0 {
		faults = append(faults, fmt.Errorf("listener: %s: a limit is negative", o.Protocol))
	}
	return errors.Join(faults...)
}
