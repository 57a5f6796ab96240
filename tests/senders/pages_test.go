package senders_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// runPage runs the blocks of a page of docs/send in one language against a server, by a program that reads them.
func runPage(t *testing.T, page, language, server string, program ...string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/send/" + page)
	check(t, err)
	address := strings.TrimPrefix(server, "http://")
	_, port, _ := cutLast(address, ':')
	ran := 0
	for _, m := range block.FindAllSubmatch(text, -1) {
		if string(m[1]) != language {
			continue
		}
		script := strings.NewReplacer("127.0.0.1:8041", address, `"127.0.0.1", 8041`, `"127.0.0.1", `+port).
			Replace(string(m[2]))
		cmd := exec.Command(program[0], program[1:]...)
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", page, err, script, out)
		}
		ran++
	}
	if ran == 0 {
		t.Fatalf("%s has no %s", page, language)
	}
}

// reads waits until a query has one series as its answer.
func reads(t *testing.T, server, query, labels string, value float64) {
	t.Helper()
	eventually(t, func() string {
		answer, err := ask(t, server, "query", url.Values{"query": {query}})
		if err != nil || len(answer) != 1 || answer[0].labels != labels || answer[0].values[0] != value {
			return fmt.Sprintf("%s: %v, %v, want %s %v", query, answer, err, labels, value)
		}
		return ""
	})
}

// The commands of docs/send/influxdb.md send what they say.
func TestInfluxDBPage(t *testing.T) {
	installed(t, "curl")
	t.Parallel()
	s, _ := start(t, nil)
	runPage(t, "influxdb.md", "sh", s.URL(), "bash", "-euo", "pipefail")
	reads(t, s.URL(), `weather_temperature{city="oslo"}`, `weather_temperature{city="oslo", db="home"}`, 21.5)
	reads(t, s.URL(), `weather_humidity`, `weather_humidity{city="oslo", db="home"}`, 64)
	reads(t, s.URL(), `weather_temperature{city="rome"}`, `weather_temperature{city="rome", db="home"}`, 29)

	const python = "/usr/bin/python3" // Debian's
	if exec.Command(python, "-c", "import influxdb").Run() != nil {
		t.Skip("python3-influxdb is not installed")
	}
	runPage(t, "influxdb.md", "python", s.URL(), python)
	reads(t, s.URL(), `weather_temperature{city="lima"}`, `weather_temperature{city="lima", db="home"}`, 18.25)
}

// The commands of docs/send/opentelemetry.md send what they say.
func TestOpenTelemetryPage(t *testing.T) {
	installed(t, "curl")
	t.Parallel()
	s, _ := start(t, nil)
	runPage(t, "opentelemetry.md", "sh", s.URL(), "bash", "-euo", "pipefail")
	reads(t, s.URL(), `room_temperature_celsius`, `room_temperature_celsius{job="cart"}`, 21.5)
}
