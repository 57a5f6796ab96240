package senders_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	pushgateway "github.com/prometheus/client_golang/prometheus/push"
)

// The commands of docs/send/curl.md send what they say.
func TestCurlPage(t *testing.T) {
	installed(t, "curl")
	t.Parallel()
	s, _ := start(t, nil)
	runPage(t, "curl.md", "sh", s.URL(), "bash", "-euo", "pipefail")
	reads(t, s.URL(), "jobs_total", `jobs_total{queue="mail"}`, 12)
	reads(t, s.URL(), "room_celsius", `room_celsius{room="north"}`, 21.5)
	reads(t, s.URL(), "door_open", `door_open{door="back"}`, 1)
	reads(t, s.URL(), "sum_over_time(door_open[1m])", `{door="back"}`, 1)
	reads(t, s.URL(), "backup_seconds", `backup_seconds{instance="web-1", job="backup"}`, 93)
}

// Prometheus' library for Go pushes protobuf to the Pushgateway's path.
func TestPushOfGo(t *testing.T) {
	t.Parallel()
	s, _ := start(t, nil)
	registry := prometheus.NewRegistry()
	jobs := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "jobs_total", Help: "Jobs."}, []string{"queue"})
	registry.MustRegister(jobs)
	jobs.WithLabelValues("mail").Add(3)
	pusher := pushgateway.New(s.URL(), "batch/night").Grouping("instance", "h:9").Grouping("none", "").
		Gatherer(registry).BasicAuth("admin", "unused")
	check(t, pusher.Push())
	reads(t, s.URL(), "jobs_total", `jobs_total{instance="h:9", job="batch/night", queue="mail"}`, 3)
	reads(t, s.URL(), `push_time_seconds > bool 0`, `{instance="h:9", job="batch/night"}`, 1)
	check(t, pusher.Add())
	check(t, pusher.Delete())
}
