package csv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// TimeForm says how a column writes its times.
type TimeForm struct {
	unit   time.Duration  // of numbers since 1970; 0: text
	layout string         // of package time; "": ISO 8601 as the API reads it
	zoned  bool           // the text may name its zone
	zone   *time.Location // of text that does not; nil: UTC

	also  string    // another layout of package time, tried after layout
	upper bool      // the layout knows PM, and the text may have pm
	part  *yearPart // a year and a part of it, such as 2026Q1 or, in two columns, 2026 1
	days  bool      // numbers of days, as spreadsheets count them
}

// String describes the form for the user.
func (f *TimeForm) String() string {
	zone := "UTC"
	if f.zone != nil {
		zone = f.zone.String()
	}
	switch {
	case f.unit > 0:
		return unitNames[f.unit] + " since 1970"
	case f.part != nil:
		return "years and " + f.part.plural + ", " + zone
	case f.days:
		return "days since 1899-12-30, as spreadsheets count them, " + zone
	case f.layout == "":
		return "ISO 8601, " + zone + " where no zone is named"
	case f.zoned:
		return fmt.Sprintf("like %q", exampleTime.Format(f.layout))
	}
	return fmt.Sprintf("like %q, %s", exampleTime.Format(f.layout), zone)
}

var (
	exampleTime = time.Date(2026, 1, 31, 17, 5, 9, 0, time.UTC)
	unitNames   = map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds",
		time.Microsecond: "microseconds", time.Nanosecond: "nanoseconds"}
)

// Parse returns the time of a cell. At the end of summer time clocks show it again: then again is the later time, and
// otherwise 0.
func (f *TimeForm) Parse(text []byte) (at, again carbonara.Timestamp, err error) {
	s := view(text)
	if at, again, err = f.parse(s, 0); err == nil || errors.Is(err, errRange) {
		return at, again, err
	}
	if hour := midnight.FindStringSubmatchIndex(s); hour != nil && f.unit == 0 {
		if at, again, other := f.parse(s[:hour[2]]+"00"+s[hour[3]:], 1); other == nil {
			return at, again, nil
		}
	}
	return 0, 0, err
}

// midnight matches 24:00 behind a date, or a 24th hour: the next day begins.
var midnight = regexp.MustCompile(`[^0-9.](24)(?::?00){0,2}(?:[.,]0+)?(?:$|[ Z+-])`)

// parse reads a time, with so many days added.
func (f *TimeForm) parse(s string, days int) (at, again carbonara.Timestamp, err error) {
	switch {
	case f.unit > 0:
		at, err = ParseNumberSince(s, f.unit)
		return at, 0, err
	case f.part != nil:
		t, err := f.part.parse(s)
		return f.local(t, err)
	case f.days:
		t, err := spreadsheetTime(s)
		return f.local(t, err)
	case f.layout == "":
		t, ok := model.ParseISO(s)
		if !ok {
			form := model.TimestampFormOf(s)
			if form == model.TimestampRelative || form == model.TimestampNumber {
				return 0, 0, errNoTime
			}
			if t, err = form.Parse(s, 0); err != nil {
				if isFarISO(s) {
					return 0, 0, errRange
				}
				return 0, 0, err
			}
		}
		return f.inZone(t.Time().UTC().AddDate(0, 0, days), namesZone(s))
	}
	if f.upper {
		s = strings.ToUpper(s)
	}
	if i := strings.LastIndexByte(s, ' '); len(s)-i == len(" 905") || len(s)-i == len(" 90500") {
		if strings.HasSuffix(f.layout, " 1504") || strings.HasSuffix(f.layout, " 150405") {
			s = s[:i+1] + "0" + s[i+1:]
		}
	}
	t, err := time.Parse(f.layout, s)
	if err != nil && f.also != "" {
		t, err = time.Parse(f.also, s)
	}
	if err != nil {
		return 0, 0, errNoTime
	}
	if zone, _ := t.Zone(); f.zoned && zone != "" && zone != "UTC" && zone != "GMT" && !strings.Contains(f.layout, "07") {
		return 0, 0, errZoneName
	}
	return f.inZone(t.AddDate(0, 0, days), f.zoned)
}

