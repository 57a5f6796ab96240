package measures

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A list is an array of the document: its measures are those of document.measures from one index to another. With a
// fault there are none.
type list struct {
	from, to int
	fault    *DecodeError
}

// list parses an array as a list of measures. Of several faults it keeps the one that Gnocchi tells, which reads all
// timestamps before the first value.
func (p *parser) list(depth int) list {
	dst := p.measures
	from := dst.Len()
	var form model.TimestampForm
	var fault, badValue *DecodeError
	i := 0
	p.array(depth, func(depth int) {
		timestamp, value, isMeasure := p.measure(depth)
		if p.fault == "" && fault == nil {
			var t carbonara.Timestamp
			if t, fault = p.timestampOf(timestamp, isMeasure, &form); fault != nil {
				fault = fault.at(strconv.Itoa(i))
			}
			v, ok := p.float(value)
			if !ok && badValue == nil {
				badValue = valueFault().at(strconv.Itoa(i), "value")
			}
			dst.Timestamps, dst.Values = append(dst.Timestamps, t), append(dst.Values, v)
		}
		i++
	})
	if fault = cmp.Or(fault, badValue); fault != nil {
		dst.Timestamps, dst.Values = dst.Timestamps[:from], dst.Values[:from]
	}
	return list{from, dst.Len(), fault}
}

// measure parses an item of a list, and returns the values of its timestamp and its value, of kind absentNode where
// there is none. It is no measure if one of them stands there twice.
func (p *parser) measure(depth int) (timestamp, value node, isMeasure bool) {
	p.space()
	if p.peek() != '{' || depth == maxDepth {
		p.value(depth)
		return timestamp, value, false
	}
	isMeasure = true
	p.object(depth+1, func(depth int) {
		key := p.string()
		if !p.colon() {
			return
		}
		n := p.value(depth)
		if p.fault != "" {
			return
		}
		switch p.text(key) {
		case "timestamp":
			isMeasure, timestamp = isMeasure && timestamp.kind == absentNode, n
		case "value":
			isMeasure, value = isMeasure && value.kind == absentNode, n
		}
	})
	return timestamp, value, isMeasure
}

// listOf returns the list that a value is. To Gnocchi every value that can be iterated is a list. Only an empty one has
// no wrong elements.
func (d *document) listOf(value uint32) list {
	switch n := d.nodes[value]; {
	case n.kind == arrayNode:
		return d.lists[n.from]
	case n.kind == objectNode && n.end == value+1, n.kind == stringNode && n.from == n.to:
		return list{}
	}
	return list{fault: formatFault()}
}

// timestampOf reads the timestamp of an item.
func (p *parser) timestampOf(n node, isMeasure bool, form *model.TimestampForm) (carbonara.Timestamp, *DecodeError) {
	if !isMeasure {
		return 0, formatFault()
	}
	if n.kind == absentNode {
		return 0, formatFault().at("timestamp")
	}
	t, fault := p.timestamp(n, form, p.now)
	if fault != nil {
		return 0, fault.at("timestamp")
	}
	return t, nil
}

// place sets the offsets of dst to these lists, one a metric, and moves measures if they lie in another order, or
// others between them.
func place(lists []list, dst *model.Measures) {
	dst.Offsets = append(dst.Offsets[:0], 0)
	at, inOrder := 0, true
	for _, l := range lists {
		inOrder = inOrder && (l.from == at || l.from == l.to)
		at += l.to - l.from
		dst.Offsets = append(dst.Offsets, at)
	}
	if inOrder && at == dst.Len() {
		return
	}
	timestamps, values := make([]carbonara.Timestamp, 0, at), make([]float64, 0, at)
	for _, l := range lists {
		timestamps, values = append(timestamps, dst.Timestamps[l.from:l.to]...), append(values,
			dst.Values[l.from:l.to]...)
	}
	dst.Timestamps, dst.Values = timestamps, values
}

// timestamp reads a timestamp in a form. If form is 0, it accepts each form and sets form to the one it finds.
func (d *document) timestamp(n node, form *model.TimestampForm, now carbonara.Timestamp) (
	carbonara.Timestamp, *DecodeError) {
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
		*form = cmp.Or(*form, model.TimestampNumber)
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
