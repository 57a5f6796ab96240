package csv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
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
	last   carbonara.Timestamp

	also     string // another layout of package time, tried after layout
	upper    bool   // the layout knows PM, and the text may have pm
	quarters bool   // a year and a quarter, such as 2026Q1 or, in two columns, 2026 1
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
	case f.quarters:
		return "years and quarters, " + zone
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

// Parse returns the time of a cell.
func (f *TimeForm) Parse(text []byte) (carbonara.Timestamp, error) {
	s := view(text)
	if f.unit > 0 {
		return ParseNumberSince(s, f.unit)
	}
	if f.quarters {
		return f.parseQuarter(s)
	}
	if f.layout == "" {
		t, ok := model.ParseISO(s)
		if !ok {
			form := model.TimestampFormOf(s)
			if form == model.TimestampRelative || form == model.TimestampNumber {
				return 0, errNoTime
			}
			var err error
			if t, err = form.Parse(s, 0); err != nil {
				if isFarISO(s) {
					return 0, errRange
				}
				return 0, err
			}
		}
		if f.zone == nil || namesZone(s) {
			return t, nil
		}
		return f.local(t.Time().UTC())
	}
	if f.upper {
		s = strings.ToUpper(s)
	}
	t, err := time.Parse(f.layout, s)
	if err != nil && f.also != "" {
		t, err = time.Parse(f.also, s)
	}
	if err != nil {
		return 0, errNoTime
	}
	if zone, _ := t.Zone(); f.zoned && zone != "" && zone != "UTC" && zone != "GMT" && !strings.Contains(f.layout, "07") {
		return 0, errZoneName
	}
	if !f.zoned && f.zone != nil {
		return f.local(t)
	}
	return timestampOf(t)
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

// local returns the time at which clocks in the zone show what t shows. Where they show it twice, the later time counts
// if the measure before was later than the earlier one.
func (f *TimeForm) local(t time.Time) (carbonara.Timestamp, error) {
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), f.zone)
	if at.Hour() != t.Hour() || at.Minute() != t.Minute() {
		return 0, fmt.Errorf("does not exist in %s: clocks were put forward", f.zone)
	}
	stamp, err := timestampOf(at)
	if err != nil {
		return 0, err
	}
	const oneHour = time.Hour
	for _, other := range []time.Time{at.Add(-oneHour), at.Add(oneHour)} {
		if other.Hour() != at.Hour() || other.Minute() != at.Minute() {
			continue
		}
		earlier, later := min(stamp, carbonara.FromTime(other)), max(stamp, carbonara.FromTime(other))
		if stamp = earlier; f.last > earlier && f.last <= later.Add(time.Hour) {
			stamp = later
		}
	}
	f.last = stamp
	return stamp, nil
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
		"2-Jan-2006", "Jan-2-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006", "Mon, 2 Jan 2006", "20060102",
		"1/2/06", "2/1/06", "2.1.06", "2-Jan-06", "06-1-2", "2-1-06", "1-2-06", "Jan 2006", "Jan-2006", "January 2006",
		"1/2006"}
	clockLayouts = []string{"15:4:5", "15:4", "3:4:5 PM", "3:4 PM", "3:4:5PM", "3:4PM", "3:4:5 pm", "3:4 pm", "150405"}
	zoneLayouts  = []string{"", "Z07:00", " Z07:00", "-0700", " -0700", "-07", " MST", " -0700 MST"}
	wholeLayouts = []string{time.ANSIC, time.UnixDate, time.RubyDate, time.RFC850}
)

// textLayouts calls use with each layout of dates, or of dates with times of day.
func textLayouts(use func(layout string, zoned bool)) {
	for _, date := range dateLayouts {
		use(date, false)
		for _, clock := range clockLayouts {
			for _, between := range []string{" ", "T", ", "} {
				for i, zone := range zoneLayouts {
					use(date+between+clock+zone, i > 0)
				}
			}
		}
	}
	for _, layout := range wholeLayouts {
		use(layout, strings.Contains(layout, "MST") || strings.Contains(layout, "-0700"))
	}
}

// digitLayout calls use with the layout of textLayouts that may be a number.
func digitLayout(use func(layout string, zoned bool)) { use("20060102", false) }

func isNumber(cell []byte) bool {
	_, ok := model.ParseNumber(view(cell))
	return ok
}

// mostTried is how many cells a form is tried on before one that fails most of them is given up.
const mostTried = 20

// fits returns how many of the cells are times of the form, within the years that are kept or not.
func (f TimeForm) fits(cells [][]byte) (n int) {
	for i, cell := range cells {
		if _, err := f.Parse(cell); err == nil || errors.Is(err, errRange) {
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
	if strings.EqualFold(name, "year") {
		if f := (TimeForm{layout: "2006", zone: zone}); f.fits(cells) == len(cells) {
			return f, len(cells), nil
		}
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
	if f := (TimeForm{quarters: true, zone: zone}); bytes.ContainsAny(cells[0], "qQ") && f.fits(cells) == len(cells) {
		return f, len(cells), nil
	}
	layouts := textLayouts
	if isNumber(cells[0]) && isNumber(cells[len(cells)/2]) {
		layouts = digitLayout
	}
	var as []TimeForm
	layouts(func(layout string, zoned bool) {
		f := TimeForm{layout: layout, zoned: zoned}
		// The first cell and one in the middle decide whether a layout is tried.
		if _, first := f.Parse(cells[0]); first != nil && !errors.Is(first, errRange) {
			if errors.Is(first, errZoneName) {
				err = fmt.Errorf("%q %w", cells[0], first)
				return
			}
			if _, middle := f.Parse(cells[len(cells)/2]); middle != nil && !errors.Is(middle, errRange) {
				return
			}
		}
		switch n := f.fits(cells); {
		case n > fit:
			form, fit, as = f, n, []TimeForm{f}
		case n == fit && n > 0 && differing(form, f, cells) != nil:
			as = append(as, f)
		}
	})
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
		s, errA := a.Parse(cell)
		t, errB := b.Parse(cell)
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
