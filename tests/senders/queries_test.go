package senders_test

import (
	"fmt"
	"strings"
)

// comparedQueries are asked of Prometheus and of the server, by family. They use what exporter shows.
func comparedQueries() map[string][]string {
	all := make(map[string][]string)
	add := func(family string, queries ...string) { all[family] = append(all[family], queries...) }
	// each fills a template's %s with each of the parts.
	each := func(family, template string, parts ...string) {
		for _, part := range parts {
			add(family, strings.ReplaceAll(template, "%s", part))
		}
	}

	add("selectors", `demo_requests_total`, `demo_temperature`, `demo_latency_seconds_bucket`,
		`demo_latency_seconds_count`, `demo_disk_used_bytes`, `{__name__="demo_temperature"}`,
		`{__name__=~"demo_disk_.*"}`, `{__name__=~"demo_.+",room!=""}`, `{job="demo"}`,
		`{job="demo",__name__!~".*_bucket"}`, `up`, `up{job="demo"}`,
		`demo_no_such_metric`, `demo_temperature{room="no such room"}`, `demo_temperature{nosuchlabel=""}`,
		`demo_temperature{nosuchlabel!=""}`,
		`scrape_samples_scraped{job="demo"}`, `demo_special`, `demo_special{kind="nan"}`, `demo_special{kind=~".*inf"}`)
	each("selectors", `demo_requests_total{%s}`, `method="GET"`, `method!="GET"`, `method=~"GET|PUT"`, `method!~"G.*"`,
		`method=~".*"`, `method=~".+"`, `method="GET",path="/a"`, `method="GET",path!="/a"`,
		`method=~"G..",status=~"2.."`, `status="500"`, `status=~"5.."`, `status!~"2..|5.."`,
		`instance!=""`, `job="demo",method="PUT"`, `path=~"/a|/b"`, `path=~"/[ab]",status="200"`)

	// Functions of an instant vector.
	each("functions", `%s(demo_temperature)`, "abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn",
		"round", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "deg",
		"rad", "timestamp", "absent", "sort", "sort_desc", "minute", "hour",
		"day_of_week", "day_of_month", "day_of_year", "days_in_month", "month", "year")
	each("functions", `%s(demo_special)`, "abs", "ceil", "exp", "ln", "sqrt", "sgn", "round")
	add("functions", `clamp(demo_temperature, 10, 20)`, `clamp(demo_temperature, 20, 10)`,
		`clamp_min(demo_temperature, 15)`, `clamp_max(demo_temperature, 15)`, `round(demo_temperature, 0.1)`,
		`round(demo_temperature, 5)`, `absent(demo_no_such_metric)`, `absent(demo_no_such_metric{a="b",c=~"d"})`,
		`absent(sum(demo_no_such_metric))`,
		`absent_over_time(demo_no_such_metric[1m])`, `absent_over_time(demo_temperature[1m])`,
		`time()`, `pi()`, `scalar(demo_temperature{room="r1"})`, `scalar(demo_temperature)`, `vector(1)`,
		`vector(time())`, `minute()`, `hour(vector(1.7e9))`, `year(vector(0))`,
		`label_replace(demo_temperature, "floor", "$1", "room", "r(.*)")`,
		`label_replace(demo_temperature, "room", "", "room", ".*")`,
		`label_replace(demo_temperature, "x", "y", "room", "r1")`,
		`label_join(demo_requests_total, "all", "-", "method", "path", "status")`,
		`label_join(demo_temperature, "room", ",", "job", "room")`, `timestamp(timestamp(demo_temperature))`,
		`sort(demo_requests_total)`)

	// Functions of a range.
	for _, over := range []string{"5s", "10s", "27s", "40s"} {
		each("over time", `%s(demo_temperature[`+over+`])`, "avg_over_time", "min_over_time", "max_over_time",
			"sum_over_time", "count_over_time", "last_over_time", "present_over_time", "stddev_over_time",
			"stdvar_over_time", "changes", "resets", "delta", "idelta", "deriv")
		each("over time", `quantile_over_time(%s, demo_temperature[`+over+`])`, "0", "0.5", "0.95", "1", "-1", "2")
		add("over time", `predict_linear(demo_temperature[`+over+`], 60)`)
		each("rates", `%s(demo_requests_total[`+over+`])`, "rate", "irate", "increase", "resets", "changes",
			"max_over_time", "last_over_time")
		// Not rate and increase: where a scrape comes late, Prometheus 2 and 3 differ about how near zero a counter may
		// begin.
		each("rates", `%s(demo_resets_total[`+over+`])`, "irate", "resets", "changes")
		each("rates", `sum by (method) (rate(demo_requests_total{%s}[`+over+`]))`, `status="200"`, `path="/a"`)
	}
	each("over time", `%s(demo_special[20s])`, "min_over_time", "max_over_time", "sum_over_time", "avg_over_time",
		"count_over_time", "last_over_time", "changes")

	for _, operator := range []string{"+", "-", "*", "/", "%", "^"} {
		add("operators", `demo_temperature `+operator+` 3`, `3 `+operator+` demo_temperature`,
			`demo_disk_used_bytes `+operator+` demo_disk_size_bytes`, `2 `+operator+` 3`,
			`demo_temperature `+operator+` scalar(demo_temperature{room="r2"})`, `demo_special `+operator+` 2`)
	}
	for _, operator := range []string{"==", "!=", "<", "<=", ">", ">="} {
		add("operators", `demo_temperature `+operator+` 15`, `demo_temperature `+operator+` bool 15`,
			`15 `+operator+` demo_temperature`, `1 `+operator+` bool 2`,
			`demo_disk_used_bytes `+operator+` demo_disk_size_bytes`,
			`demo_disk_used_bytes `+operator+` bool demo_disk_size_bytes`, `demo_special `+operator+` 0`)
	}
	add("operators", `-demo_temperature`, `-1`, `-(-demo_temperature)`, `1 + 2 * 3 ^ 2`, `(1 + 2) * 3`, `2 ^ 3 ^ 2`,
		`-2 ^ 2`, `1 / 0`, `0 / 0`, `-1 / 0`)

	for _, aggregation := range []string{"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"} {
		add("aggregations", aggregation+`(demo_requests_total)`, aggregation+` by (method) (demo_requests_total)`,
			aggregation+` by (method, status) (demo_requests_total)`,
			aggregation+` without (method, path) (demo_requests_total)`, aggregation+` by () (demo_requests_total)`,
			aggregation+` without () (demo_temperature)`, aggregation+` by (nosuchlabel) (demo_requests_total)`,
			aggregation+`(rate(demo_requests_total[20s]))`, aggregation+` by (path) (rate(demo_requests_total[20s]))`)
	}
	each("aggregations", `%s(3, demo_requests_total)`, "topk", "bottomk")
	each("aggregations", `%s by (method) (1, demo_requests_total)`, "topk", "bottomk")
	each("aggregations", `quantile(%s, demo_requests_total)`, "0", "0.25", "0.5", "0.99", "1", "-1", "1.5")
	each("aggregations", `quantile by (method) (%s, demo_requests_total)`, "0.25", "0.9")
	add("aggregations", `count_values("value", demo_disk_size_bytes)`,
		`count_values by (job) ("value", round(demo_temperature))`, `sum(sum by (method) (demo_requests_total))`,
		`max(demo_temperature) - min(demo_temperature)`, `topk(0, demo_temperature)`, `topk(100, demo_temperature)`,
		`sum(demo_no_such_metric)`,
		`count(demo_no_such_metric)`, `avg(demo_special)`, `max(demo_special)`, `min(demo_special)`,
		`sum(demo_special{kind="inf"})`)

	each("subqueries", `%s(demo_temperature[30s:5s])`, "avg_over_time", "min_over_time", "max_over_time",
		"sum_over_time", "count_over_time", "last_over_time", "stddev_over_time", "changes", "delta", "deriv")
	each("subqueries", `max_over_time(rate(demo_requests_total[%s])[20s:4s])`, "5s", "10s", "15s")
	each("subqueries", `avg_over_time((demo_disk_used_bytes / demo_disk_size_bytes)[%s])`, "20s:2s", "20s:3s",
		"20s:7s", "13s:1s")
	add("subqueries", `max_over_time(sum(rate(demo_requests_total[10s]))[20s:5s])`,
		`min_over_time(avg_over_time(demo_temperature[5s])[20s:5s])`,
		`sum_over_time(demo_temperature[20s:5s] offset 5s)`,
		`max_over_time(max_over_time(demo_temperature[9500ms:2s])[10s:3s])`,
		`quantile_over_time(0.5, demo_temperature[20s:3s])`, `avg_over_time(time()[10s:1s])`,
		`sum_over_time(vector(1)[10s:1s])`, `rate(demo_requests_total[30s:3s])`,
		`count_over_time((demo_temperature > 15)[20s:2s])`, `absent_over_time(demo_no_such_metric[20s:2s])`,
		`last_over_time(demo_temperature[20s:4s] @ end())`)

	each("times", `demo_temperature offset %s`, "1s", "10s", "-5s", "25s")
	each("times", `rate(demo_requests_total[10s] offset %s)`, "3s", "10s", "-3s")
	each("times", `avg_over_time(demo_temperature[10s] offset %s)`, "3s", "10s", "-3s")
	each("times", `demo_temperature @ %s`, "start()", "end()", "AT")
	each("times", `rate(demo_requests_total[10s] @ %s)`, "start()", "end()", "AT")
	each("times", `sum_over_time(demo_temperature[10s] @ %s offset 2s)`, "start()", "end()", "AT")
	add("times", `demo_temperature - demo_temperature offset 10s`, `demo_temperature @ AT offset 5s`,
		`demo_temperature offset 5s @ AT`, `sum(demo_temperature @ AT)`,
		`demo_requests_total - demo_requests_total @ start()`, `avg_over_time(demo_temperature[20s:5s] @ AT)`,
		`avg_over_time(demo_temperature[20s:5s] @ end() offset 3s)`,
		`demo_temperature offset 1h`, `demo_temperature @ 0`)

	for _, operator := range []string{"+", "-", "*", "/", ">", "== bool"} {
		add("matching", `demo_disk_used_bytes `+operator+` on (device) demo_disk_size_bytes`,
			`demo_disk_used_bytes `+operator+` ignoring (mode) demo_disk_size_bytes`,
			`demo_requests_total `+operator+` on (method) group_left demo_method_weight`,
			`demo_method_weight `+operator+` on (method) group_right demo_requests_total`,
			`demo_requests_total `+operator+` on (method) group_left (weight_class) demo_method_weight`,
			`sum by (method) (demo_requests_total) `+operator+` on (method) demo_method_weight`)
	}
	for _, operator := range []string{"and", "or", "unless"} {
		add("matching", `demo_requests_total `+operator+` demo_requests_total{method="GET"}`,
			`demo_requests_total `+operator+` on (method) demo_method_weight`,
			`demo_requests_total{method="GET"} `+operator+` demo_requests_total{status="200"}`,
			`demo_requests_total `+operator+` ignoring (path, status) demo_method_weight`,
			`demo_temperature `+operator+` demo_no_such_metric`,
			`demo_temperature > 15 `+operator+` demo_temperature < 18`,
			`demo_temperature `+operator+` on () vector(1)`)
	}
	add("matching", `sum by (path) (demo_requests_total{status="500"}) / sum by (path) (demo_requests_total)`,
		`demo_disk_used_bytes / demo_disk_size_bytes * 100 > 20`,
		`demo_requests_total / ignoring (status) group_left sum without (status) (demo_requests_total)`)

	each("histograms", `histogram_quantile(%s, demo_latency_seconds_bucket)`, "0", "0.1", "0.5", "0.9",
		"0.99", "1", "-1", "2")
	each("histograms", `histogram_quantile(%s, rate(demo_latency_seconds_bucket[20s]))`, "0", "0.1", "0.5",
		"0.9", "0.99", "1")
	each("histograms", `histogram_quantile(0.9, sum by (%s) (rate(demo_latency_seconds_bucket[20s])))`, "le",
		"le, path", "path", "le, job")
	add("histograms",
		`sum by (path) (rate(demo_latency_seconds_sum[20s])) / sum by (path) (rate(demo_latency_seconds_count[20s]))`,
		`sum(rate(demo_latency_seconds_bucket{le="0.5"}[20s])) / sum(rate(demo_latency_seconds_count[20s]))`,
		`histogram_quantile(0.9, demo_no_such_metric)`, `histogram_quantile(0.9, demo_temperature)`,
		`increase(demo_latency_seconds_bucket{le="+Inf"}[30s])`, `demo_latency_seconds_bucket{le=~"0.*"}`)
	return all
}

