package opentelemetry_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A running total is whole after restarts. The SDK's exporter does not repeat what finds no connection, so deltas of
// that time would be lost.
func TestRestartKeepsTotals(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	address := listener.Addr().String()
	fatal.If(t, listener.Close())
	data := filepath.Join(t.TempDir(), "data")
	run := func() *server.Server {
		s, err := server.Start(t.Context(), server.Options{Listen: address,
			Cluster: cluster.Options{Data: data, MinFreeBytes: 1 << 20}})
		fatal.If(t, err)
		return s
	}
	s := run()
	stop := func() { fatal.If(t, s.Close(context.WithoutCancel(t.Context()))) }
	defer func() { stop() }()
	exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL("http://"+address+"/v1/metrics"),
		otlpmetrichttp.WithHeaders(map[string]string{"Authorization": "Basic YWRtaW46"}),
		otlpmetrichttp.WithTemporalitySelector(sdk.DefaultTemporalitySelector))
	fatal.If(t, err)
	provider := sdk.NewMeterProvider(sdk.WithReader(
		sdk.NewPeriodicReader(exporter, sdk.WithInterval(300*time.Millisecond))))
	counter, err := provider.Meter("test").Int64Counter("jobs")
	fatal.If(t, err)
	counted := 0
	work := func(long time.Duration) {
		for begun := time.Now(); time.Since(begun) < long; time.Sleep(10 * time.Millisecond) {
			counter.Add(t.Context(), 1)
			counted++
		}
	}
	work(time.Second)
	for range 2 {
		restarted := make(chan *server.Server)
		stop()
		go func() {
			time.Sleep(2 * time.Second)
			restarted <- run()
		}()
		work(2 * time.Second)
		s = <-restarted
		work(time.Second)
	}
	fatal.If(t, provider.Shutdown(context.WithoutCancel(t.Context())))
	reads(t, "http://"+address, "sum(max_over_time(jobs_total[10m]))", fmt.Sprintf("map[] %d", counted))
}
