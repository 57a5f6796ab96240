package prometheus

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/series"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A WriteRequest2 is a decoded message of remote write 2. Its texts refer to the message.
type WriteRequest2 struct {
	Batch    series.Batch
	Metadata []series.Metadata

	StartTimestamps int // of all series, counted and not stored
	WrongTimes      int // measures left out for their timestamps
	WrongHistograms int // histograms left out

	WrongHistogram string // name of the first series of which a histogram was left out, and why
	WrongTime      string // name of the first series of which a measure was left out for its timestamp
	Duplicate      string // name of the first series that has a label twice; its measures are left out

	Exemplars series.Exemplars

	symbols []string
	seen    map[string]bool // names with metadata
	labels  series.Labels
	own     series.Labels // of an exemplar
	refs    []uint64

	histogram nativeHistogram // scratch
}

// Fields of the messages.
const (
	fieldSymbols     = 4 // of Request
	fieldTimeseries  = 5
	fieldRefs        = 1 // of TimeSeries
	fieldSamples2    = 2
	fieldHistograms2 = 3
	fieldExemplars2  = 4
	fieldMetadata2   = 5
	fieldStart       = 3 // of Sample

	fieldExemplarValue = 2 // of Exemplar, in both versions
	fieldExemplarTime  = 3

	fieldHelpRef = 3 // of Metadata
	fieldUnitRef = 4
)

// bytesPerSymbol is the memory of a symbol.
const bytesPerSymbol = 16

var (
	errSymbol  = errors.New("prometheus: a reference lies beyond the symbols")
	errOddRefs = errors.New("prometheus: a label lacks its value")
)

// Decode decodes a message, uncompressed. Measures after latest are left out, as those before 1970 are.
func (r *WriteRequest2) Decode(message []byte, latest carbonara.Timestamp) error {
	*r = WriteRequest2{Batch: r.Batch, symbols: r.symbols[:0], labels: r.labels, own: r.own, refs: r.refs,
		seen: map[string]bool{}}
	r.Batch.Reset()
	if err := eachField(message, func(number protowire.Number, content []byte) error {
		if number != fieldSymbols {
			return nil
		}
		r.symbols = append(r.symbols, unsafe.String(unsafe.SliceData(content), len(content)))
		if n := len(r.symbols); n&(n-1) == 0 && r.Batch.Acquire != nil { // the list grows
			return r.Batch.Acquire(bytesPerSymbol * n)
		}
		return nil
	}); err != nil {
		return err
	}
	return eachField(message, func(number protowire.Number, content []byte) error {
		if number != fieldTimeseries {
			return nil
		}
		return r.timeseries(content, latest)
	})
}

// eachField calls visit for the fields of a message that are texts or messages.
func eachField(message []byte, visit func(number protowire.Number, content []byte) error) error {
	for len(message) > 0 {
		number, content, n, err := consumeField(message)
		if err != nil {
			return fmt.Errorf("prometheus: write request: %w", err)
		}
		message = message[n:]
		if content == nil {
			continue
		}
		if err := visit(number, content); err != nil {
			return err
		}
	}
	return nil
}

