package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/bench/report"
)

// TSBSOptions say what TSBS sends and asks, and whom.
type TSBSOptions struct {
	SeriesOptions
	Hosts, Hours int           // 0: 1,000 and 24
	For          time.Duration // how long each query is repeated; 0: 5 s
	Query        string        // only queries whose names contain this; "": the fifteen
	Restart      bool          // ask all again when the server was started anew
	Whole        bool          // values are whole numbers, as those of the suite
}

// EnsureDefaults fills in what was left zero.
func (o *TSBSOptions) EnsureDefaults() {
	o.Hosts, o.Hours, o.For = cmp.Or(o.Hosts, 1000), cmp.Or(o.Hours, 24), cmp.Or(o.For, 5*time.Second)
	o.SeriesOptions.EnsureDefaults()
}

// TSBS sends what the Time Series Benchmark Suite's use case devops sends of processors: ten fields of each host, each
// ten seconds. Then it asks the use case's fifteen queries in PromQL, of random hosts and times, one server after the
// other. All servers get the same measures and are asked the same.
func TSBS(ctx context.Context, options Options, what TSBSOptions) error {
	what.EnsureDefaults()
	end, answers := time.Now().Truncate(time.Minute), map[string]tsbsAnswer{}
	return eachSeriesServer(ctx, options, what.SeriesOptions, "tsbs", func(s *fleetServer) error {
		t := &tsbs{TSBSOptions: &what, server: s, end: end, answers: answers}
		return t.run(ctx)
	})
}

// tsbs is a run beside one server.
type tsbs struct {
	*TSBSOptions
	server  *fleetServer
	end     time.Time             // of all measures
	last    float64               // the sum of the newest ones
	answers map[string]tsbsAnswer // of the first server
}

// tsbsAnswer sums up an answer.
type tsbsAnswer struct {
	values int
	sum    float64
}

const (
	tsbsStep   = 10 * time.Second
	tsbsOffset = 3 * time.Second // of measures, so that the edges of ranges have none
)

var tsbsFields = []string{"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq",
	"usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"}

func tsbsHost(i int) string { return "host_" + strconv.Itoa(i) }

func tsbsLabels(host int, field string) [][2]string {
	random := rand.New(rand.NewPCG(uint64(host), 1))
	of := func(list ...string) string { return list[random.IntN(len(list))] }
	region := of("ap-northeast-1", "ap-southeast-1", "eu-central-1", "eu-west-1", "sa-east-1", "us-east-1", "us-west-2")
	return [][2]string{{"__name__", "cpu_" + field}, {"arch", of("x64", "x86")},
		{"datacenter", region + of("a", "b", "c")}, {"field", field}, {"hostname", tsbsHost(host)},
		{"os", of("Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10")}, {"rack", strconv.Itoa(random.IntN(100))},
		{"region", region}, {"service", strconv.Itoa(random.IntN(20))},
		{"service_environment", of("production", "staging", "test")}, {"service_version", strconv.Itoa(random.IntN(2))},
		{"team", of("CHI", "LON", "NYC", "SF")}}
}

// fill sends all measures, a minute of a hundred hosts a request. Values walk between 0 and 100.
func (t *tsbs) fill(ctx context.Context) error {
	const perRequest = 100 // hosts
	random := rand.New(rand.NewPCG(t.server.fleet.Seed, 2))
	values := make([][6]float64, t.Hosts*len(tsbsFields))
	walks := make([]float64, len(values))
	for i := range walks {
		walks[i] = 100 * random.Float64()
	}
	labels := make([][][2]string, len(values))
	for i := range labels {
		labels[i] = tsbsLabels(i/len(tsbsFields), tsbsFields[i%len(tsbsFields)])
	}
	writer := newClient(t.server.fleet.Options, t.server.child.url, t.Connections)
	defer writer.close()
	for at := t.end.Add(-time.Duration(t.Hours) * time.Hour); at.Before(t.end); at = at.Add(time.Minute) {
		for i := range values {
			for j := range values[i] {
				walks[i] = min(100, max(0, walks[i]+random.NormFloat64()))
				values[i][j] = walks[i]
				if t.Whole {
					values[i][j] = math.Round(walks[i])
				}
			}
		}
		sending, ctx := errgroup.WithContext(ctx)
		sending.SetLimit(t.Connections)
		for from := 0; from < len(values); from += perRequest * len(tsbsFields) {
			sending.Go(func() error {
				var message []byte
				for i := from; i < min(from+perRequest*len(tsbsFields), len(values)); i++ {
					message = appendTimeSeries(message, labels[i], at.Add(tsbsOffset), tsbsStep, values[i][:])
				}
				return writer.remoteWrite(ctx, s2.EncodeSnappy(nil, message))
			})
		}
		if err := sending.Wait(); err != nil {
			return err
		}
	}
	t.last = 0
	for i := range values {
		t.last += values[i][5]
	}
	return nil
}

