package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"gnocco/api/aggregates"
	"gnocco/carbonara"
	"gnocco/model"
)

// foundMetric is a metric that operations read, and how it was found.
type foundMetric struct {
	metric      *model.Metric
	reference   int // index into the operation's References
	aggregation string
	resource    *model.Resource // whose metric it is; nil where it was found by its ID
	pattern     string          // by which its name was found; "" for its ID
}

// name is how errors and answers call the metric.
func (f *foundMetric) name() string {
	if f.resource == nil {
		return f.metric.ID.String()
	}
	return f.metric.Name
}

// lookupKeys shows what was asked for, in errors.
func lookupKeys(found []foundMetric) [][2]string {
	keys := make([][2]string, len(found))
	for i := range found {
		keys[i] = [2]string{found[i].name(), found[i].aggregation}
		if found[i].pattern != "" {
			keys[i][0] = found[i].pattern
		}
	}
	return keys
}

func unaggregable(reason string, detail any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{Cause: "Metrics cannot be aggregated", Reason: reason, Detail: detail}}
}

// evaluate reads the metrics' aggregates and evaluates the operation on them, for each granularity, coarsest first.
// Columns are computed when the results are written, until ctx ends.
func (a *api) evaluate(ctx context.Context, operation *aggregates.Operation, found []foundMetric, query *aggregatesQuery) ([]*aggregates.Result, error) {
	granularities, err := commonGranularities(found, query.granularity)
	if err != nil {
		return nil, err
	}
	var tables []aggregates.Table
	if len(operation.Combinations) > 0 {
		tables, err = a.readCombined(ctx, operation, found, granularities, query)
	} else {
		tables, err = a.readTables(ctx, found, granularities, query)
	}
	if err != nil {
		return nil, unfit(err, found)
	}
	options := query.options
	options.Resampler = a.Resampler
	results := make([]*aggregates.Result, len(tables))
	for i := range tables {
		if results[i], err = aggregates.Evaluate(ctx, operation, &tables[i], &options); err != nil {
			return nil, unfit(err, found)
		}
	}
	return results, nil
}

// unfit answers an *aggregates.UnaggregableError; any other error it returns.
func unfit(err error, found []foundMetric) error {
	var unfit *aggregates.UnaggregableError
	if errors.As(err, &unfit) {
		return unaggregable(unfit.Reason, lookupKeys(found))
	}
	return err
}

// commonGranularities returns those that all metrics have, coarsest first, or the one asked for (0 for none), once it is
// clear that every metric has it, and the aggregation method.
func commonGranularities(found []foundMetric, asked time.Duration) ([]time.Duration, error) {
	granularities := []time.Duration{asked}
	if asked == 0 {
		counts := map[time.Duration]int{}
		for i := range found {
			for _, granularity := range found[i].metric.ArchivePolicy.Granularities() {
				counts[granularity]++
			}
		}
		granularities = granularities[:0]
		for granularity, count := range counts {
			if count == len(found) {
				granularities = append(granularities, granularity)
			}
		}
		if len(granularities) == 0 {
			names := make([][2]string, len(found))
			for i := range found {
				names[i] = [2]string{found[i].name(), found[i].aggregation}
			}
			return nil, unaggregable("No granularity match", names)
		}
		slices.SortFunc(granularities, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	}
	missing := [][3]any{}
	for i := range found {
		f := &found[i]
		if method, err := carbonara.ParseMethod(f.aggregation); err != nil || !f.metric.ArchivePolicy.HasMethod(method) {
			return nil, &Error{Status: http.StatusNotFound, Detail: Cause{
				Cause: "Metrics with unknown aggregation", Detail: [][2]string{{f.metric.ID.String(), f.aggregation}},
			}}
		}
		if asked != 0 && !f.metric.ArchivePolicy.HasGranularity(asked) {
			missing = append(missing, [3]any{f.name(), f.aggregation, seconds(asked.Seconds())})
		}
	}
	if len(missing) > 0 {
		return nil, unaggregable("Granularities are missing", missing)
	}
	return granularities, nil
}

// readTables reads one table for each granularity, whose series are those of found, in order. Several are read at once.
func (a *api) readTables(ctx context.Context, found []foundMetric, granularities []time.Duration, query *aggregatesQuery) ([]aggregates.Table, error) {
	tables := make([]aggregates.Table, len(granularities))
	for i, granularity := range granularities {
		tables[i] = aggregates.Table{Granularity: granularity, Series: make([]aggregates.Series, len(found))}
	}
	archives, err := a.prefetch(ctx, found, granularities, query)
	if err != nil {
		return nil, err
	}
	err = readAtOnce(ctx, len(found), len(granularities), readsPerWorker, func(ctx context.Context, s *seriesReader, metric, i int) error {
		series := &tables[i].Series[metric]
		series.Reference = found[metric].reference
		return readSeries(ctx, archives, s, &found[metric], granularities[i], i, query, series)
	})
	return tables, err
}

// readsPerWorker is how many reads of one metric a goroutine is worth.
const readsPerWorker = 8

// readAtOnce calls read for each of so many metrics, and for each of it for i from 0 to n (exclusive), from several
// goroutines, each of which has perWorker to do at least. A metric's granularities lie side by side in the archive, so they
// are read one after the other.
func readAtOnce(ctx context.Context, metrics, n, perWorker int,
	read func(ctx context.Context, s *seriesReader, metric, i int) error) error {
	jobs := int64(metrics * n)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func() {
		s := seriesReaders.Get().(*seriesReader)
		defer seriesReaders.Put(s)
		s.last = make([][]carbonara.Timestamp, n)
		for {
			job := next.Add(1) - 1
			if job >= jobs || ctx.Err() != nil {
				return
			}
			if err := read(ctx, s, int(job)/n, int(job)%n); err != nil {
				cancel(err)
				return
			}
		}
	}
	least := int64(max(perWorker, 1))
	workers := min(int64(runtime.GOMAXPROCS(0)), (jobs+least-1)/least)
	var done sync.WaitGroup
	for range workers - 1 {
		done.Go(work)
	}
	work()
	done.Wait()
	return context.Cause(ctx)
}

// seriesReader is the memory of a goroutine that reads series.
type seriesReader struct {
	groups carbonara.Groups
	starts []carbonara.Timestamp
	last   [][]carbonara.Timestamp // by granularity: of the series read before, which the next one shares if they are its own
}

var seriesReaders = sync.Pool{New: func() any { return new(seriesReader) }}

// readSeries reads the aggregates of one metric at the i-th granularity.
func readSeries(ctx context.Context, archives Archives, s *seriesReader, f *foundMetric, granularity time.Duration, i int,
	query *aggregatesQuery, series *aggregates.Series) error {
	method, err := carbonara.ParseMethod(f.aggregation)
	if err != nil {
		return err
	}
	if err := archives.Groups(ctx, readOf(f.metric, granularity, method, query.from, query.to), &s.groups); err != nil {
		return err
	}
	s.starts, series.Values = s.groups.Aggregate(method, s.starts[:0], query.memory.take(s.groups.Len())[:0])
	if !slices.Equal(s.starts, s.last[i]) {
		s.last[i] = slices.Clone(s.starts)
	}
	series.Starts = s.last[i]
	return nil
}

// refresh waits until what was accepted for these metrics can be read, if the parameter asks for it.
func (a *api) refresh(ctx context.Context, metrics []*model.Metric) error {
	ids := make([]uuid.UUID, len(metrics))
	for i, metric := range metrics {
		ids[i] = metric.ID
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	return a.Archives.Refresh(ctx, ids)
}
