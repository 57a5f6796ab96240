package prometheus

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/value"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/wire"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// A WriteRequest is a decoded body of either version. It is filled again and again, and keeps its memory. Its texts
// refer to the message.
type WriteRequest struct {
	series.Batch // a row of version 1 has a head: the fields of its labels, and perhaps others between them

	// Version2 says that labels refer to symbols. Labelled keeps native histograms and exemplars as well.
	Version2, Labelled bool

	// Latest is the last timestamp that a measure may have: others, and those from before 1970, are left out.
	Latest carbonara.Timestamp

	Metadata  []series.Metadata
	Exemplars series.Exemplars

	// Sent is the number of samples and native histograms. Ends and HistogramEnds are stale markers among them: they
	// are written, as far as a sender can know, and no measure.
	Sent, Ends, HistogramEnds int

	Times, Histograms LeftOut // measures with odd times, and odd histograms
	Duplicates        LeftOut // series with a label that they have twice
	Others            LeftOut // exemplars and metadata

	plain   []byte // the message
	symbols []string
	seen    map[string]bool // names with metadata
	refs    []uint64        // scratch

	labels, own series.Labels   // scratch: of a series, and of an exemplar
	histogram   nativeHistogram // scratch
}

// LeftOut counts elements of a request that are not stored. First is the name of the first one's series, and why.
type LeftOut struct {
	N     int
	First string
}

func (l *LeftOut) add(name string, why error) {
	if l.N++; l.N == 1 {
		l.First = fmt.Sprintf("%.200s: %v", cmp.Or(name, "without a name"), why)
	}
}

// kinds are what the message calls 1, 2 …
var kinds = []string{"unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"}

// ErrTooLarge is of a body that is larger uncompressed than its limit.
var ErrTooLarge = errors.New("prometheus: message too large")

var (
	errSymbol  = errors.New("a reference lies beyond the symbols")
	errOddRefs = errors.New("a label lacks its value")
	errVersion = errors.New("the message is of the other version than its Content-Type says")
)

// Fields of the messages. Where versions differ, those of version 2 end in 2.
const (
	fieldSeries      = 1 // of Request
	fieldMetadata    = 3
	fieldSymbols     = 4
	fieldSeries2     = 5
	fieldLabels      = 1 // of TimeSeries and Exemplar; in version 2, references to symbols
	fieldSamples     = 2 // of TimeSeries
	fieldExemplars   = 3
	fieldHistograms  = 4
	fieldHistograms2 = 3
	fieldExemplars2  = 4
	fieldMetadata2   = 5
	fieldName        = 1 // of Label
	fieldText        = 2
	fieldValue       = 1 // of Sample
	fieldTimestamp   = 2

	fieldExemplarValue = 2 // of Exemplar
	fieldExemplarTime  = 3

	fieldKind   = 1 // of Metadata
	fieldFamily = 2
	fieldHelp   = 4
	fieldUnit   = 5
	fieldHelp2  = 3
	fieldUnit2  = 4 // one less than in version 1, as of the help
)

// The memory of parts of a message until its measures are durable.
const (
	bytesPerSymbol   = 16
	bytesPerMetadata = 300
)

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
	return cap(r.plain) + r.Batch.Bytes() + bytesPerSymbol*cap(r.symbols)
}

