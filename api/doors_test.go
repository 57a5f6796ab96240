package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/statsd"
)

// A door takes text. The laws are those of package ingest/plaintext.
type door struct {
	name string
	// send sends a body to an empty server. It returns the stored measures, sorted, and the message about the others
	// that the sender or the operator gets; "": none.
	send func(t *testing.T, body string) (stored []string, told string)
	// join makes a body of elements. nil: lines.
	join func(elements ...string) string

	good       string   // an element of the series good with the value 1
	unfinished []string // law 1: these stand last
	odd        []string // law 2: these cost themselves, and so laws 4 and 5
	same       []string // law 3: these are as good
	numbers    []string // law 4, as %s of number
	number     string
	twice      []string // law 5: a label twice
	spellings  []string // two series, labels 1 and 1.0
	replaced   string   // good's series and time with another value; "": the door answers nothing
}

// byHTTP sends bodies to a path.
func byHTTP(path string, headers ...string) func(t *testing.T, body string) ([]string, string) {
	return func(t *testing.T, body string) (stored []string, told string) {
		t.Helper()
		s := newServer(t, nil)
		w := s.call(t, "POST "+path, body, headers...)
		switch text := w.Body.String(); {
		case w.Code >= http.StatusBadRequest, strings.Contains(text, "partialSuccess"):
			told = text
		}
		return s.stored(t), told
	}
}

// stored returns all measures of pushed series, sorted.
func (s *server) stored(t *testing.T) (stored []string) {
	t.Helper()
	s.refreshAll(t, "admin")
	lines := s.call(t, "GET /api/v1/export?match[]={__name__=~%22.%2B%22}", "", "user", "admin").Body.String()
	for line := range strings.Lines(lines) {
		var one struct {
			Metric map[string]string
			Values []float64
		}
		check(t, json.Unmarshal([]byte(line), &one))
		name := one.Metric["__name__"]
		if of := one.Metric["of"]; of != "" {
			name += "/" + of
		}
		if name == "push_time_seconds" {
			continue
		}
		for _, value := range one.Values {
			stored = append(stored, fmt.Sprint(name, "=", value))
		}
	}
	slices.Sort(stored)
	return stored
}

// kept are measures as a Store would store them.
type kept struct {
	mu     sync.Mutex
	stored []string
}

func (k *kept) store(_ context.Context, _, _ string, batch *series.Batch) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, values := batch.Columns()
	for i := range batch.Len() {
		name, err := batch.Name(i)
		if err != nil {
			return err
		}
		shown := name.Metric
		if of := name.Labels.Get("of"); of != "" {
			shown += "/" + of
		}
		from, to := batch.Span(i)
		for _, value := range values[from:to] {
			k.stored = append(k.stored, fmt.Sprint(shown, "=", value))
		}
	}
	return nil
}

// list returns them, sorted.
func (k *kept) list() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(slices.Values(k.stored))
}

// await waits for something to come out of a datagram, all of which is read at once.
func await(t *testing.T, came func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !came(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing arrives")
		}
	}
}

// messages returns how many messages statsd has understood.
func messages(t *testing.T, registry *prometheus.Registry) (n float64) {
	t.Helper()
	families, err := registry.Gather()
	check(t, err)
	for _, family := range families {
		if family.GetName() == "gnocco_statsd_messages_total" {
			n = family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return n
}

// refusals returns the reasons that counters of a name tell.
func refusals(t *testing.T, registry *prometheus.Registry, name string) string {
	t.Helper()
	families, err := registry.Gather()
	check(t, err)
	var reasons []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && m.GetCounter().GetValue() > 0 {
				i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "reason" })
				reasons = append(reasons, m.GetLabel()[i].GetValue())
			}
		}
	}
	return strings.Join(reasons, " ")
}

// unregistered keeps what a closed listener has counted.
type unregistered struct{ *prometheus.Registry }

func (unregistered) Unregister(prometheus.Collector) bool { return true }

// A listened door sends a body by a listener to a store.
type listened func(t *testing.T, store series.Store, registry *prometheus.Registry, body string)

