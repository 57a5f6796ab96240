package opentelemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func start(t *testing.T) string {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{Listen: "127.0.0.1:0",
		Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), MinFreeBytes: 1 << 20}})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.Close(context.WithoutCancel(t.Context()))) })
	return s.URL()
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	fatal.If(t, err)
	r.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(r)
	fatal.If(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fatal.If(t, err)
	return body
}

// reads waits until an expression has one series as its answer: labels, and a value.
func reads(t *testing.T, server, expr, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var answer struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Value  [2]any
				}
			}
		}
		body := get(t, server+"/api/v1/query?query="+url.QueryEscape(expr))
		fatal.If(t, json.Unmarshal(body, &answer))
		got := ""
		for _, one := range answer.Data.Result {
			got += fmt.Sprintln(one.Metric, one.Value[1])
		}
		if strings.TrimSpace(got) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s\nwant %s", expr, body, want)
		}
	}
}

// The SDK's exporter sends all kinds of instruments, by gzip too, and they read back.
func TestExport(t *testing.T) {
	for _, temporality := range []metricdata.Temporality{
		metricdata.CumulativeTemporality, metricdata.DeltaTemporality} {
		t.Run(temporality.String(), func(t *testing.T) { export(t, temporality) })
	}
}

func export(t *testing.T, temporality metricdata.Temporality) {
	url := start(t)
	exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(url+"/v1/metrics"),
		otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
		otlpmetrichttp.WithHeaders(map[string]string{"Authorization": "Basic YWRtaW46"}),
		otlpmetrichttp.WithTemporalitySelector(func(sdk.InstrumentKind) metricdata.Temporality { return temporality }))
	fatal.If(t, err)
	provider := sdk.NewMeterProvider(
		sdk.WithReader(sdk.NewPeriodicReader(exporter, sdk.WithInterval(time.Hour))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.namespace", "shop"),
			attribute.String("service.name", "cart"), attribute.String("service.instance.id", "a1"),
			attribute.String("host.name", "web-1"), attribute.StringSlice("tags", []string{"x", "y"}))),
		sdk.WithView(sdk.NewView(sdk.Instrument{Name: "wide"}, sdk.Stream{
			Aggregation: sdk.AggregationBase2ExponentialHistogram{MaxSize: 20, MaxScale: 3}})))
	meter := provider.Meter("test")
	gauge, err := meter.Float64Gauge("room.temperature", metric.WithUnit("Cel"), metric.WithDescription("of a room"))
	fatal.If(t, err)
	gauge.Record(t.Context(), 21.5, metric.WithAttributes(attribute.String("room.name", "b/1"), attribute.Bool("open", true)))
	counter, err := meter.Int64Counter("requests", metric.WithUnit("{request}"))
	fatal.If(t, err)
	histogram, err := meter.Float64Histogram("latency", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(0.1, 1))
	fatal.If(t, err)
	wide, err := meter.Float64Histogram("wide")
	fatal.If(t, err)
	counter.Add(t.Context(), 3)
	for _, seconds := range []float64{0.05, 0.5, 0.5, 7} {
		histogram.Record(t.Context(), seconds)
	}
	fatal.If(t, provider.ForceFlush(t.Context()))
	counter.Add(t.Context(), 4)
	wide.Record(t.Context(), 1)
	fatal.If(t, provider.ForceFlush(t.Context()))
	const of, scope = "instance:a1 job:shop/cart", " otel_scope_name:test"
	reads(t, url, "room_temperature_celsius", "map[__name__:room_temperature_celsius "+of[:11]+" job:shop/cart open:true"+scope+" room_name:b/1] 21.5")
	reads(t, url, "histogram_sum(wide)", "map["+of+scope+"] 1")
	reads(t, url, "target_info", `map[__name__:target_info host_name:web-1 `+of+` tags:["x","y"]] 1`)
	if temporality == metricdata.CumulativeTemporality {
		reads(t, url, "requests_total", "map[__name__:requests_total "+of+scope+"] 7")
		reads(t, url, `latency_seconds_bucket{le="1"}`, "map[__name__:latency_seconds_bucket "+of+" le:1"+scope+"] 3")
		reads(t, url, `latency_seconds_bucket{le="+Inf"}`, "map[__name__:latency_seconds_bucket "+of+" le:+Inf"+scope+"] 4")
		reads(t, url, "latency_seconds_sum", "map[__name__:latency_seconds_sum "+of+scope+"] 8.05")
		reads(t, url, "latency_seconds_count", "map[__name__:latency_seconds_count "+of+scope+"] 4")
	} else { // the sum of all deltas
		reads(t, url, "sum_over_time(requests[1m])", "map["+of+scope+"] 7")
		reads(t, url, `sum_over_time(latency_seconds_bucket{le="1"}[1m])`, "map["+of+" le:1"+scope+"] 3")
	}
	var metadata struct {
		Data map[string][]struct{ Type, Help, Unit string }
	}
	fatal.If(t, json.Unmarshal(get(t, url+"/api/v1/metadata?metric=room_temperature_celsius"), &metadata))
	if got := fmt.Sprint(metadata.Data["room_temperature_celsius"]); got != "[{gauge of a room celsius}]" {
		t.Error(got)
	}
	fatal.If(t, provider.Shutdown(context.WithoutCancel(t.Context())))
}
