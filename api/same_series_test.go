package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// doorsAt is the time of the first sample at a door, in seconds.
const doorsAt = 1767322800

// A seriesDoor sends the samples of a series of a name with the label job="j", 15 s apart, of a kind or "" for none.
type seriesDoor struct {
	name string
	send func(t *testing.T, s *server, name, kind string, from int, values []float64)
	// kinds are the names and kinds that the protocol has, as name and kind; nil: all.
	kinds []string
}

// doorNames are names that tell no type, and one that does.
var doorNames = []string{"x_v", "x_v_total"}

var seriesDoors = []seriesDoor{
	{"remote write 1", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		request := &prompb.WriteRequest{}
		one := prompb.TimeSeries{Labels: prompb.FromLabels(labels.FromStrings("__name__", name, "job", "j"), nil)}
		for i, v := range values {
			one.Samples = append(one.Samples, prompb.Sample{Timestamp: doorMillis(from + i), Value: v})
		}
		if request.Timeseries = append(request.Timeseries, one); kind != "" {
			request.Metadata = append(request.Metadata, prompb.MetricMetadata{MetricFamilyName: name,
				Type: prompb.MetricMetadata_MetricType(prompb.MetricMetadata_MetricType_value[strings.ToUpper(kind)])})
		}
		body, err := request.Marshal()
		check(t, err)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite...)
	}, nil},
	{"remote write 2", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		request, symbols := &writev2.Request{}, writev2.NewSymbolTable()
		one := writev2.TimeSeries{LabelsRefs: symbols.SymbolizeLabels(labels.FromStrings("__name__", name, "job", "j"), nil)}
		for i, v := range values {
			one.Samples = append(one.Samples, writev2.Sample{Timestamp: doorMillis(from + i), Value: v})
		}
		one.Metadata.Type = map[string]writev2.Metadata_MetricType{"counter": writev2.Metadata_METRIC_TYPE_COUNTER,
			"gauge": writev2.Metadata_METRIC_TYPE_GAUGE}[kind]
		request.Timeseries, request.Symbols = append(request.Timeseries, one), symbols.Symbols()
		body, err := request.Marshal()
		check(t, err)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite2...)
	}, nil},
	{"text", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		s.want(t, "POST /api/v1/import/prometheus", doorType(name, kind)+doorText(name, from, values), 204, "")
	}, nil},
	{"JSON lines", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		describe(t, s, name, kind)
		var times, texts []string
		for i, v := range values {
			times, texts = append(times, fmt.Sprint(doorMillis(from+i))), append(texts, fmt.Sprint(v))
		}
		s.want(t, "POST /api/v1/import", fmt.Sprintf(
			`{"metric":{"__name__":%q,"job":"j"},"values":[%s],"timestamps":[%s]}`, name, strings.Join(texts, ","),
			strings.Join(times, ",")), 204, "")
	}, nil},
	{"import of blocks and CSV", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		describe(t, s, name, kind)
		if from == 0 {
			s.want(t, "POST /v1/metric", `{"labels":{"__name__":"`+name+`","job":"j"}}`, 201, "~")
		}
		var list []string
		for i, v := range values {
			list = append(list, fmt.Sprintf(`{"timestamp":%d,"value":%v}`, doorMillis(from+i)/1000, v))
		}
		s.want(t, "POST /v1/metric/"+s.onlySeries(t).ID.String()+"/measures", "["+strings.Join(list, ",")+"]", 202, "")
	}, nil},
	{"line protocol", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		describe(t, s, name, kind)
		measurement, field, _ := strings.Cut(name, "_")
		var lines []string
		for i, v := range values {
			lines = append(lines, fmt.Sprintf("%s,job=j %s=%v %d", measurement, field, v, doorMillis(from+i)))
		}
		s.want(t, "POST /write?precision=ms", strings.Join(lines, "\n"), 204, "")
	}, nil},
	{"Graphite", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		describe(t, s, name, kind)
		var batch series.Batch
		decoder, err := graphite.New(nil)
		check(t, err)
		var of series.Labels
		check(t, decoder.Read([]byte(name+";job=j"), &of))
		for i, v := range values {
			check(t, batch.Add(of, carbonara.Timestamp(doorMillis(from+i)*1e6), v))
		}
		check(t, s.handler.(*api.Handler).Series.Store(t.Context(), "foobar", "graphite", &batch))
	}, nil},
	{"OTLP", func(t *testing.T, s *server, name, kind string, from int, values []float64) {
		var points []string
		for i, v := range values {
			points = append(points, fmt.Sprintf(`{"attributes": [{"key": "job", "value": {"stringValue": "j"}}],
				"timeUnixNano": "%d", "asDouble": %v}`, doorMillis(from+i)*1e6, v))
		}
		data := fmt.Sprintf(`"gauge": {"dataPoints": [%s]}`, strings.Join(points, ","))
		if kind == "counter" {
			data = fmt.Sprintf(`"sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [%s]}`,
				strings.Join(points, ","))
		}
		s.want(t, "POST /v1/metrics", fmt.Sprintf(`{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": %q, %s}]}]}]}`,
			name, data), 200, "{}")
	}, []string{"x_v gauge", "x_v_total counter"}}, // it names counters so
}

