package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/bench/report"
)

// SeriesOptions say what RemoteWrite and Cardinality send, and to whom.
type SeriesOptions struct {
	Servers     []string // as of FleetOptions; nil: Gnocco, VictoriaMetrics and Prometheus
	Series      int      // of Cardinality; 0: a million
	Measures    int      // of each shape of RemoteWrite; 0: 7.2 million
	Way         string   // of Ways: only these, separated by commas
	Shape       string   // of Ways: SERIESxMEASURES a request; "": 1000x1
	Connections int      // 0: 8
	ServerCores string   // as taskset lists them: where servers run; "": where this program does
	MemoryLimit int64    // bytes, of the servers that have such a setting; 0: 16 GiB
}

// EnsureDefaults fills in what was left zero.
func (o *SeriesOptions) EnsureDefaults() {
	if len(o.Servers) == 0 {
		o.Servers = []string{"gnocco-lines", "victoria", "prometheus"}
	}
	o.Series, o.Measures = cmp.Or(o.Series, 1_000_000), cmp.Or(o.Measures, 7_200_000)
	o.Connections, o.MemoryLimit = cmp.Or(o.Connections, 8), cmp.Or(o.MemoryLimit, 16<<30)
}

// RemoteWrite sends measures by Prometheus' remote write to one server after the other, in the shapes of senders.
func RemoteWrite(ctx context.Context, options Options, what SeriesOptions) error {
	what.EnsureDefaults()
	return eachSeriesServer(ctx, options, what, "remote-write", func(s *fleetServer) error {
		for _, shape := range []seriesShape{
			{perRequest: 100, measures: 60, series: 10_000}, {2000, 1, 80_000}, {10_000, 1, 80_000},
		} {
			if err := s.measureShape(ctx, shape, what.Measures); err != nil {
				return err
			}
		}
		return nil
	})
}

// Cardinality registers many series at one server after the other, asks for some, and restarts the server.
func Cardinality(ctx context.Context, options Options, what SeriesOptions) error {
	what.EnsureDefaults()
	return eachSeriesServer(ctx, options, what, "cardinality", func(s *fleetServer) error {
		return s.measureSeries(ctx, what.Series)
	})
}

// eachSeriesServer calls do for each server, which starts and stops it in an empty folder.
func eachSeriesServer(ctx context.Context, options Options, what SeriesOptions, name string,
	do func(*fleetServer) error) error {
	if options.URL != "" {
		return fmt.Errorf("bench: %s starts servers of its own", name)
	}
	if err := options.prepare(); err != nil {
		return err
	}
	options.ServeArgs = append(slices.Clone(options.ServeArgs), "--max-new-series", "1000000000")
	return options.inFolder(func(folder string) error {
		f := &fleet{Options: &options, folder: folder,
			FleetOptions: &FleetOptions{MemoryLimit: what.MemoryLimit, Connections: what.Connections}}
		var errs []error
		for _, text := range what.Servers {
			s, err := newFleetServer(f, text)
			if err != nil {
				options.Logger.Warn("this server is left out", "server", text, "error", err)
				continue
			}
			s.cores = what.ServerCores
			for range options.Count {
				if err := do(s); err != nil {
					errs = append(errs, fmt.Errorf("bench: %s: %s: %w", name, s.name, err))
					break
				}
			}
			s.close()
		}
		return errors.Join(errs...)
	})
}

// startEmpty starts the server on an empty folder.
func (s *fleetServer) startEmpty(ctx context.Context) error {
	s.close()
	// The machine remembers a folder with a cluster, and a server refuses it if it is empty.
	folder, err := os.MkdirTemp(filepath.Dir(s.folder), s.name)
	if err := errors.Join(err, os.RemoveAll(s.folder)); err != nil {
		return err
	}
	s.folder = folder
	return s.start(ctx)
}

// seriesShape is how senders put measures into requests.
type seriesShape struct{ perRequest, measures, series int }

// seriesNames is how many series have one name, and as many values the label pod has.
const seriesNames = 10_000

