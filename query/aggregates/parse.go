package aggregates

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Limits of an operation: no honest one comes near. Gnocchi fails at about the same depth.
const (
	maxDepth = 100
	maxNodes = 500 // numbers and references apart
)

// ParseExact reads an operation and returns Exact of it.
func ParseExact(value any) (*Operation, error) {
	o, err := Parse(value)
	if err != nil {
		return nil, err
	}
	return o.Exact()
}

// Parse reads operations as a client sends them: lists of lists, strings and numbers, or the text of an S-expression.
// Values are what encoding/json makes of JSON, with json.Number for numbers. The error is a *SyntaxError or an
// *InvalidError.
func Parse(value any) (*Operation, error) {
	if text, ok := value.(string); ok {
		list, err := parseText(text)
		if err != nil {
			return nil, err
		}
		value = list
	}
	p := parser{operation: new(Operation), seen: map[Reference]int{}}
	root, err := p.list(value, 1)
	if err != nil {
		return nil, err
	}
	if len(p.operation.References) == 0 {
		return nil, ErrNoMetric
	}
	p.operation.root = root
	return p.operation, nil
}

type parser struct {
	operation *Operation
	seen      map[Reference]int
	nodes     int
}

// operand reads an operation or a number.
func (p *parser) operand(value any, depth int) (*node, error) {
	if _, ok := value.([]any); ok {
		return p.list(value, depth)
	}
	number, ok := parseNumber(value)
	if !ok {
		return nil, &InvalidError{Reason: "expected an operation or a number", Detail: describe(value)}
	}
	return &node{kind: kindNumber, number: number}, nil
}

func parseNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case json.Number:
		return model.ParseNumber(v.String())
	case string:
		return model.ParseNumber(v)
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// describe names a JSON value in an error.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "got null"
	case string:
		return "got '" + clipped(v, 50) + "'"
	case json.Number:
		return "got " + v.String()
	case bool:
		return fmt.Sprintf("got %t", v)
	case []any:
		return "got a list"
	}
	return "got an object"
}

// list reads an operation.
func (p *parser) list(value any, depth int) (*node, error) {
	items, ok := value.([]any)
	switch {
	case !ok:
		return nil, &InvalidError{Reason: "Expected a tuple/list, " +
			strings.Replace(describe(value), "got", "got a", 1)}
	case len(items) == 0:
		return nil, &InvalidError{Reason: "Operation must not be empty"}
	case len(items) == 1:
		return nil, &InvalidError{Reason: "Operation need at least one argument"}
	case depth > maxDepth:
		return nil, &InvalidError{Reason: fmt.Sprintf("Operations are nested more than %d deep", maxDepth)}
	}
	if p.nodes++; p.nodes > maxNodes {
		return nil, &InvalidError{Reason: fmt.Sprintf("More than %d operations", maxNodes)}
	}
	name, ok := items[0].(string)
	if !ok {
		return nil, &InvalidError{Reason: "Operation must begin with its name", Detail: describe(items[0])}
	}
	n := &node{name: name}
	arguments := items[1:]
	operands, err := n.recognize(arguments)
	if err != nil {
		return nil, err
	}
	if n.kind == kindMetric {
		return n, p.metric(n, arguments)
	}
	for _, operand := range operands {
		o, err := p.operand(operand, depth+1)
		if err != nil {
			return nil, err
		}
		n.operands = append(n.operands, o)
	}
	if n.kind == kindAggregate && len(n.operands) > 1 {
		return n, n.joinMetrics()
	}
	return n, nil
}

// joinMetrics makes one operand of several metrics. Aodh sends them so: each of them on its own behind aggregate, which
// Gnocchi refuses.
func (n *node) joinMetrics() error {
	all := &node{kind: kindMetric, name: "metric"}
	for _, o := range n.operands {
		if o.kind != kindMetric {
			return n.invalid("takes one operation, or several metrics")
		}
		all.references = append(all.references, o.references...)
	}
	n.operands = []*node{all}
	return nil
}

// invalid is about an argument of n; where n is no operation, format is empty.
func (n *node) invalid(format string, args ...any) error {
	return &InvalidError{Reason: "'" + clipped(n.name, 50) + "' operation invalid",
		Detail: fmt.Sprintf(format, args...)}
}

