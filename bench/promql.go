package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/gnocco-db/gnocco/bench/report"
)

// PromQLOptions say what PromQL asks, and of whom.
type PromQLOptions struct {
	Prometheus string        // the program; "": that in PATH; without one it is left out
	Victoria   string        // VictoriaMetrics, as Prometheus
	For        time.Duration // how long each query is repeated in a round; 0: 1 s
	Rounds     int           // of all servers by turns; 0: 3

	Series, Days     int // series of many days; 0: 100 and 30
	Fleet, Resources int // series of an hour, and of one measure; 0: 10,000 and 100,000
}

// EnsureDefaults fills in what was left zero.
func (o *PromQLOptions) EnsureDefaults() {
	o.Prometheus, o.Victoria = cmp.Or(o.Prometheus, "prometheus"), cmp.Or(o.Victoria, "victoria-metrics")
	o.For, o.Rounds = cmp.Or(o.For, time.Second), cmp.Or(o.Rounds, 3)
	o.Series, o.Days, o.Fleet, o.Resources = cmp.Or(o.Series, 100), cmp.Or(o.Days, 30), cmp.Or(o.Fleet,
		10_000), cmp.Or(o.Resources, 100_000)
}

// promqlEnd is when the data ends: the same each time. Measures lie half a minute off the times of queries, for
// Prometheus 2 and 3 disagree about the first moment of a range.
var promqlEnd = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// promqlServer is one that takes remote writes and answers PromQL.
type promqlServer struct {
	name, path, ready string
	args              []string
	client            *client
	child             *child
	cpu, wall         map[string]time.Duration // of an answer, by query: the least of the rounds
}

func (s *promqlServer) start(ctx context.Context, options *Options, folder string) (err error) {
	s.child, err = startChild(ctx, s.path, filepath.Join(folder, s.name+".log"), s.ready, slices.Clone(s.args)...)
	if err == nil {
		s.client = newClient(options, s.child.url, 1)
	}
	return err
}