// tsbsQuery is one of the fifteen. Its selector takes fields and hosts.
type tsbsQuery struct {
	name, expr    string // %s is the selector
	fields, hosts int    // hosts 0: all
	length, step  time.Duration
}

func tsbsQueries() []tsbsQuery {
	all := len(tsbsFields)
	queries := []tsbsQuery{}
	for _, q := range []struct{ fields, hosts, hours int }{{1, 1, 1}, {1, 1, 12}, {1, 8, 1}, {5, 1, 1}, {5, 1, 12},
		{5, 8, 1}} {
		queries = append(queries, tsbsQuery{fmt.Sprintf("single-groupby-%d-%d-%d", q.fields, q.hosts, q.hours),
			"max by (field) (max_over_time(%s[1m]))", q.fields, q.hosts, time.Duration(q.hours) * time.Hour, time.Minute})
	}
	const mean = "avg by (field, hostname) (avg_over_time(%s[1h]))"
	const highest = "max by (field) (max_over_time(%s[1h]))"
	return append(queries,
		tsbsQuery{"cpu-max-all-1", highest, all, 1, 8 * time.Hour, time.Hour},
		tsbsQuery{"cpu-max-all-8", highest, all, 8, 8 * time.Hour, time.Hour},
		tsbsQuery{"double-groupby-1", mean, 1, 0, 12 * time.Hour, time.Hour},
		tsbsQuery{"double-groupby-5", mean, 5, 0, 12 * time.Hour, time.Hour},
		tsbsQuery{"double-groupby-all", mean, all, 0, 12 * time.Hour, time.Hour},
		tsbsQuery{"groupby-orderby-limit", "max(max_over_time(%s[1m]))", 1, 0, 5 * time.Minute, time.Minute},
		tsbsQuery{"high-cpu-1", "%s > 90", 1, 1, 12 * time.Hour, tsbsStep},
		tsbsQuery{"high-cpu-all", "max_over_time(%s[1m]) > 90", 1, 0, 12 * time.Hour, time.Minute},
		tsbsQuery{"lastpoint", "%s", all, 0, 0, 0})
}

// asked returns the queries of a run. One is none of the fifteen: each value of all series of a day.
func (t *tsbs) asked() []tsbsQuery {
	if t.Query == "" {
		return tsbsQueries()
	}
	const each = "max_over_time(%s[5m])"
	queries := append(tsbsQueries(), tsbsQuery{"every-series", each, len(tsbsFields), 0, 24 * time.Hour, 5 * time.Minute})
	return slices.DeleteFunc(queries, func(q tsbsQuery) bool { return !strings.Contains(q.name, t.Query) })
}

// path returns the i-th request of a query.
func (t *tsbs) path(q tsbsQuery, i int) string {
	random := rand.New(rand.NewPCG(t.server.fleet.Seed, uint64(i)+3))
	selector := "cpu_" + tsbsFields[0]
	var matchers []string
	if q.fields > 1 {
		selector = ""
		matchers = append(matchers, `__name__=~"cpu_(`+strings.Join(tsbsFields[:q.fields], "|")+`)"`)
	}
	if q.hosts > 0 {
		var hosts []string
		for _, host := range random.Perm(t.Hosts)[:min(q.hosts, t.Hosts)] {
			hosts = append(hosts, tsbsHost(host))
		}
		matchers = append(matchers, `hostname=~"`+strings.Join(hosts, "|")+`"`)
	}
	if len(matchers) > 0 {
		selector += "{" + strings.Join(matchers, ",") + "}"
	}
	unix := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	form := url.Values{"query": {fmt.Sprintf(q.expr, selector)}, "nocache": {"1"}}
	if q.length == 0 {
		form.Set("time", unix(t.end))
		return "/api/v1/query?" + form.Encode()
	}
	length := min(q.length, time.Duration(t.Hours)*time.Hour)
	free := int((time.Duration(t.Hours)*time.Hour - length) / time.Minute)
	end := t.end.Add(-time.Duration(random.IntN(free+1)) * time.Minute)
	form.Set("start", unix(end.Add(q.step-length)))
	form.Set("end", unix(end))
	form.Set("step", strconv.Itoa(int(q.step.Seconds())))
	return "/api/v1/query_range?" + form.Encode()
}

