package senders_test

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/statsd"
)

// The messages of docs/send/statsd.md become what it says.
func TestStatsdPage(t *testing.T) {
	bash := installed(t, "bash")
	t.Parallel()
	s, _ := start(t, func(o *server.Options) {
		o.Statsd = &statsd.Options{Listen: "127.0.0.1:0", Labels: true, FlushInterval: time.Second, Creator: "admin"}
	})
	_, port, _ := cutLast(s.StatsdAddr().String(), ':')
	runPage(t, "statsd.md", "bash", s.URL(), bash, "-euo", "pipefail", "-c",
		`source <(sed "s#127.0.0.1/8125#127.0.0.1/`+port+`#")`)
	reads(t, s.URL(), "room_celsius", `room_celsius{room="north"}`, 21.5)
	reads(t, s.URL(), "sum_over_time(jobs[5m])", `{host="web-1", queue="mail"}`, 3)
}

// Debian's python3-statsd sends gauges, counters and timers by UDP.
func TestStatsdClient(t *testing.T) {
	python := "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import statsd").Run(); err != nil {
		t.Skip("python3-statsd is not installed")
	}
	t.Parallel()
	s, _ := start(t, func(o *server.Options) {
		o.Statsd = &statsd.Options{Listen: "127.0.0.1:0", FlushInterval: time.Second, Creator: "admin"}
	})
	_, port, ok := cutLast(s.StatsdAddr().String(), ':')
	if !ok {
		t.Fatal(s.StatsdAddr())
	}
	script := `
import statsd, sys
c = statsd.StatsClient("127.0.0.1", int(sys.argv[1]), prefix="app")
for i in range(10):
    c.incr("requests", 3)
with c.pipeline() as p:
    p.gauge("temperature", 21.5)
    p.gauge("queue", 7)
c.timing("answer", 320)
c.incr("sampled", 2, rate=0.999999)
`
	out, err := exec.Command(python, "-c", script, port).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	total := func(name, method string) float64 {
		var rows [][3]any
		check(t,
			json.Unmarshal(get(t, s.URL()+"/v1/resource/generic/statsd/metric/"+name+
				"/measures?refresh=true&aggregation="+method), &rows))
		sum := 0.0
		for _, row := range rows {
			sum += row[2].(float64)
		}
		return sum
	}
	for _, c := range []struct {
		name, method string
		want         float64
	}{{"app.requests%7Cc", "sum", 30}, {"app.temperature%7Cg", "last", 21.5}, {"app.queue%7Cg", "last", 7},
		{"app.answer%7Cms", "sum", 320}} {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			got := total(c.name, c.method)
			if got == c.want {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%s is %s, want %v", c.name, strconv.FormatFloat(got, 'g', -1, 64), c.want)
				break
			}
		}
	}
}
