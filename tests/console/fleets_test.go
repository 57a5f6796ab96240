package console_test

import (
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/internal/client"
)

var (
	fleetFilled = flag.String("fleet.filled", "", "URL of an empty server that TestFleetIsFilled fills as an OpenStack does")
	fleetSize   = flag.Int("fleet.resources", 50_000, "resources of that OpenStack")
	fleetShown  = flag.String("fleet.shown", "", "URL of a server whose pages TestFleetIsShown pictures")
)

type object = map[string]any

// A kind is the resources of a type in the fleet.
type kind struct {
	name       string
	count      int
	attributes []string
	values     func(n int) object // of the n-th resource, with its id
	metrics    map[string]meter
	hours      int
}

type meter struct {
	unit, policy string
	counter      bool
	value        func(n, minute int) float64
}

// uuid looks as IDs of OpenStack do, and is always the same for a thing.
func uuid(kind, n int) string {
	h := uint64(kind*1_000_003+n+1) * 0x9e3779b97f4a7c15
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", h>>32, h>>16&0xffff, h>>8&0xfff, h&0xfff, h*0xbf58476d1ce4e5b9>>16)
}

func wave(base, swing float64, n, minute int) float64 {
	return base + swing*math.Sin(float64(minute)/180+float64(n%97)) + swing/4*math.Sin(float64(minute*(n%13+1))/11)
}

// openStack is the fleet: of ten resources two are instances, which have a disk and a port, and two are volumes.
func openStack(size int) []kind {
	instances := size / 5
	roles := []string{"web", "db", "cache", "queue", "build", "worker", "proxy"}
	host := func(n int) string { return fmt.Sprintf("compute-%03d", n%200) }
	instance := func(n int) string { return fmt.Sprintf("%s-%05d", roles[n%len(roles)], n) }
	gauge := func(unit, policy string, base, swing float64) meter {
		return meter{unit: unit, policy: policy,
			value: func(n, minute int) float64 { return max(0, wave(base*float64(1+n%7), swing, n, minute)) }}
	}
	counter := func(unit string, rate float64) meter {
		return meter{unit: unit, policy: "ceilometer-low-rate", counter: true, value: func(n, minute int) float64 {
			return rate * float64(1+n*n%53) * (60*float64(minute) + 900*math.Sin(float64(minute)/90+float64(n)))
		}}
	}
	services := []string{"nova", "neutron", "cinder", "glance", "keystone", "heat"}
	return []kind{
		{"instance", instances, []string{"display_name", "host", "flavor_name", "availability_zone"}, func(n int) object {
			return object{"id": uuid(1, n), "display_name": instance(n), "host": host(n),
				"flavor_name": []string{"m1.small", "m1.medium", "m1.large"}[n%3], "availability_zone": "az" + fmt.Sprint(1+n%3)}
		}, map[string]meter{"cpu": counter("ns", 4e7), "memory.usage": gauge("MB", "ceilometer-low", 512, 90),
			"vcpus": gauge("vcpu", "ceilometer-low", 1, 0)}, 3},
		{"instance_disk", instances, []string{"name", "instance_id"}, func(n int) object {
			return object{"id": uuid(1, n) + "-vda", "name": "vda", "instance_id": uuid(1, n)}
		}, map[string]meter{"disk.device.read.bytes": counter("B", 3e4),
			"disk.device.write.bytes": counter("B", 9e4)}, 2},
		{"instance_network_interface", instances, []string{"name", "instance_id"}, func(n int) object {
			return object{"id": fmt.Sprintf("instance-%08x-%s-tap%08x", n, uuid(1, n), n*2654435761%(1<<32)),
				"name": fmt.Sprintf("tap%08x", n*2654435761%(1<<32)), "instance_id": uuid(1, n)}
		}, map[string]meter{"network.incoming.bytes": counter("B", 2e5),
			"network.outgoing.bytes": counter("B", 8e4)}, 2},
		{"volume", 2*instances - 206 - instances/50, []string{"display_name", "volume_type"}, func(n int) object {
			return object{"id": uuid(2, n), "display_name": "data-" + instance(n),
				"volume_type": []string{"ssd", "hdd"}[n%2]}
		}, map[string]meter{"volume.size": gauge("GB", "ceilometer-low", 20, 0)}, 1},
		{"image", instances / 50, []string{"name"}, func(n int) object {
			return object{"id": uuid(3, n), "name": fmt.Sprintf("debian-%d", n)}
		}, map[string]meter{"image.size": gauge("B", "ceilometer-low", 2e9, 0)}, 2},
		{"nova_compute", 200, []string{"host_name"}, func(n int) object {
			return object{"id": host(n) + ".example.org", "host_name": host(n)}
		}, map[string]meter{"compute.node.cpu.percent": gauge("percent", "ceilometer-low", 12, 9)}, 30},
		{"service", len(services), []string{"service"}, func(n int) object {
			return object{"id": services[n] + "-api", "service": services[n]}
		}, map[string]meter{"api.latency": {unit: "s", policy: "latency", value: func(n, minute int) float64 {
			return 0.02*float64(1+n) + 0.3*math.Pow(math.Abs(math.Sin(float64(minute*minute+n))), 9)
		}}}, 30},
	}
}

