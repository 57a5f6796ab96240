package query

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// ParseMetricRead reads the parameters of a request for one metric. The error is an *ArgumentError, a
// *model.FieldError or an *AbsentAggregationError. Staleness and Rows are the caller's.
func ParseMetricRead(values url.Values, metric *model.Metric, now carbonara.Timestamp) (*MetricRead, error) {
	if values.Get("resample") != "" && values.Get("granularity") == "" {
		return nil, ErrNoGranularity
	}
	read := &MetricRead{Metric: metric, To: carbonara.MaxTimestamp}
	var err error
	if read.Resample, err = ParseGrouping(values.Get("resample"), values.Get("tz")); err != nil {
		return nil, err
	}
	if err := parseSpan(values, now, &read.From, &read.To); err != nil {
		return nil, err
	}
	policy := metric.ArchivePolicy
	if values.Has("granularity") {
		granularity, err := parseGranularity(values)
		if err != nil {
			return nil, err
		}
		read.Granularities = []time.Duration{granularity}
	} else {
		read.Granularities = slices.Clone(policy.Granularities())
		slices.Reverse(read.Granularities)
	}
	name := methodName(values)
	if name == carbonara.SketchMethod.String() && policy.HasMethod(carbonara.SketchMethod) {
		return nil, &ArgumentError{"aggregation", "A sketch is no number: ask for percentiles, such as 95pct, which it tells"}
	}
	if read.Method, err = carbonara.ParseMethod(name); err != nil && strings.Contains(name, "(") {
		return nil, &ArgumentError{"aggregation", err.Error()}
	} else if err != nil || !policy.Answers(read.Method) {
		return nil, &AbsentAggregationError{Metric: metric.ID, Aggregation: name}
	}
	for _, granularity := range read.Granularities {
		if !policy.HasGranularity(granularity) {
			return nil, &AbsentAggregationError{metric.ID, name, granularity}
		}
	}
	if err := ParseBool(values, "exact", &read.Exact); err != nil {
		return nil, err
	}
	if read.Exact && read.Resample == nil {
		return nil, &ArgumentError{"exact", "Goes with resample: what is stored is exact"}
	}
	return read, ParseBool(values, "refresh", &read.Refresh)
}

// ParseRead reads the parameters of a request for aggregates across metrics. Staleness, Rows and Values are the
// caller's.
func ParseRead(values url.Values, now carbonara.Timestamp) (*Read, error) {
	read := &Read{To: carbonara.MaxTimestamp}
	read.Options.HasFrom, read.Options.HasTo = values.Has("start"), values.Has("stop")
	read.Options.NeededOverlap = 100
	var ok bool
	if values.Has("needed_overlap") {
		if read.Options.NeededOverlap, ok = model.ParseNumber(values.Get("needed_overlap")); !ok {
			return nil, &ArgumentError{"needed_overlap", "Must be a number"}
		}
	}
	if err := parseSpan(values, now, &read.From, &read.To); err != nil {
		return nil, err
	}
	if values.Has("granularity") {
		var err error
		if read.Granularity, err = parseGranularity(values); err != nil {
			return nil, err
		}
	}
	if values.Has("fill") {
		if read.Options.Fill, ok = aggregates.ParseFill(values.Get("fill")); !ok {
			return nil, &ArgumentError{"fill",
				"Must be a float, 'dropna', 'null', 'ffill', 'bfill', 'full_ffill' or 'full_bfill'"}
		}
	}
	return read, nil
}

// methodName returns the name of the method that is asked for.
func methodName(values url.Values) string {
	if values.Has("aggregation") {
		return values.Get("aggregation")
	}
	return "mean"
}

// parseSpan reads start and stop, as far as they are given.
func parseSpan(values url.Values, now carbonara.Timestamp, from, to *carbonara.Timestamp) error {
	return cmp.Or(ParseInstant(values, "start", now, from), ParseInstant(values, "stop", now, to))
}

// ParseInstant sets t, if the parameter is given.
func ParseInstant(values url.Values, name string, now carbonara.Timestamp, t *carbonara.Timestamp) error {
	if !values.Has(name) {
		return nil
	}
	parsed, err := model.ParseTimestamp(values.Get(name), now)
	if err != nil || len(values[name]) > 1 {
		return &ArgumentError{name, "Must be a datetime or a timestamp"}
	}
	*t = parsed
	return nil
}

func parseGranularity(values url.Values) (time.Duration, error) {
	granularity, err := model.ParseTimespan(values.Get("granularity"))
	if err != nil {
		return 0, &ArgumentError{"granularity", err.Error()}
	}
	return granularity, nil
}

// ParseBool sets is, if the parameter is given.
func ParseBool(values url.Values, name string, is *bool) error {
	if !values.Has(name) {
		return nil
	}
	switch text := strings.ToLower(values.Get(name)); text {
	case "y", "yes", "t", "true", "on", "1":
		*is = true
	case "n", "no", "f", "false", "off", "0":
		*is = false
	default:
		return &model.FieldError{Field: name,
			Reason: "Unable to parse `" + name + "': invalid truth value '" + text + "'"}
	}
	return nil
}
