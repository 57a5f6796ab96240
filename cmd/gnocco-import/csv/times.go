package csv

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Times says which fields of a record hold its time, one or those of dates and times of day, and how.
type Times struct {
	Columns []int
	Form    TimeForm
	Far     int // times of the sample in years that are not kept

	joined []byte // scratch of several fields
}

// TimeOptions are what the user says of times.
type TimeOptions struct {
	Column string         // "": the one whose cells are times; "date,clock" are two
	Format string         // s, ms, us or ns since 1970, or a format of strptime; "": by the cells
	Zone   *time.Location // of times that name none; nil: UTC
	Ignore []string       // columns that hold none
}

// FindTimes finds the column of times, and their form, from a sample of each column's cells.
func FindTimes(names []string, cells [][][]byte, o TimeOptions) (t Times, err error) {
	listed := strings.Join(names, ", ")
	if t.Columns, err = o.named(names); err == nil && t.Columns == nil {
		t.Columns, err = o.guess(names, cells)
	}
	if err != nil {
		return t, err
	}
	if t.Columns == nil {
		if i := slices.IndexFunc(cells, func(column [][]byte) bool { return allMatch(column, isYear) }); i >= 0 {
			return t, fmt.Errorf("has no column of times: its columns are %s; if %s holds years, say --timestamp-column '%[2]s' "+
				"--time-format %%Y", listed, names[i])
		}
		return t, fmt.Errorf("has no column of times: its columns are %s (see --timestamp-column)", listed)
	}
	sample := t.joinedCells(cells)
	if t.Form, err = o.formOf(names, t, sample); err != nil {
		return t, err
	}
	for _, cell := range sample {
		if _, _, err := t.Form.Parse(cell); errors.Is(err, errRange) {
			t.Far++
		}
	}
	return t, nil
}

// LikelyTimes returns the columns of times that FindTimes would take, nil for none. Records need no times here, so
// numbers count as times only in the first column, or by the name.
func LikelyTimes(names []string, cells [][][]byte, column string, ignore []string) ([]int, error) {
	o := TimeOptions{Column: column, Ignore: ignore}
	if columns, err := o.named(names); columns != nil || err != nil {
		return columns, err
	}
	columns, _ := o.guess(names, cells) // a doubt about days and months is no matter here
	named := namedTimes(names)
	if len(columns) == 1 && columns[0] != named {
		i := columns[0]
		if form, fit, _ := timeFormOf(names[i], cells[i], nil, false, false); fit == 0 || form.unit > 0 && i > 0 {
			columns = nil
		}
	}
	if columns == nil && named >= 0 {
		columns = []int{named}
	}
	return columns, nil
}

// named returns the columns that the user names, nil for none.
func (o *TimeOptions) named(names []string) (columns []int, err error) {
	if o.Column == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(o.Column, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("has no column %q: its columns are %s", name, strings.Join(names, ", "))
		}
		columns = append(columns, i)
	}
	return columns, nil
}

// formOf returns the form of the times in a sample of joined cells.
func (o *TimeOptions) formOf(names []string, t Times, sample [][]byte) (form TimeForm, err error) {
	if o.Format != "" {
		return NamedTimeForm(o.Format, o.Zone)
	}
	fit := 0
	if len(t.Columns) > 1 {
		if form, fit = calendarForm(t.names(names), sample, o.Zone); fit > 0 {
			return form, nil
		}
	}
	first := t.Columns[0]
	if form, fit, err = timeFormOf(names[first], sample, o.Zone, o.Column != "" || first == namedTimes(names),
		o.Column != ""); err != nil {
		return form, fmt.Errorf("column %s: %w", t.Names(names), err)
	}
	if fit == 0 && len(sample) > 0 {
		return form, fmt.Errorf("column %s: %q is no known form of a time: name it by --time-format", t.Names(names), sample[0])
	}
	return form, nil
}

// joinedCells returns the cells of times, those of several columns with a blank between.
func (t *Times) joinedCells(cells [][][]byte) [][]byte {
	joined := cells[t.Columns[0]]
	for _, i := range t.Columns[1:] {
		var longer [][]byte
		for j := range min(len(joined), len(cells[i])) {
			longer = append(longer, slices.Concat(joined[j], []byte{' '}, cells[i][j]))
		}
		joined = longer
	}
	return joined
}

// Names returns the columns' names, with "and" between.
func (t *Times) Names(names []string) string { return strings.Join(t.names(names), " and ") }

func (t *Times) names(names []string) (own []string) {
	for _, i := range t.Columns {
		own = append(own, names[i])
	}
	return own
}

