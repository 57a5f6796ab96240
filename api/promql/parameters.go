package promql

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// Parameters are those of a request, in its URL or in its form.
type Parameters url.Values

// Get returns a parameter, "" for none.
func (p Parameters) Get(name string) string { return url.Values(p).Get(name) }

// Time returns a time, or what stands for none.
func (p Parameters) Time(name string, none time.Time) (time.Time, error) {
	text := p.Get(name)
	if text == "" {
		return none, nil
	}
	t, err := parseTime(text)
	if err != nil {
		return t, invalid(name, fmt.Errorf("invalid time value for '%s': %w", name, err))
	}
	return t, nil
}

// Times that clients send for "from the beginning" and "to the end" lie beyond what a time in nanoseconds holds.
var (
	earliest = time.Unix(0, math.MinInt64).UTC()
	latest   = time.Unix(0, math.MaxInt64).UTC()
)

// Prometheus' clients write its own first and last moment so, which are no RFC 3339.
const (
	firstMoment = "-292273086-05-16T16:47:06Z"
	lastMoment  = "292277025-08-18T07:12:54.999999999Z"
)

func parseTime(text string) (time.Time, error) {
	switch text {
	case firstMoment:
		return earliest, nil
	case lastMoment:
		return latest, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case math.IsNaN(seconds):
			return time.Time{}, fmt.Errorf("cannot parse %q to a valid timestamp", text)
		case seconds <= float64(earliest.Unix()):
			return earliest, nil
		case seconds >= float64(latest.Unix()):
			return latest, nil
		}
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(math.Round(part*1000))*int64(time.Millisecond)).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("cannot parse %q to a valid timestamp", text)
	}
	switch {
	case t.Before(earliest):
		return earliest, nil
	case t.After(latest):
		return latest, nil
	}
	return t.UTC(), nil
}

// Duration returns a duration, zero for none: seconds, or as "5m".
func (p Parameters) Duration(name string) (time.Duration, error) {
	text := p.Get(name)
	if text == "" {
		return 0, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		ns := seconds * float64(time.Second)
		if !(math.Abs(ns) < math.MaxInt64) {
			return 0, invalid(name, fmt.Errorf("cannot parse %q to a valid duration. It overflows int64", text))
		}
		return time.Duration(ns), nil
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		return 0, invalid(name, fmt.Errorf("cannot parse %q to a valid duration", text))
	}
	return time.Duration(d), nil
}

// Limit returns the most items of an answer, 0 for all.
func (p Parameters) Limit(name string) (int, error) {
	text := p.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && n < 0 {
		err = errors.New("limit must be non-negative")
	}
	if err != nil {
		return 0, invalid(name, err)
	}
	return n, nil
}

// maxSteps is how many steps Prometheus lets a range query have.
const maxSteps = 11000

// Range returns the times of a range query.
func (p Parameters) Range() (start, end time.Time, step time.Duration, err error) {
	fail := func(err error) (time.Time, time.Time, time.Duration, error) { return start, end, step, err }
	if start, err = p.needTime("start"); err != nil {
		return fail(err)
	}
	if end, err = p.needTime("end"); err != nil {
		return fail(err)
	}
	if end.Before(start) {
		return fail(invalid("end", errors.New("end timestamp must not be before start time")))
	}
	if p.Get("step") == "" {
		return fail(invalid("step", errors.New(`cannot parse "" to a valid duration`)))
	}
	if step, err = p.Duration("step"); err != nil {
		return fail(err)
	}
	if step < time.Millisecond {
		return fail(invalid("step", errors.New("zero or negative query resolution step widths are not accepted. "+
			"Try a positive integer")))
	}
	if end.Sub(start)/step > maxSteps {
		return fail(Bad(errors.New("exceeded maximum resolution of 11,000 points per timeseries. " +
			"Try decreasing the query resolution (?step=XX)")))
	}
	return start, end, step, nil
}

func (p Parameters) needTime(name string) (time.Time, error) {
	t, err := parseTime(p.Get(name))
	if err != nil {
		return t, invalid(name, err)
	}
	return t, nil
}

func invalid(name string, err error) *Error {
	return Bad(fmt.Errorf("invalid parameter %q: %w", name, err))
}
