package api

import (
	"net/url"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// A grouping says into which groups resample= puts aggregates.
type grouping interface {
	// group returns the number of the group that t falls into. Numbers ascend with time.
	group(t carbonara.Timestamp) int64
	// start is when a group begins: in 1970 for the one that began before.
	start(group int64) carbonara.Timestamp
	// span widens from and to (exclusive) to whole groups.
	span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp)
	// label stands for the granularity in the answer, in JSON.
	label() []byte
}

// parseGrouping reads resample= and, ours beyond Gnocchi, tz=: the time zone of a calendar, by its IANA name. It returns
// nil where there is no grouping.
func parseGrouping(values url.Values) (grouping, error) {
	text, zone := values.Get("resample"), values.Get("tz")
	if c, ok := calendars[text]; ok {
		if zone != "" {
			return newZonedCalendar(c, zone)
		}
		return c, nil
	}
	if zone != "" {
		return nil, badArgument("tz", "A time zone needs resample by the calendar: Y, H, Q, M or W")
	}
	if text == "" {
		return nil, nil
	}
	width, err := model.ParseTimespan(text)
	if err != nil {
		return nil, badRequest("%s", err)
	}
	return timespan(width), nil
}

// timespan groups by a fixed width, counted from 1970.
type timespan time.Duration

func (g timespan) group(t carbonara.Timestamp) int64 { return int64(t) / int64(g) }
func (g timespan) start(group int64) carbonara.Timestamp {
	return carbonara.Timestamp(group * int64(g))
}
func (g timespan) label() []byte { return appendFloat(nil, time.Duration(g).Seconds()) }

func (g timespan) span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	return from.Floor(time.Duration(g)), wholeGroup(g, to)
}

// wholeGroup returns the end of the group that the last instant before to falls into.
func wholeGroup(g grouping, to carbonara.Timestamp) carbonara.Timestamp {
	if to <= 0 {
		return 0
	}
	if end := g.start(g.group(to-1) + 1); end > 0 {
		return end
	}
	return carbonara.MaxTimestamp // it lies beyond what a Timestamp holds
}

// calendar groups by the calendar, in UTC.
type calendar struct {
	letter string
	number func(time.Time) int64 // of the group, from what a calendar shows in UTC
	begin  func(int64) time.Time // first day of a group
}

// calendars are the groupings that Gnocchi knows by a letter: year, half, quarter, month, and week from Sunday on.
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

func (c *calendar) group(t carbonara.Timestamp) int64 { return c.number(t.Time()) }
func (c *calendar) label() []byte                     { return []byte(`"` + c.letter + `"`) }

func (c *calendar) start(group int64) carbonara.Timestamp {
	return atLeastEpoch(c.begin(group))
}

func atLeastEpoch(t time.Time) carbonara.Timestamp { return max(carbonara.FromTime(t), 0) }

func (c *calendar) span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	return c.start(c.group(from)), wholeGroup(c, to)
}
