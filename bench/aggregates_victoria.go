package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// victoriaAggregates asks VictoriaMetrics, which keeps measures alone: a query over a step of one minute finds the one
// measure of each minute, so that the answers have to be the same. The server needs a long -retentionPeriod.
type victoriaAggregates struct {
	run string // label of the series, which tells this run's from others'
}

func (p *victoriaAggregates) fill(ctx context.Context, s *server, w *workload) error {
	c := newClient(s.options, s.url, 1)
	defer c.close()
	times := make([]int64, len(w.values[0])) // milliseconds
	for i := range times {
		times[i] = w.time(i).UnixMilli()
	}
	type line struct {
		Metric     map[string]string `json:"metric"`
		Values     []float64         `json:"values"`
		Timestamps []int64           `json:"timestamps"`
	}
	for i, values := range w.values {
		body, err := json.Marshal(line{map[string]string{"__name__": "m", "run": p.run, "project": projectName(i),
			"series": strconv.Itoa(i)}, values, times})
		if err != nil {
			return err
		}
		if err := c.do(ctx, http.MethodPost, "/api/v1/import", body, http.StatusNoContent, nil); err != nil {
			return err
		}
	}
	if err := c.do(ctx, http.MethodGet, "/internal/force_flush", nil, http.StatusOK, nil); err != nil {
		return err
	}
	q := aggregatesQuery{start: w.start, end: w.time(len(times))}
	_, path, _, _ := p.request(&q)
	var wrong error
	for begun := time.Now(); time.Since(begun) < wrongWait; time.Sleep(100 * time.Millisecond) {
		var answer bytes.Buffer
		if err := c.do(ctx, http.MethodGet, path, nil, http.StatusOK, &answer); err != nil {
			return err
		}
		rows, err := p.parse(&q, answer.Bytes())
		if err != nil {
			return err
		}
		if wrong = w.judge(&q, Restarted, rows); wrong == nil {
			return nil
		}
	}
	return wrong
}

func (p *victoriaAggregates) request(q *aggregatesQuery) (method, path string, body []byte, ok bool) {
	if q.byIDs || q.exact {
		return "", "", nil, false
	}
	query := fmt.Sprintf(`%s(m{run=%q})`, map[string]string{"mean": "avg", "max": "max"}[q.across()], p.run)
	if q.top {
		query = fmt.Sprintf(`topk(%d, m{run=%q})`, topMetrics, p.run)
	}
	if q.byProject {
		query += " by (project)"
	}
	return http.MethodGet, rangeQuery(query, q), nil, true
}

// rangeQuery returns the path of a query by PromQL over the minutes of q, without VictoriaMetrics' cache of answers.
func rangeQuery(query string, q *aggregatesQuery) string {
	values := url.Values{"query": {query}, "step": {"60"}, "nocache": {"1"},
		"start": {strconv.FormatInt(q.start.Unix(), 10)}, "end": {strconv.FormatInt(q.end.Unix()-60, 10)}}
	return "/api/v1/query_range?" + values.Encode()
}

func (*victoriaAggregates) parse(q *aggregatesQuery, answer []byte) (map[string][]row, error) {
	return parseMatrix(q, answer)
}

// parseMatrix reads an answer in Prometheus' format: rows by project, or all of them if there is no grouping by it.
func parseMatrix(q *aggregatesQuery, answer []byte) (map[string][]row, error) {
	var matrix struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any // seconds since 1970, value as text
			}
		}
	}
	if err := json.Unmarshal(answer, &matrix); err != nil {
		return nil, err
	}
	rows := map[string][]row{}
	for _, series := range matrix.Data.Result {
		project := ""
		if q.byProject {
			project = series.Metric["project"]
		}
		for _, pair := range series.Values {
			seconds, ok := pair[0].(float64)
			text, ok2 := pair[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if !ok || !ok2 || err != nil {
				return nil, fmt.Errorf("no time and value: %v", pair)
			}
			rows[project] = append(rows[project], row{time.Unix(int64(seconds), 0), time.Minute, value})
		}
	}
	return rows, nil
}