// toKept returns measures and reasons of refusal, which a counter has.
func toKept(send listened, counter string) func(t *testing.T, body string) ([]string, string) {
	return func(t *testing.T, body string) (stored []string, told string) {
		t.Helper()
		registry, kept := prometheus.NewRegistry(), new(kept)
		send(t, kept.store, registry, body)
		return kept.list(), refusals(t, registry, counter)
	}
}

func byGraphite(network string) listened {
	return func(t *testing.T, store series.Store, registry *prometheus.Registry, body string) {
		t.Helper()
		decoder, err := graphite.New(nil)
		check(t, err)
		var came atomic.Bool
		s, err := listener.Start(listener.Options{Protocol: "graphite", Listen: "127.0.0.1:0", Decoder: decoder,
			Read: decoder.Read, Registerer: unregistered{registry},
			Store: func(ctx context.Context, creator, protocol string, batch *series.Batch) error {
				came.Store(true)
				return store(ctx, creator, protocol, batch)
			}})
		check(t, err)
		conn, err := net.Dial(network, s.Addr().String())
		check(t, err)
		_, err = conn.Write([]byte(body))
		check(t, err)
		if tcp, ok := conn.(*net.TCPConn); ok {
			check(t, tcp.CloseWrite())
			_, _ = tcp.Read(make([]byte, 1)) // the end: all is read
		} else {
			await(t, func() bool {
				return came.Load() || refusals(t, registry, "gnocco_listener_refused_total") != ""
			})
		}
		check(t, conn.Close())
		check(t, s.Close(t.Context()))
	}
}

