package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

// Options configure a Writer. Ingester, which has an index, Exemplars and Logger have no default.
type Options struct {
	Ingester   *ingest.Ingester
	NewSeries  int // that a project may begin in a minute
	Exemplars  *exemplars.Ring
	Replicas   []string // labels by which the senders of one series differ; see replicas.go
	Pairs      *Pairs   // told of senders that lack such labels; nil: the log alone is
	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
}

// A Writer makes pushed series durable. All protocols share it.
type Writer struct {
	Options
	instruments instruments
	newSeries   newSeries
	metadata    metadata
	logged      sync.Map // refusals that are logged, by protocol and reason
	replicas    sync.Map // names of replicas, by number
}

// NewWriter returns a Writer. It reads the metadata that the index keeps.
func NewWriter(o Options) (*Writer, error) {
	w := &Writer{Options: o, instruments: newInstruments(o.Registerer)}
	w.metadata.known = map[string]map[string]Metadata{}
	w.Pairs = cmp.Or(w.Pairs, new(Pairs))
	w.Replicas = slices.Clone(o.Replicas)
	for i, label := range w.Replicas {
		w.Replicas[i] = strings.TrimSpace(label) // people write lists with spaces
	}
	return w, o.Ingester.Index.EachMetadata(context.Background(), func(project string, m Metadata) {
		w.metadata.add(project, []Metadata{m})
	})
}

// A Push is one request's series.
type Push struct {
	Creator   string        // of new series
	Rights    ingest.Rights // of the creator
	Protocol  string        // in counters and logs
	Scope     string        // of the rows' keys, beside the protocol
	MaxFuture time.Duration // how far ahead of the clock measures may be; 0: as the ingester says
	Rows      ingest.Rows
	Whole     bool // one refused measure refuses all
	// Drop is called for each row of which so many measures are refused. nil: the first error says enough.
	Drop func(row, measures int, err error)
}

// Append makes the measures of a push durable. err concerns the whole push. first is of the first refused row; an error
// that another attempt may mend goes first.
func (w *Writer) Append(ctx context.Context, push *Push, batch *ingest.NamedBatch) (first, err error) {
	timestamps, _ := push.Rows.Columns()
	accepted := len(timestamps)
	project := model.ProjectOf(push.Creator)
	p := ingest.Protocol{Labels: true, Scope: push.Protocol + "\x00" + push.Scope, MaxFuture: push.MaxFuture}
	if len(w.Replicas) > 0 {
		p.Replica = w.replicaOf
	}
	p.Kind = func(name string) string { return w.metadata.kind(project, name) }
	refuse := func(row, measures int, reason string, err error) {
		// A sender does not repeat what was refused as invalid.
		if first == nil || errors.Is(first, model.ErrInvalid) && !errors.Is(err, model.ErrInvalid) {
			first = err
		}
		accepted -= measures
		w.Refuse(push.Protocol, reason, measures, err.Error())
		if push.Drop != nil {
			push.Drop(row, measures, err)
		}
	}
	p.Drop = func(row int, err error) {
		from, to := push.Rows.Span(row)
		refuse(row, to-from, reasonOf(err), permanent(err))
	}
	p.Replaced = func(row, measures int) {
		of, _ := push.Rows.Name(row) // which was found
		refuse(row, measures, "replaced", &model.FieldError{Field: "timestamps", Reason: fmt.Sprintf(
			"%.200s: %s replaced: the request has another value for the same time later", of.Metric,
			counted.Of(measures, "measure"))})
	}
	if push.Whole {
		p.Whole = func() bool { return first == nil }
	}
	err = w.Ingester.AppendNamed(ctx, push.Creator, &rights{push.Rights, project, w}, push.Rows, &p, batch)
	if err != nil {
		return first, err
	}
	if push.Whole && first != nil {
		w.Refuse(push.Protocol, "whole", accepted, first.Error())
		return first, nil
	}
	w.instruments.pushed.WithLabelValues(push.Protocol).Add(float64(accepted))
	if len(w.Replicas) == 0 && w.Pairs.Found() == "" {
		if id, found := w.Pairs.look(&batch.Measures); found {
			w.tellPair(w.Ingester.Index.Lookup(id), "two senders seem to push the same series: sums over time count both, and "+
				"counters seem to fall; a label of each and --replica-labels make one of them count")
		}
	}
	return first, nil
}

// Refuse counts elements that a protocol does not store. It logs the first refusal of each reason.
func (w *Writer) Refuse(protocol, reason string, elements int, example string) {
	if elements == 0 {
		return
	}
	w.instruments.refused.WithLabelValues(protocol, reason).Add(float64(elements))
	if _, logged := w.logged.LoadOrStore(protocol+" "+reason, true); !logged {
		w.Logger.Warn("a sender's elements are refused; gnocco_push_refused_total counts further ones",
			"protocol", protocol, "reason", reason, "example", fmt.Sprintf("%.300s", example))
	}
}
