package csv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/model"
)

// NumberForm says how a column writes its numbers. The zero value is the plain form.
type NumberForm struct {
	point     byte   // decimal separator, if it is not '.'
	thousands byte   // between groups of three digits; 0: none
	unit      string // after the number, such as "W" or "%"
}

// gaps are the words that stand for no value.
var gaps = map[string]bool{"": true, "-": true, "--": true, "?": true, "na": true, "n/a": true, "#n/a": true, "null": true,
	"none": true, "nil": true, "nan": true, "unavailable": true, "unknown": true, `\n`: true, "---": true, ".": true,
	"*": true, "**": true, "***": true, "m": true, "missing": true, "nd": true, "n.d.": true, "<na>": true, "nat": true,
	"#value!": true, "#div/0!": true, "#ref!": true, "#num!": true, "#name?": true, "undefined": true, "(null)": true}

// IsGap reports whether a cell stands for no value.
func IsGap(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if c := text[0]; c >= '0' && c <= '9' || len(text) > len("unavailable") {
		return false
	}
	if text[0] == '\'' { // of a spreadsheet: the rest is text
		text = text[1:]
	}
	return gaps[strings.ToLower(view(text))]
}

// Parse returns the value of a cell that is no gap.
func (f *NumberForm) Parse(text []byte) (float64, bool) {
	if *f == (NumberForm{}) {
		return ParseNumber(view(text))
	}
	text = f.withoutUnit(text)
	if f.thousands != 0 {
		text = bytes.ReplaceAll(text, []byte{f.thousands}, nil)
	}
	if f.thousands == ' ' {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\u00a0"), nil), []byte("\u202f"), nil)
	}
	if f.point != 0 {
		if bytes.IndexByte(text, '.') >= 0 {
			return 0, false
		}
		text = bytes.Replace(text, []byte{f.point}, []byte{'.'}, 1)
	}
	return ParseNumber(view(text))
}

// withoutUnit returns the number of a cell.
func (f *NumberForm) withoutUnit(text []byte) []byte {
	return bytes.TrimSpace(bytes.TrimSuffix(text, []byte(f.unit)))
}

// ParseNumber is model.ParseNumber without numbers that would become another one: too large, or so small that it would
// be 0.
func ParseNumber(text string) (float64, bool) {
	value, ok := model.ParseNumber(text)
	if ok && (value == 0 || math.IsInf(value, 0)) {
		_, err := plaintext.ParseValue(strings.ReplaceAll(strings.TrimSpace(text), "_", ""))
		ok = !errors.Is(err, plaintext.ErrRange)
	}
	return value, ok
}

// String describes the form where it is not the plain one.
func (f *NumberForm) String() string {
	var parts []string
	if f.unit != "" {
		parts = append(parts, "in "+f.unit)
	}
	if f.point != 0 {
		parts = append(parts, fmt.Sprintf("decimal %q", f.point))
	}
	if f.thousands != 0 {
		parts = append(parts, fmt.Sprintf("thousands %q", f.thousands))
	}
	return strings.Join(parts, ", ")
}

// ErrNoNumbers says that a column holds text.
var ErrNoNumbers = errors.New("no cell is a number")

// NumberFormOf finds the form of a column from a sample of its cells. Point is what the user says of the decimal
// separator, 0 for nothing. A column without values has the plain form.
func NumberFormOf(cells [][]byte, point byte) (NumberForm, error) {
	var f NumberForm
	units := make(map[string]int)
	values, plain := 0, 0
	for _, cell := range cells {
		if IsGap(cell) {
			continue
		}
		values++
		if isDigits(cell) {
			plain++
		} else if _, ok := model.ParseNumber(view(cell)); ok {
			plain++
		} else if end := bytes.LastIndexAny(cell, "0123456789") + 1; end > 0 {
			units[strings.TrimSpace(string(cell[end:]))]++
		}
	}
	if values == 0 || plain == values && point == 0 {
		return f, nil
	}
	for unit, n := range units {
		if n*2 > values && unit != "" {
			f.unit = unit
		}
	}
	var err error
	digits := slices.DeleteFunc(slices.Clone(cells), func(cell []byte) bool { return !f.hasDigits(cell) })
	if len(digits)*2 < values {
		return f, ErrNoNumbers
	}
	if f.point, f.thousands, err = f.separators(digits, point); err != nil {
		return f, err
	}
	numbers := 0
	for _, cell := range cells {
		if !IsGap(cell) {
			if _, ok := f.Parse(cell); ok {
				numbers++
			}
		}
	}
	if numbers == 0 {
		return f, ErrNoNumbers
	}
	if plain >= numbers && f.thousands != '.' {
		return NumberForm{}, nil
	}
	return f, nil
}

