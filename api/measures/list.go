package measures

import (
	"math"
	"strconv"
	"strings"

	"gnocco/carbonara"
	"gnocco/model"
)

// list appends the measures of a list to dst. All timestamps are read before the first value, so that of several
// faults the same one is told as by Gnocchi.
func (d *document) list(list int, now carbonara.Timestamp, dst *model.Measures) *DecodeError {
	n := d.nodes[list]
	if n.kind != arrayNode {
		// To Gnocchi whatever can be walked through is a list; only without elements nothing is wrong with them.
		if n.kind == objectNode && n.end == list+1 || n.kind == stringNode && n.from == n.to {
			return nil
		}
		return formatFault()
	}
	var form model.TimestampForm
	for i, item := 0, list+1; item < n.end; i, item = i+1, d.nodes[item].end {
		if d.nodes[item].kind != objectNode {
			return formatFault().at(strconv.Itoa(i))
		}
		value, ok := d.member(item, "timestamp")
		if !ok {
			return formatFault().at(strconv.Itoa(i), "timestamp")
		}
		t, fault := d.timestamp(d.nodes[value], &form, now)
		if fault != nil {
			return fault.at(strconv.Itoa(i), "timestamp")
		}
		dst.Timestamps = append(dst.Timestamps, t)
	}
	for i, item := 0, list+1; item < n.end; i, item = i+1, d.nodes[item].end {
		value, ok := d.member(item, "value")
		if !ok {
			return valueFault().at(strconv.Itoa(i), "value")
		}
		v, ok := d.float(d.nodes[value])
		if !ok {
			return valueFault().at(strconv.Itoa(i), "value")
		}
		dst.Values = append(dst.Values, v)
	}
	return nil
}

// timestamp reads a timestamp in a form; if that is 0, in whichever form it has, which form becomes.
func (d *document) timestamp(n node, form *model.TimestampForm, now carbonara.Timestamp) (carbonara.Timestamp, *DecodeError) {
	var text string
	switch n.kind {
	case stringNode:
		text = d.text(n)
		if *form == 0 {
			*form = model.TimestampFormOf(text)
		}
	case numberNode, trueNode, falseNode:
		switch text = d.text(n); text { // Python's booleans are numbers
		case "true":
			text = "1"
		case "false":
			text = "0"
		}
		if *form == 0 {
			*form = model.TimestampNumber
		}
		if *form == model.TimestampISO {
			return 0, timestampFault(model.ErrTimestampForm)
		}
	default:
		return 0, formatFault()
	}
	t, err := form.Parse(text, now)
	if err != nil {
		return 0, timestampFault(err)
	}
	return t, nil
}

// float reads a value as Python's float() does.
func (d *document) float(n node) (float64, bool) {
	switch n.kind {
	case trueNode:
		return 1, true
	case falseNode:
		return 0, true
	case stringNode:
		return model.ParseNumber(d.text(n))
	case numberNode:
		return parseNumber(d.text(n))
	}
	return 0, false
}

// parseNumber reads the text of a number. One that is written as an integer is an integer in Python: there is no
// negative zero, and one beyond the range of a float64 is refused, while other numbers beyond it are infinite.
func parseNumber(text string) (float64, bool) {
	f, _ := strconv.ParseFloat(text, 64) // syntax is checked: the error is the range, the value infinite
	if strings.ContainsAny(text, ".eENI") {
		return f, true
	}
	if f == 0 {
		return 0, true
	}
	return f, !math.IsInf(f, 0)
}