func byStatsd(t *testing.T, store series.Store, registry *prometheus.Registry, body string) {
	t.Helper()
	s, err := statsd.Start(t.Context(), statsd.Options{Labels: true, Store: store, Listen: "127.0.0.1:0",
		Registerer: unregistered{registry}})
	check(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	check(t, err)
	_, err = conn.Write([]byte(body))
	check(t, err)
	await(t, func() bool {
		return messages(t, registry) > 0 || refusals(t, registry, "gnocco_statsd_refused_total") != ""
	})
	check(t, conn.Close())
	check(t, s.Close(t.Context()))
}

var tooLarge = []string{"1e999", "-1e999", "1e-999"}

func doors() []door {
	lineProtocol := door{good: "good value=1 60000000000",
		unfinished: []string{"bad", "bad ", "bad value", "bad value=", `bad value="text`, "bad,of=", `bad value=1,text="a`},
		odd: []string{"bad value=x", "bad value=NaN", "bad value=1 x", "bad value=1 1 1", "=1", `bad value="1"`,
			`bad text="only"`, "bad value=1 -5", "bad value=1 99999999999999999999"},
		same: []string{" \t good   value=1 \t 60000000000 \t", "good  value=1\t60000000000",
			"good\t \tvalue\t=1 60000000000",
			"good value=1i 60000000000", "good value=1,text=\"a\r\nb\rc\" 60000000000"},
		number: "bad value=%s 60000000000", numbers: append(tooLarge, "9223372036854775808i", "-9223372036854775809i",
			"18446744073709551616u", "-1u", "1.5i", "0x10"),
		twice:     []string{"bad,of=1,of=2 value=1", "bad,of=1,of=1 value=1", "bad,__name__=x value=1"},
		spellings: []string{"two,of=1 value=1 60000000000", "two,of=1.0 value=1 60000000000"},
		replaced:  "good value=2,value=3 60000000000",
	}
	exposition := door{good: "good_value 1 60000",
		unfinished: []string{"bad", "bad{", `bad{of="1`, `bad{of="1"`, `bad{of="1"}`, `bad{of="1} 5`},
		odd:        []string{"bad x", "bad 1 x", "bad 1 1 1", "{} 1", "bad 1 -5", "bad 1 99999999999999999999", "\xff 1"},
		same: []string{" \t good_value \t 1 \t 60000 \t", "good_value{} 1 60000", "good_value { } 1 60000",
			"good_value 1.0e0 60000", "# TYPE \t good_value  gauge \ngood_value 1 60000", "#TYPE good_value gauge\ngood_value 1 60000"},
		number: "bad %s 60000", numbers: tooLarge,
		twice:     []string{`bad{of="1",of="2"} 1`, `bad{of="1",of="1"} 1`, `bad{__name__="x"} 1`},
		spellings: []string{"# TYPE two histogram\ntwo{of=\"1\"} 1 60000", `two{of="1.0"} 1 60000`},
		replaced:  `good_value{of=""} 2 60000`,
	}
	plaintext := door{good: "good_value 1 60",
		odd: []string{"bad", "bad x 60", "bad 1 x", "bad 1 60 1", "bad NaN 60", "bad;of 1 60", "bad 1 -5", "\xff 1 60",
			"bad 1 0x1p30", "bad 1 1_000", "bad 1 1e400"},
		same:   []string{" \t good_value \t 1 \t 60 \t", "good_value 1.0 60.0"},
		number: "bad %s 60", numbers: append(tooLarge, "0x10"),
		twice:     []string{"bad;of=1;of=2 1 60", "bad;of=1;x=2;of=1 1 60", "bad;__name__=1 1 60"},
		spellings: []string{"two;of=1 1 60", "two;of=1.0 1 60"},
	}
	inList := func(begin, end string) func(...string) string {
		return func(elements ...string) string { return begin + strings.Join(elements, " \r\n,\t ") + end }
	}
	list := func(fields string) string {
		return `{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": 60, "plugin": "a", "type": "b"` + fields + `}`
	}
	const point = `{"timeUnixNano": "60000000000", "asInt": 1%s}`
	metric := func(name, fields string) string {
		return fmt.Sprintf(`{"name": %q, "gauge": {"dataPoints": [`+point+`]}}`, name, fields)
	}
	histogram := func(kind, fields string) string {
		return fmt.Sprintf(`{"name": "bad", %q: {"aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": 1, %s}]}}`,
			kind, fields)
	}
	key := func(value string) string {
		return `{"key": "of", "value": {"stringValue": "` + value + `"}}`
	}
	all := []door{}
	add := func(d door, name string, send func(*testing.T, string) ([]string, string)) {
		d.name, d.send = name, send
		all = append(all, d)
	}
	add(lineProtocol, "line protocol", byHTTP("/write"))
	add(lineProtocol, "line protocol 2", byHTTP("/api/v2/write?precision=ns"))
	add(lineProtocol, "line protocol 3", byHTTP("/api/v3/write_lp?precision=nanosecond"))
	add(exposition, "exposition", byHTTP("/api/v1/import/prometheus"))
	add(exposition, "pushgateway", byHTTP("/metrics/job/j"))
	tcp := plaintext
	tcp.unfinished = []string{"bad 1 60", "bad 1", "bad"}
	tcp.join = func(elements ...string) string { return strings.Join(elements, "\n") + "\n" }
	add(tcp, "graphite by TCP", toKept(byGraphite("tcp"), "gnocco_listener_refused_total"))
	add(plaintext, "graphite by UDP", toKept(byGraphite("udp"), "gnocco_listener_refused_total"))
	add(door{good: "good_value:1|c",
		unfinished: []string{"bad", "bad:", "bad:1", "bad:1|"},
		odd: []string{"bad:x|c", "bad:1|x", "bad:1|c|x", "bad:1|c|@2", "bad:1|c|@x", "bad:1|c|Tx", "bad:NaN|g", ":1|c",
			"bad:1|c|T99999999999", "\xff:1|c"},
		same:   []string{" \t good_value \t : 1 | c | @ 1 | # \t", "good_value:1|c|", "good_value:1.0|m", "good_value:1|c|T60"},
		number: "bad:%s|g", numbers: append(tooLarge, "0x10", "Inf"),
		twice:     []string{"bad:1|c|#of:,of:2", "bad:1|c|#of:1,of:2", "bad:1|c|#of:1,of:1", "bad:1|c|#__name__:x"},
		spellings: []string{"two:1|c|#of:1", "two:1|c|#of:1.0"},
	}, "statsd", toKept(byStatsd, "gnocco_statsd_refused_total"))
	add(door{good: `{"metric":{"__name__":"good_value"},"values":[1],"timestamps":[60000]}`,
		unfinished: []string{`{"metric":{"__name__":"bad"},"values":[1],"timestamps":[60000]`, `{"metric":{"__name__":"bad"`, `{`},
		odd: []string{`{"metric":{"__name__":"bad"},"values":["x"],"timestamps":[60000]}`, `5`, `[]`, `{"metric":5}`,
			`{"metric":{"__name__":5},"values":[1],"timestamps":[1]}`, `{"metric":{"__name__":"bad"},"values":[1],"timestamps":[]}`,
			`{"metric":{"__name__":"bad"},"values":5,"timestamps":[1]}`, `{"metric":{"__name__":"bad"},"values":[1],"timestamps":[1.5]}`,
			`{"metric":{"__name__":"bad"},"values":[1],"timestamps":[-5]}`, `{"metric":{},"values":[1],"timestamps":[5]}`,
			`{"metric":{"__name__":"bad","of":null},"values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"bad","":"x"},"values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"bad","":"x"}, "values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"bad","of":"\ud800"},"values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"bad"},"values":[1],"values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"bad"},"values":["1,5"],"timestamps":[60000,60001]}`,
			`{"metric":{"__name__":"bad"},"values":[[1,5]],"timestamps":[60000,60001]}`,
			`{"metric":{"__name__":"bad"},"metric":{"__name__":"bad"},"values":[1],"timestamps":[60000]}`},
		same: []string{" { \"metric\" : { \"__name__\" : \"good_value\" }\t, \"values\" : [ 1 ] , \"timestamps\" : [ 60000 ] } \t",
			`{"timestamps":[60000],"values":["1"],"metric":{"__name__":"good_value"},"other":[{"a":"]}"}]}`},
		number:  `{"metric":{"__name__":"bad"},"values":[%s],"timestamps":[60000]}`,
		numbers: tooLarge,
		twice: []string{`{"metric":{"__name__":"bad","of":"1","of":"2"},"values":[1],"timestamps":[60000]}`,
			`{"metric": {"__name__":"bad","of":"1","of":"1"},"values":[1],"timestamps":[60000]}`},
		spellings: []string{`{"metric":{"__name__":"two","of":"1"},"values":[1],"timestamps":[60000]}`,
			`{"metric":{"__name__":"two","of":"1.0"},"values":[1],"timestamps":[60000]}`},
		replaced: `{"metric":{"__name__":"good_value"},"values":[2],"timestamps":[60000]}`,
	}, "JSON lines", byHTTP("/api/v1/import"))
	add(door{join: inList("[", "]"), good: list(""),
		odd: []string{`5`, `{}`, list(`, "host": 5`), list(`, "dsnames": ["value"]`),
			`{"values": [true], "dstypes": ["gauge"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [1], "dstypes": ["x"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": "x", "plugin": "bad", "type": "b"}`,
			`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": -5, "plugin": "bad", "type": "b"}`,
			`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": null, "plugin": "bad", "type": "b"}`,
			`{"values": [-1], "dstypes": ["counter"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [-1], "dstypes": ["absolute"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [9223372036854775808], "dstypes": ["derive"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [18446744073709551616], "dstypes": ["counter"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
			`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "plugin": "bad", "type": "b"}`,
			list(`, "host": "\udc00"`), list(`, "time": 60`), list(`, "values": [1]`)},
		same:    []string{" " + list(` , "host" : "" `) + "\t", list(`, "meta": {"a": [1]}`)},
		number:  `{"values": [%s], "dstypes": ["gauge"], "dsnames": ["value"], "time": 60, "plugin": "bad", "type": "b"}`,
		numbers: tooLarge,
		twice:   []string{list(`, "host": "a", "host": "b"`), list(`, "plugin": "a"`)},
		spellings: []string{`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": 60, "plugin": "two", "type": "two", "host": "1"}`,
			`{"values": [1], "dstypes": ["gauge"], "dsnames": ["value"], "time": 60, "plugin": "two", "type": "two", "host": "1.0"}`},
		replaced: strings.Replace(list(""), "[1]", "[2]", 1),
	}, "collectd", byHTTP("/api/v1/import/collectd"))
	add(door{join: inList(`{"resourceMetrics": [{"scopeMetrics": [{"metrics": [`, `]}]}]}`), good: metric("good.value", ""),
		odd: []string{`5`, `{"name": 5, "gauge": {"dataPoints": [{}]}}`, `{"name": "bad", "gauge": 5}`,
			metric("bad", `, "attributes": 5`), metric("bad", `, "attributes": [5]`), metric("bad", `, "flags": "x"`),
			metric("bad", `, "attributes": [{"key": "k", "value": {"intValue": "x"}}]`), metric("bad", `, "timeUnixNano": "x"`),
			`{"name": "bad", "sum": {"aggregationTemporality": "x", "dataPoints": [{"timeUnixNano": 1, "asInt": 1}]}}`,
			`{"name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": 1}]}}`, metric("bad", `, "asDouble": 2`),
			`{"name": "bad", "intGauge": {"dataPoints": [{"timeUnixNano": 1, "value": 1}]}}`,
			`{"name": "bad", "data": {"gauge": {"dataPoints": [{"timeUnixNano": 1, "asInt": 1}]}}}`,
			`{"name": "bad", "gauge": {"data_points": [{"timeUnixNano": 1, "asInt": 1}]}}`,
			`{"name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": 1, "sum": 1}]}}`,
			metric("bad", `, "attributes": [{"key": "k", "value": {"stringValue": "x", "intValue": 1}}]`),
			metric("bad", `, "attributes": [{"key": "k", "value": {"string_value": "x"}}]`),
			metric("bad", `, "attributes": [{"key": "k", "value": {"arrayValue": {"values": [5]}}}]`),
			metric("bad", `, "attributes": [{"key": "k", "value": {"kvlistValue": {"values": [`+key("1")+","+key("2")+`]}}}]`),
			histogram("histogram", `"count": 3, "bucketCounts": [1, 1], "explicitBounds": [1]`),
			histogram("histogram", `"count": 1, "bucketCounts": [18446744073709551615, 2], "explicitBounds": [1]`),
			histogram("histogram", `"count": 2, "bucketCounts": [1, 1], "explicitBounds": ["NaN"]`),
			histogram("histogram", `"count": 2, "bucketCounts": [2, 0], "explicitBounds": ["Infinity"]`),
			histogram("exponentialHistogram", `"count": 3, "zeroCount": 1, "positive": {"bucketCounts": [1]}`),
			histogram("exponentialHistogram", `"count": 1, "positive": {"offset": 2147483647, "bucketCounts": [1]}`),
			histogram("exponentialHistogram", `"count": 1, "zeroCount": 1, "zeroThreshold": -1`),
			histogram("exponentialHistogram", `"count": 1, "zeroCount": 1, "zeroThreshold": "NaN"`),
			`{"name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": 1, "asInt": 1}]}, "summary": {}}`,
			metric("bad", `, "attributes": [{"key": "", "value": {"stringValue": "x"}}]`), metric("bad", `, "attributes": [`+key(`\ud800`)+`]`),
			metric("bad", `, "attributes": [{"key": "\udc00", "value": {"stringValue": "x"}}]`),
			`{"name": "b\ud83dd", "gauge": {"dataPoints": [{"timeUnixNano": "60000000000", "asInt": 1}]}}`,
			metric("bad", `, "attributes": [{"key": "k", "value": {"arrayValue": {"values": [{"stringValue": "\udfff"}]}}}]`),
			`{"name": "bad", "histogram": {"aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": 1, "count": 1,
				"bucketCounts": [1, 0, 0], "explicitBounds": [2, 1]}]}}`,
			metric("bad", `, "asInt": 1`), metric("bad", `, "timeUnixNano": "60000000000"`),
			metric("bad", `, "attributes": [], "attributes": []`),
			`{"name": "bad", "name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": "60000000000", "asInt": 1}]}}`,
			`{"name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": 1, "asInt": 1}]},
				"gauge": {"dataPoints": []}}`,
			metric("bad", `, "attributes": [{"key": "k", "key": "l", "value": {"stringValue": "x"}}]`)},
		same:      []string{"\t" + metric("good.value", ` , "other" : { } `) + " ", metric("good.value", `, "asDouble": 1`)},
		number:    `{"name": "bad", "gauge": {"dataPoints": [{"timeUnixNano": 60000000000, "asDouble": %s}]}}`,
		numbers:   append(tooLarge, `"0x10"`),
		twice:     []string{metric("bad", `, "attributes": [`+key("1")+","+key("2")+`]`), metric("bad", `, "attributes": [`+key("1")+","+key("1")+`]`)},
		spellings: []string{metric("two", `, "attributes": [`+key("1")+`]`), metric("two", `, "attributes": [`+key("1.0")+`]`)},
		replaced:  strings.Replace(metric("good.value", ""), `"asInt": 1`, `"asInt": 2`, 1),
	}, "OTLP/JSON", byHTTP("/v1/metrics", "Content-Type", "application/json"))
	return all
}

