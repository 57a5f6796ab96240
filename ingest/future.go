package ingest

import (
	"fmt"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// A FutureError says that a measure is too far ahead of the clock. A metric's aggregates are kept relative to its
// newest one: a single measure of a wrong clock, or in a wrong unit, would drop all others, and then those of today.
type FutureError struct {
	Metric    string // its ID, or its resource and name
	Place     int    // of the metric among those of the request
	Timestamp carbonara.Timestamp
	Most      time.Duration // ahead of the clock
}

// Error implements error.
func (e *FutureError) Error() string {
	return fmt.Sprintf("ingest: a measure of metric %s is more than %s ahead of the clock", e.Metric, e.Most)
}

// Unwrap returns model.ErrInvalid.
func (e *FutureError) Unwrap() error { return model.ErrInvalid }

// Future returns the first measure that is too far ahead of now, nil for none. Append refuses it; Future is for who
// changes something before that.
func (i *Ingester) Future(m *model.Measures, now time.Time) *FutureError {
	at := i.future(m.Timestamps, now)
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

// checkRows is Future for measures whose metrics are not looked up yet.
func (i *Ingester) checkRows(rows Rows, now time.Time) error {
	timestamps, _ := rows.Columns()
	at := i.future(timestamps, now)
	if at < 0 {
		return nil
	}
	for row := range rows.Len() {
		if from, to := rows.Span(row); from <= at && at < to {
			name, err := rows.Name(row)
			if err != nil {
				return err
			}
			metric := name.Metric
			if name.Resource != "" {
				metric = name.Resource + "/" + metric
			}
			return &FutureError{metric, row, timestamps[at], i.MaxFuture}
		}
	}
	return nil // it belongs to no row
}

// future returns the index of the first timestamp that is too far ahead, -1 for none.
func (i *Ingester) future(timestamps []carbonara.Timestamp, now time.Time) int {
	if i.MaxFuture == 0 {
		return -1
	}
	most := carbonara.FromTime(now).Add(i.MaxFuture)
	return slices.IndexFunc(timestamps, func(t carbonara.Timestamp) bool { return t > most })
}