// clipped returns at most so many bytes of a text that an error shows.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// recognize finds out what n is by its name, reads its arguments, and returns those of them that are operands.
func (n *node) recognize(arguments []any) (operands []any, err error) {
	least, most := 1, 1
	if unary, ok := unaryOperators[n.name]; ok {
		n.kind, n.unary = kindUnary, unary
	} else if binary, ok := binaryOperators[n.name]; ok {
		n.kind, n.binary, least, most = kindBinary, binary, 2, 2
	} else {
		switch n.name {
		case "metric":
			n.kind, most = kindMetric, math.MaxInt
		case "rateofchange":
			n.kind = kindRateOfChange
		case "rateofchangesec":
			n.kind = kindRateOfChangeSec
		case "clip":
			n.kind, least, most = kindClip, 2, 3
		case "aggregate":
			n.kind, least, most = kindAggregate, 2, math.MaxInt
		case "rolling":
			n.kind, least, most = kindRolling, 3, 3
		case "resample":
			n.kind, least, most = kindResample, 3, 3
		default:
			return nil, n.invalid("")
		}
	}
	if len(arguments) < least || len(arguments) > most {
		switch most {
		case least:
			return nil, n.invalid("takes %d arguments, not %d", least, len(arguments))
		case math.MaxInt:
			return nil, n.invalid("takes %d arguments at least, not %d", least, len(arguments))
		}
		return nil, n.invalid("takes %d or %d arguments, not %d", least, most, len(arguments))
	}
	switch n.kind {
	case kindAggregate, kindRolling:
		operands = arguments[1:]
		method, _ := arguments[0].(string)
		var ok bool
		if n.across, ok = parseAcrossMethod(method); !ok || n.kind == kindRolling && n.across.base >= acrossPercentile {
			return nil, n.invalid("no such aggregation method, %s", describe(arguments[0]))
		}
		if n.kind == kindRolling {
			operands = arguments[2:]
			if n.window, ok = parseWindow(arguments[1]); !ok {
				return nil, n.invalid("the window has to be a whole number of at least 1, %s", describe(arguments[1]))
			}
		}
	case kindResample:
		if err := n.recognizeResample(arguments); err != nil {
			return nil, err
		}
		operands = arguments[2:]
	default:
		operands = arguments
	}
	return operands, nil
}

// canResample reports whether resample takes a method: it takes no rates of percentiles, of first and of last, and no
// methods of counters, whose aggregates add up.
func canResample(m carbonara.Method) bool {
	return !m.IsCounter() &&
		(!m.IsRate() || m.Percentile() == 0 && m != carbonara.Last.Rate() && m != carbonara.First.Rate())
}

func (n *node) recognizeResample(arguments []any) error {
	name, _ := arguments[0].(string)
	method, err := carbonara.ParseMethod(name)
	if err != nil || !canResample(method) {
		return n.invalid("no such aggregation method, %s", describe(arguments[0]))
	}
	n.method = method
	text, ok := arguments[1].(string)
	if number, isNumber := arguments[1].(json.Number); isNumber {
		text, ok = number.String(), true
	}
	if n.width, err = model.ParseTimespan(text); err != nil || !ok {
		return n.invalid("the timespan has to be a number of seconds or words, and positive, %s",
			describe(arguments[1]))
	}
	n.grouping = width(n.width)
	return nil
}

// parseWindow reads a number of rows; fractions are cut off where it is no text, as in Gnocchi.
func parseWindow(value any) (int, bool) {
	if text, ok := value.(string); ok {
		rows, err := strconv.Atoi(strings.TrimSpace(text))
		return rows, err == nil && rows >= 1
	}
	rows, ok := parseNumber(value)
	return int(rows), ok && rows >= 1 && rows < math.MaxInt32
}

// metric reads references: one as two strings, or any number of them as lists of two.
func (p *parser) metric(n *node, arguments []any) error {
	if _, ok := arguments[0].(string); ok {
		return p.reference(n, arguments)
	}
	for _, argument := range arguments {
		pair, ok := argument.([]any)
		if !ok {
			return n.invalid("expected a list of a metric and an aggregation method, %s", describe(argument))
		}
		if err := p.reference(n, pair); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) reference(n *node, pair []any) error {
	if len(pair) != 2 {
		return n.invalid("expected a metric and an aggregation method, got a list of length %d", len(pair))
	}
	var r Reference
	var ok, ok2 bool
	r.Name, ok = pair[0].(string)
	r.Aggregation, ok2 = pair[1].(string)
	if !ok || !ok2 {
		return n.invalid("metric and aggregation method have to be strings")
	}
	i, ok := p.seen[r]
	if !ok {
		i = len(p.operation.References)
		p.seen[r] = i
		p.operation.References = append(p.operation.References, r)
	}
	n.references = append(n.references, i)
	return nil
}