// inZone returns the time that t shows, in the form's zone unless the text names one.
func (f *TimeForm) inZone(t time.Time, named bool) (at, again carbonara.Timestamp, err error) {
	if !named {
		return f.local(t, nil)
	}
	at, err = timestampOf(t)
	return at, 0, err
}

// spreadsheetTime returns the time of a number of days since 1899-12-30, to the millisecond.
func spreadsheetTime(s string) (time.Time, error) {
	const to1970, most = 25569, 106751 // days
	v, ok := model.ParseNumber(strings.Replace(s, ",", ".", 1))
	if !ok || v != v {
		return time.Time{}, errNoTime
	}
	if v < to1970 || v > most {
		return time.Time{}, errRange
	}
	return time.UnixMilli(int64(math.Round((v - to1970) * 86400e3))).UTC(), nil
}

// isSpreadsheetDay reports whether a cell is a time of a spreadsheet since 1970.
func isSpreadsheetDay(cell []byte) bool {
	_, err := spreadsheetTime(view(cell))
	return err == nil
}

var (
	errRange    = errors.New("lies before 1970 or after 2261")
	errNoTime   = errors.New("is not a time of the column's form")
	errZoneName = errors.New("names its zone by letters that several zones have: write its offset, or take the letters " +
		"off and say --timezone")
)

// isFarISO reports whether a text is a time in ISO 8601, but in a year that is not kept.
func isFarISO(s string) bool {
	year, err := strconv.Atoi(s[:min(4, len(s))])
	if err != nil || year < 0 || len(s) < len("2006-01") || s[4] != '-' || year >= 1970 && year <= 2261 {
		return false
	}
	s = "2000" + s[4:]
	form := model.TimestampFormOf(s)
	_, err = form.Parse(s, 0)
	return err == nil && form != model.TimestampRelative && form != model.TimestampNumber
}

// namesZone reports whether an ISO time ends with Z or an offset.
func namesZone(s string) bool {
	const date = len("2006-01-02")
	return strings.HasSuffix(s, "Z") || strings.HasSuffix(s, "UTC") ||
		len(s) > date && strings.ContainsAny(s[date:], "+-")
}

func timestampOf(t time.Time) (carbonara.Timestamp, error) {
	if t.Year() < 1970 || t.Year() > 2261 {
		return 0, errRange
	}
	return carbonara.FromTime(t), nil
}

// local returns the time at which clocks in the zone show what t shows, and again if they do so later.
func (f *TimeForm) local(t time.Time, err error) (at, again carbonara.Timestamp, _ error) {
	if err != nil {
		return 0, 0, err
	}
	if f.zone == nil {
		at, err = timestampOf(t)
		return at, 0, err
	}
	// The offset is one of those before and after; where they differ, clocks are changed between.
	var found []time.Time
	for _, near := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := t.Add(near).In(f.zone).Zone()
		shown := t.Add(-time.Duration(offset) * time.Second).In(f.zone)
		if shown.Hour() == t.Hour() && shown.Minute() == t.Minute() &&
			!slices.ContainsFunc(found, func(other time.Time) bool { return other.Equal(shown) }) {
			found = append(found, shown)
		}
	}
	if len(found) == 0 {
		return 0, 0, fmt.Errorf("does not exist in %s: clocks were put forward", f.zone)
	}
	if at, err = timestampOf(found[0]); err == nil && len(found) == 2 {
		again, err = timestampOf(found[1])
		at, again = min(at, again), max(at, again)
	}
	return at, again, err
}

// ParseNumberSince reads a number of units since 1970, exactly.
func ParseNumberSince(s string, unit time.Duration) (carbonara.Timestamp, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.ContainsAny(fraction, "eE") || n < 0 || n > int64(carbonara.MaxTimestamp)/int64(unit) {
		if v, ok := model.ParseNumber(s); ok && v >= 0 && v*float64(unit) < float64(carbonara.MaxTimestamp) {
			return carbonara.Timestamp(v * float64(unit)), nil // 1.7e9
		}
		return 0, errNoTime
	}
	part := int64(0)
	for i, scale := 0, int64(unit); i < len(fraction); i++ {
		if fraction[i] < '0' || fraction[i] > '9' {
			return 0, errNoTime
		}
		scale /= 10
		part += int64(fraction[i]-'0') * scale
	}
	return carbonara.Timestamp(n*int64(unit) + part), nil
}

