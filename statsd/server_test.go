package statsd_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/statsd"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const sacks = 4

var resource = uuid.MustParse("07f26121-5777-48ba-8a0b-d70468133dd9")

// stores are real ones in memory, and the workers that make their measures visible.
type stores struct {
	index    *index.Store
	incoming *incoming.Store
	metricd  *metricd.Metricd
}

func openStores(t *testing.T) *stores {
	t.Helper()
	fs := vfs.NewMem()
	var s stores
	var err error
	s.index, err = index.Open("index", index.Options{FS: fs, SkipDefaults: true})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.index.Close()) })
	s.incoming, err = incoming.Open("incoming",
		incoming.Options{FS: fs, Sacks: sacks, FreeSpace: func() (uint64, error) { return 1 << 40, nil }})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.incoming.Close()) })
	s.metricd, err = testnode.Workers(metricd.Options{Sacks: sacks, Index: testnode.WorkersIndex{Store: s.index},
		FS: fs}, "sacks", s.incoming)
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.metricd.Close(context.Background())) })
	return &s
}

// policy creates an archive policy of a second, and a rule for a pattern.
func (s *stores) policy(t *testing.T, name, pattern string) {
	t.Helper()
	granularity := time.Second
	p, err := model.NewArchivePolicy(name, 0, []model.DefinitionInput{{Granularity: &granularity}},
		[]string{"mean", "count"})
	fatal.If(t, err)
	fatal.If(t, s.index.CreateArchivePolicy(t.Context(), p))
	fatal.If(t, s.index.CreateArchivePolicyRule(t.Context(), &model.ArchivePolicyRule{
		Name: name, MetricPattern: pattern, ArchivePolicyName: name}))
}

// sender starts a server and returns how to send it a datagram and wait until it was read.
func sender(t *testing.T, options statsd.Options) (*statsd.Server, func(datagram string)) {
	t.Helper()
	registry := prometheus.NewRegistry()
	options.Listen, options.Sacks, options.Registerer = "127.0.0.1:0", sacks, registry
	options.FlushInterval = time.Hour // Close flushes
	s, err := statsd.Start(t.Context(), options)
	fatal.If(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	fatal.If(t, err)
	t.Cleanup(func() { conn.Close() })
	sent := 0.0
	return s, func(datagram string) {
		t.Helper()
		_, err := conn.Write([]byte(datagram))
		fatal.If(t, err)
		sent += float64(strings.Count(datagram, "\n") + 1)
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
			if got := sum(t, registry, "gnocco_statsd_messages_total", "gnocco_statsd_refused_total"); got == sent {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%v messages of %v arrived", got, sent)
			}
		}
	}
}

