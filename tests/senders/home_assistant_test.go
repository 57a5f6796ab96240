package senders_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Debian's python3-influxdb sends as Home Assistant does with the configuration of docs/send/home-assistant.md: an
// empty write to test the connection, then states.
func TestHomeAssistantPage(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's
	if exec.Command(python, "-c", "import influxdb").Run() != nil {
		t.Skip("python3-influxdb is not installed")
	}
	t.Parallel()
	s, _ := start(t, nil)
	_, port, _ := cutLast(s.URL(), ':')
	var config struct{ InfluxDB map[string]any }
	check(t, yaml.Unmarshal([]byte(blocksOf(t, "home-assistant.md", "yaml", "8041", port)[0]), &config))
	text, err := json.Marshal(config.InfluxDB)
	check(t, err)
	cmd := exec.Command(python, "-c", `
import datetime, json, sys
from influxdb import InfluxDBClient
c = json.loads(sys.argv[1])
keys = ("host", "port", "ssl", "username", "password", "database")
client = InfluxDBClient(timeout=5, verify_ssl=True, **{k: c[k] for k in keys})
client.write_points([])
client.write_points([{
    "measurement": c["override_measurement"],
    "tags": {"domain": "sensor", "entity_id": "kitchen_temperature", c["tags_attributes"][0]: "°C"},
    "time": datetime.datetime.now(datetime.timezone.utc),
    "fields": {"value": 21.5, "friendly_name_str": "Kitchen", "battery_level": 80.0},
}])
`, string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const labels = `{db="home", domain="sensor", entity_id="kitchen_temperature", unit_of_measurement="°C"}`
	reads(t, s.URL(), "home_value", "home_value"+labels, 21.5)
	reads(t, s.URL(), "home_battery_level", "home_battery_level"+labels, 80)
	runPage(t, "home-assistant.md", "sh", s.URL(), "bash", "-euo", "pipefail")
}

// Telegraf runs with the configuration of docs/send/telegraf.md. Debian does not have it; in a module that requires
// github.com/influxdata/telegraf, its cmd/telegraf is built in some minutes with
// -tags custom,inputs.cpu,inputs.mem,inputs.http,parsers.influx,outputs.influxdb_v2.
func TestTelegrafPage(t *testing.T) {
	program := installed(t, "telegraf")
	t.Parallel()
	s, _ := start(t, nil)
	config := blocksOf(t, "telegraf.md", "toml", "127.0.0.1:8041", strings.TrimPrefix(s.URL(), "http://"),
		`"10s"`, `"1s"`)[0]
	launch(t, program, "--config", write(t, "telegraf.conf", "%s", config))
	readsOne(t, s.URL(), map[string]string{
		`count by (cpu, db) (cpu_usage_idle{cpu="cpu-total",host!=""})`: `{cpu="cpu-total", db="telegraf"}`,
		`count by (db) (mem_used_percent{host!=""})`:                    `{db="telegraf"}`,
	})
}
