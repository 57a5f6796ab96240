package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/internal/loopback"
)

// sentMeasure is a measure of a series.
type sentMeasure struct {
	labels [][2]string // __name__ first
	at     time.Time
	value  float64
}

// A way is a protocol by which senders put measures into servers.
type way struct {
	name   string
	paths  map[string]string // by kind of server, of those that take it; "" for TCP
	header []string          // names and values
	encode func(list []sentMeasure) []byte
}

// program returns the beginning of a server's name.
func (s *fleetServer) program() string {
	return s.name[:len(s.name)-len(strings.TrimLeft(s.name, "abcdefghijklmnopqrstuvwxyz"))]
}

const protobufType = "application/x-protobuf"

var ways = []way{
	{"remote-write", map[string]string{"gnocco": "/api/v1/write", "victoria": "/api/v1/write", "prometheus": "/api/v1/write"},
		[]string{"Content-Type", protobufType, "Content-Encoding", "snappy"}, func(list []sentMeasure) (body []byte) {
			var values []float64
			for i, m := range list {
				values = append(values, m.value)
				if i+1 == len(list) || &list[i+1].labels[0] != &m.labels[0] { // the last of the series
					first := m.at.Add(-time.Duration(len(values)-1) * time.Second)
					body = appendTimeSeries(body, m.labels, first, time.Second, values)
					values = values[:0]
				}
			}
			return s2.EncodeSnappy(nil, body)
		}},
	{"remote-write-2", map[string]string{"gnocco": "/api/v1/write", "prometheus": "/api/v1/write"},
		[]string{"Content-Type", protobufType + ";proto=io.prometheus.write.v2.Request", "Content-Encoding", "snappy",
			"X-Prometheus-Remote-Write-Version", "2.0.0"}, encodeRemoteWrite2},
	{"otlp", map[string]string{"gnocco": "/v1/metrics", "victoria": "/opentelemetry/v1/metrics",
		"prometheus": "/api/v1/otlp/v1/metrics"}, []string{"Content-Type", protobufType}, encodeOTLP},
	{"influxdb", map[string]string{"gnocco": "/write?db=b", "victoria": "/write?db=b", "influxdb": "/write?db=b"}, nil,
		eachLine(func(dst []byte, m sentMeasure) []byte {
			dst = append(dst, m.labels[0][1]...)
			for _, l := range m.labels[1:] {
				dst = fmt.Appendf(dst, ",%s=%s", l[0], l[1])
			}
			return fmt.Appendf(dst, " value=%v %d", m.value, m.at.UnixNano())
		})},
	{"graphite", map[string]string{"gnocco": "", "victoria": ""}, nil, eachLine(func(dst []byte, m sentMeasure) []byte {
		dst = append(dst, m.labels[0][1]...)
		for _, l := range m.labels[1:] {
			dst = fmt.Appendf(dst, ";%s=%s", l[0], l[1])
		}
		return fmt.Appendf(dst, " %v %d", m.value, m.at.Unix())
	})},
	{"import-jsonl", map[string]string{"gnocco": "/api/v1/import", "victoria": "/api/v1/import"}, nil,
		eachLine(func(dst []byte, m sentMeasure) []byte {
			dst = append(dst, `{"metric":{`...)
			for i, l := range m.labels {
				dst = fmt.Appendf(dst, "%.*s%q:%q", min(i, 1), ",", l[0], l[1])
			}
			return fmt.Appendf(dst, `},"values":[%v],"timestamps":[%d]}`, m.value, m.at.UnixMilli())
		})},
	{"import-text", map[string]string{"gnocco": "/api/v1/import/prometheus", "victoria": "/api/v1/import/prometheus"}, nil,
		eachLine(func(dst []byte, m sentMeasure) []byte {
			dst = append(append(dst, m.labels[0][1]...), '{')
			for i, l := range m.labels[1:] {
				dst = fmt.Appendf(dst, "%.*s%s=%q", min(i, 1), ",", l[0], l[1])
			}
			return fmt.Appendf(dst, "} %v %d", m.value, m.at.UnixMilli())
		})},
}

func eachLine(line func(dst []byte, m sentMeasure) []byte) func([]sentMeasure) []byte {
	return func(list []sentMeasure) (body []byte) {
		for _, m := range list {
			body = append(line(body, m), '\n')
		}
		return body
	}
}

func nested(dst []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
}

func appendDouble(dst []byte, number protowire.Number, value float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(dst, number, protowire.Fixed64Type), math.Float64bits(value))
}