// describe sends the type of a name, if it has one.
func describe(t *testing.T, s *server, name, kind string) {
	if kind != "" {
		s.want(t, "POST /api/v1/import/prometheus", doorType(name, kind), 204, "")
	}
}

func doorMillis(i int) int64 { return doorsAt*1000 + 15_000*int64(i) }

func doorType(name, kind string) string {
	if kind == "" {
		return ""
	}
	return "# TYPE " + name + " " + kind + "\n"
}

func doorText(name string, from int, values []float64) (text string) {
	for i, v := range values {
		text += fmt.Sprintf("%s{job=\"j\"} %v %d\n", name, v, doorMillis(from+i))
	}
	return text
}

// seriesShown is what the API shows of a series.
type seriesShown struct {
	ID     uuid.UUID
	Labels map[string]string
	Type   string
	Policy struct{ Name string } `json:"archive_policy"`
}

// onlySeries returns the only series of the server.
func (s *server) onlySeries(t *testing.T) (one seriesShown) {
	t.Helper()
	var all []seriesShown
	w := s.call(t, "GET /v1/metric", "")
	check(t, json.Unmarshal(w.Body.Bytes(), &all))
	if len(all) != 1 {
		t.Fatalf("%d series: %s", len(all), w.Body)
	}
	return all[0]
}

// throughDoor sends the samples of a series through a door, its type with the first ones, later or never, and returns
// what the server says of it. apply has types applied.
func throughDoor(t *testing.T, d seriesDoor, name, kind string, late bool, values []float64,
	apply func(*server)) string {
	s := newServer(t, nil)
	apply(s) // as when the index is opened
	half := len(values) / 2
	if late {
		d.send(t, s, name, "", 0, values[:half])
		apply(s)
		d.send(t, s, name, kind, half, values[half:])
	} else {
		d.send(t, s, name, kind, 0, values)
	}
	apply(s)
	return s.said(t, name, len(values))
}

// said returns what the server says of the only series, of so many samples.
func (s *server) said(t *testing.T, name string, samples int) string {
	one := s.onlySeries(t)
	said := fmt.Sprint(one.Labels, " ", one.Type, " ", one.Policy.Name)
	s.refreshAll(t, "foobar")
	for _, q := range []string{"increase(%s[10m])", "avg_over_time(%s[10m])", "count_over_time(%s[1h])", "resets(%s[1h])"} {
		w := s.call(t, "GET /api/v1/query?query="+url.QueryEscape(fmt.Sprintf(q, name))+fmt.Sprint("&time=", doorMillis(samples)/1000), "")
		said += "\n" + w.Body.String()
	}
	return said
}

// retype has types applied, as the holder of the index does for as long as it holds it.
func retype(t *testing.T) func(*server) {
	movers := map[*server]*latetypes.Mover{}
	return func(s *server) {
		if movers[s] == nil {
			movers[s] = &latetypes.Mover{Index: s.options.Index, Logger: slog.New(slog.DiscardHandler),
				Rebuild: s.rebuild}
		}
		check(t, movers[s].Work(t.Context()))
	}
}

// rebuild gives archives the schema of their policies.
func (s *server) rebuild(ctx context.Context, ids []uuid.UUID) (done model.RebuildCounts, err error) {
	metrics, err := s.options.Index.CurrentMetrics(ids)
	if err != nil {
		return done, err
	}
	var policies []*model.ArchivePolicy
	for _, m := range metrics {
		policies = append(policies, m.ArchivePolicy)
	}
	return s.options.Archives.(testnode.Archives).Metricd.Rebuild(ctx, ids, policies)
}

