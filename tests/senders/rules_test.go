package senders_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/rules"
)

// mixinRules has the shapes of the rules that node-exporter's and kubernetes' dashboards need.
const mixinRules = "testdata/mixins.yml"

// A rule file works as it is in Prometheus and here: each recorded cell is what Prometheus answers for its time, over
// the samples that it has sent.
func TestRulesOfMixins(t *testing.T) {
	program := installed(t, "prometheus")
	t.Parallel()
	s, c := start(t, nil)
	var scrapes atomic.Int64
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, ofCluster(int(scrapes.Add(1))))
	}))
	t.Cleanup(exporter.Close)
	text, err := os.ReadFile(mixinRules)
	check(t, err)
	address := freeAddress(t)
	launch(t, program, "--config.file="+write(t, "prometheus.yml", `global: {scrape_interval: 1s}
rule_files: [%q]
remote_write:
- {url: %q, basic_auth: {username: admin, password: unused}}
scrape_configs:
- {job_name: cluster, honor_labels: true, static_configs: [{targets: [%q]}]}
`, write(t, "rules.yml", "%s", text), s.URL()+"/api/v1/write", strings.TrimPrefix(exporter.URL, "http://")),
		"--storage.tsdb.path="+filepath.Join(t.TempDir(), "tsdb"), "--web.listen-address="+address)
	theirs := "http://" + address
	time.Sleep(scrapeFor / 2)
	check(t, c.Do(t.Context(), "POST", "/v1/rules", string(text), nil)) // so that a part is history
	time.Sleep(scrapeFor)

	var file struct {
		Groups []struct {
			Rules []struct {
				Record, Expr string
				Labels       map[string]string
			}
		}
	}
	check(t, yaml.Unmarshal(text, &file))
	end := time.Now().Add(-15 * time.Second).Truncate(5 * time.Second)
	from := end.Add(20*time.Second - scrapeFor) // 2.x and 3.x differ in rates of series that begin within the range
	ranged := func(expr string) url.Values {
		return url.Values{"query": {expr}, "start": {fmt.Sprint(from.Unix())}, "end": {fmt.Sprint(end.Unix())},
			"step": {"5"}}
	}
	var meanings []string // pairs of recorded names and expressions
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			expr := strings.NewReplacer(meanings...).Replace(r.Expr)
			recorded := fmt.Sprintf("last_over_time(%s[5s]) + 0", r.Record)
			for name, value := range r.Labels {
				expr = fmt.Sprintf(`label_replace(%s, %q, %q, "", "")`, expr, name, value)
				recorded = fmt.Sprintf("last_over_time(%s{%s=%q}[5s]) + 0", r.Record, name, value)
			}
			want, err := ask(t, theirs, "query_range", ranged("("+expr+") + 0"))
			check(t, err)
			if len(want) == 0 {
				t.Errorf("rule %s: Prometheus has no results", r.Record)
			}
			eventually(t, func() string {
				got, err := ask(t, s.URL(), "query_range", ranged(recorded))
				check(t, err)
				if text := difference(got, want, false); text != "" {
					return fmt.Sprintf("rule %s: %s", r.Record, text)
				}
				return ""
			})
			meanings = append(meanings, r.Record, "("+expr+")")
		}
	}
	for _, server := range []string{theirs, s.URL()} {
		var answer struct {
			Data struct{ Groups []rules.GroupStatus }
		}
		check(t, json.Unmarshal(get(t, server+"/api/v1/rules"), &answer))
		healthy := 0
		for _, g := range answer.Data.Groups {
			for _, r := range g.Rules {
				if r.Health == "ok" {
					healthy++
				} else {
					t.Errorf("%s: rule %s: %s %s", server, r.Name, r.Health, r.Fault)
				}
			}
		}
		t.Logf("%s: %d rules", server, healthy)
	}
}

// ofCluster is what two nodes and their pods show in the n-th scrape.
func ofCluster(n int) string {
	var b strings.Builder
	row := func(name, labels string, value any) { fmt.Fprintf(&b, "%s{%s} %v\n", name, labels, value) }
	x := float64(n)
	for i, node := range []string{"n1", "n2"} {
		at := fmt.Sprintf("instance=%q", node)
		for cpu := range 2 {
			for j, mode := range []string{"idle", "iowait", "steal", "user"} {
				labels := fmt.Sprintf(`%s,cpu="%d",mode=%q`, at, cpu, mode)
				row("node_cpu_seconds_total", labels, x*float64(j+i+cpu+1)/16)
			}
		}
		row("node_load1", at, float64((n*(i+3))%17)/4)
		row("node_memory_MemTotal_bytes", at, 8e9)
		row("node_memory_MemFree_bytes", at, 1e9+float64((n*37)%100)*1e6)
		row("node_memory_Buffers_bytes", at, 2e8)
		if i == 0 {
			row("node_memory_MemAvailable_bytes", at, 3e9+float64((n*31)%100)*1e6)
		}
		for j, device := range []string{"sda", "nvme0n1", "loop0"} {
			row("node_disk_io_time_seconds_total", fmt.Sprintf("%s,device=%q", at, device), x*float64(j+1)/8)
		}
		for j, device := range []string{"lo", "eth0", "eth1"} {
			row("node_network_receive_bytes_total", fmt.Sprintf("%s,device=%q", at, device), n%90*1000*(j+1)) // resets
		}
		for j := range 3 {
			pod := fmt.Sprintf(`cluster="c",namespace="ns%d",pod="p%d%d"`, j%2, i, j)
			row("kube_pod_info", fmt.Sprintf("%s,node=%q", pod, node), 1)
			row("container_cpu_usage_seconds_total", pod+`,container="main",image="x"`, x*float64(i+j+1)/4)
			row("container_memory_working_set_bytes", pod+`,container="main",image="x"`, 1e6*float64(n%(7+j)))
			row("kube_pod_container_resource_requests", pod+`,container="main",resource="cpu"`, float64(j+1)/2)
			for _, phase := range []string{"Pending", "Running", "Failed"} {
				is := map[bool]int{true: 1}[phase == []string{"Running", "Pending", "Failed"}[(n/20+j)%3]]
				row("kube_pod_status_phase", fmt.Sprintf("%s,phase=%q", pod, phase), is)
			}
			owner := []string{"ReplicaSet", "DaemonSet"}[j%2]
			row("kube_pod_owner", fmt.Sprintf(`%s,owner_kind=%q,owner_name="o%d"`, pod, owner, j), 1)
		}
	}
	row("kube_replicaset_owner", `namespace="ns0",replicaset="o0",owner_kind="Deployment",owner_name="web"`, 1)
	row("kube_replicaset_owner", `namespace="ns0",replicaset="o2",owner_kind="Deployment",owner_name="db"`, 1)
	for i, verb := range []string{"GET", "LIST", "POST"} {
		for j, code := range []string{"200", "201", "500"} {
			row("apiserver_request_total", fmt.Sprintf("verb=%q,code=%q", verb, code), n*(i+2)*(3-j))
		}
		for j, le := range []string{"0.1", "0.5", "1", "+Inf"} {
			row("apiserver_request_seconds_bucket", fmt.Sprintf("verb=%q,le=%q", verb, le), n*(i+1)*(j+2))
		}
		row("apiserver_request_seconds_count", fmt.Sprintf("verb=%q", verb), n*(i+1)*5)
	}
	return b.String()
}
