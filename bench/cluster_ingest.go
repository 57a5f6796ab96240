package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
)

// clusterIngest is Ingest with one process that does it all, and with the API apart from 1, 2 … processes of metricd.
// It tells also how evenly these share the work.
func (o *Options) clusterIngest(ctx context.Context, what ClusterOptions) error {
	for _, shape := range what.Shapes {
		if err := o.ingestProcesses(ctx, what, shape, "serve", 0); err != nil {
			return err
		}
		for _, n := range what.Workers {
			if err := o.ingestProcesses(ctx, what, shape, "api", n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Options) ingestProcesses(ctx context.Context, what ClusterOptions, shape Shape, role string,
	workers int) error {
	p, err := o.startProcesses(ctx, role)
	if err != nil {
		return err
	}
	defer p.close()
	name := role
	if workers > 0 {
		name = fmt.Sprintf("api+%d", workers)
		if err := p.startMetricd(ctx, workers); err != nil {
			return err
		}
	}
	w, ids, err := o.clusterWorkload(ctx, p, what)
	if err != nil {
		return err
	}
	bodies := w.bodies(ids, shape, 0, len(w.values[0]))
	o.Logger.Info("sending measures", "processes", name, "shape", shape.String(), "measures", w.measures())
	s := p.server(name)
	before, err := s.usage()
	if err != nil {
		return err
	}
	figures, err := s.ingest(ctx, w, ids, bodies, shape)
	if err != nil {
		return err
	}
	if workers > 1 {
		spread, err := p.spread(ctx)
		if err != nil {
			return err
		}
		figures = append(figures, spread...)
	}
	total, err := p.stop()
	if err != nil {
		return err
	}
	figures = append(figures, report.Of((total.cpu-before.cpu).Seconds()/float64(w.measures())*1e6,
		"cpu-s/Mmeasure-stopped"))
	return o.Report.Add("Cluster/processes="+name+"/"+shape.String(), w.measures(), figures...)
}

// clusterWorkload creates metrics, and what is to be sent for them.
func (o *Options) clusterWorkload(ctx context.Context, p *processes, what ClusterOptions) (*workload, []string, error) {
	c := newClient(o, p.api.url, setupConnections)
	defer c.close()
	ids, err := c.createMetrics(ctx, what.Metrics)
	if err != nil {
		return nil, nil, err
	}
	return newWorkload(o.Seed, meters[:], what.Metrics, max(1, what.Measures/what.Metrics), defaultStep), ids, nil
}

// spread tells how much more the busiest metricd has than the idlest, in sacks and in measures.
func (p *processes) spread(ctx context.Context) ([]report.Figure, error) {
	sacks, err := p.sacksOf(ctx)
	if err != nil {
		return nil, err
	}
	var held, processed []float64
	for _, m := range p.metricd {
		n, err := m.processed(ctx)
		if err != nil {
			return nil, err
		}
		held, processed = append(held, float64(len(sacks[m.id]))), append(processed, n)
	}
	ratio := func(values []float64) float64 { return report.Quantile(values, 1) / report.Quantile(values, 0) }
	return []report.Figure{report.Of(ratio(held), "sacks-max/min"),
		report.Of(ratio(processed), "measures-max/min")}, nil
}

// processed is how many measures a metricd has processed.
func (m *member) processed(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), " "); strings.HasSuffix(name, "measures_processed_total") {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.New("a metricd does not tell how much it has processed")
}

// clusterOutage sends measures as fast as they are accepted while there is no metricd, and then starts two. It reports
// how fast these bring the backlog into aggregates, from their start on. Each request must be accepted.
func (o *Options) clusterOutage(ctx context.Context, what ClusterOptions) error {
	p, err := o.startProcesses(ctx, "api")
	if err != nil {
		return err
	}
	defer p.close()
	const workers = 2
	if err := p.startMetricd(ctx, workers); err != nil {
		return err
	}
	what.Measures = what.OutageMeasures
	w, ids, err := o.clusterWorkload(ctx, p, what)
	if err != nil {
		return err
	}
	for _, m := range p.metricd {
		if _, err := m.stop(); err != nil {
			return err
		}
	}
	p.metricd = nil
	shape := what.Shapes[0]
	o.Logger.Info("sending measures without a metricd", "shape", shape.String(), "measures", w.measures())
	sender, checker := newClient(o, p.api.url, shape.Connections), newClient(o, p.api.url, setupConnections)
	defer sender.close()
	defer checker.close()
	outage, requests, err := sendPortions(ctx, sender, w, ids, shape)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := p.startMetricd(ctx, workers); err != nil {
		return err
	}
	before, err := processUsage(p.pids())
	if err != nil {
		return err
	}
	var after usage
	var usageErr error
	empty, err := w.awaitVisible(ctx, checker, ids, func() { after, usageErr = processUsage(p.pids()) })
	if err = errors.Join(err, usageErr); err != nil {
		return err
	}
	n := float64(w.measures())
	return o.Report.Add("Cluster/outage/"+shape.String(), w.measures(),
		report.Of(float64(empty.Sub(start).Nanoseconds())/n, "ns/op"), report.Of(outage.Seconds(), "s-outage"),
		report.Of(float64(requests), "requests-accepted"),
		report.Of(n/outage.Seconds(), "measures/s-acked"),
		report.Of(empty.Sub(start).Seconds(), "s-drain"), report.Of(n/empty.Sub(start).Seconds(), "measures/s-drained"),
		report.Of((after.cpu-before.cpu).Seconds()/n*1e6, "cpu-s/Mmeasure-drained"))
}

// portionMeasures is how many measures are encoded before they are sent: the requests of a minute would not fit into
// memory.
const portionMeasures = 3_600_000

// sendPortions sends all, and returns how long the sending took, without the encoding between, and how many requests it
// were.
func sendPortions(ctx context.Context, c *client, w *workload, ids []string,
	shape Shape) (sending time.Duration, requests int, err error) {
	all := len(w.values[0])
	portion := max(portionMeasures/len(ids)/shape.Measures, 1) * shape.Measures
	for from := 0; from < all; from += portion {
		bodies := w.bodies(ids, shape, from, min(from+portion, all))
		start := time.Now()
		if err := c.send(ctx, bodies); err != nil {
			return 0, 0, err
		}
		sending += time.Since(start)
		requests += len(bodies)
	}
	return sending, requests, nil
}
