package console_test

import (
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
)

var everyWidth = flag.Bool("tasks.every-width", false, "TestTasks does each task at all widths")

// A visitor counts the clicks of a task, and the texts that are typed.
type visitor struct {
	*tab
	clicks, typed int
}

func (v *visitor) press(selector, text string) {
	v.t.Helper()
	v.clicks++
	v.click(selector, text)
}

// enter types into a field, and presses Enter.
func (v *visitor) enter(selector, text string) {
	v.t.Helper()
	v.typed++
	v.write(selector, text)
	if selector == ".search input" {
		v.wait("document.querySelector('.found > li button')?.textContent.toLowerCase().includes(" +
			fmt.Sprintf("%q.toLowerCase())", text))
		before := eval[string](v.tab, "location.hash")
		v.act("document.querySelector('.search input').dispatchEvent(" +
			"new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
		v.wait(fmt.Sprintf("location.hash !== %q", before))
		return
	}
	v.act(fmt.Sprintf("document.querySelector(%q).form.requestSubmit()", selector))
}

const (
	seriesDrawn = "document.querySelectorAll('#summary tbody tr').length"
	firstSeries = "document.querySelector('#summary tbody tr:first-child')?.innerText ?? ''"
	firstRow    = "document.querySelector('#instant tbody tr:first-child')?.innerText ?? ''"
	atTheStart  = "document.querySelectorAll('.tile canvas').length > 1"
)

// Twenty things that four people come for are reached from the first page, each in so many clicks and texts.
func TestTasks(t *testing.T) {
	servers := map[string]string{}
	for person, fill := range map[string]func(t *testing.T, url string, c *client.Client){
		"newcomer": machineOfANewcomer, "SRE": targetsOfAnSRE, "data": filesOfADataPerson, "OpenStack": smallOpenStack} {
		s, c := start(t, nil)
		fill(t, s.URL(), c)
		servers[person] = s.URL()
	}
	uuidOfWeb := uuid(1, 49)
	yesterday := time.Now().UTC().Add(-24 * time.Hour).Format(time.DateOnly)
	for i, task := range []struct {
		person, name  string
		clicks, typed int
		do            func(v *visitor)
	}{
		{"newcomer", "sees the machine live", 0, 0, func(v *visitor) {
			v.waitText("load1")
			v.wait("document.querySelector('.tile .now')?.textContent.includes('%')")
		}},
		{"newcomer", "the busiest core", 1, 0, func(v *visitor) {
			v.press(".tile", "cpu*.percent")
			v.wait(seriesDrawn + " === 2 && (" + firstSeries + ").includes('cpu1.percent')")
		}},
		{"newcomer", "memory and load on one chart", 2, 0, func(v *visitor) {
			v.press(".found button", "load1")
			v.press(".found button", "memory.used.bytes")
			v.wait(seriesDrawn + " === 2")
		}},
		{"newcomer", "the 95th percentile of an hour", 2, 0, func(v *visitor) {
			v.press(".found button", "load1")
			v.press(".bar button", "1h")
			v.wait("document.querySelector('#summary [data-figure=p95]')?.dataset.value > 0")
		}},
		{"newcomer", "a metric of one's own, by the address that the API answers", 0, 0, func(v *visitor) {
			v.visitHash("explore?find=my_own")
			v.wait("document.querySelector('.tile canvas')")
		}},
		{"SRE", "which target is down", 0, 1, func(v *visitor) {
			v.enter(".search input", "up")
			v.wait(seriesDrawn + " === 3 && [...document.querySelectorAll('#summary tbody tr')].some(r => " +
				"r.innerText.includes('host2') && r.querySelector('[data-figure=last]').dataset.value === '0')")
		}},
		{"SRE", "processor time by mode", 0, 1, func(v *visitor) {
			v.enter(".search input", "node_cpu_seconds_total")
			v.wait(seriesDrawn + " === 24 && (" + firstSeries + ").includes('mode=idle')")
		}},
		{"SRE", "the 99th percentile of a histogram", 2, 0, func(v *visitor) {
			v.press(".found button", "http_request_duration_seconds_bucket")
			v.press(".found ul button", "Quantiles")
			v.wait("document.querySelector('#summary')?.innerText.includes('0.99')")
		}},
		{"SRE", "yesterday from 14 to 15 o'clock", 1, 1, func(v *visitor) {
			v.press(".tile", "node_load1")
			v.wait("document.querySelector('.times input')")
			v.enter(".times input", "yesterday 14:00 to 15:00")
			v.wait(fmt.Sprintf("document.querySelector('.times input').value === %q", yesterday+" 14:00:00 to 15:00:00"))
			v.waitText("No measures in this time.")
		}},
		{"SRE", "sum by (mode) (rate())", 2, 1, func(v *visitor) {
			v.press("button", "ƒ(x)")
			v.typed++
			v.clicks++
			v.typeExpression("sum by (mode) (rate(node_cpu_seconds_total[5m]))")
			v.wait(seriesDrawn + " === 4")
		}},
		{"data", "brings a file", 2, 0, func(v *visitor) {
			v.press("a", "Bring a")
			// Of several widths, each brings a metric of its own.
			soil := fmt.Sprint("soil", eval[int64](v.tab, "innerWidth"))
			v.bring("garden.csv", "time,"+soil+"\n2026-01-15 13:05,4\n2026-01-15 13:10,5\n")
			v.wait("document.querySelector('#plan')")
			v.press("form.bring button", "Import")
			if sent, dropped := v.imported(); sent != 2 || dropped != 0 {
				v.t.Errorf("sent %d, dropped %d", sent, dropped)
			}
		}},
		{"data", "sees it", 1, 1, func(v *visitor) {
			v.enter(".search input", "power")
			v.press(".found button, .tile", "power")
			v.wait("document.querySelector('[data-figure=last]')?.dataset.value > 0")
		}},
		{"data", "sees all of it", 2, 0, func(v *visitor) {
			v.press(".found button", "power")
			v.press(".bar button", "All")
			v.wait("document.querySelector('.times input')?.value.startsWith('2025-07-0')")
			v.wait("document.querySelector('#drawn canvas')")
		}},
		{"data", "the 95th percentile by day", 2, 1, func(v *visitor) {
			v.press("button", "ƒ(x)")
			v.typed++
			v.clicks++
			v.typeExpression(`quantile_over_time(0.95, {"power"}[1d])`)
			v.waitText("Newest measure 2025-07-31")
			v.wait("document.querySelector('[data-figure=last]')?.dataset.value > 120")
		}},
		{"data", "takes it out", 3, 0, func(v *visitor) {
			v.press(".found button", "power")
			v.wait("document.querySelector('#drawn canvas')")
			v.act("HTMLAnchorElement.prototype.click = function() { window.file = this.download }")
			v.press("#drawn button", "Table")
			v.press("button", "CSV")
			v.wait("window.file?.endsWith('.csv')")
		}},
		{"OpenStack", "the busiest instance", 2, 0, func(v *visitor) {
			v.press(".found button", "cpu")
			v.press(".found ul button", "Highest now")
			v.wait("(" + firstRow + ").includes('display_name=')")
		}},
		{"OpenStack", "an instance by its name", 1, 1, func(v *visitor) {
			v.enter(".search input", "web-00049")
			v.wait("document.querySelector('#found').textContent === '2 metrics'")
			v.press(".tile, .found button", "memory.usage")
			v.wait("document.querySelector('#drawn h2')?.textContent.includes('web-00049')")
		}},
		{"OpenStack", "an instance by its UUID", 1, 1, func(v *visitor) {
			v.enter(".search input", uuidOfWeb)
			v.wait("document.querySelector('#found').textContent === '2 metrics'")
			v.press(".tile, .found button", "memory.usage")
			v.wait("document.querySelector('#drawn h2')?.textContent.includes('web-00049')")
		}},
		{"OpenStack", "what a change of an archive policy costs", 2, 1, func(v *visitor) {
			v.press("nav a", "Policies")
			v.press(`tr[data-policy="console"] a`, "console")
			v.wait("document.querySelector('#bytes')")
			v.typed++
			v.write("[aria-label='Timespan 1']", "2 days")
			v.wait("document.querySelector('#cost').dataset.of === 'draft'")
		}},
		{"OpenStack", "what is not processed yet", 1, 0, func(v *visitor) {
			v.press("nav a", "Server")
			v.waitText("Backlog by sack")
		}},
	} {
		widths := []int64{1440, 1024, 390}
		if !*everyWidth {
			widths = widths[i%3 : i%3+1]
		}
		for _, width := range widths {
			t.Run(fmt.Sprintf("%s/%s/%d", task.person, task.name, width), func(t *testing.T) {
				v := &visitor{tab: open(t, servers[task.person], "#/explore?tz=UTC")}
				v.size(width, 860)
				if width == 1024 {
					v.click("button", "☾")
				}
				v.wait(atTheStart)
				task.do(v)
				v.picture(fmt.Sprintf("task-%02d-%d", i+1, width))
				if wide := eval[int64](v.tab, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("the page is %d pixels wide", wide)
				}
				if v.clicks > task.clicks || v.typed > task.typed {
					t.Errorf("%d clicks and %d texts, want %d and %d", v.clicks, v.typed, task.clicks, task.typed)
				}
				t.Logf("| %s | %s | %d | %d |", task.person, task.name, v.clicks, v.typed)
			})
		}
	}
}

func machineOfANewcomer(t *testing.T, url string, c *client.Client) {
	send(t, c, "laptop", time.Now(), 3600, "cpu0.percent", "cpu1.percent", "memory.used.bytes", "load1")
	push(t, url, func(line func(format string, args ...any)) {
		for i := range 60 {
			line(`my_own{} %d %d`, i, time.Now().Add(time.Duration(i-60)*time.Second).UnixMilli())
		}
	})
}

func targetsOfAnSRE(t *testing.T, url string, _ *client.Client) {
	push(t, url, func(line func(format string, args ...any)) {
		line("# TYPE node_cpu_seconds_total counter")
		line("# TYPE http_request_duration_seconds histogram")
		for i := range 240 {
			at := time.Now().Add(time.Duration(i-220) * 15 * time.Second).UnixMilli()
			for host := range 3 {
				up := 1
				if host == 2 && i > 150 {
					up = 0
				}
				instance := fmt.Sprintf(`instance="host%d:9100"`, host)
				line(`up{job="node",%s} %d %d`, instance, up, at)
				line(`up_since_seconds{job="node",%s} %d %d`, instance, i, at)
				line(`node_load1{job="node",%s} %d %d`, instance, i%5+host, at)
				for m, mode := range []string{"idle", "user", "system", "iowait"} {
					for cpu := range 2 {
						line(`node_cpu_seconds_total{job="node",%s,cpu="%d",mode=%q} %v %d`, instance, cpu, mode,
							float64(i)*15*[]float64{.6, .3, .08, .02}[m], at)
					}
				}
				for b, le := range []string{"0.1", "0.5", "1", "+Inf"} {
					line(`http_request_duration_seconds_bucket{job="api",%s,le=%q} %d %d`, instance, le,
						i*[]int{50, 90, 99, 100}[b], at)
				}
				line(`http_request_duration_seconds_count{job="api",%s} %d %d`, instance, i*100, at)
			}
		}
	})
}

func filesOfADataPerson(t *testing.T, _ string, c *client.Client) {
	check(t, c.EnsureArchivePolicy(t.Context(), "hourly", object{"name": "hourly", "aggregation_methods": []string{"mean"},
		"definition": []object{{"granularity": 3600, "timespan": "1095 days"}}}))
	id, err := c.EnsureResource(t.Context(), "house")
	check(t, err)
	ids, err := c.EnsureMetrics(t.Context(), id, []string{"power", "water"}, ofPolicy("hourly"))
	check(t, err)
	begin := time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
	batch := map[string][]object{}
	for _, id := range ids {
		for hour := range 24 * 31 {
			batch[id] = append(batch[id], object{"timestamp": begin.Add(time.Duration(hour) * time.Hour).Unix(),
				"value": 100 + hour%24})
		}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	for _, id := range ids {
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&granularity=3600", nil, nil))
	}
}

func smallOpenStack(t *testing.T, _ string, c *client.Client) {
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type", object{"name": "instance", "attributes": object{
		"display_name": object{"type": "string", "required": false}, "host": object{"type": "string", "required": false}}}, nil))
	var resources []object
	sent := object{}
	for n := range 120 {
		id, metrics, measures := uuid(1, n), object{}, object{}
		for _, name := range []string{"cpu", "memory.usage"} {
			metrics[name] = object{"archive_policy_name": "console"}
			var all []object
			for i := range 30 {
				all = append(all, object{"timestamp": time.Now().Unix() - int64(10*i), "value": n + i%7})
			}
			measures[name] = all
		}
		resources = append(resources, object{"id": id, "display_name": fmt.Sprintf("web-%05d", n),
			"host": fmt.Sprintf("compute-%d", n%7), "project_id": uuid(9, n%3), "metrics": metrics})
		sent[id] = measures
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/resources/instance", resources, nil))
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/resources/metrics/measures", sent, nil))
}