func encodeRemoteWrite2(list []sentMeasure) []byte {
	symbols := []string{""}
	places := map[string]uint64{"": 0}
	refOf := func(text string) uint64 {
		place, ok := places[text]
		if !ok {
			place = uint64(len(symbols))
			places[text], symbols = place, append(symbols, text)
		}
		return place
	}
	var all []byte
	for _, m := range list {
		var refs []byte
		for _, l := range m.labels {
			refs = binary.AppendUvarint(binary.AppendUvarint(refs, refOf(l[0])), refOf(l[1]))
		}
		sample := protowire.AppendTag(appendDouble(nil, 1, m.value), 2, protowire.VarintType)
		sample = protowire.AppendVarint(sample, uint64(m.at.UnixMilli()))
		gauge := []byte{1 << 3, 2} // metadata: the type
		all = nested(all, 5, nested(nested(nested(nil, 1, refs), 2, sample), 5, gauge))
	}
	var body []byte
	for _, s := range symbols {
		body = nested(body, 4, []byte(s))
	}
	return s2.EncodeSnappy(nil, append(body, all...))
}

// encodeOTLP makes gauges of one scope, those of a name together.
func encodeOTLP(list []sentMeasure) []byte {
	points := map[string][]byte{}
	for _, m := range list {
		point := protowire.AppendTag(nil, 3, protowire.Fixed64Type)
		point = appendDouble(protowire.AppendFixed64(point, uint64(m.at.UnixNano())), 4, m.value)
		for _, l := range m.labels[1:] {
			point = nested(point, 7, nested(nested(nil, 1, []byte(l[0])), 2, nested(nil, 1, []byte(l[1]))))
		}
		name := m.labels[0][1]
		points[name] = nested(points[name], 1, point)
	}
	var metrics []byte
	for name, list := range points {
		metrics = nested(metrics, 2, nested(nested(nil, 1, []byte(name)), 5, list))
	}
	return nested(nil, 1, nested(nil, 2, metrics))
}

// Ways sends the same measures by each protocol that a server takes, to one server after the other: 1,000 series with
// a measure each a request, or what.Shape.
func Ways(ctx context.Context, options Options, what SeriesOptions) error {
	what.EnsureDefaults()
	shape, err := wayShape(what.Shape)
	if err != nil {
		return err
	}
	wanted := func(name string) bool { return what.Way == "" || slices.Contains(strings.Split(what.Way, ","), name) }
	return eachSeriesServer(ctx, options, what, "ways", func(s *fleetServer) error {
		var errs []error
		for i := range ways {
			if path, ok := ways[i].paths[s.program()]; ok && wanted(ways[i].name) {
				errs = append(errs, s.measureWay(ctx, &ways[i], path, shape, what.Measures))
			}
		}
		if s.program() == "gnocco" && wanted("json") {
			errs = append(errs, s.measureWay(ctx, nil, "", shape, what.Measures))
		}
		return errors.Join(errs...)
	})
}

// wayShape reads SERIESxMEASURES of a request; "": 1000x1. All shapes take about as much memory.
func wayShape(text string) (seriesShape, error) {
	shape, err := ParseShape(cmp.Or(text, "1000x1"))
	series := 80_000
	if shape.Measures > 1 {
		series = 10_000
	}
	return seriesShape{perRequest: shape.Metrics, measures: shape.Measures, series: series}, err
}

