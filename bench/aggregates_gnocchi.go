package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// gnocchiAggregates asks for aggregates across metrics by Gnocchi's API: each series is the metric "m" of a resource.
type gnocchiAggregates struct {
	run   string // user_id of the resources, which tells this run's from others'
	ids   []string
	state State
	ours  bool // the server also knows PromQL, as ours does
}

func (p *gnocchiAggregates) fill(ctx context.Context, s *server, w *workload) error {
	c := newClient(s.options, s.url, setupConnections)
	defer c.close()
	if err := c.createPolicy(ctx); err != nil {
		return err
	}
	p.ids = make([]string, len(w.values))
	err := c.spread(ctx, len(p.ids), func(ctx context.Context, i int, answer *bytes.Buffer) error {
		body := fmt.Appendf(nil,
			`{"id":"%s-%d","user_id":%q,"project_id":%q,"metrics":{"m":{"archive_policy_name":%q}}}`, p.run, i, p.run,
			projectName(i), policyName)
		if err := c.do(ctx, http.MethodPost, "/v1/resource/generic", body, http.StatusCreated, answer); err != nil {
			return err
		}
		var resource struct{ Metrics map[string]string }
		if err := json.Unmarshal(answer.Bytes(), &resource); err != nil {
			return err
		}
		if p.ids[i] = resource.Metrics["m"]; p.ids[i] == "" {
			return errors.New("a resource was made without its metric")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.sendParts(ctx, w, p.ids, len(w.values[0]), p.state); err != nil {
		return err
	}
	_, err = w.awaitVisible(ctx, c, p.ids, func() {})
	return err
}

func (p *gnocchiAggregates) request(q *aggregatesQuery) (method, path string, body []byte, ok bool) {
	values := url.Values{"granularity": {"60"}, "start": {q.start.Format(timestampFormat)},
		"stop": {q.end.Format(timestampFormat)}}
	if q.top {
		if !p.ours {
			return "", "", nil, false
		}
		return http.MethodGet, rangeQuery(fmt.Sprintf(`topk(%d, m{user_id=%q})`, topMetrics, p.run), q), nil, true
	}
	if q.byProject {
		values.Set("groupby", "project_id")
	}
	if q.exact {
		values.Set("exact", "true")
	}
	path = "/v1/aggregates?" + values.Encode()
	if q.byIDs {
		return http.MethodPost, path, []byte(`{"operations":"(aggregate ` + q.across() + ` (metric (` +
			strings.Join(p.ids, " mean) (") + ` mean)))"}`), true
	}
	return http.MethodPost, path, fmt.Appendf(nil,
		`{"resource_type":"generic","search":{"=":{"user_id":%q}},"operations":"(aggregate %s (metric m mean))"}`,
		p.run, q.across()), true
}

func (*gnocchiAggregates) parse(q *aggregatesQuery, answer []byte) (map[string][]row, error) {
	type measures struct {
		Measures struct{ Aggregated []row }
	}
	if q.top {
		return parseMatrix(q, answer)
	}
	rows := map[string][]row{}
	if !q.byProject {
		var all measures
		err := json.Unmarshal(answer, &all)
		rows[""] = all.Measures.Aggregated
		return rows, err
	}
	var groups []struct {
		Group struct {
			Project string `json:"project_id"`
		}
		Measures measures
	}
	err := json.Unmarshal(answer, &groups)
	for _, g := range groups {
		rows[g.Group.Project] = g.Measures.Measures.Aggregated
	}
	return rows, err
}
