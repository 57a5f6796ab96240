package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/google/uuid"
)

// indexType is the resource type of the population; it changes with its attributes.
const indexType = "bench_server"

// indexMetrics are what each resource has.
var indexMetrics = []string{"cpu", "memory.usage", "disk.read", "disk.write", "network"}

const (
	perRack    = 100   // resources with the same rack
	perProject = 1_000 // with the same project
)

// indexPopulation is resources that follow from a seed: random IDs, an owner, a host of their own, a rack that a
// hundred share, memory and whether it is on.
type indexPopulation struct {
	seed    uint64
	n       int
	metrics []string // IDs of some
}

func newIndexPopulation(seed uint64, n int) *indexPopulation {
	return &indexPopulation{seed: seed, n: n}
}

func (p *indexPopulation) resourceType() []byte {
	return []byte(`{"name":"` + indexType + `","attributes":{"host":{"type":"string"},"rack":{"type":"string"},` +
		`"memory":{"type":"number"},"on":{"type":"bool"}}}`)
}

// id is that of resource i.
func (p *indexPopulation) id(i int) uuid.UUID {
	r := rand.NewPCG(p.seed, uint64(i))
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], r.Uint64())
	binary.BigEndian.PutUint64(id[8:], r.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// shuffled takes i to another number below n, so that neighbours do not share a rack.
func (p *indexPopulation) shuffled(i int) int { return i * 7919 % p.n }

func (p *indexPopulation) rack(i int) int    { return p.shuffled(i) % p.racks() }
func (p *indexPopulation) racks() int        { return max(p.n/perRack, 1) }
func (p *indexPopulation) project(i int) int { return i % p.projects() }
func (p *indexPopulation) projects() int     { return max(p.n/perProject, 1) }

func (p *indexPopulation) appendResource(b *bytes.Buffer, i int) {
	fmt.Fprintf(b,
		`{"id":"%s","project_id":"project-%d","user_id":"user-%d","host":"host-%07d","rack":"rack-%d","memory":%d,"on":%t,"metrics":{`, p.id(i), p.project(i), i%97, i, p.rack(i), i%64, i%2 == 0)
	for j, name := range indexMetrics {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"%s":{"archive_policy_name":"%s"}`, name, policyName)
	}
	b.WriteString(`}}`)
}

// readMetrics looks up the IDs of some metrics.
func (p *indexPopulation) readMetrics(ctx context.Context, c *client) error {
	var answer bytes.Buffer
	for i := range 50 {
		if err := c.do(ctx, http.MethodGet, "/v1/resource/"+indexType+"/"+p.any(i).String(), nil, http.StatusOK,
			&answer); err != nil {
			return err
		}
		var resource struct{ Metrics map[string]string }
		if err := json.Unmarshal(answer.Bytes(), &resource); err != nil {
			return err
		}
		if len(resource.Metrics) != len(indexMetrics) {
			return fmt.Errorf("resource %s: %d metrics, want %d", p.any(i), len(resource.Metrics), len(indexMetrics))
		}
		p.metrics = append(p.metrics, resource.Metrics[indexMetrics[i%len(indexMetrics)]])
	}
	return nil
}

// any is the ID of one resource or another.
func (p *indexPopulation) any(i int) uuid.UUID { return p.id(p.at(i)) }

// at is a number below n that differs from question to question.
func (p *indexPopulation) at(i int) int {
	return int(uint64(i+1) * 0x9e3779b97f4a7c15 >> 20 % uint64(p.n))
}

// questions are what a population is asked. Answers have 100 rows at most, but for whole pages and what a rack holds.
func (p *indexPopulation) questions() []question {
	get := func(path func(i int) string) func(i int) (string, string, []byte) {
		return func(i int) (string, string, []byte) { return http.MethodGet, path(i), nil }
	}
	search := func(filter func(i int) string, more string) func(i int) (string, string, []byte) {
		return func(i int) (string, string, []byte) { return http.MethodPost, searchPath(filter(i), more), nil }
	}
	rows := func(n int) func(int) int { return func(int) int { return min(n, p.n) } }
	inRack := make([]int, p.racks())
	for i := range p.n {
		inRack[p.rack(i)]++
	}
	list := "/v1/resource/" + indexType + "?limit=100"
	metric := func(more string) func(i int) (string, string, []byte) {
		return get(func(i int) string { return "/v1/metric?limit=100&marker=" + p.metrics[i%len(p.metrics)] + more })
	}
	return []question{
		{"search-host", search(func(i int) string { return fmt.Sprintf("host = 'host-%07d'", p.at(i)) }, ""), rows(1),
			false},
		{"search-rack", search(func(i int) string { return fmt.Sprintf("rack = 'rack-%d'", p.rack(p.at(i))) }, ""),
			func(i int) int { return min(inRack[p.rack(p.at(i))], 1000) }, false},
		{"search-rack-and-memory", search(func(i int) string {
			return fmt.Sprintf("rack = 'rack-%d' and memory < 8 and project_id != 'x'", p.rack(p.at(i)))
		}, ""), nil, false},
		{"search-host-prefix", search(func(i int) string {
			return fmt.Sprintf("host like 'host-%06d%%'", p.at(i)/10)
		}, ""), nil, false},
		{"search-project-limit=100", search(func(i int) string {
			return fmt.Sprintf("project_id = 'project-%d'", p.project(p.at(i)))
		},
			"&limit=100"), rows(100), false},
		{"search-on-limit=100", search(func(i int) string { return "on = true" }, "&limit=100"),
			rows(min(100, (p.n+1)/2)), false},
		{"search-unindexed", search(func(i int) string {
			return fmt.Sprintf("host like '%%%05d'", p.at(i)%100_000)
		}, ""), nil, true},
		{"search-history", search(func(i int) string { return fmt.Sprintf("host = 'host-%07d'", p.at(i)) },
			"&history=true"), rows(1), false},
		{"list-default-order", get(func(i int) string { return list + "&marker=" + p.any(i).String() }), nil, false},
		{"list-default-order-limit=1000", get(func(int) string { return "/v1/resource/" + indexType + "?limit=1000" }),
			rows(1000), false},
		{"list-generic", get(func(i int) string {
			return "/v1/resource/generic?limit=100&marker=" + p.any(i).String()
		}), nil, false},
		{"list-by-host-descending", get(func(i int) string {
			return list + "&sort=host:desc&marker=" + p.any(i).String()
		}), nil, false},
		{"list-by-rack", get(func(i int) string { return list + "&sort=rack&marker=" + p.any(i).String() }), nil,
			false},
		{"list-by-id", get(func(i int) string { return list + "&sort=id&marker=" + p.any(i).String() }), nil, false},
		{"metrics-by-id", metric(""), nil, false},
		{"metrics-of-name", metric("&name=" + indexMetrics[0]), nil, false},
		{"metrics-of-policy", metric("&archive_policy_name=" + policyName), nil, false},
		{"metrics-of-user", metric("&creator=admin"), nil, false},
		{"metrics-of-another-user", metric("&creator=nobody"), rows(0), false},
		{"metrics-of-name-and-policy", metric("&name=" + indexMetrics[0] + "&archive_policy_name=" + policyName), nil,
			false},
		{"metrics-sort=name", metric("&sort=name"), nil, false},
		{"metrics-sort=name:desc", metric("&sort=name:desc"), nil, false},
	}
}
