package ingest

import (
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A FutureError says that a measure is too far ahead of the clock. A metric's aggregates are kept relative to its
// newest one: a single measure of a wrong clock, or in a wrong unit, would drop all others, and then those of today.
type FutureError struct {
	Metric    string // its ID, or its resource and name
	Place     int    // of the metric among those of the request
	Timestamp carbonara.Timestamp
	Most      time.Duration // ahead of the clock
}

// How far ahead of the clock measures may be that come in by ways which carry no forecasts, unless Options.MaxFuture is
// less.
const (
	MaxFutureOfRemoteWrite = 10 * time.Minute // as in Prometheus
	MaxFutureOfSenders     = 24 * time.Hour   // of line protocol, statsd and files
)

func (e *FutureError) Error() string {
	return fmt.Sprintf("ingest: a measure of metric %s is more than %s ahead of the clock", e.Metric, e.Most)
}

func (e *FutureError) Unwrap() error { return model.ErrInvalid }

// Future returns the first measure that is too far ahead of now, nil for none. Append refuses it; Future is for callers
// that change something before that.
func (i *Ingester) Future(m *model.Measures, now time.Time) *FutureError {
	at := future(m.Timestamps, now, i.MaxFuture)
	if at < 0 {
		return nil
	}
	metric, starts := slices.BinarySearch(m.Offsets, at)
	if !starts {
		metric--
	}
	for m.Offsets[metric+1] == at { // a metric without measures
		metric++
	}
	return &FutureError{m.Metrics[metric].String(), metric, m.Timestamps[at], i.MaxFuture}
}

// maxFuture returns how far ahead of the clock the measures of a protocol may be; 0: any time.
func (i *Ingester) maxFuture(p *Protocol) time.Duration {
	if p.MaxFuture == 0 || i.MaxFuture != 0 && i.MaxFuture < p.MaxFuture {
		return i.MaxFuture
	}
	return p.MaxFuture
}

// checkRows is Future for measures whose metrics are not looked up yet. A protocol that drops rows drops those; aheads
// are their numbers.
func (i *Ingester) checkRows(rows Rows, p *Protocol, now time.Time) (aheads []int, err error) {
	timestamps, _ := rows.Columns()
	most := i.maxFuture(p)
	if future(timestamps, now, most) < 0 {
		return nil, nil
	}
	for row := range rows.Len() {
		from, to := rows.Span(row)
		at := future(timestamps[from:to], now, most)
		if at < 0 {
			continue
		}
		name, err := rows.Name(row)
		if err != nil {
			if p.Drop == nil {
				return nil, err
			}
			continue // it is dropped for that
		}
		metric := name.Metric
		if name.Resource != "" {
			metric = name.Resource + "/" + metric
		}
		ahead := &FutureError{metric, row, timestamps[from+at], most}
		if p.Drop == nil {
			return nil, ahead
		}
		p.Drop(row, ahead)
		aheads = append(aheads, row)
	}
	return aheads, nil
}

// leaveOut makes rows of no metric.
func (b *NamedBatch) leaveOut(rows []int) {
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		b.metrics[row] = nil
	}
	b.missing = slices.DeleteFunc(b.missing, func(row int) bool {
		_, found := slices.BinarySearch(rows, row)
		return found
	})
}

// future returns the index of the first timestamp that is further ahead than most (0: any time), -1 for none.
func future(timestamps []carbonara.Timestamp, now time.Time, most time.Duration) int {
	if most == 0 {
		return -1
	}
	latest := carbonara.FromTime(now).Add(most)
	return slices.IndexFunc(timestamps, func(t carbonara.Timestamp) bool { return t > latest })
}