// eachNumber calls visit for the numbers of a message: of varints, and packed ones of field fieldRefs.
func eachNumber(message []byte, visit func(number protowire.Number, value uint64)) error {
	for len(message) > 0 {
		number, kind, n, err := consumeTag(message)
		if err != nil {
			return err
		}
		message = message[n:]
		var value uint64
		switch {
		case kind == protowire.VarintType:
			if value, n = protowire.ConsumeVarint(message); n > 0 {
				visit(number, value)
			}
		case kind == protowire.Fixed64Type:
			if value, n = protowire.ConsumeFixed64(message); n > 0 {
				visit(number, value)
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
	}
	return nil
}

// timeseries decodes a message TimeSeries, whose labels may stand behind its samples.
func (r *WriteRequest2) timeseries(message []byte, latest carbonara.Timestamp) error {
	duplicate, err := r.readLabels(message, &r.labels)
	if err != nil {
		return err
	}
	var labels []byte // for exemplars
	name := r.labels.Get(model.LabelName)
	if duplicate {
		r.Duplicate = firstOf(r.Duplicate, name)
		return nil
	}
	added := false
	return eachField(message, func(number protowire.Number, content []byte) error {
		switch number {
		case fieldSamples2:
			at, value, start, err := parseSample2(content)
			switch {
			case err != nil:
				return err
			case start:
				r.StartTimestamps++
			}
			if !isTime(at, latest) {
				r.WrongTimes++
				r.WrongTime = firstOf(r.WrongTime, name)
				return nil
			}
			if math.Float64bits(value) == staleMarker {
				return nil
			}
			if added {
				return r.Batch.Append(ofMilliseconds(at), value)
			}
			added = true
			return r.Batch.Add(r.labels, ofMilliseconds(at), value)
		case fieldHistograms2:
			added = false
			return r.nativeHistogram(name, content, latest)
		case fieldExemplars2:
			if _, err := r.readLabels(content, &r.own); err != nil {
				return err
			}
			if labels == nil {
				labels = r.labels.Append(nil)
			}
			return addExemplar(&r.Exemplars, content, labels, r.own.Append(nil), latest, r.Batch.Acquire)
		case fieldMetadata2:
			return r.metadata(name, content)
		}
		return nil
	})
}

// nativeHistogram adds a message Histogram of the series of r.labels.
func (r *WriteRequest2) nativeHistogram(name string, message []byte, latest carbonara.Timestamp) error {
	h := &r.histogram
	err := h.decode(message)
	if h.start {
		r.StartTimestamps++
	}
	switch {
	case errors.Is(err, errHistogram):
		r.WrongHistograms++
		r.WrongHistogram = firstOf(r.WrongHistogram, name+": "+err.Error())
		return nil
	case err != nil || h.isStale():
		return err
	case !isTime(h.at, latest):
		r.WrongTimes++
		r.WrongTime = firstOf(r.WrongTime, name)
		return nil
	}
	return r.Batch.AddHistogram(&r.labels, ofMilliseconds(h.at), &h.FloatHistogram)
}

// isTime reports whether a time in ms is that of a measure.
func isTime(at int64, latest carbonara.Timestamp) bool {
	return at >= 0 && at <= math.MaxInt64/int64(time.Millisecond) && ofMilliseconds(at) <= latest
}

func ofMilliseconds(at int64) carbonara.Timestamp {
	return carbonara.Timestamp(at) * carbonara.Timestamp(time.Millisecond)
}

// firstOf keeps the first name that an error is about.
func firstOf(first, name string) string {
	switch {
	case first != "":
		return first
	case name == "":
		return "without a name"
	}
	return strings.Clone(name)
}

// readLabels sets dst to the labels of a message TimeSeries or Exemplar, and reports whether one stands there twice.
func (r *WriteRequest2) readLabels(message []byte, dst *series.Labels) (duplicate bool, err error) {
	r.refs = r.refs[:0]
	if err := eachNumber(message, func(number protowire.Number, value uint64) { // not packed
		if number == fieldRefs {
			r.refs = append(r.refs, value)
		}
	}); err != nil {
		return false, err
	}
	if err := eachField(message, func(number protowire.Number, content []byte) error {
		for number == fieldRefs && len(content) > 0 {
			ref, n := protowire.ConsumeVarint(content)
			if n < 0 {
				return protowire.ParseError(n)
			}
			r.refs, content = append(r.refs, ref), content[n:]
		}
		return nil
	}); err != nil {
		return false, err
	}
	if len(r.refs)%2 != 0 {
		return false, errOddRefs
	}
	*dst = (*dst)[:0]
	for i := 0; i < len(r.refs); i += 2 {
		name, err := r.symbol(r.refs[i])
		if err != nil {
			return false, err
		}
		value, err := r.symbol(r.refs[i+1])
		if err != nil {
			return false, err
		}
		duplicate = duplicate || dst.Get(name) != ""
		dst.Set(name, value)
	}
	return duplicate, nil
}

func (r *WriteRequest2) symbol(ref uint64) (string, error) {
	if ref >= uint64(len(r.symbols)) {
		return "", errSymbol
	}
	return r.symbols[ref], nil
}

// parseSample2 returns the timestamp and value of a sample, and whether it has a start timestamp.
func parseSample2(message []byte) (at int64, value float64, start bool, err error) {
	err = eachNumber(message, func(number protowire.Number, bits uint64) {
		switch number {
		case fieldValue:
			value = math.Float64frombits(bits)
		case fieldTimestamp:
			at = int64(bits)
		case fieldStart:
			start = bits != 0
		}
	})
	return at, value, start, err
}

// metadata keeps what a message Metadata says about a name, once.
func (r *WriteRequest2) metadata(name string, message []byte) error {
	if name == "" || r.seen[name] {
		return nil
	}
	m := series.Metadata{Name: strings.Clone(name), Kind: kinds[0]}
	var fault error
	text := func(ref uint64) string {
		text, err := r.symbol(ref)
		if err != nil {
			fault = err
		}
		return strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxMetadataText)]), "")
	}
	if err := eachNumber(message, func(number protowire.Number, value uint64) {
		switch number {
		case fieldKind:
			if value < uint64(len(kinds)) {
				m.Kind = kinds[value]
			}
		case fieldHelpRef:
			m.Help = text(value)
		case fieldUnitRef:
			m.Unit = text(value)
		}
	}); err != nil || fault != nil {
		return errors.Join(err, fault)
	}
	if m.Kind == kinds[0] && m.Help == "" && m.Unit == "" {
		return nil
	}
	r.seen[m.Name], r.Metadata = true, append(r.Metadata, m)
	if r.Batch.Acquire == nil {
		return nil
	}
	return r.Batch.Acquire(bytesPerMetadata)
}
