package senders_test

import (
	"os/exec"
	"strings"
	"testing"
)

// curl sends line protocol, as InfluxDB's documentation shows.
func TestInfluxDBByCurl(t *testing.T) {
	curl := installed(t, "curl")
	t.Parallel()
	s, _ := start(t, nil)
	run := func(want string, args ...string) {
		t.Helper()
		args = append([]string{"-s", "-u", "admin:unused", "-o", "/dev/null", "-w", "%{http_code}"}, args...)
		out, err := exec.Command(curl, args...).CombinedOutput()
		if err != nil || string(out) != want {
			t.Fatalf("curl %s: %v, %s, want %s", strings.Join(args, " "), err, out, want)
		}
	}
	run("204", "-I", s.URL()+"/v1/influxdb/ping")
	run("204", "-XPOST", s.URL()+"/v1/influxdb/query", "--data-urlencode", "q=CREATE DATABASE weather")
	lines := "temperature,host=roof,side=north value=21.5,humidity=64i 1700000000000000000\n" +
		"temperature,host=roof,side=north value=22.25 1700000001000000000\n"
	run("204", "-XPOST", s.URL()+"/v1/influxdb/write?db=weather", "--data-binary", lines)
	run("204", "-XPOST", s.URL()+"/v1/influxdb/write?db=weather&precision=s", "--data-binary",
		"temperature,host=roof,side=north value=23 1700000002")
	run("400", "-XPOST", s.URL()+"/v1/influxdb/write?db=weather", "--data-binary", "temperature,host=roof value= 1")
	answers := func(metric, want string) {
		t.Helper()
		path := "/v1/resource/weather/roof/metric/" + metric + "/measures?refresh=true&aggregation=last"
		if got := string(get(t, s.URL()+path)); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
	answers("temperature.value@side=north",
		`[["2023-11-14T22:13:20+00:00", 1.0, 21.5], ["2023-11-14T22:13:21+00:00", 1.0, 22.25], ["2023-11-14T22:13:22+00:00", 1.0, 23.0]]`)
	answers("temperature.humidity@side=north", `[["2023-11-14T22:13:20+00:00", 1.0, 64.0]]`)
}
