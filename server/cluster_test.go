package server_test

import (
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

func clientOf(t *testing.T, s *server.Server) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	fatal.If(t, err)
	return c
}

// All processes give the same answers, for data on any of them: over mutual TLS here.
func TestAnyProcessAnswers(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	data := filepath.Join(t.TempDir(), "data")
	options := func(role cluster.Role) server.Options {
		return server.Options{Cluster: cluster.Options{Data: data, Role: role, Sacks: 8,
			Peers: cluster.Peers{TLS: peer.TLSFiles{Certificate: cert, Key: key, Authority: cert}}}}
	}
	servers := []*server.Server{start(t, options(cluster.RoleBoth)), start(t, options(cluster.RoleBoth)),
		start(t, options(cluster.RoleAPI))}
	for _, s := range servers {
		defer stop(t, s)
	}
	var clients []*client.Client
	for _, s := range servers {
		clients = append(clients, clientOf(t, s))
	}
	do := func(c *client.Client, method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	do(clients[2], http.MethodPost, "/v1/archive_policy",
		map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 60}, {"granularity": 3600}},
			"aggregation_methods": []string{"mean", "count", "sum"}}, nil)
	metrics := map[string]any{}
	for i := range 30 {
		metrics[fmt.Sprintf("m%d", i)] = map[string]any{"archive_policy_name": "p"}
	}
	var resource struct{ Metrics map[string]string }
	do(clients[1], http.MethodPost, "/v1/resource/generic", map[string]any{"id": "house", "metrics": metrics},
		&resource)
	batch := map[string]any{}
	named := map[string]any{}
	for name, id := range resource.Metrics {
		batch[id] = []map[string]any{{"timestamp": 1_700_000_000, "value": len(name)}}
		named[name] = []map[string]any{{"timestamp": 1_700_000_060, "value": 1}}
	}
	do(clients[2], http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	do(clients[1], http.MethodPost, "/v1/batch/resources/metrics/measures", map[string]any{"house": named}, nil)

	for _, id := range resource.Metrics { // which these queries do not
		do(clients[0], http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true", nil, nil)
	}
	for _, query := range []struct {
		path string
		body any
	}{
		{"/v1/aggregates", map[string]any{"resource_type": "generic", "search": "original_resource_id = 'house'",
			"operations": "(aggregate sum (metric * mean))"}},
		{"/v1/aggregates?details=true", map[string]any{"resource_type": "generic",
			"search": "original_resource_id = 'house'", "operations": "(metric m1 count)"}},
		{"/v1/search/metric?metric_id=" + resource.Metrics["m3"], map[string]any{">": 0}},
	} {
		path, body := query.path, query.body
		var want any
		do(clients[0], http.MethodPost, path, body, &want)
		if text := fmt.Sprint(want); len(text) < 50 {
			t.Errorf("%s answers %s", path, text)
		}
		for _, c := range clients[1:] {
			var got any
			if do(c, http.MethodPost, path, body, &got); !reflect.DeepEqual(got, want) {
				t.Errorf("%s at %s: %v, want %v", path, c.URL(""), got, want)
			}
		}
	}
	for name, id := range resource.Metrics {
		var want [][]any
		for i, c := range clients {
			var got [][]any
			do(c, http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&aggregation=count", nil, &got)
			if i == 0 {
				want = got
			}
			if len(got) != 4 && len(got) != 3 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s at %s: %v, want %v", name, c.URL(""), got, want)
			}
		}
	}

	// An answer that is passed on looks like one from here.
	for _, s := range servers {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/metric",
			strings.NewReader(`{"archive_policy_name": "p"}`))
		fatal.If(t, err)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("without credentials: %s", answer.Status)
		}
		r, _ = http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/metric",
			strings.NewReader(`{"archive_policy_name": "p"}`))
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("somebody", "")
		if answer, err = http.DefaultClient.Do(r); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if location := answer.Header.Get("Location"); answer.StatusCode != http.StatusCreated ||
			!strings.HasPrefix(location, s.URL()+"/v1/metric/") {
			t.Errorf("%s, Location %q", answer.Status, location)
		}
	}
	stranger := &http.Client{Timeout: 2 * time.Minute}
	var status struct {
		Cluster struct{ Members []struct{ Address string } }
	}
	do(clients[2], http.MethodGet, "/v1/status", nil, &status)
	if len(status.Cluster.Members) != 3 {
		t.Fatalf("members %+v", status)
	}
	for _, m := range status.Cluster.Members {
		if answer, err := stranger.Post("https://"+m.Address+"/peer/status", "application/json", nil); err == nil {
			answer.Body.Close()
			t.Errorf("a stranger without a certificate is answered: %s", answer.Status)
		}
	}
}

