package api_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/tests/losstest"
)

// elementOf writes a measure of a series for each door.
var elementOf = map[string]func(series string, seconds, value int) string{
	"line protocol": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s value=%d %d000000000", series, value, seconds)
	},
	"exposition": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s %d %d000", series, value, seconds)
	},
	"graphite": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s %d %d", series, value, seconds)
	},
	"statsd": func(series string, seconds, value int) string {
		return fmt.Sprintf("%s:%d|c|T%d", series, value, seconds)
	},
	"JSON lines": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"metric":{"__name__":%q},"values":[%d],"timestamps":[%d000]}`, series, value, seconds)
	},
	"collectd": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"values": [%d], "dstypes": ["gauge"], "dsnames": ["value"], "time": %d, "plugin": %q, "type": "b"}`,
			value, seconds, series)
	},
	"OTLP/JSON": func(series string, seconds, value int) string {
		return fmt.Sprintf(`{"name": %q, "gauge": {"dataPoints": [{"timeUnixNano": "%d000000000", "asInt": %d}]}}`, series,
			seconds, value)
	},
}

var refusedCount = regexp.MustCompile(`(\d+) of (\d+) (?:lines|points|samples)`)

// toldBy reads an answer.
func toldBy(text string) losstest.Told {
	told := losstest.Told{Text: text}
	if m := refusedCount.FindStringSubmatch(text); m != nil {
		told.Refused, _ = strconv.Atoi(m[1])
		told.Of, _ = strconv.Atoi(m[2])
	}
	return told
}

// Each element of a random body is stored, or equal to one that is stored, or counted: in the answer, or, where there
// is none, by counters.
func TestImportsLoseNothingSilently(t *testing.T) {
	run := func(name string, d losstest.Door) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			losstest.Run(t, &d)
		})
	}
	for _, d := range doors() {
		protocol, _, _ := strings.Cut(d.name, " by ")
		law := losstest.Door{Element: elementOf[protocol], Odd: append(d.odd, d.twice...), Join: d.join}
		if law.Element == nil {
			continue
		}
		for _, number := range d.numbers {
			law.Odd = append(law.Odd, fmt.Sprintf(d.number, number))
		}
		law.Send = func(t *testing.T, body string) ([]float64, losstest.Told) {
			stored, told := d.send(t, body)
			return valuesOf(t, stored), toldBy(told)
		}
		switch {
		case protocol == "OTLP/JSON": // the first one, as both may be deltas
			law.Again = func(before, _ int) (int, bool) { return before, true }
		case protocol == "graphite":
			law.Send = toWriter(byGraphite(strings.ToLower(strings.TrimPrefix(d.name, "graphite by "))))
		case protocol == "statsd":
			law.Again = func(before, value int) (int, bool) { return before + value, false }
			law.Send = toWriter(byStatsd)
		}
		run(d.name, law)
	}
	odd := []string{"u 1 60000 of=,of=1", "- 1 60000", "u 1 60000 of=1,of=2", "u 1 60000 of=1,of=1", "u 1 99999999999999", "u 1 -1",
		strings.Repeat("u", 300) + " 1 60000", "u 1 60000 =x", "u 1 60000 histogram"}
	element := func(series string, seconds, value int) string {
		return fmt.Sprintf("%s %d %d000", series, value, seconds)
	}
	run("exposition as protobuf", losstest.Door{Element: element, Send: byProtobuf, Odd: []string{"u 1 -1",
		"u 1 99999999999999", "u 1 60000 of=1,of=2", "u 1 60000 of=1,of=1", "u 1 60000 cut", "h 1 60000 histogram",
		strings.Repeat("u", 300) + " 1 60000"}})
	for version, headers := range [][]string{1: asRemoteWrite, 2: asRemoteWrite2} {
		if headers == nil {
			continue
		}
		if version == 2 {
			odd = append(odd, "u 1 60000 refs", "u 1 60000 beyond")
		}
		run(fmt.Sprint("remote write ", version), losstest.Door{Element: element, Odd: odd,
			Send: func(t *testing.T, body string) ([]float64, losstest.Told) {
				return byRemoteWrite(t, version, body, headers)
			}})
	}
}

func valuesOf(t *testing.T, stored []string) (values []float64) {
	t.Helper()
	for _, one := range stored {
		_, text, _ := strings.Cut(one, "=")
		value, err := strconv.ParseFloat(text, 64)
		check(t, err)
		values = append(values, value)
	}
	return values
}