// Every protocol makes the same series: its labels, its type, its archive policy and its answers, whether the type
// comes first or later.
func TestSameSeriesByEveryDoor(t *testing.T) {
	random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	for _, name := range doorNames {
		for _, kind := range []string{"counter", "gauge", ""} {
			var values []float64
			v := 100.0
			for range 10 + random.IntN(30) {
				if v += float64(random.IntN(9)); random.IntN(12) == 0 {
					v = float64(random.IntN(3))
				}
				values = append(values, v)
			}
			want := ""
			for _, d := range seriesDoors {
				for _, late := range []bool{false, true} {
					if d.kinds != nil && (late || !slices.Contains(d.kinds, name+" "+kind)) ||
						late && kind == "gauge" && name == "x_v_total" { // stays a counter's policy: more columns
						continue
					}
					got := throughDoor(t, d, name, kind, late, values, retype(t))
					if want = cmp.Or(want, got); got != want {
						t.Errorf("%s, %s %q, late %v:\n%s\nand not\n%s", d.name, name, kind, late, got, want)
					}
				}
			}
			if policy := map[string]string{"counter": " counter prometheus-counter\n"}[kind]; !strings.Contains(want, policy) {
				t.Errorf("%q: %s", kind, want)
			}
		}
	}
}

// A typing tells the type of the series that is there, perhaps with the next samples, and returns how many it took.
type typing func(t *testing.T, s *server, name, kind string, from int, values []float64) (taken int)

// typings are the metadata that any door has, and changes of the metric.
func typings(name, kind string) map[string]typing {
	change := func(t *testing.T, s *server, body string) {
		id := s.onlySeries(t).ID
		s.want(t, "PATCH /v1/metric/"+id.String(), body, 200, "~", "user", "admin")
		_, err := s.rebuild(t.Context(), []uuid.UUID{id})
		check(t, err)
	}
	all := map[string]typing{
		"PATCH of the type": func(t *testing.T, s *server, _, kind string, _ int, _ []float64) int {
			change(t, s, `{"type": "`+kind+`"}`)
			return 0
		},
		"PATCH of type and policy": func(t *testing.T, s *server, _, kind string, _ int, _ []float64) int {
			change(t, s, `{"type": "`+kind+`", "archive_policy_name": "`+s.counters(t)+`"}`)
			return 0
		},
		"PATCH of the type, to and fro": func(t *testing.T, s *server, name, kind string, _ int, _ []float64) int {
			change(t, s, `{"type": "gauge"}`)
			describe(t, s, name, kind)
			change(t, s, `{"type": "unknown"}`)
			return 0
		},
	}
	for _, d := range seriesDoors {
		if d.kinds == nil || slices.Contains(d.kinds, name+" "+kind) {
			all[d.name] = func(t *testing.T, s *server, name, kind string, from int, values []float64) int {
				d.send(t, s, name, kind, from, values[:1])
				return 1
			}
		}
	}
	return all
}

// counters has the archive policy of counters created, and returns its name.
func (s *server) counters(t *testing.T) string {
	t.Helper()
	p, err := s.handler.(*api.Handler).Series.Ingester.PolicyOfSeries(t.Context(), model.CounterType)
	check(t, err)
	return p.Name
}

// Any doors make the same series of samples and a type, in any order.
func TestTypesByAnyDoor(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 53))
	values := []float64{5, 7, 1, 2, 3, 8, 9, 2, 4, 8, 1}
	const kind = "counter"
	doors := slices.DeleteFunc(slices.Clone(seriesDoors), func(d seriesDoor) bool { return d.kinds != nil })
	for _, name := range doorNames {
		want := throughDoor(t, seriesDoors[0], name, kind, false, values, retype(t))
		for how, typing := range typings(name, kind) {
			for range 3 {
				first, second, cut := doors[r.IntN(len(doors))], doors[r.IntN(len(doors))], 1+r.IntN(len(values)-2)
				s, apply := newServer(t, nil), retype(t)
				apply(s)
				first.send(t, s, name, "", 0, values[:cut])
				if r.IntN(2) == 0 {
					s.refreshAll(t, "foobar")
				}
				cut += typing(t, s, name, kind, cut, values[cut:])
				apply(s)
				second.send(t, s, name, "", cut, values[cut:])
				if got := s.said(t, name, len(values)); got != want {
					t.Errorf("%s by %s, then %s, then %s:\n%s\nand not\n%s", name, first.name, how, second.name, got, want)
				}
			}
		}
	}
}

// The law finds a type that is learned and not applied.
func TestPlantedTypeNotApplied(t *testing.T) {
	values := []float64{5, 7, 1, 2, 3, 8, 9, 2}
	want := throughDoor(t, seriesDoors[0], "x_v", "counter", false, values, retype(t))
	if got := throughDoor(t, seriesDoors[0], "x_v", "counter", true, values, func(*server) {}); got == want {
		t.Error("not found")
	}
}