// guess returns the column in which most cells are times. Texts with times of day, and numbers in a column that is
// called like one of times, come before dates alone, and these before other numbers. Then the first with such a name
// counts, then the first. A column of dates takes one of times of day, or of hours, to it.
func (o *TimeOptions) guess(names []string, cells [][][]byte) ([]int, error) {
	named := namedTimes(names)
	var doubt error
	empty := true
	best, most := -1, [3]int{}
	dates := false // best holds dates alone
	for i, name := range names {
		empty = empty && len(cells[i]) == 0
		if slices.Contains(o.Ignore, name) {
			continue
		}
		sample := cells[i][:min(len(cells[i]), 100)]
		var form TimeForm
		times := 0
		if o.Format != "" {
			if named, err := NamedTimeForm(o.Format, nil); err == nil {
				if times = named.fits(sample); named.days && !slices.ContainsFunc(sample, isSpreadsheetDay) {
					times = 0 // numbers of other things
				}
				form.days = named.days
			}
		} else {
			var err error
			if form, times, err = timeFormOf(name, sample, nil, i == named, false); err != nil && doubt == nil {
				doubt = fmt.Errorf("column %s: %w", name, err)
			}
		}
		if times == 0 || form.unit > 0 && isIDName(name) && i != named {
			continue
		}
		onlyDates := !form.days && allMatch(sample, isDate)
		rank := [3]int{0, times, 0} // the greatest wins
		switch {
		case times*2 <= len(sample):
		case form.unit > 0 && !isTimeName(name):
			rank[0] = 1
		case onlyDates:
			rank[0] = 2
		default:
			rank[0] = 3
		}
		if i == named {
			rank[2] = 1
		}
		if slices.Compare(rank[:], most[:]) > 0 {
			best, most, dates = i, rank, onlyDates
		}
	}
	if best < 0 && empty {
		return []int{max(named, 0)}, nil
	}
	if best < 0 {
		return nil, doubt
	}
	if dates || allMatch(cells[best], isCompactDate) {
		for _, is := range []func(i int) bool{
			func(i int) bool { return allMatch(cells[i], isClock) },
			func(i int) bool { return isHourName(names[i]) && allMatch(cells[i], isHour) },
			func(i int) bool { return isHourName(names[i]) && allMatch(cells[i], isDigitClock) },
		} {
			for i := range names {
				if i != best && len(names) > 2 && is(i) {
					return []int{best, i}, nil
				}
			}
		}
	}
	if isYearName(names[best]) {
		return append([]int{best}, partsOfYear(names, cells)...), nil
	}
	switch {
	case named >= 0 && strings.TrimSpace(names[best]) == "":
		return nil, fmt.Errorf("has times in a column without a name, and none in %s: its lines have more fields than its header",
			names[named])
	case most[0] == 1 && len(names[best]) > 1 && !isNumber([]byte(names[best])):
		return nil, fmt.Errorf("column %s: %q may be a time since 1970, or another number: say --timestamp-column %[1]s if it is a time",
			names[best], cells[best][0])
	}
	return []int{best}, nil
}

// partsOfYear returns the column of quarters, weeks or days beside one of years, or those of months, days and so on.
func partsOfYear(names []string, cells [][][]byte) (parts []int) {
	called := func(name string) int {
		return slices.IndexFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
	}
	if called(calendar[1].name) < 0 {
		if i := slices.IndexFunc(names, func(name string) bool { return partOfYear(name) != nil }); i >= 0 {
			parts = []int{i}
			if yearParts[2].text != partOfYear(names[i]).text {
				return parts
			}
			for _, part := range calendar[3:] { // of the day
				i := slices.IndexFunc(names, func(name string) bool {
					return strings.EqualFold(name, part.name) || part.name == "hour" && isHourName(name)
				})
				if i < 0 || !allMatch(cells[i], isHourOrMinute) {
					break
				}
				parts = append(parts, i)
			}
			return parts
		}
	}
	for _, part := range calendar[1:] {
		i := called(part.name)
		if i < 0 {
			break
		}
		parts = append(parts, i)
	}
	return parts
}

// The words of columns' names.
var (
	timeWords = words("timestamp time times date datetime ts stamp epoch unix utc when at clock zeit datum fecha hora heure")
	dateWords = words("date datetime datum fecha day")
	hourWords = words("hour hours hr he hourending time hhmm hrmn stunde heure hora uhrzeit clock")
	yearWords = words("year jahr yr")
	idWords   = words("id ids no nr uid uuid serial imei imsi iccid msisdn mmsi ean isbn phone account customer " + things)

	thingWords = words(things)
)

