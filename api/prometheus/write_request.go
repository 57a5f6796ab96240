package prometheus

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
)

// A WriteRequest is a decoded body. It is filled by decode again and again, and keeps its memory.
type WriteRequest struct {
	Series     []Series
	Timestamps []carbonara.Timestamp // of all series
	Values     []float64             // beside Timestamps
	Metadata   []series.Metadata

	// Histograms are the native ones, if KeepsHistograms, and so are Exemplars. WrongHistogram is the name of the first
	// series of which one was left out, and why.
	KeepsHistograms bool
	Histograms      series.Batch
	WrongHistogram  string
	Exemplars       series.Exemplars

	// Latest is the last timestamp that a measure may have: others, and those from before 1970, are left out. 0: a
	// timestamp that is none is an error.
	Latest    carbonara.Timestamp
	WrongTime string // name of the first series of which a measure was left out for its timestamp

	// Take is asked for the memory that a message takes, before it is used; an error of its is the decoding's. nil: no
	// bound.
	Acquire func(bytes int) error
	taken   int // since the message was uncompressed

	plain  []byte
	labels []label // scratch: the labels of one series

	histogram nativeHistogram // scratch
}

// Series is one series of a WriteRequest: its measures, one at least, are Timestamps and Values [From, To) of the
// request.
type Series struct {
	From, To int

	labelsFrom, labelsTo int // the fields of its labels in plain, and perhaps others between them
}

// kinds are what the message calls 1, 2 …
var kinds = []string{"unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"}

// A label refers to WriteRequest.plain.
type label struct{ name, value []byte }

// ErrTooLarge is of a body that is larger uncompressed than its limit.
var ErrTooLarge = errors.New("prometheus: message too large")

var errTimestamp = errors.New("prometheus: timestamp not between 1970 and 2262")

// staleMarker is how Prometheus writes that a series has ended.
const staleMarker = 0x7ff0000000000002

// Fields of the messages.
const (
	fieldSeries     = 1 // of WriteRequest
	fieldMetadata   = 3
	fieldLabels     = 1 // of TimeSeries
	fieldSamples    = 2
	fieldExemplars  = 3
	fieldHistograms = 4
	fieldName       = 1 // of Label
	fieldText       = 2
	fieldValue      = 1 // of Sample
	fieldTimestamp  = 2
	fieldKind       = 1 // of MetricMetadata
	fieldFamily     = 2
	fieldHelp       = 4
	fieldUnit       = 5
)

// decode makes the message in plain the request.
func (r *WriteRequest) decode() error {
	r.Series, r.Metadata = r.Series[:0], r.Metadata[:0]
	r.WrongHistogram, r.WrongTime, r.Exemplars = "", "", series.Exemplars{}
	r.Histograms.Reset()
	r.Histograms.Acquire = r.Acquire
	r.Timestamps, r.Values = r.Timestamps[:0], r.Values[:0]
	r.taken = 0
	return r.parse(r.plain)
}

// uncompress returns body, of limit bytes at most when uncompressed, in the memory of dst.
func uncompress(dst, body []byte, limit int64, acquire func(bytes int) error) ([]byte, error) {
	n, err := s2.DecodedLen(body)
	if err != nil {
		return dst, fmt.Errorf("prometheus: snappy: %w", err)
	}
	if int64(n) > limit {
		return dst, ErrTooLarge
	}
	if acquire != nil {
		if err := acquire(n); err != nil {
			return dst, err
		}
	}
	// Decode uses all of the capacity that it is given.
	plain, err := s2.Decode(dst[:cap(dst)], body)
	if err != nil {
		return dst, fmt.Errorf("prometheus: snappy: %w", err)
	}
	return plain, nil
}

// Bytes is the memory that r keeps, roughly.
func (r *WriteRequest) Bytes() int {
	return cap(r.plain) + 16*cap(r.Values) + 32*cap(r.Series) + r.Histograms.Bytes()
}

// The memory that the parts of a message need until its measures are durable, with the room that slices keep to grow.
const (
	bytesPerSeries   = 150
	bytesPerMeasure  = 100
	bytesPerMetadata = 300
	bytesTaken       = 128 << 10 // at once
)

// acquire acquires the memory of the parsed series and measures, some at a time.
func (r *WriteRequest) acquire() error {
	more := bytesPerSeries*len(r.Series) + bytesPerMeasure*len(r.Values) + bytesPerMetadata*len(r.Metadata) - r.taken
	if more < bytesTaken || r.Acquire == nil {
		return nil
	}
	r.taken += more
	return r.Acquire(more)
}