// exposition is what the exporter shows at its n-th scrape.
func exposition(n int) string {
	var b strings.Builder
	row := func(name, labels string, value any) { fmt.Fprintf(&b, "%s{%s} %v\n", name, labels, value) }
	x := float64(n)
	fmt.Fprintln(&b, "# TYPE demo_requests_total counter")
	for i, method := range []string{"GET", "PUT", "POST"} {
		for j, path := range []string{"/a", "/b", "/c/d"} {
			for k, status := range []string{"200", "404", "500"} {
				row("demo_requests_total", fmt.Sprintf(`method=%q,path=%q,status=%q`, method, path, status),
					n*(i+2*j+7)/(k*k+1)+i+j)
			}
		}
		row("demo_method_weight", fmt.Sprintf(`method=%q,weight_class="w%d"`, method, i%2), float64(i+1)/10)
	}
	fmt.Fprintln(&b, "# TYPE demo_resets_total counter")
	row("demo_resets_total", `every="7"`, float64(n%7)*1.5)
	row("demo_resets_total", `every="13"`, n%13)
	for i := range 6 { // up and down, in tenths
		row("demo_temperature", fmt.Sprintf(`room="r%d"`, i), float64((n*(i+3)*37)%(100+20*i))/10+float64(i)*3-2)
	}
	for i := range 3 {
		row("demo_disk_used_bytes", fmt.Sprintf(`device="sd%c"`, 'a'+i), 1e9+x*4096*float64(i+1))
		row("demo_disk_size_bytes", fmt.Sprintf(`device="sd%c"`, 'a'+i), 4e9)
	}
	row("demo_special", `kind="nan"`, "NaN")
	row("demo_special", `kind="inf"`, "+Inf")
	row("demo_special", `kind="minus_inf"`, "-Inf")
	row("demo_special", `kind="zero"`, "-0")
	row("demo_special", `kind="tiny"`, 5e-324)
	row("demo_special", `kind="flips"`, []any{1, "NaN", -1}[n%3])
	fmt.Fprintln(&b, "# TYPE demo_latency_seconds histogram")
	for i, path := range []string{"/a", "/b"} {
		total := 0
		for k, le := range []string{"0.01", "0.05", "0.1", "0.5", "1", "5", "+Inf"} {
			total += n * (k + i + 1) * (7 - k)
			row("demo_latency_seconds_bucket", fmt.Sprintf(`path=%q,le=%q`, path, le), total)
		}
		row("demo_latency_seconds_sum", fmt.Sprintf(`path=%q`, path), x*float64(i+1)*1.7)
		row("demo_latency_seconds_count", fmt.Sprintf(`path=%q`, path), total)
	}
	return b.String()
}