// leastNumber is the least number of seconds since 1970 that is taken for a time where the user did not say so: 1973.
// Latitudes, ranks and years are below.
const leastNumber = 1e8

// unitOf returns the unit in which a number since 1970 lies between 1973 and 5138, 0 for none.
func unitOf(v float64) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		if v >= leastNumber && v < 1000*leastNumber {
			return unit
		}
		v /= 1000
	}
	return 0
}

// The parts that layouts of text are made of. Package time reads a fraction after the seconds by itself, and one digit
// where two are usual.
var (
	dateLayouts = []string{"2006-1-2", "2006/1/2", "2006.1.2", "2.1.2006", "1/2/2006", "2/1/2006", "2-1-2006", "1-2-2006",
		"2-Jan-2006", "2/Jan/2006", "2Jan2006", "2006-Jan-2", "Jan-2-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "Mon, 2 Jan 2006", "20060102",
		"1/2/06", "2/1/06", "2.1.06", "2-Jan-06", "06-1-2", "2-1-06", "1-2-06", "Jan 2006", "Jan-2006", "January 2006",
		"1/2006", "2006-002"}
	clockLayouts = []string{"15:4:5", "15:4", "3:4:5 PM", "3:4 PM", "3:4:5PM", "3:4PM", "3:4:5 pm", "3:4 pm", "150405",
		"15.4.5", "15.4", "1504", "15"}
	betweens     = []string{" ", "T", ", ", "-", "_", ":", " - "} // of dates and times of day
	zoneLayouts  = []string{"", "Z07:00", " Z07:00", "-0700", " -0700", "-07", " MST", " -0700 MST"}
	wholeLayouts = []string{time.ANSIC, time.UnixDate, time.RubyDate, time.RFC850}
)

// textLayout is a layout of dates, or of dates with times of day.
type textLayout struct {
	text  string
	zoned bool
	marks string // that each time has
}

// textLayouts returns all of them.
var textLayouts = sync.OnceValue(func() (all []textLayout) {
	add := func(zone string, parts ...string) {
		marks := ""
		for _, mark := range []string{":", "/", ".", ",", "_"} {
			if strings.Contains(strings.Join(parts, ""), mark) {
				marks += mark
			}
		}
		all = append(all, textLayout{strings.Join(parts, "") + zone, zone != "", marks})
	}
	for _, date := range dateLayouts {
		add("", date)
		for _, clock := range clockLayouts {
			for _, between := range betweens {
				for _, zone := range zoneLayouts {
					add(zone, date, between, clock)
				}
			}
		}
	}
	for _, layout := range wholeLayouts {
		all = append(all, textLayout{layout, strings.Contains(layout, "MST") || strings.Contains(layout, "-0700"), ""})
	}
	return all
})

// mayBe reports whether a cell has the layout's marks.
func (l *textLayout) mayBe(cell []byte) bool {
	for i := range len(l.marks) {
		if bytes.IndexByte(cell, l.marks[i]) < 0 {
			return false
		}
	}
	return true
}

// digitLayouts are those that may be a number.
var digitLayouts = []textLayout{{text: "20060102"}, {text: compactLayouts[0]}, {text: compactLayouts[1]}, {text: compactLayouts[2]}}

// compactLayouts are dates with times of day, in digits alone. As numbers since 1970 they lie in 1976, or after 2033.
var compactLayouts = []string{"20060102150405", "200601021504", "2006010215"}

func isNumber(cell []byte) bool {
	_, ok := model.ParseNumber(view(cell))
	return ok
}

// mostTried is how many cells a form is tried on before one that fails most of them is given up.
const mostTried = 20

// fits returns how many of the cells are times of the form, within the years that are kept or not.
func (f TimeForm) fits(cells [][]byte) (n int) {
	for i, cell := range cells {
		if _, _, err := f.Parse(cell); err == nil || errors.Is(err, errRange) {
			n++
		}
		if i == mostTried && n < mostTried/2 {
			return 0
		}
	}
	return n
}

