package statsd

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// kind is what a message says about its metric.
type kind uint8

const (
	gauge kind = iota
	counter
	timer
	kinds = iota
)

// suffixes are the types as they stand in messages and at the end of metrics' names.
var suffixes = [kinds]string{"g", "c", "ms"}

// A message is one line of a datagram: NAME:VALUE|TYPE, for counters perhaps with |@RATE.
type message struct {
	name  []byte // a part of the datagram
	kind  kind
	value float64 // of a counter, what it stands for at its rate
}

// maxNameBytes leaves room for the type within what a metric's name may have.
const maxNameBytes = 250

// The reasons why messages are refused, labels of a metric.
const (
	reasonForm   = "form"   // not NAME:VALUE|TYPE
	reasonValue  = "value"  // no finite number
	reasonRate   = "rate"   // no sampling rate, or one of something that has none
	reasonType   = "type"   // unknown
	reasonSet    = "set"    // sets are not kept
	reasonDelta  = "delta"  // a change of a gauge
	reasonMany   = "many"   // too many metrics between two flushes
	reasonPolicy = "policy" // no archive policy for the metric
	reasonStore  = "store"  // it could not be stored
)

var reasons = []string{reasonForm, reasonValue, reasonRate, reasonType, reasonSet, reasonDelta, reasonMany,
	reasonPolicy, reasonStore}

// parseMessage reads a line; if it cannot, it returns the reason.
func parseMessage(line []byte) (m message, reason string) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || colon > maxNameBytes {
		return m, reasonForm
	}
	name, rest := line[:colon], line[colon+1:]
	if bytes.IndexByte(name, '|') >= 0 || bytes.IndexByte(rest, ':') >= 0 || bytes.IndexByte(name, 0) >= 0 ||
		!utf8.Valid(name) {
		return m, reasonForm
	}
	value, rest, ok := bytes.Cut(rest, []byte{'|'})
	if !ok {
		return m, reasonForm
	}
	suffix, rate, sampled := bytes.Cut(rest, []byte{'|'})
	switch string(suffix) {
	case "g":
		m.kind = gauge
	case "c":
		m.kind = counter
	case "ms":
		m.kind = timer
	case "s":
		return m, reasonSet
	default:
		return m, reasonType
	}
	if m.kind == gauge && len(value) > 0 && (value[0] == '+' || value[0] == '-') {
		return m, reasonDelta
	}
	m.name = name
	if m.value, ok = parseFinite(value); !ok {
		return m, reasonValue
	}
	if sampled {
		if len(rate) == 0 || rate[0] != '@' || m.kind != counter {
			return m, reasonRate
		}
		per, ok := parseFinite(rate[1:])
		if !ok || per <= 0 {
			return m, reasonRate
		}
		m.value *= 1 / per
	}
	return m, ""
}

func parseFinite(text []byte) (float64, bool) {
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	return value, err == nil && !math.IsNaN(value) && !math.IsInf(value, 0)
}
