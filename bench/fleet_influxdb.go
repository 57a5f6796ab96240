package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
)

// influxFleet is InfluxDB 1: one mean a minute is a query in InfluxQL.
type influxFleet struct{}

func (influxFleet) program(*Options) string { return "influxd" }

// command runs it by env(1): its settings are variables, or a file that would have to name the port.
func (influxFleet) command(s *fleetServer) ([]string, string) {
	in := func(name string) string { return filepath.Join(s.folder, name) }
	return []string{"env", "INFLUXDB_HTTP_BIND_ADDRESS=LISTEN", "INFLUXDB_BIND_ADDRESS=127.0.0.1:0",
		"INFLUXDB_REPORTING_DISABLED=true", "INFLUXDB_MONITOR_STORE_ENABLED=false", "INFLUXDB_HTTP_LOG_ENABLED=false",
		"INFLUXDB_META_DIR=" + in("meta"), "INFLUXDB_DATA_DIR=" + in("data"),
		"INFLUXDB_DATA_WAL_DIR=" + in("wal"), s.path}, "/ping"
}

func (influxFleet) create(ctx context.Context, s *fleetServer, p *fleetPart) error {
	if p.first == 0 {
		path := "/query?q=" + url.QueryEscape("CREATE DATABASE "+fleetDatabase)
		if err := s.client.do(ctx, http.MethodPost, path, nil, http.StatusOK, nil); err != nil {
			return err
		}
	}
	return influxFleet{}.send(ctx, s, p)
}

func (influxFleet) discover(context.Context, *fleetServer) error { return nil }

func (influxFleet) send(ctx context.Context, s *fleetServer, p *fleetPart) error {
	return writeLines(ctx, s, "/write?db="+fleetDatabase, p)
}

func (influxFleet) request(_ *fleetServer, r fleetRead) (method, path string, body []byte) {
	hosts := ""
	switch {
	case len(r.hosts) == 1:
		hosts = "host = '" + fleetHost(r.hosts[0]) + "' AND "
	case !r.all:
		hosts = "host =~ /^(" + fleetPattern(r.hosts) + ")$/ AND "
	}
	query := fmt.Sprintf("SELECT mean(%s) FROM m WHERE %stime >= %ds AND time < %ds GROUP BY time(1m) fill(none)",
		fleetMeter(fleetField), hosts, r.from.Unix(), r.to.Unix())
	return http.MethodGet, "/query?epoch=s&db=" + fleetDatabase + "&q=" + url.QueryEscape(query), nil
}

func (influxFleet) parse(answer []byte) (map[int64]float64, error) {
	var results struct {
		Results []struct {
			Error  string
			Series []struct{ Values [][2]float64 }
		}
	}
	if err := json.Unmarshal(answer, &results); err != nil {
		return nil, err
	}
	means := map[int64]float64{}
	for _, r := range results.Results {
		if r.Error != "" {
			return nil, errors.New(r.Error)
		}
		for _, series := range r.Series {
			for _, pair := range series.Values {
				means[int64(pair[0])] = pair[1]
			}
		}
	}
	return means, nil
}

func (influxFleet) mergeParts(context.Context, *fleetServer) error { return nil }

// keepsAcknowledged is true: its log is synced before the answer.
func (influxFleet) keepsAcknowledged() bool { return true }