// timeFormOf finds the form of times in a sample of a column's cells, and how many of these fit it. Only a column with
// a name of one of times may hold numbers in no order, and only one that the user asked for numbers before 1973. One
// called year holds years.
func timeFormOf(name string, cells [][]byte, zone *time.Location, named, asked bool) (
	form TimeForm, fit int, err error) {
	if isYearName(name) {
		if f := (TimeForm{layout: "2006", zone: zone}); f.fits(cells) == len(cells) {
			return f, len(cells), nil
		}
	}
	if named || asked || ordered(cells) {
		for _, layout := range compactLayouts {
			if f := (TimeForm{layout: layout, zone: zone}); allCompact(cells, layout) && f.fits(cells) == len(cells) {
				return f, len(cells), nil
			}
		}
	}
	if f := (TimeForm{days: true, zone: zone}); (named || asked || isTimeName(name)) && isSpreadsheet(cells) {
		if asked || isDateName(name) || bytes.ContainsAny(bytes.Join(cells, nil), ".,") {
			return f, len(cells), nil
		}
		return f, 0, fmt.Errorf("%q may be seconds, or days of a spreadsheet: say --time-format s or --time-format excel", cells[0])
	}
	iso := (TimeForm{}).fits(cells)
	if iso*2 > len(cells) {
		// Others may have more, such as one digit for an hour.
		if iso < len(cells) {
			if form, fit, err = textFormOf(cells, zone); err == nil && fit > iso {
				return form, fit, nil
			}
		}
		return TimeForm{zone: zone}, iso, nil
	}
	units := make(map[time.Duration]int)
	for _, cell := range cells {
		if v, ok := model.ParseNumber(view(cell)); ok && v == v {
			if unit := unitOf(v); unit > 0 {
				units[unit]++
			} else if asked && v >= 0 && v < leastNumber {
				units[time.Second]++
			}
		}
	}
	for unit, n := range units {
		if n > fit {
			form, fit = TimeForm{unit: unit}, n
		}
	}
	if fit*2 > len(cells) && (named || ordered(cells)) {
		return form, fit, nil
	}
	return textFormOf(cells, zone)
}

// textFormOf finds the form of times in words or in digits of a date, by a layout.
func textFormOf(cells [][]byte, zone *time.Location) (form TimeForm, fit int, err error) {
	if len(cells) == 0 {
		return TimeForm{zone: zone}, 0, nil
	}
	for i := range yearParts {
		f := TimeForm{part: &yearParts[i], zone: zone}
		if letter := f.part.letter; letter != "" && bytes.Contains(bytes.ToUpper(cells[0]), []byte(letter)) {
			if n := f.fits(cells); n*2 > len(cells) {
				return f, n, nil
			}
		}
	}
	if !bytes.ContainsAny(cells[0], "0123456789") && !bytes.ContainsAny(cells[len(cells)/2], "0123456789") {
		return TimeForm{zone: zone}, 0, nil
	}
	layouts := textLayouts()
	if isNumber(cells[0]) && isNumber(cells[len(cells)/2]) {
		layouts = digitLayouts
	}
	var as []TimeForm
	for i := range layouts {
		if !layouts[i].mayBe(cells[0]) && !layouts[i].mayBe(cells[len(cells)/2]) {
			continue
		}
		f := TimeForm{layout: layouts[i].text, zoned: layouts[i].zoned}
		// The first cell and one in the middle decide whether a layout is tried.
		if _, _, first := f.Parse(cells[0]); first != nil && !errors.Is(first, errRange) {
			if errors.Is(first, errZoneName) {
				err = fmt.Errorf("%q %w", cells[0], first)
				continue
			}
			if _, _, middle := f.Parse(cells[len(cells)/2]); middle != nil && !errors.Is(middle, errRange) {
				continue
			}
		}
		switch n := f.fits(cells); {
		case n > fit:
			form, fit, as = f, n, []TimeForm{f}
		case n == fit && n > 0 && differing(form, f, cells) != nil:
			as = append(as, f)
		}
	}
	if !form.zoned {
		form.zone = zone
	}
	if fit == 0 && err != nil {
		return form, 0, err
	}
	if len(as) > 1 {
		cell := differing(as[0], as[1], cells)
		return form, fit, fmt.Errorf("%q may be %s or %s: say --time-format %s or --time-format %s", cell,
			example(as[0].layout, cell), example(as[1].layout, cell), strptime(as[0].layout), strptime(as[1].layout))
	}
	return form, fit, nil
}

