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

// parameters are those of a request, in its URL or in its form.
type parameters struct {
	url.Values
	fault error // of the first that cannot be read
}

// refuse notes a fault. After it the other parameters do not count.
func (p *parameters) refuse(fault error) {
	if p.fault == nil {
		p.fault = fault
	}
}

// Time returns a time, or what stands for none.
func (p *parameters) Time(name string, none time.Time) time.Time {
	text := p.Get(name)
	if text == "" {
		return none
	}
	t, err := parseTime(text)
	if err != nil {
		p.refuse(invalid(name, fmt.Errorf("invalid time value for '%s': %w", name, err)))
	}
	return t
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
func (p *parameters) Duration(name string) time.Duration {
	text := p.Get(name)
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		ns := seconds * float64(time.Second)
		if !(math.Abs(ns) < math.MaxInt64) {
			p.refuse(invalid(name, fmt.Errorf("cannot parse %q to a valid duration. It overflows int64", text)))
		}
		return time.Duration(ns)
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		p.refuse(invalid(name, fmt.Errorf("cannot parse %q to a valid duration", text)))
	}
	return time.Duration(d)
}

// Limit returns the most items of an answer, 0 for all.
func (p *parameters) Limit(name string) (n int) {
	if text := p.Get(name); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err == nil && n < 0 {
			err = errors.New("limit must be non-negative")
		}
		if err != nil {
			p.refuse(invalid(name, err))
		}
	}
	return n
}

// maxSteps is how many steps Prometheus lets a range query have.
const maxSteps = 11000

// errEndsEarly says that a range has no time.
var errEndsEarly = errors.New("end timestamp must not be before start time")

// Range returns the times of a range query.
func (p *parameters) Range() (start, end time.Time, step time.Duration) {
	start, end = p.needTime("start"), p.needTime("end")
	if end.Before(start) {
		p.refuse(invalid("end", errEndsEarly))
	}
	if p.Get("step") == "" {
		p.refuse(invalid("step", errors.New(`cannot parse "" to a valid duration`)))
	}
	switch step = p.Duration("step"); {
	case step < time.Millisecond:
		p.refuse(invalid("step", errors.New("zero or negative query resolution step widths are not accepted. "+
			"Try a positive integer")))
	case end.Sub(start)/step > maxSteps:
		p.refuse(Bad(errors.New("exceeded maximum resolution of 11,000 points per timeseries. " +
			"Try decreasing the query resolution (?step=XX)")))
	}
	return start, end, step
}

func (p *parameters) needTime(name string) time.Time {
	t, err := parseTime(p.Get(name))
	if err != nil {
		p.refuse(invalid(name, err))
	}
	return t
}

func invalid(name string, err error) *Error {
	return Bad(fmt.Errorf("invalid parameter %q: %w", name, err))
}