// A server is filled as an OpenStack of 50,000 resources would: Ceilometer's types, archive policies and IDs. A tenth
// of its computes stopped sending a day ago, and its instances have sent for three hours.
func TestFleetIsFilled(t *testing.T) {
	if *fleetFilled == "" {
		t.Skip("-fleet.filled: no server is named")
	}
	c, err := client.New(*fleetFilled, client.Options{User: "admin"})
	check(t, err)
	five := []object{{"granularity": 300, "timespan": "30 days"}}
	for name, policy := range map[string]object{
		"ceilometer-low":      {"aggregation_methods": []string{"mean"}, "definition": five},
		"ceilometer-low-rate": {"aggregation_methods": []string{"mean", "rate:mean"}, "definition": five},
		"latency": {"aggregation_methods": []string{"mean", "max", "count", "99pct"}, "definition": []object{
			{"granularity": 60, "timespan": "7 days"}, {"granularity": 3600, "timespan": "365 days"}}},
	} {
		policy["name"], policy["back_window"] = name, 12
		check(t, c.EnsureArchivePolicy(t.Context(), name, policy))
	}
	now := time.Now().Truncate(5 * time.Minute)
	for _, k := range openStack(*fleetSize) {
		attributes := object{}
		for _, name := range k.attributes {
			attributes[name] = object{"type": "string", "required": false}
		}
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type",
			object{"name": k.name, "attributes": attributes}, nil))
		g, ctx := errgroup.WithContext(t.Context())
		g.SetLimit(4)
		const batch = 500
		for first := 0; first < k.count; first += batch {
			g.Go(func() error {
				var resources []object
				measures := object{}
				for n := first; n < min(first+batch, k.count); n++ {
					resource := k.values(n)
					resource["project_id"] = uuid(9, n%40)
					metrics, sent := object{}, object{}
					for name, m := range k.metrics {
						metric := object{"archive_policy_name": m.policy, "unit": m.unit}
						if m.counter {
							metric["type"] = "counter"
						}
						metrics[name] = metric
						var all []object
						step := 5
						if m.policy == "latency" {
							step = 1
						}
						ended := k.name == "nova_compute" && n%10 == 7 || k.name == "service" && n == 5
						for minute := 0; minute <= 60*k.hours; minute += step {
							if !ended || minute < 60*(k.hours-24) {
								all = append(all, object{"timestamp": now.Unix() - int64(60*(60*k.hours-minute)),
									"value": m.value(n, minute)})
							}
						}
						sent[name] = all
					}
					resource["metrics"] = metrics
					resources = append(resources, resource)
					measures[resource["id"].(string)] = sent
				}
				if err := c.Do(ctx, http.MethodPost, "/v1/batch/resources/"+k.name, resources, nil); err != nil {
					return err
				}
				return c.Do(ctx, http.MethodPost, "/v1/batch/resources/metrics/measures", measures, nil)
			})
		}
		check(t, g.Wait())
		t.Logf("%d of %s after %v", k.count, k.name, time.Since(now))
	}
}

// Each page is pictured with a fleet, at three widths, in light and dark colours: a person looks at the pictures.
func TestFleetIsShown(t *testing.T) {
	if *fleetShown == "" {
		t.Skip("-fleet.shown: no server is named")
	}
	b := open(t, *fleetShown, "#/explore")
	b.wait("document.querySelectorAll('.tile canvas').length > 2")
	var found struct {
		Data []map[string]string `json:"data"`
	}
	c, err := client.New(*fleetShown, client.Options{User: "admin"})
	check(t, err)
	check(t, c.Do(t.Context(), http.MethodGet, "/api/v1/series?ids=true&limit=12&match%5B%5D="+
		url.QueryEscape(`{__name__=~".+(cpu|memory|percent).*"}`), nil, &found))
	var ids []string
	for _, s := range found.Data {
		ids = append(ids, s["metric_id"])
	}
	many := url.Values{"m": ids}.Encode()
	pages := map[string]string{"explore": "explore", "find": "explore?find=cpu", "one": "explore?m=" + ids[0],
		"many": "explore?" + many, "query": "explore?" + url.Values{"q": {`{__name__=~".*(cpu|memory|percent).*"}`}}.Encode(),
		"instant": "explore?view=instant&" + url.Values{"q": {`topk(20, {__name__=~".*(cpu|memory|percent).*"})`}}.Encode(),
		"metric":  "metric?id=" + ids[0], "boards": "boards", "policies": "policies", "correlations": "correlations"}
	pages["policy"] = "policies?policy=medium"
	for _, tab := range []string{"state", "series", "projects", "queries", "unread", "silent", "changes"} {
		pages["server-"+tab] = "server?tab=" + tab
	}
	for name, address := range pages {
		for _, width := range []int64{1440, 1024, 390} {
			for _, theme := range []string{"light", "dark"} {
				b.size(width, 900)
				b.act(fmt.Sprintf("localStorage.setItem('theme', %q)", theme))
				b.visitHash(address)
				b.act("location.reload()")
				b.wait("document.querySelector('nav a')")
				time.Sleep(1500 * time.Millisecond) // no expression tells that a page is complete
				if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
					t.Errorf("%s, %d px: the page is wider than the window", name, width)
				}
				b.picture(fmt.Sprintf("%s-%d-%s", name, width, theme))
			}
		}
	}
}
