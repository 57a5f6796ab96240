package statsd

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// kind is what a message says about its metric.
type kind uint8

const (
	gauge kind = iota
	counter
	timer
	set
	kinds = iota
)

// suffixes are the types at the end of metrics' names.
var suffixes = [kinds]string{"g", "c", "ms", "s"}

// types are the kinds by the type in a message. A histogram and a distribution are timers of anything, and a meter is a
// counter.
var types = map[string]kind{"g": gauge, "c": counter, "m": counter, "ms": timer, "h": timer, "d": timer, "s": set}

// A message is one line of a datagram: NAME:VALUE|TYPE, perhaps with more values and with sections behind the type.
type message struct {
	labelled bool // the name and DogStatsD's tags are labels

	name   []byte // a part of the datagram, or a copy; if labelled, model.Labels
	tags   []byte // if labelled, a part of the datagram
	labels series.Labels
	kind   kind
	at     carbonara.Timestamp // 0: the time of its arrival
	values []value
}

// A value is a number, or a set's member.
type value struct {
	number  float64 // of a counter, what it stands for at its rate
	change  bool    // of a gauge: relative to its last value
	element []byte  // of a set
}

// maxNameBytes leaves room for the type within what a metric's name may have.
const maxNameBytes = 250

// The reasons why messages are refused, labels of a metric.
const (
	reasonForm   = "form"       // not NAME:VALUE|TYPE
	reasonValue  = "value"      // no finite number
	reasonRate   = "rate"       // no sampling rate
	reasonTime   = "timestamp"  // a time of its own that cannot be
	reasonLabels = "labels"     // a tag that stands there twice
	reasonCut    = "unfinished" // the end of a datagram that is too long
	reasonType   = "type"       // unknown
	reasonMany   = "many"       // too many metrics or values between two flushes
	reasonPolicy = "policy"     // no archive policy for the metric
	reasonStore  = "store"      // it could not be stored
)

var reasons = []string{reasonForm, reasonValue, reasonRate, reasonTime, reasonLabels, reasonCut, reasonType, reasonMany,
	reasonPolicy, reasonStore}

// parse reads a line into m, whose memory it uses; if it cannot, it returns the reason.
func (m *message) parse(line []byte) (reason string) {
	m.values, m.tags, m.at = m.values[:0], nil, 0
	name, rest, ok := bytes.Cut(line, []byte{':'})
	name = plaintext.Trim(name)
	if !ok || len(name) == 0 || len(name) > maxNameBytes || bytes.IndexByte(name, '|') >= 0 ||
		bytes.IndexByte(name, 0) >= 0 || !utf8.Valid(name) {
		return reasonForm
	}
	values, rest, ok := bytes.Cut(rest, []byte{'|'})
	if !ok {
		return reasonForm
	}
	suffix, sections, _ := bytes.Cut(rest, []byte{'|'})
	if m.kind, ok = types[string(plaintext.Trim(suffix))]; !ok {
		if bytes.IndexByte(suffix, ':') >= 0 {
			return reasonForm
		}
		return reasonType
	}
	rate := 1.0
	if len(sections) > 0 {
		if rate, reason = m.parseSections(sections); reason != "" {
			return reason
		}
	}
	switch {
	case m.labelled:
		if reason := m.setLabels(name); reason != "" {
			return reason
		}
	case bytes.IndexByte(name, '/') >= 0: // no metric's name has one
		m.name = bytes.ReplaceAll(name, []byte{'/'}, []byte{'_'})
	default:
		m.name = name
	}
	for text := range bytes.SplitSeq(values, []byte{':'}) {
		v, ok := m.kind.parse(plaintext.Trim(text))
		if !ok {
			return reasonValue
		}
		if m.at != 0 && v.change { // the value before that time is unknown
			return reasonTime
		}
		if m.kind == counter {
			if v.number /= rate; math.IsInf(v.number, 0) {
				return reasonRate
			}
		}
		m.values = append(m.values, v)
	}
	return ""
}

// parse reads one value.
func (k kind) parse(text []byte) (v value, ok bool) {
	if k == set {
		return value{element: text}, len(text) > 0
	}
	v.number, ok = parseFinite(text)
	v.change = k == gauge && ok && (text[0] == '+' || text[0] == '-')
	return v, ok
}

// setLabels makes the labels of name and tags the message's name. A tag without a value is "true", as in Telegraf.
func (m *message) setLabels(name []byte) (reason string) {
	m.labels = m.labels[:0]
	m.labels.Set(model.LabelName, string(name))
	for tag := range bytes.SplitSeq(m.tags, []byte{','}) {
		if tag = plaintext.Trim(tag); len(tag) == 0 {
			continue
		}
		label, value, ok := bytes.Cut(tag, []byte{':'})
		if !ok {
			value = []byte("true")
		}
		label, value = plaintext.Trim(label), plaintext.Trim(value)
		if len(label) == 0 || string(label) == model.LabelName || !utf8.Valid(tag) {
			return reasonForm
		}
		if m.labels.Add(string(label), string(value)) != nil {
			return reasonLabels
		}
	}
	m.name = m.labels.Append(m.name[:0])
	return ""
}

// parseSections reads what stands behind the type: a sampling rate, which is 1 where there is none, and what DogStatsD
// adds. It keeps tags for labels, and ignores the sender's container. Gauges and counters may have a time of their own.
func (m *message) parseSections(sections []byte) (rate float64, reason string) {
	rate = 1
	var seen [256]bool
	for section := range bytes.SplitSeq(sections, []byte{'|'}) {
		if section = plaintext.Trim(section); len(section) == 0 || seen[section[0]] {
			return 0, reasonForm
		}
		switch section[0] {
		case '@':
			var ok bool
			if rate, ok = parseFinite(plaintext.Trim(section[1:])); !ok || rate <= 0 || rate > 1 {
				return 0, reasonRate
			}
		case 'T':
			seconds, err := strconv.ParseInt(string(plaintext.Trim(section[1:])), 10, 64)
			if err != nil || seconds <= 0 || seconds > math.MaxInt64/1_000_000_000 || m.kind > counter {
				return 0, reasonTime
			}
			m.at = carbonara.Timestamp(seconds * 1_000_000_000)
		case '#':
			m.tags = section[1:]
		default:
			if !bytes.HasPrefix(section, []byte("c:")) && !bytes.HasPrefix(section, []byte("e:")) &&
				!bytes.HasPrefix(section, []byte("card:")) {
				return 0, reasonForm
			}
			continue
		}
		seen[section[0]] = true
	}
	return rate, ""
}

func parseFinite(text []byte) (float64, bool) {
	number, err := plaintext.ParseValue(unsafe.String(unsafe.SliceData(text), len(text)))
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}