// wayBodies are the requests of one round, with measures of each series, a second apart.
func wayBodies(w *way, ids []string, shape seriesShape, at time.Time) (bodies [][]byte) {
	for from := 0; from < shape.series; from += shape.perRequest {
		var list []sentMeasure
		body := []byte{'{'}
		for i := from; i < min(from+shape.perRequest, shape.series); i++ {
			labels := seriesLabels(i, shape.series)
			if w == nil {
				body = fmt.Appendf(body, `%.*s%q:[`, min(i-from, 1), ",", ids[i])
			}
			for j := range shape.measures {
				m := sentMeasure{labels, at.Add(time.Duration(j) * time.Second),
					float64((i*7+j*3+at.Second())%1000) / 10}
				list = append(list, m)
				if w == nil {
					body = fmt.Appendf(body, `%.*s{"timestamp":%d.%03d,"value":%v}`, min(j, 1), ",", m.at.Unix(),
						m.at.Nanosecond()/1e6, m.value)
				}
			}
			if w == nil {
				body = append(body, ']')
			}
		}
		if w != nil {
			body = w.encode(list)
		} else {
			body = append(body, '}')
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// measureWay sends rounds by a way, nil for JSON by the metrics' IDs.
func (s *fleetServer) measureWay(ctx context.Context, w *way, path string, shape seriesShape, measures int) error {
	tcp, err := loopback.Free()
	if err != nil {
		return err
	}
	s.extra = map[string][]string{"victoria": {"-graphiteListenAddr", tcp},
		"gnocco": {"--graphite-listen", tcp, "--graphite-creator", "admin"}, "prometheus": {"--web.enable-otlp-receiver"},
	}[s.program()]
	defer func() { s.extra = nil }()
	if err := s.startEmpty(ctx); err != nil {
		return err
	}
	name := "json"
	var ids []string
	if w == nil {
		if ids, err = s.createPushed(ctx, shape.series); err != nil {
			return err
		}
	} else {
		name = w.name
	}
	if s.program() == "influxdb" {
		if err := s.client.do(ctx, http.MethodPost, "/query?q=CREATE+DATABASE+b", nil, http.StatusOK, nil); err != nil {
			return err
		}
	}
	rounds, step := max(1, measures/(shape.series*shape.measures)), time.Duration(max(5, shape.measures))*time.Second
	at := time.Now().Add(-time.Duration(rounds+1) * step).Truncate(time.Second)
	send := func(rounds ...[][]byte) error {
		var sending errgroup.Group
		for connection := range s.fleet.Connections {
			sending.Go(func() error {
				var mine [][]byte
				for _, bodies := range rounds {
					for i := connection; i < len(bodies); i += s.fleet.Connections {
						mine = append(mine, bodies[i])
					}
				}
				switch {
				case w == nil:
					for _, body := range mine {
						if err := s.client.sendOne(ctx, body); err != nil {
							return err
						}
					}
				case path == "":
					return sendTCP(ctx, tcp, mine)
				default:
					for _, body := range mine {
						if err := s.client.post(ctx, path, w.header, body); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		return sending.Wait()
	}
	if err := send(wayBodies(w, ids, shape, at)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var bodies [][][]byte
	for range rounds {
		at = at.Add(step)
		bodies = append(bodies, wayBodies(w, ids, shape, at))
	}
	time.Sleep(2 * time.Second) // what the first round left to do
	if err := s.readUsage(); err != nil {
		return err
	}
	before := s.usage.cpu
	wall, _, err := s.timed(func() error { return send(bodies...) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if w != nil && s.program() != "influxdb" {
		if err := s.hasAll(ctx, shape.series); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	ended, err := s.child.stop()
	s.client.close()
	s.child = nil
	if err != nil {
		return err
	}
	n := float64(rounds * shape.series * shape.measures)
	if shape.measures > 1 {
		name += fmt.Sprintf("/shape=%dx%d", shape.perRequest, shape.measures)
	}
	return s.fleet.Report.Add(fmt.Sprintf("Ways/way=%s/server=%s", name, s.name), int(n),
		report.Of((ended.cpu-before).Seconds()/n*1e6, "cpu-s/Mmeasure-stopped"),
		report.Of(n/wall.Seconds(), "measures/s-acked"))
}

// createPushed creates metrics with the policy of pushed series.
func (s *fleetServer) createPushed(ctx context.Context, n int) ([]string, error) {
	policy := s.client.policy
	defer func() { s.client.policy = policy }()
	s.client.policy = "prometheus"
	return s.client.createMetrics(ctx, n)
}

// hasAll waits until all series can be read.
func (s *fleetServer) hasAll(ctx context.Context, n int) (err error) {
	want := fmt.Sprintf(`"%d"]`, n)
	for begun := time.Now(); time.Since(begun) < wrongWait; time.Sleep(100 * time.Millisecond) {
		var answer bytes.Buffer
		const count = "/api/v1/query?nocache=1&query=count(%7B__name__=~%22m_.%2B%22%7D)"
		if err = s.client.do(ctx, http.MethodGet, count, nil, http.StatusOK, &answer); err == nil {
			if strings.Contains(answer.String(), want) {
				return nil
			}
			err = fmt.Errorf("not all series arrived: %.300s", answer.String())
		}
	}
	return cmp.Or(err, errors.New("no answer"))
}

// sendTCP sends lines, and waits until the server has read them.
func sendTCP(ctx context.Context, address string, bodies [][]byte) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	for _, body := range bodies {
		if _, err := connection.Write(body); err != nil {
			return err
		}
	}
	if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, connection)
	return err
}

// post sends a body of one of the ways.
func (c *client) post(ctx context.Context, path string, header []string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	request.SetBasicAuth(c.user, c.password)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %.500s", path, response.Status, text)
	}
	return nil
}
