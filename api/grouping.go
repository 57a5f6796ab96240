package api

import (
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

func parseGrouping(text string) (grouping, error) {
	if c, ok := calendars[text]; ok {
		return c, nil
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
	number func(time.Time) int64
	begin  func(int64) time.Time
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
		number: func(t time.Time) int64 { return (t.Unix()/86400 + 4) / 7 },
		begin:  func(week int64) time.Time { return time.Unix((week*7-4)*86400, 0) },
	},
}

func byMonths(letter string, months int64) *calendar {
	return &calendar{
		letter: letter,
		number: func(t time.Time) int64 { return (int64(t.Year()-1970)*12 + int64(t.Month()) - 1) / months },
		begin:  func(n int64) time.Time { return time.Date(1970, time.Month(n*months+1), 1, 0, 0, 0, 0, time.UTC) },
	}
}

func (c *calendar) group(t carbonara.Timestamp) int64 { return c.number(t.Time()) }
func (c *calendar) label() []byte                     { return []byte(`"` + c.letter + `"`) }

func (c *calendar) start(group int64) carbonara.Timestamp {
	return max(carbonara.FromTime(c.begin(group)), 0)
}

func (c *calendar) span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	return c.start(c.group(from)), wholeGroup(c, to)
}