// The bytes of redundant metrics are counted wherever they lie, by every process.
func TestRedundantMetricsOfACluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var clients []*client.Client
	for _, role := range []cluster.Role{cluster.RoleBoth, cluster.RoleMetricd, cluster.RoleAPI} {
		s := start(t, server.Options{Cluster: cluster.Options{Data: data, Role: role, Sacks: 8,
			CheckpointInterval: 50 * time.Millisecond}})
		defer stop(t, s)
		if role != cluster.RoleMetricd {
			clients = append(clients, clientOf(t, s))
		}
	}
	do := func(c *client.Client, method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	do(clients[0], http.MethodPost, "/v1/archive_policy",
		map[string]any{"name": "p", "definition": []map[string]any{{"granularity": 60}},
			"aggregation_methods": []string{"mean", "count"}}, nil)
	const metrics = 24 // some in the sacks of either
	var ids []string
	batch := map[string]any{}
	for i := range metrics {
		var metric struct{ ID string }
		do(clients[0], http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
		ids = append(ids, metric.ID)
		var measures []map[string]any
		for minute := range 60 {
			measures = append(measures, map[string]any{"timestamp": 1_700_000_000 + 60*minute,
				"value": (i + 1) * (minute * minute % 31)})
		}
		batch[metric.ID] = measures
	}
	do(clients[1], http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	for _, id := range ids {
		do(clients[1], http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&limit=1", nil, nil)
	}
	type redundant struct {
		Bytes          int64
		MeasuresPerDay float64 `json:"measures_per_day"`
		Groups         []struct {
			Drop []struct {
				Metric string
				Bytes  int64
			}
		}
	}
	ask := func(c *client.Client) (answer redundant) {
		t.Helper()
		var job struct{ ID, State string }
		do(c, http.MethodPost, "/v1/correlations", map[string]any{"metrics": ids}, &job)
		do(c, http.MethodGet, "/v1/correlations/"+job.ID+"/redundant", nil, &answer)
		if len(answer.Groups) != 1 || len(answer.Groups[0].Drop) != metrics-1 ||
			math.Abs(answer.MeasuresPerDay-(metrics-1)*1440) > 1e-6 {
			t.Fatalf("got %+v", answer)
		}
		return answer
	}
	// From the first checkpoint of every sack on.
	all := func(answer redundant) bool {
		for _, member := range answer.Groups[0].Drop {
			if member.Bytes == 0 {
				return false
			}
		}
		return true
	}
	deadline := time.Now().Add(2 * time.Minute)
	want := ask(clients[0])
	for !all(want) && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		want = ask(clients[0])
	}
	if !all(want) {
		t.Fatalf("some metrics take nothing: %+v", want)
	}
	if got := ask(clients[1]); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOptionsOfACluster(t *testing.T) {
	fails := func(want string, o server.Options) {
		t.Helper()
		o.Cluster.Data, o.Cluster.Init, o.Listen = filepath.Join(t.TempDir(), "data"), true, "127.0.0.1:0"
		s, err := server.Start(t.Context(), o)
		if err == nil {
			stop(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	fails(`no role "both"`, server.Options{Cluster: cluster.Options{Role: "both"}})
	fails("a certificate, its key and an authority",
		server.Options{Cluster: cluster.Options{Peers: cluster.Peers{TLS: peer.TLSFiles{Certificate: "cert.pem"}}}})
	fails("certificate for other processes",
		server.Options{Cluster: cluster.Options{Peers: cluster.Peers{TLS: peer.TLSFiles{Certificate: "a", Key: "b", Authority: "c"}}}})
	fails("on all addresses", server.Options{Cluster: cluster.Options{Peers: cluster.Peers{Listen: ":0"}}})
	fails("TTL", server.Options{Cluster: cluster.Options{Lease: cluster.Lease{TTL: time.Millisecond}}})
	fails(`coordination is "zookeeper://z"`, server.Options{Cluster: cluster.Options{Coordination: "zookeeper://z"}})
	fails("node is called", server.Options{Cluster: cluster.Options{Node: "a/b"}})
}

// A process that another machine's processes cannot reach, or that cannot reach them, does not start.
func TestLoopbackBetweenMachinesIsRefused(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	options := server.Options{Cluster: cluster.Options{Data: data, Sacks: 2, Lease: cluster.Lease{TTL: 500 * time.Millisecond, Slack: 100 * time.Millisecond}}, Listen: "127.0.0.1:0"}
	stop(t, start(t, options))
	far, err := claim.NewFile(data, claim.Options{TTL: time.Minute, Beat: 50 * time.Millisecond})
	fatal.If(t, err)
	session, err := far.Join(t.Context(), claim.Member{Node: "far", Address: "192.0.2.1:1", Roles: []string{"metricd"},
		Process: claim.Process{BootID: uuid.NewString(), Host: "elsewhere"}})
	fatal.If(t, err)
	s, err := server.Start(t.Context(), options)
	if err == nil {
		stop(t, s)
	}
	if err == nil || !strings.Contains(err.Error(), "elsewhere") || !strings.Contains(err.Error(), "--peer-listen") {
		t.Errorf("starts beside a process of another machine: %v", err)
	}
	fatal.If(t, session.Leave(t.Context()))
	stop(t, start(t, options))
}

// Of two processes of one name the second does not start, and does once the first has ended.
func TestNamesakeIsRefused(t *testing.T) {
	options := server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), Sacks: 2, Node: "one"},
		Listen: "127.0.0.1:0"}
	first := start(t, options)
	s, err := server.Start(t.Context(), options)
	if err == nil {
		stop(t, s)
	}
	if err == nil || !strings.Contains(err.Error(), "a process called one runs already") {
		t.Errorf("starts beside its namesake: %v", err)
	}
	stop(t, first)
	stop(t, start(t, options))
}

// Processes that would not know of each other are kept apart.
func TestCoordinationIsTheSameForAll(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	stop(t, start(t, server.Options{Cluster: cluster.Options{Data: data, Sacks: 2}}))
	_, err := server.Start(t.Context(), server.Options{Cluster: cluster.Options{Data: data,
		Coordination: "etcd://127.0.0.1:1"}, Listen: "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "know each other by file, not by etcd") {
		t.Error(err)
	}
}

// The sacks' holders do the rebuilds that the index's holder keeps, and the next holder of the index goes on with them.
func TestRebuildInACluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	options := server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleBoth, Sacks: 8}}
	first, second := start(t, options), start(t, options)
	defer stop(t, second)
	c := clientOf(t, second)
	do := func(method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	type definition []map[string]any
	do(http.MethodPost, "/v1/archive_policy", map[string]any{"name": "p", "definition": definition{{"granularity": 1}},
		"aggregation_methods": []string{"sum"}}, nil)
	var ids []string
	batch := map[string]any{}
	for range 40 {
		var metric struct{ ID string }
		do(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "p"}, &metric)
		ids = append(ids, metric.ID)
		batch[metric.ID] = []map[string]any{{"timestamp": 1_700_000_000, "value": 1},
			{"timestamp": 1_700_000_030, "value": 2}, {"timestamp": 1_700_000_100, "value": 4}}
	}
	do(http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	want := func(id string, granularity int, sums ...float64) {
		t.Helper()
		var rows [][]any
		do(http.MethodGet, fmt.Sprintf("/v1/metric/%s/measures?refresh=true&aggregation=sum&granularity=%d", id,
			granularity), nil, &rows)
		if len(rows) != len(sums) {
			t.Fatalf("%v, want %v", rows, sums)
		}
		for i, row := range rows {
			if row[2] != sums[i] {
				t.Fatalf("%v, want %v", rows, sums)
			}
		}
	}
	wait := func() {
		t.Helper()
		for range 300 {
			var jobs []struct {
				State           string
				Changed, Failed int
			}
			err := c.Do(t.Context(), http.MethodGet, "/v1/rebuild", nil, &jobs) // 503 while nobody holds the index
			if err == nil && len(jobs) == 1 && jobs[0].State == "done" {
				if jobs[0].Failed > 0 || jobs[0].Changed > len(ids) {
					t.Fatal(jobs)
				}
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("the rebuild does not end")
	}
	for _, id := range ids {
		want(id, 1, 1, 2, 4)
	}
	do(http.MethodPatch, "/v1/archive_policy/p?rebuild=true",
		map[string]any{"definition": definition{{"granularity": 1}, {"granularity": 60}}}, nil)
	wait()
	for _, id := range ids {
		want(id, 60, 3, 4)
	}
	do(http.MethodPatch, "/v1/archive_policy/p?rebuild=true",
		map[string]any{"definition": definition{{"granularity": 60}, {"granularity": 300}}}, nil)
	stop(t, first)
	wait()
	do(http.MethodPost, "/v1/batch/metrics/measures",
		map[string]any{ids[0]: []map[string]any{{"timestamp": 1_700_000_110, "value": 8}}}, nil)
	for i, id := range ids {
		more := 8 * float64(1-min(i, 1))
		want(id, 60, 3, 4+more)
		want(id, 300, 3, 4+more)
	}
}

// Every process tells the counts and measurements of all.
func TestMembersTellFigures(t *testing.T) {
	folder := data(t)
	first := start(t, server.Options{MemoryBytes: 96 << 20,
		Cluster: cluster.Options{Data: folder, Role: cluster.RoleAPI, Sacks: 2}})
	defer stop(t, first)
	second := start(t, server.Options{MemoryBytes: 64 << 20,
		Cluster: cluster.Options{Data: folder, Role: cluster.RoleMetricd, Sacks: 2}})
	defer stop(t, second)
	c := clientOf(t, first)
	do := func(method, path string, body, answer any) {
		t.Helper()
		fatal.If(t, c.Do(t.Context(), method, path, body, answer))
	}
	var metric struct{ ID string }
	do(http.MethodPost, "/v1/metric", map[string]any{"archive_policy_name": "low"}, &metric)
	var measures []map[string]any
	for i := range 70 {
		measures = append(measures, map[string]any{"timestamp": 1_700_000_000 + i, "value": i})
	}
	do(http.MethodPost, "/v1/metric/"+metric.ID+"/measures", measures, nil)
	do(http.MethodGet, "/v1/metric/"+metric.ID+"/measures?refresh=true", nil, nil)
	var status struct{ Cluster *model.ClusterStatus }
	do(http.MethodGet, "/v1/status?details=false", nil, &status)
	want := map[string]model.MemberFigures{"api": {Accepted: 70, MemoryLimit: 96 << 20},
		"metricd": {Processed: 70, MemoryLimit: 64 << 20}}
	if n := len(status.Cluster.Members); n != 2 {
		t.Fatalf("%d members", n)
	}
	for _, m := range status.Cluster.Members {
		if m.Figures == nil {
			t.Fatalf("%v tells no figures", m.Roles)
		}
		got, want := *m.Figures, want[m.Roles[0]]
		if got.Uptime <= 0 || got.Memory <= 0 {
			t.Errorf("%v: %+v", m.Roles, got)
		}
		want.Version, want.Device, want.Uptime, want.Memory = version.Number, model.DeviceNone, got.Uptime, got.Memory
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %+v, not %+v", m.Roles, got, want)
		}
	}
}