func (r *WriteRequest) parse(message []byte) error {
	for at := 0; at < len(message); {
		number, content, n, err := consumeField(message[at:])
		if err != nil {
			return fmt.Errorf("prometheus: write request: %w at byte %d", err, at)
		}
		at += n
		if number == fieldSeries && content != nil {
			if err := r.parseSeries(at-len(content), at); err != nil {
				return fmt.Errorf("%w, in series %d", err, len(r.Series))
			}
		}
		if number == fieldMetadata && content != nil {
			if err := r.parseMetadata(content); err != nil {
				return fmt.Errorf("prometheus: metadata: %w", err)
			}
		}
	}
	return nil
}

// parseSeries parses plain[at:end]. It only checks that labels can be read: a known series needs none of them.
func (r *WriteRequest) parseSeries(at, end int) error {
	series := Series{From: len(r.Timestamps)}
	begin, histogram, exemplar, wrongTime := at, false, false, false
	for at < end {
		number, content, n, err := consumeField(r.plain[at:end])
		if err != nil {
			return fmt.Errorf("prometheus: series: %w", err)
		}
		if content != nil {
			switch number {
			case fieldLabels:
				if series.labelsTo == 0 {
					series.labelsFrom = at
				}
				series.labelsTo = at + n
				_, err = parseLabel(content)
			case fieldSamples:
				if err = r.parseMeasure(content); err == errTimestamp && r.Latest != 0 {
					wrongTime, err = true, nil
				}
			case fieldHistograms:
				histogram = true
			case fieldExemplars:
				exemplar = true
			}
			if err != nil {
				return err
			}
		}
		at += n
	}
	series.To = len(r.Timestamps)
	if histogram && r.KeepsHistograms {
		wrong, err := r.parseHistograms(r.plain[begin:end], series)
		if err != nil {
			return err
		}
		wrongTime = wrongTime || wrong
	}
	if exemplar && r.KeepsHistograms {
		if err := r.parseExemplars(r.plain[begin:end], series); err != nil {
			return err
		}
	}
	if wrongTime && r.WrongTime == "" {
		r.WrongTime = nameOf(r.labelsOf(series))
	}
	if series.From == series.To { // nothing to accept, with any labels
		return nil
	}
	r.Series = append(r.Series, series)
	return nil
}

// ownLabels returns a copy of labels.
func ownLabels(list []label) (labels series.Labels) {
	for _, l := range list {
		labels.Set(string(l.name), string(l.value))
	}
	return labels
}

func (r *WriteRequest) latest() carbonara.Timestamp { return cmp.Or(r.Latest, carbonara.MaxTimestamp) }

// parseExemplars adds the exemplars of a series.
func (r *WriteRequest) parseExemplars(message []byte, s Series) error {
	labels := ownLabels(r.labelsOf(s)).Append(nil)
	return eachField(message, func(number protowire.Number, content []byte) error {
		if number != fieldExemplars {
			return nil
		}
		r.labels = r.labels[:0]
		if err := eachField(content, func(number protowire.Number, content []byte) error {
			if number != fieldLabels {
				return nil
			}
			parsed, err := parseLabel(content)
			r.labels = append(r.labels, parsed)
			return err
		}); err != nil {
			return err
		}
		return addExemplar(&r.Exemplars, content, labels, ownLabels(r.labels).Append(nil), r.latest(), r.Acquire)
	})
}

// parseHistograms adds the histograms of a series, and reports whether one was left out for its time.
func (r *WriteRequest) parseHistograms(message []byte, s Series) (wrongTime bool, err error) {
	labels, latest := ownLabels(r.labelsOf(s)), r.latest()
	h := &r.histogram
	return wrongTime, eachField(message, func(number protowire.Number, content []byte) error {
		if number != fieldHistograms {
			return nil
		}
		err := h.decode(content)
		switch {
		case errors.Is(err, errHistogram):
			r.WrongHistogram = cmp.Or(r.WrongHistogram, nameOf(r.labelsOf(s))+": "+err.Error())
			return nil
		case err != nil || h.isStale():
			return err
		case !isTime(h.at, latest):
			wrongTime = true
			return nil
		}
		return r.Histograms.AddHistogram(&labels, ofMilliseconds(h.at), &h.FloatHistogram)
	})
}

// labelsOf returns the labels of a series as they came, until it is called again.
func (r *WriteRequest) labelsOf(s Series) []label {
	r.labels = r.labels[:0]
	for rest := r.plain[s.labelsFrom:s.labelsTo]; len(rest) > 0; {
		number, content, n, _ := consumeField(rest) // parseSeries has checked both
		if number == fieldLabels && content != nil {
			parsed, _ := parseLabel(content)
			r.labels = append(r.labels, parsed)
		}
		rest = rest[n:]
	}
	return r.labels
}

// nameOf returns the name of a series that an error is about.
func nameOf(labels []label) string {
	name := "without a name"
	for _, l := range labels {
		if bytes.Equal(l.name, nameLabel) {
			name = string(l.value)
		}
	}
	return name
}