// PromQL sends the same series by remote write to a gnocco, a Prometheus and a VictoriaMetrics, asks all for the same
// by turns, and reports the CPU time that each takes for an answer. Gnocco has to answer as Prometheus does; where
// VictoriaMetrics does not, a warning says so.
func PromQL(ctx context.Context, options Options, what PromQLOptions) error {
	if options.URL != "" {
		return errors.New("bench: promql starts servers of its own")
	}
	if err := options.prepare(); err != nil {
		return err
	}
	what.EnsureDefaults()
	folder, err := os.MkdirTemp(options.TempDir, "gnocco-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	servers, err := startPromQLServers(ctx, &options, &what, folder)
	defer func() {
		for _, s := range servers {
			s.child.kill()
			s.client.close()
		}
	}()
	if err != nil {
		return err
	}
	for _, s := range servers {
		begun := time.Now()
		if err := s.fill(ctx, &what); err != nil {
			return fmt.Errorf("bench: %s: %w", s.name, err)
		}
		used, err := processUsage([]int{s.child.cmd.Process.Pid})
		if err != nil {
			return err
		}
		// its archives are measured, not what a month sent within seconds leaves to its next checkpoint
		if s.name == "gnocco" {
			if _, err := s.child.stop(); err != nil {
				return err
			}
			if err := s.start(ctx, &options, folder); err != nil {
				return err
			}
		}
		options.Logger.Info("sent all measures", "server", s.name, "seconds", time.Since(begun).Seconds(),
			"cpu_seconds", used.cpu.Seconds(), "resident_bytes", used.rss)
	}
	queries := what.queries()
	for _, q := range queries {
		other, err := agree(ctx, servers, q, wrongWait)
		if err != nil {
			return err
		}
		if other != "" {
			options.Logger.Warn("VictoriaMetrics answers otherwise", "query", q.name, "difference", other)
		}
	}
	for range what.Rounds {
		for _, q := range queries {
			for _, s := range servers {
				if err := s.measure(ctx, q, what.For); err != nil {
					return err
				}
			}
		}
	}
	for _, q := range queries {
		for _, s := range servers {
			if err := options.Report.Add("PromQL/query="+q.name+"/server="+s.name, what.Rounds,
				report.Of(s.cpu[q.name].Seconds()*1000, "cpu-ms/request"),
				report.Of(s.wall[q.name].Seconds()*1000, "ms/request")); err != nil {
				return err
			}
		}
	}
	return nil
}

func startPromQLServers(ctx context.Context, options *Options, what *PromQLOptions,
	folder string) (servers []*promqlServer, err error) {
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(in("prometheus.yml"), nil, 0o600); err != nil {
		return nil, err
	}
	for _, s := range []*promqlServer{
		{name: "gnocco", path: options.Binary, ready: "/healthcheck",
			args: slices.Concat([]string{"serve", "--listen", "LISTEN", "--data", in("data"), "--max-new-series",
				"10000000"}, options.ServeArgs)},
		{name: "prometheus", path: what.Prometheus, ready: "/-/ready",
			args: []string{"--config.file=" + in("prometheus.yml"), "--web.listen-address", "LISTEN",
				"--web.enable-remote-write-receiver", "--storage.tsdb.path=" + in("prometheus"),
				"--storage.tsdb.retention.time=100y"}},
		{name: "victoria", path: what.Victoria, ready: "/health",
			args: []string{"-httpListenAddr", "LISTEN", "-storageDataPath", in("victoria"), "-retentionPeriod", "100y",
				"-search.latencyOffset", "0s", "-search.maxUniqueTimeseries", "1000000",
				"-search.maxTagValues", "1000000"}},
	} {
		if s.path, err = exec.LookPath(s.path); err != nil {
			options.Logger.Warn("this server is left out", "server", s.name, "error", err)
			continue
		}
		if err := s.start(ctx, options, folder); err != nil {
			return servers, err
		}
		s.cpu, s.wall = map[string]time.Duration{}, map[string]time.Duration{}
		servers = append(servers, s)
	}
	return servers, nil
}

// promqlSeries is a part of the data: so many series of one name, with measures of each minute.
type promqlSeries struct {
	name    string
	n       int
	minutes int
	each    int // minutes of a request
}

// fill sends the data in the order of time, as Prometheus wants it.
func (s *promqlServer) fill(ctx context.Context, what *PromQLOptions) error {
	for _, part := range []promqlSeries{{"cpu", what.Series, what.Days * 24 * 60, 60}, {"x", what.Fleet, 60, 60},
		{"host_info", what.Resources, 1, 1}} {
		for first := 0; first < part.minutes; first += part.each {
			for from := 0; from < part.n; from += 100 {
				var message []byte
				for i := from; i < min(from+100, part.n); i++ {
					message = part.append(message, i, first)
				}
				if err := s.client.remoteWrite(ctx, s2.EncodeSnappy(nil, message)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// append appends measures of the i-th series.
func (p *promqlSeries) append(dst []byte, i, first int) []byte {
	labels := [][2]string{{"__name__", p.name}, {"project_id", projectName(i)},
		{"resource_id", fmt.Sprintf("%08x-0000-4000-8000-000000000000", i)}, {"x", "x" + strconv.Itoa(i%numProjects)}}
	at := promqlEnd.Add(time.Duration(first-p.minutes)*time.Minute + 30*time.Second)
	values := make([]float64, p.each)
	for j := range values {
		values[j] = float64((i*7919+(first+j)*104_729)%1_000_003) / 8 // of a minute, all differ
	}
	return appendTimeSeries(dst, labels, at, time.Minute, values)
}

// promqlQuery is a request for a matrix, or for values of a label.
type promqlQuery struct{ name, path string }

func (o *PromQLOptions) queries() []promqlQuery {
	ranged := func(name, expr string, length, step time.Duration) promqlQuery {
		form := url.Values{"query": {expr}, "start": {strconv.FormatInt(promqlEnd.Add(step-length).Unix(), 10)},
			"end":  {strconv.FormatInt(promqlEnd.Unix(), 10)},
			"step": {strconv.Itoa(int(step.Seconds()))}, "nocache": {"1"}}
		return promqlQuery{name, "/api/v1/query_range?" + form.Encode()}
	}
	between := url.Values{"start": {strconv.FormatInt(promqlEnd.Add(-time.Hour).Unix(), 10)},
		"end": {strconv.FormatInt(promqlEnd.Unix(), 10)}}
	return []promqlQuery{
		ranged("month", "avg by (x) (avg_over_time(cpu[1h]))", time.Duration(o.Days)*24*time.Hour, time.Hour),
		ranged("day", `cpu{resource_id="00000007-0000-4000-8000-000000000000"}`, 24*time.Hour, time.Minute),
		ranged("fleet", "sum by (project_id) (x)", time.Hour, time.Minute),
		ranged("top10", "topk(10, x)", time.Hour, time.Minute),
		{"values", "/api/v1/label/resource_id/values?" + between.Encode()},
	}
}

// answer is what a server says: samples by series, or values of a label.
func (s *promqlServer) answer(ctx context.Context, q promqlQuery) (map[string][][2]any, error) {
	var body bytes.Buffer
	if err := s.client.do(ctx, http.MethodGet, q.path, nil, http.StatusOK, &body); err != nil {
		return nil, err
	}
	var answer struct{ Data json.RawMessage }
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return nil, err
	}
	all := map[string][][2]any{}
	var values []string
	if json.Unmarshal(answer.Data, &values) == nil {
		for _, value := range values {
			all[value] = nil
		}
		return all, nil
	}
	var matrix struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
	if err := json.Unmarshal(answer.Data, &matrix); err != nil {
		return nil, err
	}
	for _, series := range matrix.Result {
		all[fmt.Sprint(series.Metric)] = series.Values
	}
	return all, nil
}

// agree waits until all servers answer as Prometheus does, or the first one where that is missing: measures become
// visible some time after they are sent. It returns other answers of VictoriaMetrics: they are no error, for its PromQL
// is its own.
func agree(ctx context.Context, servers []*promqlServer, q promqlQuery, wait time.Duration) (other string, err error) {
	reference := servers[max(0, slices.IndexFunc(servers, func(s *promqlServer) bool {
		return s.name == "prometheus"
	}))]
	var wrong error
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		want, err := reference.answer(ctx, q)
		if err != nil {
			return "", err
		}
		other, wrong = "", nil
		for _, s := range servers {
			if s == reference {
				continue
			}
			got, err := s.answer(ctx, q)
			if err != nil {
				return "", err
			}
			switch text := differs(got, want); {
			case text == "":
			case s.name == "victoria":
				other = text
			default:
				wrong = fmt.Errorf("bench: %s: %s and %s differ: %s", q.name, s.name, reference.name, text)
			}
		}
		if other == "" && wrong == nil || time.Since(begun) > wait {
			return other, wrong
		}
	}
}

// differs says in what two answers differ by more than rounding; "" if in nothing.
func differs(got, want map[string][][2]any) string {
	if len(got) != len(want) || len(got) == 0 {
		return fmt.Sprintf("%d and %d series", len(got), len(want))
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has %d and %d samples", name, len(g), len(w))
		}
		for i := range w {
			a, err := strconv.ParseFloat(fmt.Sprint(g[i][1]), 64)
			b, err2 := strconv.ParseFloat(fmt.Sprint(w[i][1]), 64)
			if err != nil || err2 != nil || g[i][0] != w[i][0] || math.Abs(a-b) > 1e-9*math.Abs(b) {
				return fmt.Sprintf("%s: %v and %v", name, g[i], w[i])
			}
		}
	}
	return ""
}

// measure repeats a query and notes what an answer costs, if that is less than in earlier rounds.
func (s *promqlServer) measure(ctx context.Context, q promqlQuery, length time.Duration) error {
	pids := []int{s.child.cmd.Process.Pid}
	before, err := processUsage(pids)
	if err != nil {
		return err
	}
	begun, n := time.Now(), 0
	for time.Since(begun) < length || n < 5 {
		if err := s.client.do(ctx, http.MethodGet, q.path, nil, http.StatusOK, nil); err != nil {
			return err
		}
		n++
	}
	wall := time.Since(begun) / time.Duration(n)
	after, err := processUsage(pids)
	if err != nil {
		return err
	}
	cpu := (after.cpu - before.cpu) / time.Duration(n)
	if least, ok := s.cpu[q.name]; !ok || cpu < least {
		s.cpu[q.name] = cpu
	}
	if least, ok := s.wall[q.name]; !ok || wall < least {
		s.wall[q.name] = wall
	}
	return nil
}
