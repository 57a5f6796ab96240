package statsd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// flush stores the values gathered since the last one. It counts and drops values that it cannot store.
func (s *Server) flush(ctx context.Context) error {
	s.mu.Lock()
	metrics, forgotten := s.gathered.drain()
	s.mu.Unlock()
	if forgotten > 0 {
		s.options.Logger.Warn("statsd: last values of gauges forgotten, changes of these start at 0",
			"gauges", forgotten, "most", s.options.MaxMetrics)
	}
	if s.options.Store != nil {
		return s.storeSeries(ctx, metrics)
	}
	s.rows.set(metrics, s.options.Resource)
	if s.rows.Len() == 0 {
		return nil
	}
	var without policyError
	var failed error
	dropped, withoutPolicy := 0, 0
	protocol := resourceProtocol(&s.options)
	protocol.Drop = func(row int, err error) {
		if policy, ok := errors.AsType[*ingest.NoPolicyError](err); ok {
			without.names = append(without.names, policy.Metric)
			withoutPolicy += s.rows.measures(row)
			return
		}
		failed, dropped = err, dropped+s.rows.measures(row)
	}
	err := s.ingester.AppendNamed(ctx, s.options.Creator, ingest.Unrestricted{}, &s.rows, &protocol, &s.batch)
	if err != nil {
		dropped = len(s.rows.times) - withoutPolicy
	}
	if without.names != nil { // the operator's to mend; the rest is stored
		s.options.Logger.Warn("statsd: measures dropped", "error", &without)
		s.instruments.refuse(reasonPolicy, withoutPolicy)
	}
	s.instruments.refuse(reasonStore, dropped)
	return errors.Join(failed, err)
}

// resourceProtocol creates metrics in the one resource, as the options want them.
func resourceProtocol(o *Options) ingest.Protocol {
	return ingest.Protocol{ResourceType: model.GenericType, AnyType: true,
		ArchivePolicy: o.ArchivePolicyName, OwnMetrics: true, MaxFuture: ingest.MaxFutureOfSenders}
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

// rows are a flush's measures: all values of a timer, one of any other metric.
type rows struct {
	resource string
	names    []string
	ends     []int // of each name's measures
	times    []carbonara.Timestamp
	values   []float64
}

func (r *rows) set(metrics [kinds]map[string]*metric, resource string) {
	*r = rows{resource: resource, names: r.names[:0], ends: r.ends[:0], times: r.times[:0], values: r.values[:0]}
	for kind, byName := range metrics {
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			for at, value := range byName[name].measures() {
				r.times, r.values = append(r.times, at), append(r.values, value)
			}
			r.names, r.ends = append(r.names, name+"|"+suffixes[kind]), append(r.ends, len(r.times))
		}
	}
}

// measures returns the number of a row's measures.
func (r *rows) measures(row int) int {
	from, to := r.Span(row)
	return to - from
}

// Len implements ingest.Rows, as all of these do.
func (r *rows) Len() int                                    { return len(r.names) }
func (r *rows) Columns() ([]carbonara.Timestamp, []float64) { return r.times, r.values }

func (r *rows) Span(row int) (from, to int) {
	if row > 0 {
		from = r.ends[row-1]
	}
	return from, r.ends[row]
}

func (r *rows) AppendKey(dst []byte, row int) []byte { return append(dst, r.names[row]...) }

func (r *rows) Name(row int) (*ingest.Name, error) {
	return &ingest.Name{Resource: r.resource, Metric: r.names[row]}, nil
}