// maxMetadataText is in bytes: longer texts are cut.
const maxMetadataText = 1 << 10

func (r *WriteRequest) parseMetadata(message []byte) error {
	parsed := series.Metadata{Kind: kinds[0]}
	for len(message) > 0 {
		number, kind, tag, err := consumeTag(message)
		if err != nil {
			return err
		}
		message = message[tag:]
		var n int
		switch {
		case number == fieldKind && kind == protowire.VarintType:
			var code uint64
			if code, n = protowire.ConsumeVarint(message); n > 0 && code < uint64(len(kinds)) {
				parsed.Kind = kinds[code]
			}
		case kind == protowire.BytesType:
			var content []byte
			content, n = protowire.ConsumeBytes(message)
			text := strings.ToValidUTF8(string(content[:min(len(content), maxMetadataText)]), "")
			switch number {
			case fieldFamily:
				parsed.Name = text
			case fieldHelp:
				parsed.Help = text
			case fieldUnit:
				parsed.Unit = text
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
	}
	r.Metadata = append(r.Metadata, parsed)
	return r.acquire()
}

func parseLabel(message []byte) (parsed label, err error) {
	for len(message) > 0 {
		number, content, n, err := consumeField(message)
		if err != nil {
			return label{}, fmt.Errorf("prometheus: label: %w", err)
		}
		if content != nil {
			switch number {
			case fieldName:
				parsed.name = content
			case fieldText:
				parsed.value = content
			}
		}
		message = message[n:]
	}
	return parsed, nil
}

func (r *WriteRequest) parseMeasure(message []byte) error {
	bits, milliseconds, err := parseSample(message)
	if err != nil {
		return fmt.Errorf("prometheus: measure: %w", err)
	}
	if milliseconds > math.MaxInt64/uint64(time.Millisecond) { // negative ones are also huge
		return errTimestamp
	}
	if bits == staleMarker {
		return nil
	}
	at := carbonara.Timestamp(milliseconds) * carbonara.Timestamp(time.Millisecond)
	if r.Latest != 0 && at > r.Latest {
		return errTimestamp
	}
	r.Timestamps = append(r.Timestamps, at)
	r.Values = append(r.Values, math.Float64frombits(bits))
	return r.acquire()
}

// Fields as all senders write them, in their first byte: the number, and the kind.
const (
	tagValue     = fieldValue<<3 | byte(protowire.Fixed64Type)
	tagTimestamp = fieldTimestamp<<3 | byte(protowire.VarintType)
)

// parseSample returns the last value and timestamp of a sample, 0 for none.
func parseSample(message []byte) (bits, milliseconds uint64, err error) {
	if len(message) > 10 && message[0] == tagValue && message[9] == tagTimestamp {
		if at, n := binary.Uvarint(message[10:]); n == len(message)-10 {
			return binary.LittleEndian.Uint64(message[1:]), at, nil
		}
	}
	for len(message) > 0 {
		number, kind, n, err := consumeTag(message)
		if err != nil {
			return 0, 0, err
		}
		message = message[n:]
		switch {
		case number == fieldValue && kind == protowire.Fixed64Type:
			bits, n = protowire.ConsumeFixed64(message)
		case number == fieldTimestamp && kind == protowire.VarintType:
			milliseconds, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return 0, 0, protowire.ParseError(n)
		}
		message = message[n:]
	}
	return bits, milliseconds, nil
}

// consumeField returns the field that message begins with, and how many bytes it takes. The content is nil, rather than
// empty, for fields of other kinds than text and messages: they are skipped.
func consumeField(message []byte) (number protowire.Number, content []byte, n int, err error) {
	if len(message) > 1 && message[0]&7 == byte(protowire.BytesType) && message[0] > 7 && message[0]|message[1] < 0x80 {
		if n := 2 + int(message[1]); n <= len(message) { // number and length take a byte each
			return protowire.Number(message[0] >> 3), message[2:n:n], n, nil
		}
	}
	number, kind, tag, err := consumeTag(message)
	if err != nil {
		return 0, nil, 0, err
	}
	if kind == protowire.BytesType {
		content, n = protowire.ConsumeBytes(message[tag:])
	} else {
		n = protowire.ConsumeFieldValue(number, kind, message[tag:])
	}
	if n < 0 {
		return 0, nil, 0, protowire.ParseError(n)
	}
	return number, content, tag + n, nil
}

var errFieldNumber = errors.New("invalid field number")

// consumeTag is protowire's, which lets numbers pass that no field can have.
func consumeTag(message []byte) (protowire.Number, protowire.Type, int, error) {
	number, kind, n := protowire.ConsumeTag(message)
	if n < 0 {
		return 0, 0, 0, protowire.ParseError(n)
	}
	if number > protowire.MaxValidNumber {
		return 0, 0, 0, errFieldNumber
	}
	return number, kind, n, nil
}