// isDigits reports whether a cell is a number as most are, of digits and perhaps a sign and a point.
func isDigits(cell []byte) bool {
	cell = bytes.TrimPrefix(cell, []byte{'-'})
	points := 0
	for _, c := range cell {
		if c == '.' {
			points++
		} else if c < '0' || c > '9' {
			return false
		}
	}
	return points <= 1 && len(cell) > points
}

// hasDigits reports whether a cell consists of digits and of characters between them, its unit aside.
func (f *NumberForm) hasDigits(cell []byte) bool {
	cell = f.withoutUnit(cell)
	return bytes.ContainsAny(cell, "0123456789") &&
		len(bytes.Trim(cell, "+-0123456789.,' eE\u00a0\u202f")) == 0
}

// separators returns the decimal separator, 0 for a point, and that of thousands, by the evidence of cells: a separator
// that comes twice, or before the other one, stands between thousands; one that is not followed by three digits is
// decimal.
func (f *NumberForm) separators(cells [][]byte, point byte) (decimal, thousands byte, err error) {
	var decimalComma, decimalPoint, commaThousands, pointThousands, space, quote, unclear, unclearPoint bool
	for _, cell := range cells {
		cell = bytes.TrimLeft(f.withoutUnit(cell), "+-")
		commas, points := bytes.Count(cell, []byte{','}), bytes.Count(cell, []byte{'.'})
		comma, dot := bytes.LastIndexByte(cell, ','), bytes.LastIndexByte(cell, '.')
		space = space || bytes.ContainsAny(cell, " \u00a0\u202f")
		quote = quote || bytes.IndexByte(cell, '\'') > 0
		switch {
		case commas > 0 && points > 0:
			decimalComma = decimalComma || comma > dot
			decimalPoint = decimalPoint || dot > comma
			commaThousands = commaThousands || dot > comma
			pointThousands = pointThousands || comma > dot
		case commas > 1:
			commaThousands = true
		case points > 1:
			pointThousands = true
		case commas == 1 && (len(cell)-comma-1 != 3 || comma > 3 || comma == 0 || cell[0] == '0'):
			decimalComma = true
		case commas == 1:
			unclear = true
		case points == 1:
			decimalPoint = decimalPoint || len(cell)-dot-1 != 3
			unclearPoint = unclearPoint || thousandsPoint.Match(cell)
		}
	}
	if point == ',' {
		decimalComma, commaThousands, pointThousands = true, false, pointThousands || unclearPoint
	} else if point == '.' {
		decimalComma, commaThousands = false, commaThousands || unclear
	}
	switch {
	case decimalComma && (commaThousands || decimalPoint && !pointThousands):
		return 0, 0, errors.New("numbers with both decimal points and decimal commas")
	case pointThousands && (decimalComma || !decimalPoint):
		return ',', '.', nil
	case decimalComma && space:
		return ',', ' ', nil
	case decimalComma && quote:
		return ',', '\'', nil
	case decimalComma:
		return ',', 0, nil
	case commaThousands:
		return 0, ',', nil
	case unclear && decimalPoint:
		return 0, ',', nil
	case unclear:
		return 0, 0, errors.New("a comma before three digits, which may be decimal or between thousands: say --decimal , for the one or --decimal . for the other")
	case space:
		return 0, ' ', nil
	case quote:
		return 0, '\'', nil
	}
	return 0, 0, nil
}

// thousandsPoint matches a number whose point may be decimal, or between thousands.
var thousandsPoint = regexp.MustCompile(`^[1-9][0-9]{0,2}\.[0-9]{3}$`)

// CheckPoints refuses the forms of a file's columns if one has decimal commas, and all points of another one may stand
// between thousands: a file has one decimal separator.
func CheckPoints(names []string, cells [][][]byte, forms []NumberForm) error {
	comma := slices.IndexFunc(forms, func(f NumberForm) bool { return f.point == ',' })
	if comma < 0 {
		return nil
	}
	for i := range forms {
		f := &forms[i]
		first := slices.IndexFunc(cells[i], hasPoint)
		if f.point != 0 || f.thousands != 0 || first < 0 || slices.ContainsFunc(cells[i], f.hasDecimalPoint) {
			continue
		}
		return fmt.Errorf("column %s: the point of %q may be decimal or between thousands, as column %s has "+
			"decimal commas: say --decimal , for thousands, and leave the column out otherwise",
			names[i], cells[i][first], names[comma])
	}
	return nil
}

// hasPoint reports whether a cell is a value with a point.
func hasPoint(cell []byte) bool { return bytes.IndexByte(cell, '.') >= 0 && !IsGap(cell) }

// hasDecimalPoint reports whether a cell has a point that cannot stand between thousands.
func (f *NumberForm) hasDecimalPoint(cell []byte) bool {
	cell = f.withoutUnit(cell)
	return hasPoint(cell) && !thousandsPoint.Match(bytes.TrimLeft(cell, "+-"))
}

// view is text as a string, for a call that does not keep it.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