func (t *tsbs) ask(ctx context.Context, q tsbsQuery, i int, answer *bytes.Buffer) error {
	answer.Reset()
	return t.server.client.do(ctx, http.MethodGet, t.path(q, i), nil, http.StatusOK, answer)
}

// sum asks the first time of a query, and sums up the answer.
func (t *tsbs) sum(ctx context.Context, q tsbsQuery) (found tsbsAnswer, err error) {
	var body bytes.Buffer
	if err := t.ask(ctx, q, 0, &body); err != nil {
		return found, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Value  []any
				Values [][]any
			}
		}
	}
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return found, err
	}
	for _, series := range answer.Data.Result {
		if len(series.Value) == 2 {
			series.Values = append(series.Values, series.Value)
		}
		for _, point := range series.Values {
			v, err := strconv.ParseFloat(fmt.Sprint(point[1]), 64)
			if err != nil {
				return found, err
			}
			found.values++
			found.sum += v
		}
	}
	return found, nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// settle waits until all measures are answered, and the server does little else.
func (t *tsbs) settle(ctx context.Context) error {
	queries := tsbsQueries()
	last := queries[len(queries)-1]
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		found, err := t.sum(ctx, last)
		if err == nil && near(found.sum, t.last) {
			break
		}
		if time.Since(begun) > wrongWait {
			return fmt.Errorf("the newest measures are %d with the sum %v, not %v: %w", found.values, found.sum, t.last, err)
		}
	}
	for range 60 {
		wall, cpu, err := t.server.timed(func() error { time.Sleep(time.Second); return nil })
		if err != nil || cpu < wall/20 {
			return err
		}
	}
	return nil
}

// check compares the answer to a query's first time with that of the first server.
func (t *tsbs) check(ctx context.Context, q tsbsQuery) error {
	found, err := t.sum(ctx, q)
	if err != nil {
		return err
	}
	want, known := t.answers[q.name]
	if !known {
		t.answers[q.name] = found
	} else if found.values != want.values || !near(found.sum, want.sum) {
		t.server.fleet.Logger.Warn("this server answers otherwise than the first", "server", t.server.name, "query", q.name,
			"values", found.values, "first_values", want.values, "sum", found.sum, "first_sum", want.sum)
	}
	return nil
}

func (t *tsbs) run(ctx context.Context) error {
	s := t.server
	if err := s.startEmpty(ctx); err != nil {
		return err
	}
	_, loading, err := s.timed(func() error { return t.fill(ctx) })
	if err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	resident, written := float64(s.usage.rss)/(1<<20), float64(s.usage.written)
	if err := t.askAll(ctx, ""); err != nil {
		return err
	}
	most := s.mostRSS
	if err := s.readUsage(); err != nil {
		return err
	}
	left := float64(s.usage.rss) / (1 << 20)
	if _, err := s.child.stop(); err != nil {
		return err
	}
	s.client.close()
	s.child = nil
	disk, err := measureDisk(s.folder)
	if err != nil {
		return err
	}
	n := float64(t.Hosts * len(tsbsFields) * t.Hours * 360)
	if err := s.fleet.Report.Add("TSBS/load/server="+s.name, int(n),
		report.Of(loading.Seconds()/n*1e6, "cpu-s/Mmeasure-acked"), report.Of(resident, "MiB-rss-loaded"),
		report.Of(left, "MiB-rss-asked"), report.Of(most/(1<<20), "MiB-rss"), report.Of(written/n, "B/measure-written"),
		report.Of(float64(disk.allocated)/n, "B/measure-disk")); err != nil || !t.Restart {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	defer s.close()
	return t.askAll(ctx, "/state=restarted")
}

// askAll asks all queries. The state is part of the results' names.
func (t *tsbs) askAll(ctx context.Context, state string) error {
	s := t.server
	for _, q := range t.asked() {
		if err := t.check(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		var took []time.Duration
		var body bytes.Buffer
		_, cpu, err := s.timed(func() error {
			for deadline := time.Now().Add(t.For); time.Now().Before(deadline); {
				begun := time.Now()
				if err := t.ask(ctx, q, 1+len(took), &body); err != nil {
					return err
				}
				took = append(took, time.Since(begun))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		if err := s.fleet.Report.Add("TSBS/query="+q.name+state+"/server="+s.name, len(took),
			report.Of(cpu.Seconds()*1000/float64(len(took)), "cpu-ms/request"),
			report.Of(report.Milliseconds(report.Quantile(took, 0.5)), "ms-p50"),
			report.Of(report.Milliseconds(report.Quantile(took, 0.99)), "ms-p99"),
			report.Of(float64(s.usage.rss)/(1<<20), "MiB-rss")); err != nil {
			return err
		}
	}
	return nil
}
