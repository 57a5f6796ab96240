package query

import (
	"time"
	_ "time/tzdata" // so that zones are known on any machine

	"github.com/gnocco-db/gnocco/carbonara"
)

// zonedCalendar groups by the calendar of a time zone: a group begins with the first instant of its first day there.
// Where the clock is put back over midnight, an hour or so of the day before follows that instant: it counts to the new
// group, so that groups stay in order.
type zonedCalendar struct {
	*calendar
	zone *time.Location
}

func newZonedCalendar(c *calendar, zoneName string) (Grouping, error) {
	// Local would be the server's own zone, which is not the client's to know.
	zone, err := time.LoadLocation(zoneName)
	if err != nil || zoneName == "Local" {
		return nil, &ArgumentError{"tz", "Unknown time zone " + zoneName}
	}
	return zonedCalendar{c, zone}, nil
}

// civil returns what clocks in the zone show at t, as if it were UTC.
func (c zonedCalendar) civil(t time.Time) time.Time {
	t = t.In(c.zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

func (c zonedCalendar) Group(t carbonara.Timestamp) int64 {
	n := c.number(c.civil(t.Time()))
	switch next := c.Start(n + 1); { // the clock may have been put forward or back around the beginning
	case t >= next && next > 0: // 0 is beyond what a Timestamp holds
		n++
	case t < c.Start(n):
		n--
	}
	return n
}

func (c zonedCalendar) Start(group int64) carbonara.Timestamp {
	day := c.begin(group)
	t := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, c.zone)
	// If the day has no midnight, or two, t is an hour or so off; a change of the clock is then its beginning.
	from, to := t.ZoneBounds()
	if c.civil(t).Before(day) {
		t = to
	} else if !from.IsZero() && from.Before(t) && !c.civil(from).Before(day) {
		t = from
	}
	return atLeastEpoch(t)
}
