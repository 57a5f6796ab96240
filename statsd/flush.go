package statsd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gnocco/carbonara"
	"gnocco/ingest"
	"gnocco/model"
)

// named is a measure under its metric's name.
type named struct {
	name string
	*measure
}

// flush stores what was gathered since the last one, in one request. What cannot be stored is counted and lost.
func (s *Server) flush(ctx context.Context) error {
	s.mu.Lock()
	g := s.gathered
	s.gathered = newGathered(s.options.MaxMetrics)
	s.mu.Unlock()
	if g.metrics == 0 {
		return nil
	}
	all := make([]named, 0, g.metrics)
	for kind, measures := range g.measures {
		for name, m := range measures {
			// No metric's name has a slash.
			all = append(all, named{strings.ReplaceAll(name, "/", "_") + "|" + suffixes[kind], m})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.name, b.name) })
	s.rows.set(mergeEqual(all), s.options.Resource)

	var without policyError
	var failed error
	dropped := 0
	protocol := resourceProtocol(&s.options)
	protocol.Drop = func(row int, err error) {
		var policy *ingest.NoPolicyError
		if errors.As(err, &policy) {
			without.names = append(without.names, policy.Metric)
			return
		}
		failed, dropped = err, dropped+1
	}
	err := s.ingester.AppendNamed(ctx, s.options.Creator, ingest.Unrestricted{}, &s.rows, &protocol, &s.batch)
	if err != nil {
		dropped = s.rows.Len() - len(without.names)
	}
	if without.names != nil { // the operator's to mend; the rest is stored
		s.options.Logger.Warn("statsd: measures dropped", "error", &without)
		s.instruments.refuse(reasonPolicy, len(without.names))
	}
	s.instruments.refuse(reasonStore, dropped)
	return errors.Join(failed, err)
}

// resourceProtocol creates metrics in the one resource, as the options want them.
func resourceProtocol(o *Options) ingest.Protocol {
	return ingest.Protocol{ResourceType: model.GenericType, AnyType: true,
		ArchivePolicy: o.ArchivePolicyName, OwnMetrics: true, MaxFuture: ingest.MaxFutureOfSenders}
}

// mergeEqual makes one of the measures whose names became equal: the latest one, or the sum of counters.
func mergeEqual(all []named) []named {
	kept := all[:0]
	for _, m := range all {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].name != m.name:
			kept = append(kept, m)
		case strings.HasSuffix(m.name, "|"+suffixes[counter]):
			kept[last].measure = &measure{max(kept[last].at, m.at), kept[last].value + m.value}
		case m.at >= kept[last].at:
			kept[last] = m
		}
	}
	return kept
}

// policyError names metrics that have no archive policy.
type policyError struct{ names []string }

func (e *policyError) Error() string {
	const shown = 10
	names, more := slices.Sorted(slices.Values(e.names)), ""
	if len(names) > shown {
		names, more = names[:shown], ", …"
	}
	return "statsd: no archive policy for " + strings.Join(names, ", ") + more
}

// rows are a flush's measures, one of each metric.
type rows struct {
	resource string
	names    []string
	times    []carbonara.Timestamp
	values   []float64
}

func (r *rows) set(all []named, resource string) {
	*r = rows{resource: resource, names: r.names[:0], times: r.times[:0], values: r.values[:0]}
	for _, m := range all {
		r.names, r.times, r.values = append(r.names, m.name), append(r.times, m.at), append(r.values, m.value)
	}
}

// Len implements ingest.Rows, as all of these do.
func (r *rows) Len() int { return len(r.names) }

// Columns is of ingest.Rows.
func (r *rows) Columns() ([]carbonara.Timestamp, []float64) { return r.times, r.values }

// Span is of ingest.Rows.
func (r *rows) Span(row int) (from, to int) { return row, row + 1 }

// AppendKey is of ingest.Rows.
func (r *rows) AppendKey(dst []byte, row int) []byte { return append(dst, r.names[row]...) }

// Name is of ingest.Rows.
func (r *rows) Name(row int) (*ingest.Name, error) {
	return &ingest.Name{Resource: r.resource, Metric: r.names[row]}, nil
}