// Every door keeps the laws of package ingest/plaintext: each odd element stands beside a good one, before and behind.
func TestDoors(t *testing.T) {
	for _, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if d.join == nil {
				d.join = func(elements ...string) string { return strings.Join(elements, "\n") }
			}
			stored, told := d.send(t, d.join(d.good))
			if len(stored) != 1 || told != "" {
				t.Fatalf("a good element: %v, %s", stored, told)
			}
			good := stored[0]
			odd := slices.Clone(d.odd)
			for _, number := range d.numbers {
				odd = append(odd, fmt.Sprintf(d.number, number))
			}
			odd = append(odd, d.twice...)
			for _, element := range odd {
				body := d.join(element, d.good, element)
				stored, told := d.send(t, body)
				if len(stored) != 1 || stored[0] != good || told == "" {
					t.Errorf("%q: stored %v, told %s", body, stored, told)
				}
				for _, word := range []string{"Go value", "Go struct", "strconv", "json:"} {
					if strings.Contains(told, word) {
						t.Errorf("%q: %s", element, told)
					}
				}
			}
			for _, element := range d.unfinished {
				body := strings.TrimSuffix(d.join(d.good, element), "\n")
				if stored, told := d.send(t, body); len(stored) != 1 || stored[0] != good || told == "" {
					t.Errorf("unfinished %q: stored %v, told %s", body, stored, told)
				}
			}
			if body := d.join(d.good, d.replaced); d.replaced != "" {
				if stored, told := d.send(t, body); len(stored) != 1 || told == "" {
					t.Errorf("%q: stored %v, told %s", body, stored, told)
				}
			}
			mark := "\ufeff"
			if strings.HasPrefix(d.name, "OTLP") {
				mark = "" // no JSON, which the description in openapi.yaml is of
			}
			if stored, told := d.send(t, mark+d.join(d.good)); len(stored) != 1 || stored[0] != good || told != "" {
				t.Errorf("with a byte order mark: stored %v, told %s", stored, told)
			}
			if !strings.Contains(d.join("x"), "[") { // files that were joined
				elements := append([]string{d.good}, d.spellings...)
				body := d.join(mark+elements[0], mark+elements[1], mark+elements[2])
				if stored, told := d.send(t, body); len(stored) != 3 || told != "" {
					t.Errorf("%q: stored %v, told %s", body, stored, told)
				}
			}
			for _, element := range d.same {
				if stored, told := d.send(t, d.join(element)); len(stored) != 1 || stored[0] != good || told != "" {
					t.Errorf("%q: stored %v, told %s", element, stored, told)
				}
			}
			for _, end := range []string{"\n", "\r\n", "\r", "\n\n", " \r\n \t\r\n"} {
				body := end + strings.ReplaceAll(d.join(append([]string{d.good}, d.spellings...)...), "\n", end) + end
				if stored, told := d.send(t, body); len(stored) != 3 || told != "" {
					t.Errorf("%q: stored %v, told %s", body, stored, told)
				}
			}
		})
	}
}
