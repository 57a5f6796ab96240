package csv

import (
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// parseQuarter reads 2026Q1 and 2026 1, with or without a character between.
func (f *TimeForm) parseQuarter(s string) (carbonara.Timestamp, error) {
	const year = len("2006")
	if len(s) <= year || len(s) > len("2006 Q1") {
		return 0, errNoTime
	}
	y, err := strconv.Atoi(s[:year])
	quarter := s[len(s)-1]
	switch strings.ToUpper(s[year : len(s)-1]) {
	case "Q", " Q", "-Q", ":Q", "/Q", " ":
	default:
		return 0, errNoTime
	}
	if err != nil || quarter < '1' || quarter > '4' {
		return 0, errNoTime
	}
	t := time.Date(y, time.Month(3*int(quarter-'1')+1), 1, 0, 0, 0, 0, time.UTC)
	if f.zone != nil {
		return f.local(t)
	}
	return timestampOf(t)
}

// calendar lists the names of columns that hold the parts of a time, each with its layouts.
var calendar = []struct{ name, layouts string }{{"year", "2006"}, {"month", "1|Jan|January"}, {"day", "2"}, {"hour", "15"},
	{"minute", "4"}, {"second", "5"}}

// calendarForm returns the form of times in columns of a year, a month and so on, with a blank between.
func calendarForm(names []string, cells [][]byte, zone *time.Location) (form TimeForm, fit int) {
	if len(names) == 2 && strings.EqualFold(names[1], "quarter") {
		form = TimeForm{quarters: true, zone: zone}
		return form, form.fits(cells)
	}
	if len(names) > len(calendar) {
		return form, 0
	}
	layouts := []string{""}
	for i, name := range names {
		if !strings.EqualFold(name, calendar[i].name) {
			return form, 0
		}
		var longer []string
		for part := range strings.SplitSeq(calendar[i].layouts, "|") {
			for _, layout := range layouts {
				longer = append(longer, strings.TrimSpace(layout+" "+part))
			}
		}
		layouts = longer
	}
	for _, layout := range layouts {
		f := TimeForm{layout: layout, zone: zone}
		if n := f.fits(cells); n > fit {
			form, fit = f, n
		}
	}
	return form, fit
}
