package collectd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/listener"
)

// The types of parts.
const (
	partHost           = 0x0000
	partTime           = 0x0001 // seconds
	partPlugin         = 0x0002
	partPluginInstance = 0x0003
	partType           = 0x0004
	partTypeInstance   = 0x0005
	partValues         = 0x0006
	partTimeFine       = 0x0008 // 2^-30 s
	partSignature      = 0x0200
	partEncryption     = 0x0210
)

// The types of values.
const (
	valueCounter = iota
	valueGauge
	valueDerive
	valueAbsolute
)

// A Security is how far a datagram is protected.
type Security int

// The levels, as collectd's option SecurityLevel names them.
const (
	Plain Security = iota
	Sign
	Encrypt
)

// ParseSecurity reads "none", "sign" or "encrypt".
func ParseSecurity(text string) (Security, error) {
	for level, name := range []string{"none", "sign", "encrypt"} {
		if text == name {
			return Security(level), nil
		}
	}
	return 0, fmt.Errorf("collectd: security level %q is not none, sign or encrypt", text)
}

// A Decoder reads datagrams.
type Decoder struct {
	users *Users // nil for none
	least Security
	types Types // nil: values have numbers
}

// New returns a decoder that refuses datagrams below a level. Users are needed above Plain.
func New(users *Users, least Security, types Types) (*Decoder, error) {
	if users == nil && least > Plain {
		return nil, errors.New("collectd: signed datagrams need a file of users")
	}
	return &Decoder{users, least, types}, nil
}

// state is what parts say about the values behind them.
type state struct {
	types  Types
	labels series.Labels
	at     carbonara.Timestamp
	level  Security
}

// Decode implements listener.Decoder.
func (d *Decoder) Decode(data []byte, now carbonara.Timestamp, to listener.Sink) {
	d.parts(data, &state{types: d.types, at: now}, to)
}

// parts reads parts. It ends at the first one that is damaged: the next one may begin anywhere.
func (d *Decoder) parts(data []byte, s *state, to listener.Sink) {
	for len(data) > 0 {
		if len(data) < 4 {
			to.Refuse("form", data)
			return
		}
		kind, length := binary.BigEndian.Uint16(data), int(binary.BigEndian.Uint16(data[2:]))
		if length < 4 || length > len(data) {
			to.Refuse("form", data)
			return
		}
		payload, rest := data[4:length], data[length:]
		switch kind {
		case partSignature: // of all behind it
			if err := d.users.verify(payload, rest); err != nil {
				to.Refuse("signature", []byte(err.Error()))
				return
			}
			s.level = max(s.level, Sign)
		case partEncryption:
			plain, err := d.users.decrypt(payload)
			if err != nil {
				to.Refuse("encryption", []byte(err.Error()))
				return
			}
			d.parts(plain, &state{types: d.types, at: s.at, level: Encrypt}, to)
		case partValues:
			if s.level < d.least {
				to.Refuse("security", []byte(s.labels.Get("host")))
				return
			}
			if !s.values(payload, to) {
				to.Refuse("form", data)
				return
			}
		default:
			if !s.set(kind, payload) {
				to.Refuse("form", data)
				return
			}
		}
		data = rest
	}
}

// set reads a part that describes values. It ignores unknown ones, as intervals, notifications and severities.
func (s *state) set(kind uint16, payload []byte) bool {
	label := ""
	switch kind {
	case partHost:
		label = "host"
	case partPlugin:
		label = "plugin"
	case partPluginInstance:
		label = "plugin_instance"
	case partType:
		label = "type"
	case partTypeInstance:
		label = "type_instance"
	case partTime, partTimeFine:
		if len(payload) != 8 {
			return false
		}
		at := binary.BigEndian.Uint64(payload)
		seconds, fraction := at, uint64(0)
		if kind == partTimeFine {
			seconds, fraction = at>>30, at&(1<<30-1)
		}
		if seconds > math.MaxInt64/1_000_000_000-1 {
			return false
		}
		s.at = carbonara.Timestamp(seconds*1_000_000_000 + (fraction*1_000_000_000)>>30)
		return true
	default:
		return true
	}
	text, ok := bytes.CutSuffix(payload, []byte{0})
	if !ok || !utf8.Valid(text) {
		return false
	}
	s.labels.Set(label, string(text))
	return true
}

// values adds a part's values. A gauge without a value (NaN) is a gap.
func (s *state) values(payload []byte, to listener.Sink) bool {
	if len(payload) < 2 {
		return false
	}
	n := int(binary.BigEndian.Uint16(payload))
	if kinds := payload[2:]; len(kinds) == 9*n {
		numbers := kinds[n:]
		for i, kind := range kinds[:n] {
			value, grows, ok := number(kind, numbers[8*i:])
			if !ok {
				return false
			}
			if !math.IsNaN(value) {
				to.Add(s.series(i, n, grows), s.at, value)
			}
		}
		return true
	}
	return false
}

// number reads a value: gauges are little endian, all others big endian.
func number(kind byte, data []byte) (value float64, grows, ok bool) {
	switch kind {
	case valueGauge:
		value = math.Float64frombits(binary.LittleEndian.Uint64(data))
		return value, false, !math.IsInf(value, 0)
	case valueCounter:
		return float64(binary.BigEndian.Uint64(data)), true, true
	case valueDerive:
		return float64(int64(binary.BigEndian.Uint64(data))), true, true
	case valueAbsolute: // of the interval alone
		return float64(binary.BigEndian.Uint64(data)), false, true
	}
	return 0, false, false
}

// series returns the labels of value i of n.
func (s *state) series(i, n int, grows bool) series.Labels {
	labels := append(make(series.Labels, 0, len(s.labels)+2), s.labels...)
	value := ""
	if n > 1 {
		value = strconv.Itoa(i)
		if names := s.types[s.labels.Get("type")]; len(names) == n {
			value = names[i]
		}
	}
	labels.NameCollectd(value, grows)
	return labels
}
