package query

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// apiaSkips is the instant at which Samoa went from the end of December 29 to December 31.
var apiaSkips = time.Date(2011, 12, 30, 10, 0, 0, 0, time.UTC)

// Each instant falls into the group between whose start and the next one's it lies, also where clocks change at
// midnight, twice over midnight, or by a whole day.
func TestZonedCalendar(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Rome", "America/Havana", "America/Sao_Paulo",
		"America/St_Johns", "Asia/Beirut", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu", "America/New_York"} {
		for letter, c := range calendars {
			g, err := newZonedCalendar(c, name)
			fatal.If(t, err)
			end := carbonara.FromTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
			for n := g.Group(0); g.Start(n) < end; n++ {
				from, to := g.Start(n), g.Start(n+1)
				skipped := from == to && letter == "D" && from.Time().Equal(apiaSkips)
				if from >= to && !skipped {
					t.Fatalf("%s, %s: group %d from %s to %s", name, letter, n, from.Time(), to.Time())
				}
				for _, after := range []time.Duration{0, 1, 29 * time.Minute, 61 * time.Minute,
					2 * time.Hour, 25 * time.Hour} {
					for _, at := range []carbonara.Timestamp{from.Add(after), to.Add(-after - 1)} {
						if got := g.Group(at); got != n && at >= from && at < to { // the first one may be short
							t.Fatalf("%s, %s: %s falls into group %d, not %d from %s to %s", name, letter, at.Time(),
								got, n, from.Time(), to.Time())
						}
					}
				}
			}
			if _, got := aggregates.Span(g, 0, carbonara.MaxTimestamp); got != carbonara.MaxTimestamp {
				t.Errorf("%s, %s: the last group ends %s", name, letter, got.Time())
			}
		}
	}
}

// A day has 23 hours where the clock is put forward, and 25 where it is put back.
func TestDaysOfTimeZones(t *testing.T) {
	g, err := ParseGrouping("D", "Europe/Paris")
	fatal.If(t, err)
	for date, want := range map[string]time.Duration{"2025-03-29": 24, "2025-03-30": 23, "2025-10-26": 25, "2025-10-27": 24} {
		noon, err := time.Parse(time.DateTime, date+" 12:00:00")
		fatal.If(t, err)
		day := g.Group(carbonara.FromTime(noon))
		if width := time.Duration(g.Start(day+1) - g.Start(day)); width != want*time.Hour {
			t.Errorf("%s has %v, want %d h", date, width, want)
		}
	}
}

// The two calendars are one in UTC.
func TestZonedCalendarInUTC(t *testing.T) {
	for letter, c := range calendars {
		g, err := newZonedCalendar(c, "UTC")
		fatal.If(t, err)
		for at := carbonara.Timestamp(0); at < carbonara.Timestamp(
			40*365*24*time.Hour); at += carbonara.Timestamp(23 * time.Hour) {
			if n := g.Group(at); n != c.Group(at) || g.Start(n) != c.Start(n) {
				t.Fatalf("%s: %s falls into group %d from %s, not %d from %s", letter, at.Time(), n, g.Start(n).Time(),
					c.Group(at), c.Start(c.Group(at)).Time())
			}
		}
	}
}

func TestZonedCalendarWithoutMidnight(t *testing.T) {
	f := func(zone string, day time.Time, want string) {
		t.Helper()
		g, err := newZonedCalendar(&calendar{begin: func(int64) time.Time { return day }}, zone)
		fatal.If(t, err)
		if got := g.Start(0).Time().Format(time.RFC3339); got != want {
			t.Errorf("%s, %s: begins %s, want %s", zone, day.Format(time.DateOnly), got, want)
		}
	}
	f("Asia/Beirut", time.Date(2021, 3, 28, 0, 0, 0, 0, time.UTC), "2021-03-27T22:00:00Z")       // 00:00 becomes 01:00
	f("America/Sao_Paulo", time.Date(2018, 11, 4, 0, 0, 0, 0, time.UTC), "2018-11-04T03:00:00Z") // 00:00 becomes 01:00
	f("America/Havana", time.Date(2021, 11, 7, 0, 0, 0, 0, time.UTC), "2021-11-07T04:00:00Z")    // 01:00 becomes 00:00
	f("Europe/Rome", time.Date(2021, 3, 28, 0, 0, 0, 0, time.UTC), "2021-03-27T23:00:00Z")       // 02:00 becomes 03:00
}

func BenchmarkZonedCalendar(b *testing.B) {
	g, err := newZonedCalendar(calendars["M"], "Europe/Rome")
	fatal.If(b, err)
	at := carbonara.FromTime(time.Date(2025, 3, 15, 12, 0, 0, 0, time.UTC))
	for b.Loop() {
		if g.Group(at) == 0 {
			b.Fatal("in 1970")
		}
	}
}