func sum(t *testing.T, registry *prometheus.Registry, names ...string) (total float64) {
	t.Helper()
	families, err := registry.Gather()
	fatal.If(t, err)
	for _, family := range families {
		for _, name := range names {
			if family.GetName() == name {
				for _, m := range family.GetMetric() {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

// values returns all that the resource's metrics hold, as "name=value@second".
func (s *stores) values(t *testing.T) string {
	t.Helper()
	metrics, err := s.index.MetricsOfResource(t.Context(), resource)
	fatal.If(t, err)
	var texts []string
	for _, m := range metrics {
		fatal.If(t, s.metricd.Refresh(t.Context(), []uuid.UUID{m.ID}))
		mean, _ := carbonara.ParseMethod("mean")
		var groups carbonara.Groups
		fatal.If(t, s.metricd.Groups(t.Context(), model.Read{Metric: m, Granularity: time.Second,
			Columns: mean.Columns(), To: carbonara.MaxTimestamp}, &groups))
		times, values := groups.Aggregate(mean, nil, nil)
		for i := range times {
			texts = append(texts, fmt.Sprintf("%s=%v@%d", m.Name, values[i], times[i]/1e9))
		}
	}
	return strings.Join(texts, " ")
}

func TestFlush(t *testing.T) {
	stores := openStores(t)
	stores.policy(t, "p", "*")
	now := time.Unix(1000, 0)
	options := statsd.Options{Index: stores.index, Incoming: stores.incoming,
		Resource: resource.String(), Creator: "me", Now: func() time.Time { return now }}
	s, send := sender(t, options)
	send("a:1|g\na:2|g\nb/c:1|c\nb/c:2|c|@0.5\nt:320|ms\nt:10|ms")
	send("a:+1|g\nx:1|s\nx:2:1|s\nnonsense")
	fatal.If(t, s.Close(t.Context()))
	if got, want := stores.values(t), "a|g=3@1000 b_c|c=5@1000 t|ms=165@1000 x|s=2@1000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r, err := stores.index.Resource(model.GenericType, resource)
	if err != nil || r.Creator != "me" || len(r.Metrics) != 4 {
		t.Errorf("resource %+v, %v", r, err)
	}

	// The next one finds resource and metrics, starts counting anew, and creates what was deleted meanwhile.
	fatal.If(t, stores.index.DeleteMetric(t.Context(), r.Metrics["t|ms"]))
	now = time.Unix(2000, 0)
	s, send = sender(t, options)
	send("b/c:1|c\nb_c:4|c\nt:7|ms")
	fatal.If(t, s.Close(t.Context()))
	if got, want := stores.values(t), "a|g=3@1000 b_c|c=5@1000 b_c|c=5@2000 t|ms=7@2000 x|s=2@1000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFlushOnTime(t *testing.T) {
	stores := openStores(t)
	stores.policy(t, "p", "*")
	s, err := statsd.Start(t.Context(), statsd.Options{Index: stores.index, Incoming: stores.incoming, Sacks: sacks,
		Resource: resource.String(), Listen: "127.0.0.1:0", FlushInterval: 5 * time.Millisecond, Now: func() time.Time {
			return time.Unix(1000, 0)
		}})
	fatal.If(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	fatal.If(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("a:1|g"))
	fatal.If(t, err)
	for deadline := time.Now().Add(2 * time.Minute); stores.values(t) != "a|g=1@1000"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %q", stores.values(t))
		}
	}
	fatal.If(t, s.Close(t.Context()))
}

func TestMetricsWithoutArchivePolicy(t *testing.T) {
	stores := openStores(t)
	stores.policy(t, "p", "a*")
	var log bytes.Buffer
	s, send := sender(t, statsd.Options{Index: stores.index, Incoming: stores.incoming, Resource: resource.String(),
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return time.Unix(1000, 0) }})
	send("a:1|g\nb:1|g\nc:1:2:3|ms")
	fatal.If(t, s.Close(t.Context()))
	if !strings.Contains(log.String(), "no archive policy for b|g, c|ms") {
		t.Errorf("log %s", &log)
	}
	if got, want := stores.values(t), "a|g=1@1000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// With a policy told, rules don't matter.
	s, send = sender(t, statsd.Options{Index: stores.index, Incoming: stores.incoming, Resource: resource.String(),
		ArchivePolicyName: "p", Now: func() time.Time { return time.Unix(2000, 0) }})
	send("b:1|g")
	fatal.If(t, s.Close(t.Context()))
	if got, want := stores.values(t), "a|g=1@1000 b|g=1@2000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Measures that find no policy are counted one by one, as a timer may have many.
func TestLostMeasuresAreCounted(t *testing.T) {
	stores := openStores(t)
	registry := prometheus.NewRegistry()
	s, err := statsd.Start(t.Context(), statsd.Options{Index: stores.index, Incoming: stores.incoming, Sacks: sacks,
		Resource: resource.String(), Listen: "127.0.0.1:0", FlushInterval: time.Millisecond, Registerer: registry})
	fatal.If(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	fatal.If(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("c:1:2:3|ms\nd:1|g"))
	fatal.If(t, err)
	for deadline := time.Now().Add(time.Minute); sum(t, registry, "gnocco_statsd_refused_total") != 4; {
		if time.Sleep(time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("%v measures counted", sum(t, registry, "gnocco_statsd_refused_total"))
		}
	}
	fatal.If(t, s.Close(t.Context()))
}

// The log says that gauges were forgotten, as their next changes are of 0.
func TestForgottenGaugesAreLogged(t *testing.T) {
	stores := openStores(t)
	stores.policy(t, "p", "*")
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	s, err := statsd.Start(t.Context(), statsd.Options{Index: stores.index, Incoming: stores.incoming, Sacks: sacks,
		Resource: resource.String(), Listen: "127.0.0.1:0", FlushInterval: time.Millisecond, MaxMetrics: 1,
		Registerer: registry, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	fatal.If(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	fatal.If(t, err)
	defer conn.Close()
	deadline := time.Now().Add(time.Minute)
	for i := 0; sum(t, registry, "gnocco_statsd_messages_total") < 3; i++ {
		_, err = fmt.Fprintf(conn, "g%d:1|g", i)
		fatal.If(t, err)
		if time.Sleep(20 * time.Millisecond); time.Now().After(deadline) {
			t.Fatal("no messages arrive")
		}
	}
	fatal.If(t, s.Close(t.Context()))
	if !strings.Contains(log.String(), "last values of gauges forgotten") {
		t.Errorf("log %s", &log)
	}
}

func TestRefusalsAreCounted(t *testing.T) {
	stores := openStores(t)
	stores.policy(t, "p", "*")
	registry := prometheus.NewRegistry()
	s, err := statsd.Start(t.Context(), statsd.Options{Index: stores.index, Incoming: stores.incoming, Sacks: sacks,
		Resource: resource.String(), Listen: "127.0.0.1:0", FlushInterval: time.Hour, MaxMetrics: 1,
		Registerer: registry})
	fatal.If(t, err)
	conn, err := net.Dial("udp", s.Addr().String())
	fatal.If(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("b:1|g|Tx\nc:1|x\nd:1|x\na:1|g\nb:1|g\ne:-1|g"))
	fatal.If(t, err)
	for deadline := time.Now().Add(2 * time.Minute); sum(t, registry,
		"gnocco_statsd_messages_total") < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing arrived")
		}
	}
	families, err := registry.Gather()
	fatal.If(t, err)
	var refused []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if n := m.GetCounter().GetValue(); family.GetName() == "gnocco_statsd_refused_total" && n > 0 {
				refused = append(refused, fmt.Sprint(m.GetLabel()[0].GetValue(), "=", n))
			}
		}
	}
	if got, want := strings.Join(refused, " "), "many=2 timestamp=1 type=2"; got != want {
		t.Errorf("refused %s, want %s", got, want)
	}
	fatal.If(t, s.Close(t.Context()))
}

func TestStartRefuses(t *testing.T) {
	_, err := statsd.Start(t.Context(), statsd.Options{Resource: "a/b", FlushInterval: -1, MaxMetrics: -1,
		MaxValues: -1})
	for _, fault := range []string{"Index is missing", "Incoming is missing", "Sacks is 0", "Resource \"a/b\"",
		"FlushInterval", "MaxMetrics", "MaxValues"} {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("error %v does not tell %s", err, fault)
		}
	}
	stores := openStores(t)
	_, err = statsd.Start(t.Context(), statsd.Options{Index: stores.index, Incoming: stores.incoming, Sacks: sacks,
		Resource: resource.String(), Listen: "nonsense"})
	if err == nil {
		t.Error("listens on nonsense")
	}
}
