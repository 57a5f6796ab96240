package csvimport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"gnocco/carbonara"
	"gnocco/model"
)

// Result counts what an import did.
type Result struct {
	Files, Metrics     int
	Measures, Rejected int64 // measures sent; records and fields not taken
}

// Importer sends the measures of files. It is for one goroutine.
type Importer struct {
	options  Options
	resource string // its UUID
	metrics  map[string]*metric
	senders  []*sender
	result   Result

	ctx  context.Context // of the senders: ends with the first failure, as its cause
	stop context.CancelCauseFunc
	work sync.WaitGroup
}

// New creates the resource, if it is not there, and starts the senders, which Close ends.
func New(ctx context.Context, options Options) (*Importer, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	resource, err := options.Client.EnsureResource(ctx, options.Resource)
	if err != nil {
		return nil, fmt.Errorf("csvimport: resource %s: %w", options.Resource, err)
	}
	i := &Importer{options: options, resource: resource, metrics: make(map[string]*metric)}
	i.ctx, i.stop = context.WithCancelCause(ctx)
	for range options.Requests {
		l := newSender(options.Batch)
		i.senders = append(i.senders, l)
		i.work.Go(func() { l.send(i.ctx, options.Client.SendMeasures, i.stop) })
	}
	return i, nil
}

// Close sends what is pending, waits for the answers and returns the totals, with the first error of a request.
func (i *Importer) Close() (Result, error) {
	for _, l := range i.senders {
		l.flush()
		close(l.requests)
	}
	i.work.Wait()
	err := context.Cause(i.ctx)
	i.stop(nil)
	return i.result, err
}

// File reads a file to its end. Its name is for messages, and for its metric, if it has one column of values; "-" is
// none. The last measures may still be pending when it returns. After an error, only Close is left to call.
func (i *Importer) File(name string, source io.Reader) error {
	r := NewReader(source, i.options.Comma)
	var fields *columns
	var metrics []*metric
	for {
		record, line, err := r.Read()
		var rejected *LineError
		switch {
		case err == io.EOF:
			if fields == nil {
				return fmt.Errorf("csvimport: %s is empty", name)
			}
			i.result.Files++
			return nil
		case errors.As(err, &rejected):
			i.reject(name, rejected.Line, rejected.Reason)
			continue
		case err != nil:
			return fmt.Errorf("csvimport: read %s: %w", name, err)
		}
		if fields == nil {
			if fields, err = i.options.newColumns(name, record); err != nil {
				return fmt.Errorf("csvimport: %s %w", name, err)
			}
			if metrics, err = i.ensure(fields); err != nil {
				return err
			}
			if !i.options.NoHeader {
				continue
			}
		}
		i.record(name, line, fields, metrics, record)
		if i.ctx.Err() != nil {
			return context.Cause(i.ctx)
		}
	}
}

// record takes the measures of one record.
func (i *Importer) record(file string, line int, fields *columns, metrics []*metric, record [][]byte) {
	if len(record) != fields.fields {
		i.reject(file, line, fmt.Sprintf("has %d fields, not %d", len(record), fields.fields))
		return
	}
	t, err := parseTimestamp(bytes.TrimSpace(record[fields.timestamp]))
	if err != nil {
		i.reject(file, line, fmt.Sprintf("timestamp %q: %v", record[fields.timestamp], err))
		return
	}
	for j, column := range fields.values {
		text := bytes.TrimSpace(record[column.index])
		if len(text) == 0 {
			continue // a gap
		}
		value, ok := model.ParseNumber(view(text))
		if !ok {
			i.reject(file, line, fmt.Sprintf("value %q of metric %s is not a number", text, column.name))
			continue
		}
		metrics[j].add(t, value, text)
		i.result.Measures++
	}
}

// parseTimestamp refuses what is relative to now, which no file should hold.
func parseTimestamp(text []byte) (carbonara.Timestamp, error) {
	s := view(text)
	if t, ok := model.ParseISO(s); ok {
		return t, nil
	}
	form := model.TimestampFormOf(s)
	if form == model.TimestampRelative {
		return 0, errors.New("is not a time")
	}
	return form.Parse(s, 0)
}

// add makes a measure pending, and flushes the sender once it has a batch.
func (m *metric) add(t carbonara.Timestamp, value float64, text []byte) {
	if len(m.pending) == 0 {
		m.sender.metrics = append(m.sender.metrics, m)
	}
	m.pending = appendMeasure(m.pending, t, value, text)
	if m.sender.measures++; m.sender.measures >= m.sender.batch {
		m.sender.flush()
	}
}

func (i *Importer) reject(file string, line int, reason string) {
	i.result.Rejected++
	i.options.Reject(file, line, reason)
}

// ensure returns the metrics of a file's columns, creating those that the resource has not.
func (i *Importer) ensure(fields *columns) ([]*metric, error) {
	var unknown []string
	for _, column := range fields.values {
		if i.metrics[column.name] == nil {
			unknown = append(unknown, column.name)
		}
	}
	if len(unknown) > 0 {
		ids, err := i.options.Client.EnsureMetrics(i.ctx, i.resource, unknown, i.options.ArchivePolicy)
		if err != nil {
			return nil, fmt.Errorf("csvimport: metrics of %s: %w", i.options.Resource, err)
		}
		for _, name := range unknown {
			if ids[name] == "" {
				return nil, fmt.Errorf("csvimport: the server did not create metric %s", name)
			}
			i.metrics[name] = &metric{id: ids[name], sender: i.senders[i.result.Metrics%len(i.senders)]}
			i.result.Metrics++
		}
	}
	metrics := make([]*metric, len(fields.values))
	for j, column := range fields.values {
		metrics[j] = i.metrics[column.name]
	}
	return metrics, nil
}