// decode makes the message in plain the request.
func (r *WriteRequest) decode() error {
	*r = WriteRequest{Batch: r.Batch, Version2: r.Version2, Labelled: r.Labelled, Latest: r.Latest, plain: r.plain,
		symbols: r.symbols[:0], seen: map[string]bool{}, refs: r.refs, labels: r.labels, own: r.own}
	r.Reset()
	r.Read = r.readHead
	var ofSeries, ofOthers, ofMetadata protowire.Number = fieldSeries, fieldSeries2, fieldMetadata
	var err error
	if r.Version2 {
		ofSeries, ofOthers, ofMetadata = fieldSeries2, fieldSeries, 0
		err = wire.Each(r.plain, r.symbol)
	}
	if err == nil {
		err = wire.Each(r.plain, func(f wire.Field) error {
			switch {
			case f.Is(ofSeries, protowire.BytesType):
				if err := r.timeseries(f.Bytes()); err != nil {
					return fmt.Errorf("%w, in series %d", err, r.Len())
				}
			case f.Is(ofMetadata, protowire.BytesType):
				return r.metadata("", f.Bytes())
			case f.Is(ofOthers, protowire.BytesType):
				return errVersion
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("prometheus: write request: %w", err)
	}
	return nil
}

// symbol keeps a field of a message that is a symbol.
func (r *WriteRequest) symbol(f wire.Field) error {
	if !f.Is(fieldSymbols, protowire.BytesType) {
		return nil
	}
	r.symbols = append(r.symbols, f.Text())
	if n := len(r.symbols); n&(n-1) == 0 && r.Acquire != nil { // the list grows
		return r.Acquire(bytesPerSymbol * n)
	}
	return nil
}

// timeseries decodes a message TimeSeries, whose labels may stand behind its samples. Of version 1 it only checks that
// labels can be read: a known series needs none of them.
func (r *WriteRequest) timeseries(message []byte) error {
	if r.Version2 {
		odd, err := r.readLabels(message, &r.labels)
		if err != nil {
			return err
		}
		if odd != nil {
			return r.refuseSeries(message, r.Sent, odd)
		}
	}
	from, to, wrong, sent, others := 0, 0, r.Times.N, r.Sent, false
	for at := 0; at < len(message); {
		f, n, err := wire.Next(message[at:])
		switch {
		case err != nil:
		case f.Kind != protowire.BytesType:
		case f.Number == fieldLabels:
			if to == 0 {
				from = at
			}
			if to = at + n; !r.Version2 {
				_, _, err = readLabel(f.Bytes())
			}
		case f.Number == fieldSamples:
			err = r.sample(f.Bytes())
		default:
			others = others || r.Labelled
		}
		if err != nil {
			return err
		}
		at += n
	}
	head := message[from:to]
	if !r.Version2 && (others || r.Times.N > wrong) {
		if odd, _ := r.readLabels(head, &r.labels); odd != nil && r.Labelled { // they can be read
			r.Discard()
			return r.refuseSeries(message, sent, odd)
		}
	}
	if err := r.endSeries(head); err != nil || !others && r.Times.N == wrong {
		return err
	}
	name := r.labels.Get(model.LabelName)
	if others {
		if err := r.others(name, message); err != nil {
			return err
		}
	}
	if r.Times.First == "" && r.Times.N > wrong {
		r.Times.First = strings.Clone(cmp.Or(name, "without a name"))
	}
	return nil
}

// refuseSeries leaves out the series of r.labels, with all samples of its message. sent is the number before.
func (r *WriteRequest) refuseSeries(message []byte, sent int, odd error) error {
	r.Sent = sent
	r.Duplicates.add(r.labels.Get(model.LabelName), odd)
	return wire.Each(message, func(f wire.Field) error {
		if f.Number == fieldSamples || f.Number == fieldHistograms && !r.Version2 ||
			f.Number == fieldHistograms2 && r.Version2 {
			r.Sent++
		}
		return nil
	})
}

// endSeries ends the measures of a series.
func (r *WriteRequest) endSeries(head []byte) error {
	if r.Version2 {
		return r.End(r.labels)
	}
	return r.EndHead(head)
}

// others adds histograms, exemplars and metadata of a series, whose labels are read.
func (r *WriteRequest) others(name string, message []byte) error {
	var histograms, ofExemplars, metadata protowire.Number = fieldHistograms, fieldExemplars, 0
	if r.Version2 {
		histograms, ofExemplars, metadata = fieldHistograms2, fieldExemplars2, fieldMetadata2
	}
	return wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
		case f.Number == histograms:
			return r.nativeHistogram(name, f.Bytes())
		case f.Number == ofExemplars:
			return r.exemplar(f.Bytes())
		case f.Number == metadata:
			return r.metadata(name, f.Bytes())
		}
		return nil
	})
}

