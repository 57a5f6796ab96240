package bench

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// prometheusFleet takes remote write.
type prometheusFleet struct{}

func (prometheusFleet) program(*Options) string { return "prometheus" }

func (prometheusFleet) command(s *fleetServer) ([]string, string) {
	config := filepath.Join(s.fleet.folder, "prometheus.yml")
	_ = os.WriteFile(config, nil, 0o600) // without it Prometheus says what is wrong
	return []string{s.path, "--config.file=" + config, "--web.listen-address", "LISTEN",
			"--web.enable-remote-write-receiver", "--storage.tsdb.path=" + s.folder,
			"--storage.tsdb.retention.time=10y"},
		"/-/ready"
}

func (k prometheusFleet) create(ctx context.Context, s *fleetServer, p *fleetPart) error {
	return k.send(ctx, s, p)
}

func (prometheusFleet) discover(context.Context, *fleetServer) error { return nil }

func (prometheusFleet) send(ctx context.Context, s *fleetServer, p *fleetPart) error {
	return s.client.remoteWrite(ctx, p.remoteWrite())
}

func (prometheusFleet) request(_ *fleetServer, r fleetRead) (method, path string, body []byte) {
	hosts := ""
	if !r.all {
		hosts = `{host=~"` + fleetPattern(r.hosts) + `"}`
	}
	query := "avg_over_time(m_" + fleetMeter(fleetField) + hosts + "[1m])"
	if len(r.hosts) > 1 {
		query = "avg(" + query + ")"
	}
	// A window's time is its end.
	values := url.Values{"query": {query}, "step": {"60"}, "nocache": {"1"},
		"start": {unixSeconds(r.from.Add(time.Minute))}, "end": {unixSeconds(r.to)}}
	return http.MethodGet, "/api/v1/query_range?" + values.Encode(), nil
}

// fleetPattern is a regular expression of the names of hosts.
func fleetPattern(hosts []int) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = fleetHost(h)
	}
	return strings.Join(names, "|")
}

func (prometheusFleet) parse(answer []byte) (map[int64]float64, error) {
	rows, err := parseMatrix(&aggregatesQuery{}, answer)
	means := map[int64]float64{}
	for _, r := range rows[""] {
		means[r.start.Unix()-60] = r.value
	}
	return means, err
}

func (prometheusFleet) mergeParts(context.Context, *fleetServer) error { return nil }
func (prometheusFleet) keepsAcknowledged() bool                        { return false }

// victoriaFleet takes line protocol and answers as Prometheus.
type victoriaFleet struct{ prometheusFleet }

func (victoriaFleet) program(*Options) string { return "victoria-metrics" }

func (victoriaFleet) command(s *fleetServer) ([]string, string) {
	return []string{s.path, "-httpListenAddr", "LISTEN", "-storageDataPath", s.folder, "-retentionPeriod", "100y",
			"-search.latencyOffset", "0s", "-search.maxUniqueTimeseries", "1000000", "-memory.allowedBytes",
			strconv.FormatInt(s.fleet.MemoryLimit, 10)},
		"/health"
}

func (k victoriaFleet) create(ctx context.Context, s *fleetServer, p *fleetPart) error {
	return k.send(ctx, s, p)
}

func (victoriaFleet) send(ctx context.Context, s *fleetServer, p *fleetPart) error {
	return writeLines(ctx, s, "/write", p)
}

// mergeParts has it merge its parts, and waits until their size stays the same.
func (victoriaFleet) mergeParts(ctx context.Context, s *fleetServer) error {
	for _, path := range []string{"/internal/force_flush", "/internal/force_merge"} {
		if err := s.client.do(ctx, http.MethodGet, path, nil, http.StatusOK, nil); err != nil {
			return err
		}
	}
	for last, same := int64(0), 0; same < 5; {
		time.Sleep(time.Second)
		u, err := measureDisk(s.folder)
		if err != nil {
			return err
		}
		if same++; u.allocated != last {
			same = 0
		}
		last = u.allocated
	}
	return nil
}