// ordered reports whether most numbers ascend, or most descend, as times in a file do.
func ordered(cells [][]byte) bool {
	up, down, before := 0, 0, math.NaN()
	for _, cell := range cells {
		v, _ := model.ParseNumber(view(cell))
		switch {
		case v > before:
			up++
		case v < before:
			down++
		}
		before = v
	}
	return max(up, down) >= 9*min(up, down)
}

// example shows the time that a layout makes of a cell.
func example(layout string, cell []byte) string {
	t, err := time.Parse(layout, string(cell))
	if err != nil {
		return layout
	}
	return t.Format("2006-01-02")
}

// strptime returns a layout as --time-format takes it, in quotes for a shell.
func strptime(layout string) string {
	text := strings.NewReplacer("2006", "%Y", "Z07:00", "%z", "-0700", "%z", "-07", "%z", "MST", "%Z", "January", "%B", "Jan", "%b",
		"Mon", "%a", "15", "%H", "04", "%M", "05", "%S", "06", "%y", "PM", "%p", "pm", "%p", "1", "%m", "2", "%d", "3", "%I", "4", "%M",
		"5", "%S").Replace(layout)
	if strings.Contains(text, " ") {
		return "'" + text + "'"
	}
	return text
}

// differing returns a cell that two forms read as two times, nil if there is none.
func differing(a, b TimeForm, cells [][]byte) []byte {
	for _, cell := range cells {
		s, _, errA := a.Parse(cell)
		t, _, errB := b.Parse(cell)
		if errA == nil && errB == nil && s != t {
			return cell
		}
	}
	return nil
}

// NamedTimeForm returns the form that a user names: s, ms, us or ns since 1970, or a format of strptime.
func NamedTimeForm(format string, zone *time.Location) (TimeForm, error) {
	for unit, names := range map[time.Duration]string{time.Second: "s", time.Millisecond: "ms",
		time.Microsecond: "us", time.Nanosecond: "ns"} {
		if format == names {
			return TimeForm{unit: unit}, nil
		}
	}
	f := TimeForm{zone: zone}
	if format == "excel" {
		f.days = true
		return f, nil
	}
	if strings.Contains(format, "%G") {
		f.part = &yearParts[1]
		return f, nil
	}
	var layout strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			layout.WriteByte(format[i])
			continue
		}
		i++
		part, ok := directives[format[i]]
		if !ok {
			return f, fmt.Errorf("--time-format: %%%c is not known; %s", format[i], "see strftime, or say s, ms, us or ns")
		}
		if format[i] == 'f' { // package time reads a fraction by itself
			text := strings.TrimRight(layout.String(), ".,")
			layout.Reset()
			layout.WriteString(text)
		}
		f.zoned = f.zoned || format[i] == 'z' || format[i] == 'Z'
		f.upper = f.upper || format[i] == 'p'
		layout.WriteString(part)
	}
	f.layout = layout.String()
	if strings.Contains(f.layout, "-0700") {
		f.also = strings.Replace(f.layout, "-0700", "Z07:00", 1)
	}
	if !strings.Contains(f.layout, "06") {
		return f, fmt.Errorf("--time-format: %q has no year", format)
	}
	return f, nil
}

// directives are strptime's, as package time writes them.
var directives = map[byte]string{'Y': "2006", 'y': "06", 'm': "1", 'b': "Jan", 'B': "January", 'd': "2", 'e': "_2",
	'j': "002", 'a': "Mon", 'A': "Monday", 'H': "15", 'I': "3", 'M': "4", 'S': "5", 'f': "", 'p': "PM", 'z': "-0700",
	'Z': "MST", 'F': "2006-1-2", 'T': "15:4:5", 'R': "15:4", 'D': "1/2/06", '%': "%"}

// yearPart is a part of a year: texts such as 2026Q1 and 2024-W05-2, or numbers in a column beside the year's.
type yearPart struct {
	letter string // before the number; "": none
	plural string
	names  []string // of columns, in lower case
	start  func(year, number int) time.Time
	text   *regexp.Regexp
}