// sample adds a message Sample to the measures of the series.
func (r *WriteRequest) sample(message []byte) error {
	r.Sent++
	bits, at, err := parseSample(message)
	switch {
	case err != nil:
		return err
	case !isTime(at, r.Latest):
		r.Times.N++
		return nil
	case bits == value.StaleNaN: // the series has ended
		r.Ends++
		return nil
	}
	return r.Measure(ofMilliseconds(at), math.Float64frombits(bits))
}

// Fields as all senders write them, in their first byte: the number, and the kind.
const (
	tagValue     = fieldValue<<3 | byte(protowire.Fixed64Type)
	tagTimestamp = fieldTimestamp<<3 | byte(protowire.VarintType)
)

// parseSample returns the last value and timestamp of a sample, 0 for none. A start timestamp has no place here.
func parseSample(message []byte) (bits uint64, milliseconds int64, err error) {
	if len(message) > 10 && message[0] == tagValue && message[9] == tagTimestamp {
		if at, n := binary.Uvarint(message[10:]); n == len(message)-10 {
			return binary.LittleEndian.Uint64(message[1:]), int64(at), nil
		}
	}
	err = wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Is(fieldValue, protowire.Fixed64Type):
			bits = f.Bits
		case f.Is(fieldTimestamp, protowire.VarintType):
			milliseconds = int64(f.Bits)
		}
		return nil
	})
	return bits, milliseconds, err
}

// nativeHistogram adds a message Histogram of the series of r.labels.
func (r *WriteRequest) nativeHistogram(name string, message []byte) error {
	r.Sent++
	h := &r.histogram
	err := h.decode(message)
	switch {
	case errors.Is(err, errHistogram):
		r.Histograms.add(name, err)
		return nil
	case err != nil:
		return err
	case value.IsStaleNaN(h.Sum):
		r.HistogramEnds++
		return nil
	case !isTime(h.at, r.Latest):
		r.Times.N++
		return nil
	}
	return r.AddHistogram(&r.labels, ofMilliseconds(h.at), &h.FloatHistogram)
}

// exemplar adds a message Exemplar of the series of r.labels, unless its own labels are odd.
func (r *WriteRequest) exemplar(message []byte) error {
	odd, err := r.readLabels(message, &r.own)
	if odd != nil {
		r.Others.add(r.labels.Get(model.LabelName), fmt.Errorf("exemplar: %w", odd))
	}
	if odd != nil || err != nil {
		return err
	}
	e := exemplars.Exemplar{Series: r.labels.Append(nil), Labels: r.own.Append(nil)}
	if err := wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Is(fieldExemplarValue, protowire.Fixed64Type):
			e.Bits = f.Bits
		case f.Is(fieldExemplarTime, protowire.VarintType):
			e.Millis = int64(f.Bits)
		}
		return nil
	}); err != nil {
		return err
	}
	return r.Exemplars.Add(&e, r.Latest, r.Acquire)
}

// isTime reports whether a time in ms is that of a measure.
func isTime(at int64, latest carbonara.Timestamp) bool {
	return at >= 0 && at <= math.MaxInt64/int64(time.Millisecond) && ofMilliseconds(at) <= latest
}

func ofMilliseconds(at int64) carbonara.Timestamp {
	return carbonara.Timestamp(at) * carbonara.Timestamp(time.Millisecond)
}

