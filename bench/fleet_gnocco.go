package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// gnoccoFleet sends line protocol, or measures by metric ID in Gnocchi's API. Either way resources and metrics are
// created by lines.
type gnoccoFleet struct {
	byID bool
	ids  []string
}

const gnoccoLines = "/v1/influxdb/write?db=" + fleetDatabase

func (*gnoccoFleet) program(o *Options) string { return o.Binary }

func (*gnoccoFleet) command(s *fleetServer) ([]string, string) {
	limit := strconv.FormatInt(s.fleet.MemoryLimit, 10)
	serve := []string{s.path, "serve", "--listen", "LISTEN", "--data", s.folder, "--drain-delay", "0s",
		"--memory-limit", limit}
	return slices.Concat(serve, s.fleet.ServeArgs), "/healthcheck"
}

func (*gnoccoFleet) create(ctx context.Context, s *fleetServer, p *fleetPart) error {
	if p.first == 0 {
		if err := s.client.createPolicy(ctx); err != nil {
			return err
		}
		rule := fmt.Appendf(nil, `{"name":"fleet","metric_pattern":"m.*","archive_policy_name":%q}`, s.client.policy)
		if err := s.client.do(ctx, http.MethodPost, "/v1/archive_policy_rule", rule,
			http.StatusCreated, nil); err != nil {
			return err
		}
		database := "/v1/influxdb/query?q=" + url.QueryEscape("CREATE DATABASE "+fleetDatabase)
		if err := s.client.do(ctx, http.MethodPost, database, nil, http.StatusNoContent, nil); err != nil {
			return err
		}
	}
	return writeLines(ctx, s, gnoccoLines, p)
}

// discover asks for the IDs of all metrics.
func (g *gnoccoFleet) discover(ctx context.Context, s *fleetServer) error {
	g.ids = make([]string, s.fleet.Metrics)
	hosts, _ := s.fleet.hosts()
	marker, found := "", 0
	for found < hosts {
		var answer bytes.Buffer
		page := "/v1/resource/" + fleetDatabase + "?limit=1000" + marker
		if err := s.client.do(ctx, http.MethodGet, page, nil, http.StatusOK, &answer); err != nil {
			return err
		}
		var resources []struct {
			ID       string
			Original string `json:"original_resource_id"`
			Metrics  map[string]string
		}
		if err := json.Unmarshal(answer.Bytes(), &resources); err != nil {
			return err
		}
		for _, r := range resources {
			host, err := strconv.Atoi(strings.TrimPrefix(r.Original, "h"))
			if err != nil || host >= hosts || len(r.Metrics) != len(meters) {
				return fmt.Errorf("resource %q has %d metrics", r.Original, len(r.Metrics))
			}
			for i := range meters {
				g.ids[host*len(meters)+i] = r.Metrics["m."+fleetMeter(i)]
			}
			marker = "&marker=" + r.ID
		}
		if found += len(resources); len(resources) == 0 {
			return fmt.Errorf("%d resources, want %d", found, hosts)
		}
	}
	return nil
}

func (g *gnoccoFleet) send(ctx context.Context, s *fleetServer, p *fleetPart) error {
	if g.byID {
		return s.client.sendOne(ctx, p.json(g.ids))
	}
	return writeLines(ctx, s, gnoccoLines, p)
}

func (g *gnoccoFleet) request(_ *fleetServer, r fleetRead) (method, path string, body []byte) {
	query := "granularity=60&start=" + r.from.UTC().Format(timestampFormat) + "&stop=" +
		r.to.UTC().Format(timestampFormat)
	id := func(host int) string { return g.ids[host*len(meters)+fleetField] }
	switch {
	case len(r.hosts) == 1:
		return http.MethodGet, "/v1/metric/" + id(r.hosts[0]) + "/measures?aggregation=mean&" + query, nil
	case r.all:
		const search = `{"resource_type":%q,"search":{},"operations":"(aggregate mean (metric m.%s mean))"}`
		return http.MethodPost, "/v1/aggregates?" + query, fmt.Appendf(nil, search, fleetDatabase,
			fleetMeter(fleetField))
	}
	var operations strings.Builder
	for _, host := range r.hosts {
		operations.WriteString(" (" + id(host) + " mean)")
	}
	body = fmt.Appendf(nil, `{"operations":"(aggregate mean (metric%s))"}`, operations.String())
	return http.MethodPost, "/v1/aggregates?" + query, body
}

func (*gnoccoFleet) parse(answer []byte) (map[int64]float64, error) {
	var rows []row
	if err := json.Unmarshal(answer, &rows); err != nil {
		var across struct{ Measures struct{ Aggregated []row } }
		if err := json.Unmarshal(answer, &across); err != nil {
			return nil, err
		}
		rows = across.Measures.Aggregated
	}
	means := map[int64]float64{}
	for _, r := range rows {
		means[r.start.Unix()] = r.value
	}
	return means, nil
}

func (*gnoccoFleet) mergeParts(context.Context, *fleetServer) error { return nil }
func (*gnoccoFleet) keepsAcknowledged() bool                        { return true }