// byRemoteWrite sends lines of a name, a value, milliseconds and labels. Lines of one series may share a message.
func byRemoteWrite(t *testing.T, version int, body string, headers []string) ([]float64, losstest.Told) {
	t.Helper()
	one, two := &prompb.WriteRequest{}, &writev2.Request{}
	symbols := writev2.NewSymbolTable()
	before := ""
	for line := range strings.Lines(body) {
		var name, labels string
		var value float64
		var ms int64
		_, _ = fmt.Sscan(line, &name, &value, &ms, &labels)
		if series := name + labels; series != before {
			before = series
			var of []prompb.Label
			if name != "-" {
				of = append(of, prompb.Label{Name: "__name__", Value: name})
			}
			for pair := range strings.SplitSeq(labels, ",") {
				if label, text, ok := strings.Cut(pair, "="); ok {
					of = append(of, prompb.Label{Name: label, Value: text})
				}
			}
			var refs []uint32
			for _, label := range of {
				refs = append(refs, symbols.Symbolize(label.Name), symbols.Symbolize(label.Value))
			}
			switch labels {
			case "refs":
				refs = append(refs, refs[0])
			case "beyond":
				refs = append(refs, refs[0], 1<<20)
			}
			one.Timeseries = append(one.Timeseries, prompb.TimeSeries{Labels: of})
			two.Timeseries = append(two.Timeseries, writev2.TimeSeries{LabelsRefs: refs})
		}
		last := len(one.Timeseries) - 1
		of1, of2 := &one.Timeseries[last], &two.Timeseries[last]
		if labels == "histogram" { // an invalid one
			of1.Histograms = append(of1.Histograms, prompb.Histogram{Timestamp: ms, Schema: 99})
			of2.Histograms = append(of2.Histograms, writev2.Histogram{Timestamp: ms, Schema: 99})
			continue
		}
		of1.Samples = append(of1.Samples, prompb.Sample{Value: value, Timestamp: ms})
		of2.Samples = append(of2.Samples, writev2.Sample{Value: value, Timestamp: ms})
	}
	two.Symbols = symbols.Symbols()
	message, err := one.Marshal()
	if version == 2 {
		message, err = two.Marshal()
	}
	check(t, err)
	s := newServer(t, nil)
	w := s.call(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, message)), headers...)
	told := toldBy(w.Body.String())
	if written := w.Header().Get("X-Prometheus-Remote-Write-Samples-Written"); version == 2 && told.Of > 0 &&
		written != strconv.Itoa(told.Of-told.Refused) {
		t.Errorf("%s\n%s samples are written, and %s", body, written, told.Text)
	}
	return valuesOf(t, s.stored(t)), told
}

// byProtobuf sends lines like those of byRemoteWrite, each a message of the exposition format.
func byProtobuf(t *testing.T, body string) ([]float64, losstest.Told) {
	t.Helper()
	var message []byte
	for line := range strings.Lines(body) {
		var name, labels string
		var value float64
		var ms int64
		_, _ = fmt.Sscan(line, &name, &value, &ms, &labels)
		one := &dto.Metric{TimestampMs: &ms, Untyped: &dto.Untyped{Value: &value}}
		kind := dto.MetricType_UNTYPED
		for pair := range strings.SplitSeq(labels, ",") {
			if label, text, ok := strings.Cut(pair, "="); ok {
				one.Label = append(one.Label, &dto.LabelPair{Name: &label, Value: &text})
			}
		}
		if labels == "histogram" {
			one.Untyped, kind = nil, dto.MetricType_HISTOGRAM
			one.Histogram = &dto.Histogram{SampleCount: proto.Uint64(1), Schema: proto.Int32(1),
				ZeroCount: proto.Uint64(1)}
		}
		family, err := proto.Marshal(&dto.MetricFamily{Name: &name, Type: &kind, Metric: []*dto.Metric{one}})
		check(t, err)
		if labels == "cut" {
			family = family[:len(family)-1]
		}
		message = protowire.AppendBytes(message, family)
	}
	s := newServer(t, nil)
	w := s.call(t, "POST /api/v1/import/prometheus", string(message), "Content-Type",
		"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
	return valuesOf(t, s.stored(t)), toldBy(w.Body.String())
}

// toWriter sends bodies through a listener to a server's Writer. It counts refusals by both.
func toWriter(send listened) func(t *testing.T, body string) ([]float64, losstest.Told) {
	return func(t *testing.T, body string) ([]float64, losstest.Told) {
		t.Helper()
		s := newServer(t, nil)
		registry := prometheus.NewRegistry()
		send(t, s.handler.(*api.Handler).Series.Store, registry, body)
		told := losstest.Told{}
		for _, gatherer := range []prometheus.Gatherer{registry, s.options.Gatherer} {
			families, err := gatherer.Gather()
			check(t, err)
			for _, family := range families {
				for _, m := range family.GetMetric() {
					if n := m.GetCounter().GetValue(); strings.HasSuffix(family.GetName(), "_refused_total") && n > 0 {
						told.Refused += int(n)
						told.Text += fmt.Sprint(family.GetName(), m.GetLabel(), " ", n, "; ")
					}
				}
			}
		}
		return valuesOf(t, s.stored(t)), told
	}
}