// readLabels sets dst to the labels of a message TimeSeries or Exemplar. odd says that one stands there twice, has
// no name, or refers to no symbol.
func (r *WriteRequest) readLabels(message []byte, dst *series.Labels) (odd, err error) {
	*dst, r.refs = (*dst)[:0], r.refs[:0]
	if err := wire.Each(message, func(f wire.Field) (err error) {
		switch {
		case f.Number != fieldLabels:
		case r.Version2:
			r.refs, err = f.Varints(r.refs)
		case f.Kind == protowire.BytesType:
			var name, value string
			name, value, err = readLabel(f.Bytes())
			odd = cmp.Or(odd, addLabel(dst, name, value))
		}
		return err
	}); err != nil || !r.Version2 {
		return odd, err
	}
	if len(r.refs)%2 != 0 {
		odd = errOddRefs
	}
	for len(r.refs) > 1 {
		name, noName := r.symbolOf(r.refs[0])
		value, noValue := r.symbolOf(r.refs[1])
		odd, r.refs = cmp.Or(odd, noName, noValue, addLabel(dst, name, value)), r.refs[2:]
	}
	return odd, nil
}

// addLabel sets a label, and says whether it was there before, or has no name.
func addLabel(dst *series.Labels, name, value string) error {
	if name == "" && value != "" {
		return errLabel
	}
	err := dst.Add(name, value)
	if err != nil {
		dst.Set(name, value)
	}
	return err
}

func (r *WriteRequest) symbolOf(ref uint64) (string, error) {
	if ref >= uint64(len(r.symbols)) {
		return "", errSymbol
	}
	return r.symbols[ref], nil
}

// readLabel reads a message Label.
func readLabel(message []byte) (name, value string, err error) {
	first, rest := wire.CutShort(message, fieldName)
	if second, rest := wire.CutShort(rest, fieldText); second != nil && len(rest) == 0 { // as all senders write it
		return wire.Text(first), wire.Text(second), nil
	}
	err = wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Is(fieldName, protowire.BytesType):
			name = f.Text()
		case f.Is(fieldText, protowire.BytesType):
			value = f.Text()
		}
		return nil
	})
	return name, value, err
}

// maxMetadataText is in bytes: longer texts are cut.
const maxMetadataText = 1 << 10

// metadata keeps a message Metadata: of version 1 with its name, of version 2 that of a series, once.
func (r *WriteRequest) metadata(name string, message []byte) error {
	if r.Version2 && (name == "" || r.seen[name]) {
		return nil
	}
	m := series.Metadata{Name: name, Kind: kinds[0]}
	var odd error
	if err := wire.Each(message, func(f wire.Field) error {
		text, field, isText := f.Text(), f.Number, f.Kind == protowire.BytesType && !r.Version2
		if r.Version2 && f.Kind == protowire.VarintType && (field == fieldHelp2 || field == fieldUnit2) {
			var err error
			text, err = r.symbolOf(f.Bits)
			odd, field, isText = cmp.Or(odd, err), field+fieldHelp-fieldHelp2, true
		}
		short := func() string { return strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxMetadataText)]), "") }
		switch {
		case f.Is(fieldKind, protowire.VarintType) && f.Bits < uint64(len(kinds)):
			m.Kind = kinds[f.Bits]
		case f.Is(fieldKind, protowire.VarintType):
			odd = cmp.Or(odd, fmt.Errorf("type %d is not known", f.Bits))
		case isText && field == fieldFamily:
			m.Name = text
		case isText && field == fieldHelp:
			m.Help = short()
		case isText && field == fieldUnit:
			m.Unit = short()
		}
		return nil
	}); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	if m.Name == "" || len(m.Name) > maxMetadataText || !utf8.ValidString(m.Name) {
		odd = cmp.Or(odd, errors.New("it is no name of series"))
	}
	if odd != nil {
		r.Others.add(m.Name, fmt.Errorf("metadata: %w", odd))
	}
	if odd != nil || r.Version2 && m.Kind == kinds[0] && m.Help == "" && m.Unit == "" {
		return nil
	}
	m.Name = strings.Clone(m.Name)
	r.seen[m.Name], r.Metadata = true, append(r.Metadata, m)
	if r.Acquire == nil {
		return nil
	}
	return r.Acquire(bytesPerMetadata)
}