// things are names of columns of numbers, or of measures.
const things = "device sensor station node meter order user tag asset"

// hasWord reports whether a name has one of words: the last one, if it alone counts.
func hasWord(name string, among map[string]bool, last bool) bool {
	split := strings.FieldsFunc(camel.ReplaceAllString(name, "$1 $2"), func(c rune) bool { return !unicode.IsLetter(c) })
	if last && len(split) > 0 {
		split = split[len(split)-1:]
	}
	return slices.ContainsFunc(split, func(word string) bool { return among[strings.ToLower(word)] })
}

var camel = regexp.MustCompile(`([a-z])([A-Z])`)

func isTimeName(name string) bool { return hasWord(name, timeWords, false) }
func isDateName(name string) bool { return hasWord(name, dateWords, false) }
func isHourName(name string) bool { return hasWord(name, hourWords, false) }
func isYearName(name string) bool { return yearWords[strings.ToLower(name)] }
func isIDName(name string) bool   { return hasWord(name, idWords, true) }

// IsIdentifier reports whether a column holds identifiers rather than measures: whole numbers, with the name of such.
func IsIdentifier(name string, cells [][]byte) bool {
	least := 1 // digits
	switch {
	case hasWord(name, thingWords, true): // a sensor may also be what it measures
		least = 8
	case hasWord(name, words("no nr"), true):
		least = 5 // NO is nitric oxide
	}
	return isIDName(name) && allMatch(cells, func(cell []byte) bool {
		return len(cell) >= least && isDigits(cell) && bytes.IndexByte(cell, '.') < 0
	})
}

// isHour reports whether a cell is an hour of a day, 24 among them.
func isHour(cell []byte) bool {
	n, err := strconv.Atoi(view(cell))
	return err == nil && n >= 0 && n <= 24 && len(cell) <= 2
}

// isHourOrMinute reports whether a cell is a number below 60.
func isHourOrMinute(cell []byte) bool {
	n, err := strconv.Atoi(view(cell))
	return err == nil && n >= 0 && n < 60 && len(cell) <= 2
}

// isDigitClock reports whether a cell is a time of day in digits, such as 905, 0905 or 090500.
func isDigitClock(cell []byte) bool {
	if len(cell) == 3 || len(cell) == 5 {
		cell = append([]byte{'0'}, cell...)
	}
	return (len(cell) == 4 || len(cell) == 6) && isDigits(cell) && view(cell) <= "240000" && cell[2] < '6'
}

// isCompactDate reports whether a cell is a date of eight digits.
func isCompactDate(cell []byte) bool {
	_, _, err := (&TimeForm{layout: "20060102"}).Parse(cell)
	return err == nil && len(cell) == len("20060102")
}

// isYear reports whether a cell may be a year of our time.
func isYear(cell []byte) bool { return len(cell) == 4 && view(cell) >= "1900" && view(cell) <= "2100" }

// namedTimes returns the first column with the name of a column of times, -1 for none.
func namedTimes(names []string) int {
	if i := slices.Index(names, "_time"); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(name string) bool {
		return slices.Contains(timestampNames, strings.ToLower(name))
	})
}

// timestampNames are the names of columns of timestamps, in lower case.
var timestampNames = []string{"timestamp", "time", "date", "datetime"}

func allMatch(cells [][]byte, is func([]byte) bool) bool {
	return len(cells) > 0 && !slices.ContainsFunc(cells, func(cell []byte) bool { return !is(cell) })
}

// isClock reports whether a cell is a time of day.
func isClock(cell []byte) bool {
	for _, layout := range clockLayouts {
		f := TimeForm{layout: "2006-1-2 " + layout}
		if _, _, err := f.Parse(append([]byte("2026-1-1 "), cell...)); err == nil && bytes.IndexByte(cell, ':') > 0 {
			return true
		}
	}
	return false
}

// isDate reports whether a cell that may be a time is a date, without a time of day.
func isDate(cell []byte) bool {
	return len(cell) <= len("September 10, 2026") && bytes.ContainsAny(cell, "-/. ") &&
		bytes.IndexByte(cell, ':') < 0
}

// Parse returns the time of a record, and again, if clocks show it later as well: see TimeForm.
func (t *Times) Parse(fields [][]byte) (at, again carbonara.Timestamp, err error) {
	text := bytes.TrimSpace(fields[t.Columns[0]])
	if len(t.Columns) > 1 {
		t.joined = append(t.joined[:0], text...)
		for _, i := range t.Columns[1:] {
			t.joined = append(append(t.joined, ' '), bytes.TrimSpace(fields[i])...)
		}
		text = t.joined
	}
	return t.Form.Parse(text)
}