var yearParts = []yearPart{
	{"Q", "quarters", []string{"quarter"}, func(year, n int) time.Time {
		return time.Date(year, time.Month(3*n-2), 1, 0, 0, 0, 0, time.UTC)
	}, regexp.MustCompile(`(?i)^(?:([0-9]{4})[ :/-]?Q?([1-4])|Q([1-4])[ /-]?([0-9]{4}))$`)},
	{"W", "weeks of ISO 8601", []string{"week", "iso_week", "isoweek", "week_of_year", "kw", "cw"}, func(year, n int) time.Time {
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // of January, is in the first week
		return fourth.AddDate(0, 0, 7*(n-1)-(int(fourth.Weekday())+6)%7)
	}, regexp.MustCompile(`(?i)^(?:([0-9]{4})[ :/-]?W?([0-9]{1,2})(?:-?([1-7]))?|W([0-9]{1,2})[ /-]([0-9]{4}))$`)},
	{"", "days of the year", []string{"doy", "day_of_year", "dayofyear", "yday", "jday", "julian_day"}, func(year, n int) time.Time {
		return time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)
	}, regexp.MustCompile(`^(?:([0-9]{4})[ -]([0-9]{1,3}))(?: ([0-9]{1,2}))?(?: ([0-9]{1,2}))?(?: ([0-9]{1,2}))?$`)},
}

// parse reads a text of the year and the part.
func (p *yearPart) parse(s string) (time.Time, error) {
	groups := p.text.FindStringSubmatch(s)
	var numbers []int
	for _, text := range groups[min(1, len(groups)):] {
		if n, err := strconv.Atoi(text); err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) < 2 {
		return time.Time{}, errNoTime
	}
	if numbers[0] < numbers[1] { // the part stands first
		numbers[0], numbers[1] = numbers[1], numbers[0]
	}
	t := p.start(numbers[0], numbers[1])
	last := p.start(numbers[0]+1, 1)
	if numbers[1] == 0 || !t.Before(last) {
		return t, errNoTime
	}
	switch {
	case len(numbers) > 2 && p.letter != "":
		t = t.AddDate(0, 0, numbers[2]-1)
	case len(numbers) > 2: // hours, minutes and seconds
		for i, limit := range []int{24, 59, 59}[:len(numbers)-2] {
			if numbers[i+2] > limit {
				return t, errNoTime
			}
			t = t.Add(time.Duration(numbers[i+2]) * []time.Duration{time.Hour, time.Minute, time.Second}[i])
		}
	}
	return t, nil
}

// partOfYear returns the part whose column is called so, nil for none.
func partOfYear(name string) *yearPart {
	i := slices.IndexFunc(yearParts, func(p yearPart) bool { return slices.Contains(p.names, strings.ToLower(name)) })
	if i < 0 {
		return nil
	}
	return &yearParts[i]
}

// allCompact reports whether all cells have as many digits as a compact layout.
func allCompact(cells [][]byte, layout string) bool {
	return allMatch(cells, func(cell []byte) bool {
		return len(cell) == len(layout) && isDigits(cell) && cell[0] > '0'
	})
}

// isSpreadsheet reports whether all cells may be days of a spreadsheet, from 1970 to 2100.
func isSpreadsheet(cells [][]byte) bool {
	return allMatch(cells, func(cell []byte) bool {
		v, ok := model.ParseNumber(strings.Replace(string(cell), ",", ".", 1))
		return ok && v >= 25569 && v < 73051
	})
}

// calendar lists the names of columns that hold the parts of a time, each with its layouts.
var calendar = []struct{ name, layouts string }{{"year", "2006"}, {"month", "1|Jan|January"}, {"day", "2"}, {"hour", "15"},
	{"minute", "4"}, {"second", "5"}}

// calendarForm returns the form of times in columns of a year, a month and so on, with a blank between.
func calendarForm(names []string, cells [][]byte, zone *time.Location) (form TimeForm, fit int) {
	if len(names) > 1 {
		if part := partOfYear(names[1]); part != nil {
			form = TimeForm{part: part, zone: zone}
			return form, form.fits(cells)
		}
	}
	if len(names) > len(calendar) {
		return form, 0
	}
	layouts := []string{""}
	for i, name := range names {
		if !strings.EqualFold(name, calendar[i].name) && !(i == 0 && isYearName(name)) {
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
