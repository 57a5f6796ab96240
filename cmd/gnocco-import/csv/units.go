package csv

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// unitWords are words of lines below a header: units, how a logger reduced its measures, and types.
var unitWords = words(`ts rn timestamp volts volt v mv kv a ma amps amp ohm ohms w kw mw wh kwh mwh gwh va var hz khz mhz
	c f k degc degf degrees degree deg celsius kelvin fahrenheit pct percent rh mm cm m km in ft mi nm um l ml gal m3 m2
	kg g mg t lb pa hpa kpa mbar mb bar psi atm mmhg inhg s sec secs second seconds ms us ns min mins minute minutes h hr
	hrs hour hours d day days week weeks month year yyyy-mm-dd utc iso8601 mph kph kmh knots kt kts rpm bpm ppm ppb ppt
	db dba dbm lux lx cd lm j kj mj gj btu cal kcal n kn nm ntu ph psu siemens us/cm count counts number unitless none
	text string float double int integer datetime date avg average mean max smp sample tot total sum std stdev median
	eur usd gbp ampere amperes watt watts joule joules meter meters metre metres liter liters litre litres grad gradc
	prozent stunde stunden minute minuten sekunde sekunden`)

func words(text string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// rdbWidth is the width of a column and its type, as the line below a header of RDB has them.
var rdbWidth = regexp.MustCompile(`^[0-9]+[sdn]$`)

// dateForm is how a logger writes that it writes dates and times of day, also in German.
var dateForm = regexp.MustCompile(`^[dmyht][dmyhst :/.-]{6,}$|^[dmyjhts]{1,5}([ :/.-]+[dmyjhts]{1,5})+$`)

// isUnit reports whether a cell is a unit or the like, rather than a name.
func isUnit(cell []byte) bool {
	text := strings.ToLower(strings.Trim(string(cell), " ()[]"))
	return unitWords[strings.ReplaceAll(text, " ", "")] || strings.ContainsAny(text, "%°²³^µμ/") || text == "-" ||
		rdbWidth.MatchString(text) || dateForm.MatchString(text)
}

// isBeneath reports whether the line below one of names has units: each of its cells is one or empty, or the first cell
// is empty, or all but one, or half of those that are not the name again are units and no name is one.
func isBeneath(names, row [][]byte) bool {
	if len(names) != len(row) || len(row) < 2 {
		return false
	}
	units, empty, other, named, same := 0, 0, 0, 0, 0
	for i, cell := range row {
		cell = bytes.TrimSpace(cell)
		has := len(bytes.TrimSpace(names[i])) > 0
		if has {
			named++
		}
		switch {
		case len(cell) == 0 && has:
			empty++
		case len(cell) == 0:
		case bytes.EqualFold(cell, bytes.TrimSpace(names[i])):
			same++
		case isUnit(cell):
			units++
		default:
			other++
		}
	}
	switch {
	case other == 0 && same == 0:
		return units > 0 || empty > 0
	case hasNumbers(bytes.Join(row, []byte{0}), 0):
		return false
	}
	return named == len(row) && (len(bytes.TrimSpace(row[0])) == 0 || units > 0 &&
		2*units >= len(row)-same && !slices.ContainsFunc(names, isUnit)) || other == 1 && units == 0 && empty > 1
}

// Beneath is a record below the header.
type Beneath [][]byte

// Units returns the units of columns, "" for none.
func (b Beneath) Units() []string {
	units := make([]string, len(b))
	for i, cell := range b {
		if text := strings.Trim(string(bytes.TrimSpace(cell)), "()[]"); !rdbWidth.MatchString(text) && text != "-" {
			units[i] = text
		}
	}
	return units
}

// Distinguish adds the cells of a record below the header to names, where some of these are equal. It reports whether
// all differ then.
func (b Beneath) Distinguish(names []string) bool {
	if unique(names) {
		return false
	}
	longer := make([]string, len(names))
	for i, name := range names {
		longer[i] = name
		if cell := strings.TrimSpace(string(b[i])); cell != "" {
			longer[i] += "." + cell
		}
	}
	if !unique(longer) {
		return false
	}
	copy(names, longer)
	return true
}