// seriesLabels returns the labels of series i of n.
func seriesLabels(i, n int) [][2]string {
	return [][2]string{{"__name__", fmt.Sprintf("m_%d", i%max(1, n/seriesNames))},
		{"instance", fmt.Sprintf("host-%d:9100", i/100)}, {"job", "node"},
		{"pod", fmt.Sprintf("pod-%04x", i%seriesNames)}, {"zone", fmt.Sprintf("z%d", i/100%7)}}
}

// bodies are the requests of one round, whose first measure is at at.
func (shape seriesShape) bodies(at time.Time) (bodies [][]byte) {
	values := make([]float64, shape.measures)
	for from := 0; from < shape.series; from += shape.perRequest {
		var message []byte
		for i := from; i < min(from+shape.perRequest, shape.series); i++ {
			for j := range values {
				values[j] = float64((i*7+j*3+at.Second())%1000) / 10
			}
			message = appendTimeSeries(message, seriesLabels(i, shape.series), at, time.Second, values)
		}
		bodies = append(bodies, s2.EncodeSnappy(nil, message))
	}
	return bodies
}

// sendBodies sends rounds of requests over all connections. Each connection sends the same series in each round, as
// Prometheus does, which refuses measures out of order. It returns the time, and the CPU time of the server.
func (s *fleetServer) sendBodies(ctx context.Context, rounds ...[][]byte) (wall, cpu time.Duration, err error) {
	return s.timed(func() error {
		var sending errgroup.Group
		for connection := range s.fleet.Connections {
			sending.Go(func() error {
				for _, bodies := range rounds {
					for i := connection; i < len(bodies); i += s.fleet.Connections {
						if err := s.client.remoteWrite(ctx, bodies[i]); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		return sending.Wait()
	})
}

func (s *fleetServer) timed(do func() error) (wall, cpu time.Duration, err error) {
	if err := s.readUsage(); err != nil {
		return 0, 0, err
	}
	before, begun := s.usage.cpu, time.Now()
	err = do()
	wall = time.Since(begun)
	return wall, s.usageSince(before), err
}

// usageSince returns the CPU time since then.
func (s *fleetServer) usageSince(before time.Duration) time.Duration {
	_ = s.readUsage() // a dead process shows in the next request
	return s.usage.cpu - before
}

func (s *fleetServer) measureShape(ctx context.Context, shape seriesShape, measures int) error {
	if err := s.startEmpty(ctx); err != nil {
		return err
	}
	rounds := max(1, measures/(shape.series*shape.measures))
	at := time.Now().Add(-time.Duration(rounds+1) * time.Duration(shape.measures) * time.Second)
	if _, _, err := s.sendBodies(ctx, shape.bodies(at)); err != nil {
		return err
	}
	var bodies [][][]byte
	for range rounds {
		at = at.Add(time.Duration(shape.measures) * time.Second)
		bodies = append(bodies, shape.bodies(at))
	}
	time.Sleep(2 * time.Second) // what the first round left to do
	if err := s.readUsage(); err != nil {
		return err
	}
	before := s.usage.cpu
	wall, acked, err := s.sendBodies(ctx, bodies...)
	if err != nil {
		return err
	}
	rss := float64(s.usage.rss)
	ended, err := s.child.stop()
	s.client.close()
	s.child = nil
	if err != nil {
		return err
	}
	n := float64(rounds * shape.series * shape.measures)
	name := fmt.Sprintf("RemoteWrite/shape=%dx%d/server=%s", shape.perRequest, shape.measures, s.name)
	return s.fleet.Report.Add(name, int(n), report.Of(acked.Seconds()/n*1e6, "cpu-s/Mmeasure-acked"),
		report.Of((ended.cpu-before).Seconds()/n*1e6, "cpu-s/Mmeasure-stopped"),
		report.Of(n/wall.Seconds(), "measures/s-acked"), report.Of(rss/(1<<20), "MiB-rss"))
}

// seriesQuestion is a question about the series.
type seriesQuestion struct{ name, path string }

func seriesQuestions(n int) []seriesQuestion {
	query := func(text string) string { return "/api/v1/query?nocache=1&query=" + url.QueryEscape(text) }
	name := fmt.Sprintf("m_%d", max(1, n/seriesNames)/2)
	return []seriesQuestion{
		{"instance", query(`{instance="host-7:9100"}`)},
		{"name", query("sum(" + name + ")")},
		{"values", "/api/v1/label/pod/values"},
		{"names", "/api/v1/label/__name__/values"},
		{"regex", query(`count({pod=~"pod-0a.*"})`)},
		{"count", query(`count({__name__=~"m_.+"})`)},
	}
}

func (s *fleetServer) ask(ctx context.Context, q seriesQuestion) error {
	var answer bytes.Buffer
	if err := s.client.do(ctx, http.MethodGet, q.path, nil, http.StatusOK, &answer); err != nil {
		return err
	}
	if bytes.Contains(answer.Bytes(), []byte(`"result":[]`)) || bytes.Contains(answer.Bytes(), []byte(`"data":[]`)) {
		return fmt.Errorf("%s: no series", q.name)
	}
	return nil
}

// askUntil asks until there is an answer with series: some servers show measures after a while.
func (s *fleetServer) askUntil(ctx context.Context, q seriesQuestion) (err error) {
	for begun := time.Now(); time.Since(begun) < wrongWait; time.Sleep(5 * time.Millisecond) {
		if err = s.ask(ctx, q); err == nil {
			return nil
		}
	}
	return err
}

func (s *fleetServer) measureSeries(ctx context.Context, n int) error {
	if err := s.startEmpty(ctx); err != nil {
		return err
	}
	shape := seriesShape{perRequest: 1000, measures: 1, series: n}
	var figures []report.Figure
	add := func(value float64, unit string) { figures = append(figures, report.Of(value, unit)) }
	round := func(name string, at time.Time) error {
		bodies := shape.bodies(at)
		wall, cpu, err := s.sendBodies(ctx, bodies)
		add(wall.Seconds(), "s-"+name)
		add(cpu.Seconds()/float64(n)*1e6, "cpu-µs/series-"+name)
		return err
	}
	resident := func(name string) { add(float64(s.usage.rss)/(1<<20), "MiB-rss-"+name) }
	now := time.Now()
	if err := round("registered", now.Add(-45*time.Second)); err != nil {
		return err
	}
	resident("registered")
	if err := round("again", now.Add(-30*time.Second)); err != nil {
		return err
	}
	for _, q := range seriesQuestions(n) {
		if err := s.askUntil(ctx, q); err != nil {
			return err
		}
		const times = 5
		var walls []time.Duration
		_, cpu, err := s.timed(func() error {
			for range times {
				begun := time.Now()
				if err := s.ask(ctx, q); err != nil {
					return err
				}
				walls = append(walls, time.Since(begun))
			}
			return nil
		})
		if err != nil {
			return err
		}
		add(median(walls), "ms-"+q.name)
		add(cpu.Seconds()*1000/times, "cpu-ms-"+q.name)
	}
	resident("counted")
	answer := func(after string) error {
		begun := time.Now()
		if err := s.start(ctx); err != nil {
			return err
		}
		add(time.Since(begun).Seconds(), "s-ready"+after)
		if err := s.askUntil(ctx, seriesQuestions(n)[0]); err != nil {
			return err
		}
		add(time.Since(begun).Seconds(), "s-first-answer"+after)
		if err := s.readUsage(); err != nil {
			return err
		}
		add(s.usage.cpu.Seconds(), "cpu-s-first-answer"+after)
		return nil
	}
	s.close()
	if err := answer("-killed"); err != nil {
		return err
	}
	begun := time.Now()
	if _, err := s.child.stop(); err != nil {
		return err
	}
	s.client.close()
	s.child = nil
	add(time.Since(begun).Seconds(), "s-stop")
	if err := answer(""); err != nil {
		return err
	}
	resident("restarted")
	s.close()
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := round("restarted", now.Add(-time.Second)); err != nil {
		return err
	}
	disk, err := measureDisk(s.folder)
	if err != nil {
		return err
	}
	add(float64(disk.allocated)/1e6, "MB-disk")
	return s.fleet.Report.Add(fmt.Sprintf("Cardinality/series=%d/server=%s", n, s.name), n, figures...)
}
