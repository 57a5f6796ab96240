package query

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// A Grouping says into which groups resampling puts aggregates.
type Grouping interface {
	aggregates.Grouping
	// Width returns the width of every group; 0 if groups follow the calendar.
	Width() time.Duration
	// Letter returns Gnocchi's name for a calendar; "" for groups of one width.
	Letter() string
}

// ParseGrouping reads a timespan or a calendar's letter and, ours beyond Gnocchi, the calendar's time zone by its IANA
// name. It returns nil for no text.
func ParseGrouping(text, zone string) (Grouping, error) {
	if c, ok := calendars[text]; ok {
		if zone != "" {
			return newZonedCalendar(c, zone)
		}
		return c, nil
	}
	if zone != "" {
		return nil, &ArgumentError{"tz", "A time zone needs resample by the calendar: Y, H, Q, M, W or D"}
	}
	if text == "" {
		return nil, nil
	}
	width, err := model.ParseTimespan(text)
	if err != nil {
		return nil, &model.FieldError{Field: "resample", Reason: err.Error()}
	}
	return timespan(width), nil
}

// timespan groups by a fixed width, counted from 1970.
type timespan time.Duration

func (g timespan) Group(t carbonara.Timestamp) int64 { return int64(t) / int64(g) }
func (g timespan) Start(group int64) carbonara.Timestamp {
	return carbonara.Timestamp(group * int64(g))
}
func (g timespan) Width() time.Duration { return time.Duration(g) }
func (g timespan) Letter() string       { return "" }

// calendar groups by the calendar, in UTC.
type calendar struct {
	letter string
	number func(time.Time) int64 // of the group, from a date in UTC
	begin  func(int64) time.Time // first day of a group
}

// calendars are the groupings that Gnocchi knows by a letter (year, half, quarter, month, and week from Sunday on), and
// the day, which is 23 to 25 hours long where the clock changes.
var calendars = map[string]*calendar{
	"Y": byMonths("Y", 12),
	"H": byMonths("H", 6),
	"Q": byMonths("Q", 3),
	"M": byMonths("M", 1),
	"W": {
		letter: "W",
		// 1970 began on a Thursday, the fifth day of its week.
		number: func(t time.Time) int64 { return floorDiv(floorDiv(t.Unix(), 86400)+4, 7) },
		begin:  func(week int64) time.Time { return time.Unix((week*7-4)*86400, 0).UTC() },
	},
	"D": {
		letter: "D",
		number: func(t time.Time) int64 { return floorDiv(t.Unix(), 86400) },
		begin:  func(day int64) time.Time { return time.Unix(day*86400, 0).UTC() },
	},
}

func byMonths(letter string, months int64) *calendar {
	return &calendar{
		letter: letter,
		number: func(t time.Time) int64 { return floorDiv(int64(t.Year()-1970)*12+int64(t.Month())-1, months) },
		begin:  func(n int64) time.Time { return time.Date(1970, time.Month(n*months+1), 1, 0, 0, 0, 0, time.UTC) },
	}
}

// floorDiv divides downwards: west of Greenwich, 1970 began in 1969.
func floorDiv(n, by int64) int64 {
	if n < 0 {
		return (n+1)/by - 1
	}
	return n / by
}

func (c *calendar) Group(t carbonara.Timestamp) int64 { return c.number(t.Time()) }
func (c *calendar) Width() time.Duration              { return 0 }
func (c *calendar) Letter() string                    { return c.letter }

func (c *calendar) Start(group int64) carbonara.Timestamp { return atLeastEpoch(c.begin(group)) }

func atLeastEpoch(t time.Time) carbonara.Timestamp { return max(carbonara.FromTime(t), 0) }
