package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// namedRows are the measures of a request in another database's protocol, which tells metrics by names and expects
// them to be created. A row is some measures of one metric; several rows may be of the same.
type namedRows interface {
	// Len returns the number of rows.
	Len() int
	// Columns returns the measures of all rows.
	Columns() ([]carbonara.Timestamp, []float64)
	// Span returns which of the columns are those of a row.
	Span(row int) (from, to int)
	// AppendKey appends what tells a row's metric from all others.
	AppendKey(dst []byte, row int) []byte
	// Name returns which metric a row belongs to. Its error is an *Error.
	Name(row int) (*metricName, error)
}

// metricName tells a metric by names.
type metricName struct {
	resource   string // original ID
	metric     string
	attributes map[string]string // of the resource, if it is to be created
}

// inAnyForm serves h to who has credentials, whatever they accept: other databases' answers have no content.
func (a *api) inAnyForm(h userHandler) http.HandlerFunc {
	return a.open(func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.authenticate(w, r)
		if err != nil {
			return err
		}
		return h(w, r, who)
	})
}

// A protocol says what to make of namedRows.
type protocol struct {
	resourceType string
	attributes   []*model.Attribute        // to create the type with; nil: it has to be there
	anyAttribute bool                      // add to the type what attributes a resource has
	sameSeries   func(row, other int) bool // of several rows of the same metric, those of the last one's series count; nil: all do
	scope        string                    // together with a row's key, tells its metric from those of other requests
}

// appendScope appends what stands before the keys of a request's rows.
func (p *protocol) appendScope(dst []byte, who *Identity) []byte {
	for _, part := range []string{p.resourceType, who.User, p.scope} {
		dst = append(append(dst, part...), 0)
	}
	return dst
}

// maxAttempts to find metrics that others create and delete at the same time.
const maxAttempts = 5

// namedScratch is the memory that a request of named measures needs.
type namedScratch struct {
	incomingScratch
	key     []byte
	metrics []*model.Metric // of each row, nil for not known
	missing []int           // rows whose metric is not known

	places map[uuid.UUID]int // of metrics in measures
	place  []int             // of each row; -1 for one that does not count
	last   []int             // row that counts, by place
}

func (s *namedScratch) bytes() int {
	return s.incomingScratch.bytes() + 8*(cap(s.metrics)+cap(s.missing)+cap(s.place)+cap(s.last)) + 24*len(s.places)
}

// acceptNamed makes the measures of rows durable, creating resources and metrics that are not there. If one of the metrics
// is another's, or cannot be created, nothing is accepted.
func (a *api) acceptNamed(ctx context.Context, who *Identity, rows namedRows, p *protocol, s *namedScratch) error {
	now := a.Now()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	a.findKnown(who, rows, p, s)
	for attempt := 1; len(s.missing) > 0; attempt++ {
		if attempt > maxAttempts {
			return fmt.Errorf("api: metrics come and go: %w", model.ErrUnavailable)
		}
		if err := a.createNamed(ctx, who, rows, p, s); err != nil {
			return err
		}
	}
	may := a.permits(who, "post measures")
	for _, metric := range s.metrics {
		if !may(metric) {
			return errForbidden
		}
	}
	s.gather(rows, p.sameSeries)
	return a.append(ctx, &s.incomingScratch, now)
}

// findKnown looks up the metrics of all rows, and lists the rows whose metric is not known.
func (a *api) findKnown(who *Identity, rows namedRows, p *protocol, s *namedScratch) {
	s.metrics, s.missing = s.metrics[:0], s.missing[:0]
	s.key = p.appendScope(s.key[:0], who)
	scope := len(s.key)
	a.known.mu.RLock()
	defer a.known.mu.RUnlock()
	for row := range rows.Len() {
		s.key = rows.AppendKey(s.key[:scope], row)
		metric := a.known.byName[string(s.key)]
		if metric != nil {
			if current := a.Index.Lookup(metric.ID); current == nil || !sameName(metric, current) {
				metric = nil
			} else {
				metric = current
			}
		}
		s.metrics = append(s.metrics, metric)
		if metric == nil {
			s.missing = append(s.missing, row)
		}
	}
}

// gather sets s.measures to the measures of rows, those of each metric side by side.
func (s *namedScratch) gather(rows namedRows, sameSeries func(row, other int) bool) {
	if s.places == nil {
		s.places = make(map[uuid.UUID]int)
	}
	clear(s.places)
	m := &s.measures
	m.Reset()
	s.place, s.last = s.place[:0], s.last[:0]
	m.Offsets = append(m.Offsets, 0)
	for row, metric := range s.metrics {
		place, ok := s.places[metric.ID]
		if !ok {
			place = len(m.Metrics)
			s.places[metric.ID] = place
			m.Metrics = append(m.Metrics, metric.ID)
			m.Offsets = append(m.Offsets, 0)
			s.last = append(s.last, row)
		}
		s.place, s.last[place] = append(s.place, place), row
	}
	for row, place := range s.place { // count
		if last := s.last[place]; sameSeries != nil && row != last && !sameSeries(row, last) {
			s.place[row] = -1
			continue
		}
		from, to := rows.Span(row)
		m.Offsets[place+1] += to - from
	}
	for i := range m.Metrics {
		m.Offsets[i+1] += m.Offsets[i]
	}
	n := m.Offsets[len(m.Metrics)]
	m.Timestamps = slices.Grow(m.Timestamps, n)[:n]
	m.Values = slices.Grow(m.Values, n)[:n]
	timestamps, values := rows.Columns()
	for row, place := range s.place { // and place: the start of a metric's part moves to its end, which is the next one's start
		if place < 0 {
			continue
		}
		from, to := rows.Span(row)
		at := m.Offsets[place]
		copy(m.Timestamps[at:], timestamps[from:to])
		copy(m.Values[at:], values[from:to])
		m.Offsets[place] = at + to - from
	}
	copy(m.Offsets[1:], m.Offsets[:len(m.Metrics)])
	m.Offsets[0] = 0
}
