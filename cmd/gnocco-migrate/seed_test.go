package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// gnocchi sends requests to a server as its admin.
type gnocchi struct{ url string }

func (g gnocchi) send(method, path string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), method, g.url+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.SetBasicAuth("admin", "")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer != nil {
		return json.Unmarshal(text, answer)
	}
	return nil
}

func (g gnocchi) must(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	fatal.If(t, g.send(method, path, body, answer))
}

type object = map[string]any

// seedPolicies are those of the metrics of a resource, by name.
var seedPolicies = []object{
	{"name": "six", "back_window": 0, "aggregation_methods": []string{"mean", "min", "max", "sum", "std", "count"},
		"definition": []object{{"granularity": "1m", "points": 100}, {"granularity": "5m"}}},
	{"name": "means", "back_window": 2, "aggregation_methods": []string{"mean", "rate:mean"},
		"definition": []object{{"granularity": "5m", "timespan": "30d"}}},
	{"name": "many", "back_window": 1, "definition": []object{{"granularity": "1m", "points": 4000},
		{"granularity": "10m", "points": 500}},
		"aggregation_methods": []string{"mean", "min", "max", "sum", "std", "count", "first", "last",
			"median", "95pct", "5pct", "rate:mean", "rate:std", "rate:count", "rate:max", "rate:last", "rate:median"}},
	{"name": "every", "back_window": 0, "aggregation_methods": []string{"*"},
		"definition": []object{{"granularity": "5m", "points": 50}}},
}

const (
	seedBegin   = 1_700_000_000 // seconds since 1970
	seedWorkers = 6
)

// seed fills a Gnocchi with resources of five metrics each, their history and measures, from a fixed seed. One resource
// in everyMethod has a metric with all methods.
func (g gnocchi) seed(t *testing.T, resources, everyMethod, measures int) {
	t.Helper()
	for _, p := range seedPolicies {
		g.must(t, "POST", "/v1/archive_policy", p, nil)
	}
	g.must(t, "POST", "/v1/archive_policy_rule", object{"name": "disks", "metric_pattern": "disk.*",
		"archive_policy_name": "many"}, nil)
	g.must(t, "POST", "/v1/resource_type", object{"name": "instance", "attributes": object{
		"host":    object{"type": "string", "required": true, "max_length": 60},
		"flavor":  object{"type": "uuid", "required": false},
		"vcpus":   object{"type": "number", "required": false, "min": 0},
		"active":  object{"type": "bool", "required": false},
		"deleted": object{"type": "datetime", "required": false},
	}}, nil)
	var group sync.WaitGroup
	errs := make(chan error, seedWorkers)
	for worker := range seedWorkers {
		group.Go(func() {
			for i := worker; i < resources; i += seedWorkers {
				if err := g.seedResource(i, i%everyMethod == 0, measures); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
}

func (g gnocchi) seedResource(i int, every bool, measures int) error {
	r := rand.New(rand.NewPCG(uint64(i), 52))
	id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, "resource ", i)).String()
	if i%7 == 3 {
		id = fmt.Sprintf("named resource %d", i) // an original_resource_id that is no UUID
	}
	policies := []string{"six", "means", "means", "many", "means"}
	if every {
		policies[4] = "every"
	}
	metrics := make(object)
	for n, policy := range policies {
		metrics[fmt.Sprintf("metric.%d", n)] = object{"archive_policy_name": policy, "unit": "B"}
	}
	kind, body := "generic", object{"id": id, "project_id": fmt.Sprint("project ", i%10),
		"user_id":    uuid.NewSHA1(uuid.NameSpaceURL, []byte{1}).String(),
		"started_at": fmt.Sprintf("2023-11-%02dT01:02:03.%06d", 1+i%28, i), "metrics": metrics}
	if i%2 == 0 {
		kind = "instance"
		body["host"], body["vcpus"], body["active"], body["flavor"] = fmt.Sprintf("host-é-%d",
			i), float64(i%9)/2, i%4 == 0, uuid.NewSHA1(uuid.NameSpaceURL, []byte{2}).String()
	}
	var created struct {
		ID      string
		Metrics map[string]string
	}
	if err := g.send("POST", "/v1/resource/"+kind, body, &created); err != nil {
		return err
	}
	path := "/v1/resource/" + kind + "/" + created.ID
	for n := range i % 4 {
		change := object{"project_id": fmt.Sprint("moved ", n)}
		if kind == "instance" {
			change["host"], change["deleted"] = fmt.Sprint("host ", n), "2024-05-06T07:08:09.123456"
		}
		if n == 2 {
			change["ended_at"] = "2030-01-01T00:00:00"
		}
		if err := g.send("PATCH", path, change, nil); err != nil {
			return err
		}
	}
	batch := make(object)
	for n := range policies {
		var list []object
		at, total := float64(seedBegin+r.IntN(600)), 0.0
		for k := range measures {
			at += float64(r.IntN(70)) + float64(r.IntN(1000))/1000
			total += r.Float64() * 10
			v := total
			switch (i + n + k) % 5 {
			case 0:
				v = float64(r.IntN(1000))
			case 1:
				v = r.NormFloat64() * 1e-3
			}
			list = append(list, object{"timestamp": at, "value": v})
		}
		batch[created.Metrics[fmt.Sprintf("metric.%d", n)]] = list
	}
	if err := g.send("POST", "/v1/batch/metrics/measures", batch, nil); err != nil {
		return err
	}
	if i%10 == 9 { // one that is deleted leaves nothing
		return g.send("DELETE", path, nil, nil)
	}
	return nil
}

// drained waits until no measure waits at a Gnocchi with metricd.
func (g gnocchi) drained(t *testing.T) {
	t.Helper()
	s, err := newREST(g.url, &access{})
	fatal.If(t, err)
	for range 6000 {
		n, err := s.backlog(t.Context())
		fatal.If(t, err)
		if n == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the backlog does not end")
}
