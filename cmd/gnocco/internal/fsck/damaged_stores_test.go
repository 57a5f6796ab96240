package fsck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/fsck"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// node is a server on a data folder.
type node struct {
	t *testing.T
	*server.Server
}

func serve(t *testing.T, data string, role cluster.Role) node {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{Listen: "127.0.0.1:0",
		Cluster: cluster.Options{Data: data, Sacks: sacks, Role: role, Init: true, MinFreeBytes: 1 << 20}})
	if err != nil {
		t.Fatalf("does not start: %v", err)
	}
	return node{t, s}
}

func (n node) stop() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 2*time.Minute)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		n.t.Errorf("stopped: %v", err)
	}
}

// do sends a request, and returns the status and the body of the answer.
func (n node) do(method, path string, body any) (status int, answer string) {
	n.t.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	r, err := http.NewRequestWithContext(n.t.Context(), method, n.URL()+path, bytes.NewReader(text))
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// get is do for an answer that has to be.
func (n node) get(path string) string {
	n.t.Helper()
	status, answer := n.do(http.MethodGet, path, nil)
	if status != http.StatusOK {
		n.t.Fatalf("%s: %d %s", path, status, answer)
	}
	return answer
}

// damaged returns the damaged stores by name, as GET /v1/status has them.
func (n node) damaged() map[string]model.DamagedStore {
	n.t.Helper()
	found := make(map[string]model.DamagedStore)
	for _, store := range n.cluster().Damaged {
		found[store.Name] = store
	}
	return found
}

// cluster returns what GET /v1/status says of the cluster.
func (n node) cluster() model.ClusterStatus {
	n.t.Helper()
	var status struct{ Cluster model.ClusterStatus }
	if err := json.Unmarshal([]byte(n.get("/v1/status")), &status); err != nil {
		n.t.Fatal(err)
	}
	return status.Cluster
}

func measuresOf(id uuid.UUID) string { return "/v1/metric/" + id.String() + "/measures" }

// served is a folder in which some metrics have aggregates, and measures that wait in an incoming store.
type served struct {
	data    string
	metrics []uuid.UUID
	answers map[uuid.UUID]string // before measures waited
	waits   map[uuid.UUID]string // with them
	store   string               // name of the incoming store
}

var base = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// measure is one for each metric, so many minutes after base.
func measure(metrics []uuid.UUID, minute int) map[string]any {
	batch := make(map[string]any)
	for i, id := range metrics {
		batch[id.String()] = []map[string]any{{"timestamp": base.Add(time.Duration(minute) * time.Minute).Format(
			time.RFC3339), "value": 100*minute + i}}
	}
	return batch
}

func makeServed(t *testing.T) *served {
	t.Helper()
	f := &served{data: filepath.Join(t.TempDir(), "data"), answers: make(map[uuid.UUID]string),
		waits: make(map[uuid.UUID]string)}
	all := serve(t, f.data, cluster.RoleBoth)
	all.do(http.MethodPost, "/v1/archive_policy",
		map[string]any{"name": "p", "back_window": 10, "aggregation_methods": []string{"mean", "count"},
			"definition": []map[string]any{{"granularity": 60}}})
	for bySack := make(map[string]int); len(f.metrics) < 8; {
		var m struct{ ID uuid.UUID }
		if _, answer := all.do(http.MethodPost, "/v1/metric",
			map[string]any{"archive_policy_name": "p"}); json.Unmarshal([]byte(answer), &m) != nil {
			t.Fatal(answer)
		}
		if bySack[sackOf(m.ID)]++; bySack[sackOf(m.ID)] <= 8/sacks { // ids are random: all might be of one sack
			f.metrics = append(f.metrics, m.ID)
		}
	}
	for minute := range 3 {
		if status, answer := all.do(http.MethodPost, "/v1/batch/metrics/measures",
			measure(f.metrics, minute)); status != http.StatusAccepted {
			t.Fatal(answer)
		}
	}
	for _, id := range f.metrics {
		f.answers[id] = all.get(measuresOf(id) + "?refresh=true")
	}
	all.stop()
	compact(t, f.data) // so that there are tables
	api := serve(t, f.data, cluster.RoleAPI)
	if status, answer := api.do(http.MethodPost, "/v1/batch/metrics/measures",
		measure(f.metrics, 3)); status != http.StatusAccepted {
		t.Fatal(answer)
	}
	api.stop()
	names, err := os.ReadDir(filepath.Join(f.data, "incoming"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	f.store = "incoming/" + names[0].Name()
	again := copyOf(t, f.data)
	all = serve(t, again, cluster.RoleBoth)
	defer all.stop()
	for _, id := range f.metrics {
		f.waits[id] = all.get(measuresOf(id) + "?refresh=true")
		if f.waits[id] == f.answers[id] {
			t.Fatalf("nothing waited: %s", f.waits[id])
		}
	}
	return f
}

// copyOf copies a folder with the modes of its files.
func copyOf(t *testing.T, data string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	copyFolder(t, data, to)
	return to
}

// damages are what may happen to a store. Each returns false where there is nothing of the kind.
var damages = map[string]func(t *testing.T, store string) bool{
	"manifest missing": func(t *testing.T, store string) bool { return removeMatching(t, store, "MANIFEST-*") },
	"log missing":      func(t *testing.T, store string) bool { return removeMatching(t, store, "*.log") },
	"marker missing":   func(t *testing.T, store string) bool { return removeMatching(t, store, "marker.manifest.*") },
	"table missing":    func(t *testing.T, store string) bool { return removeMatching(t, store, "*.sst") },
	"byte in a table": func(t *testing.T, store string) bool {
		tables, err := filepath.Glob(filepath.Join(store, "e*", "*.sst"))
		if err != nil || len(tables) == 0 {
			return false
		}
		content, err := os.ReadFile(tables[0])
		fatal.If(t, err)
		content[10] ^= 1
		fatal.If(t, os.WriteFile(tables[0], content, 0o600))
		return true
	},
	"folder removed": func(t *testing.T, store string) bool {
		fatal.If(t, os.RemoveAll(store))
		return true
	},
	"folder and claims removed": func(t *testing.T, store string) bool {
		fatal.If(t, errors.Join(os.RemoveAll(store), os.RemoveAll(claimsOf(store))))
		return true
	},
	"emptied with its record":       emptyFolders,
	"replaced by a copy of another": replaceByAnother,
}

// emptyFolders removes all files of a store, and what is known of them: the folders stay.
func emptyFolders(t *testing.T, store string) bool {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(store, "e*"))
	fatal.If(t, err)
	for _, path := range folders {
		info, err := os.Stat(path)
		if err = errors.Join(err, os.RemoveAll(path)); err == nil && info.IsDir() {
			err = os.Mkdir(path, 0o750)
		}
		fatal.If(t, err)
	}
	return true
}

// claimsOf returns the folder of the claims on a store.
func claimsOf(store string) string {
	data := filepath.Dir(store)
	for {
		if _, err := os.Stat(filepath.Join(data, "cluster.json")); err == nil {
			return filepath.Join(data, "claims", strings.TrimPrefix(store, data))
		}
		data = filepath.Dir(data)
	}
}

// replaceByAnother puts a copy of the sack before a sack in its place, with the claims on that.
func replaceByAnother(t *testing.T, store string) bool {
	t.Helper()
	number, err := strconv.Atoi(filepath.Base(store))
	if err != nil || filepath.Base(filepath.Dir(store)) != "sacks" {
		return false
	}
	another := filepath.Join(filepath.Dir(store), fmt.Sprintf("%03d", number-1))
	fatal.If(t, errors.Join(os.RemoveAll(store), os.RemoveAll(claimsOf(store)), os.CopyFS(store, os.DirFS(another)),
		os.CopyFS(claimsOf(store), os.DirFS(claimsOf(another)))))
	return true
}

func removeMatching(t *testing.T, store, pattern string) (found bool) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(store, "e*", pattern))
	fatal.If(t, err)
	for _, path := range paths {
		found = true
		fatal.If(t, os.Remove(path))
	}
	return found
}

func fix(t *testing.T, data string, options fsck.Options) *fsck.Report {
	t.Helper()
	d, err := offline.Open(data)
	fatal.If(t, err)
	defer d.Close()
	report, err := fsck.Check(t.Context(), d, options)
	fatal.If(t, err)
	return report
}

// files counts what lies in a store, with the claims on it.
func files(t *testing.T, data, store string) (n int) {
	t.Helper()
	for _, dir := range []string{store, "claims/" + store} {
		fatal.If(t, filepath.WalkDir(filepath.Join(data, dir), func(string, fs.DirEntry, error) error {
			n++
			return nil
		}))
	}
	return n
}

// With any damage in one store, a server serves the rest and names the store, as fsck does. Once the loss is accepted,
// it serves all, and processes the waiting measures.
func TestDamagedStores(t *testing.T) {
	original := makeServed(t)
	for _, store := range []string{"sacks/001", original.store, "index"} {
		for _, what := range slices.Sorted(maps.Keys(damages)) {
			if testing.Short() && !slices.Contains([]string{"manifest missing", "byte in a table",
				"folder and claims removed", "replaced by a copy of another"}, what) {
				continue
			}
			t.Run(strings.ReplaceAll(store, "/", "-")[:5]+"/"+what, func(t *testing.T) {
				f := *original
				f.data = copyOf(t, original.data)
				if !damages[what](t, filepath.Join(f.data, store)) {
					t.Skip("the store has none")
				}
				f.check(t, store)
			})
		}
	}
}

// A store removed after a kill, when no store was closed and no claim given back, is also missed.
func TestStoreRemovedAfterKill(t *testing.T) {
	original := makeServed(t)
	killed := original.killed(t)
	for _, store := range []string{"sacks/001", original.store, "index"} {
		for _, what := range []string{"folder removed", "folder and claims removed", "emptied with its record",
			"replaced by a copy of another"} {
			t.Run(strings.ReplaceAll(store, "/", "-")[:5]+"/"+what, func(t *testing.T) {
				f := *original
				f.data = copyOf(t, killed)
				if !damages[what](t, filepath.Join(f.data, store)) {
					t.Skip("the store is no sack")
				}
				f.check(t, store)
			})
		}
	}
}

// A power failure between a claim on a sack and its first store is no damage, nor is it called so.
func TestCrashBeforeFirstStore(t *testing.T) {
	original := filepath.Join(t.TempDir(), "data")
	serve(t, original, cluster.RoleAPI).stop() // takes no sack
	const name = "sacks/001"
	claimed := func(data string) error {
		dir := filepath.Join(data, "claims", name)
		return errors.Join(os.MkdirAll(dir, 0o750),
			os.WriteFile(filepath.Join(dir, "1"), []byte(`{"id":"gone","node":"gone"}`), 0o600))
	}
	made := func(data string) error { return os.MkdirAll(filepath.Join(data, name, "e1"), 0o750) }
	noted := func(data string) error {
		return claim.NoteStore(vfs.Default, data, name, datafolder.FormatOf(name))
	}
	for stage, steps := range map[string][]func(data string) error{
		"never taken": nil, "claimed": {claimed}, "folder made": {claimed, made}, "noted": {claimed, made, noted},
	} {
		t.Run(stage, func(t *testing.T) {
			data := copyOf(t, original)
			for _, step := range steps {
				fatal.If(t, step(data))
			}
			if report := check(t, data, false); report.Damaged() > 0 {
				t.Error(text(t, report))
			}
			n := serve(t, data, cluster.RoleBoth)
			if damaged := n.damaged(); len(damaged) > 0 {
				t.Error(damaged)
			}
			n.stop()
			if report := check(t, data, false); report.Damaged() > 0 {
				t.Error("after a stop:", text(t, report))
			}
		})
	}
}

// A server that was started before a later version opened a store does not take that store.
func TestStoreOfALaterVersion(t *testing.T) {
	f := makeServed(t)
	running := serve(t, f.data, cluster.RoleBoth)
	defer running.stop()
	worker := serve(t, f.data, cluster.RoleMetricd)
	workerStops := sync.OnceFunc(worker.stop)
	defer workerStops()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		holders := make(map[string]bool)
		for _, c := range running.cluster().Claims {
			if strings.HasPrefix(c.Name, datafolder.SacksPrefix) {
				holders[c.Member] = true
			}
		}
		if len(holders) == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the second process has taken no sack")
		}
	}
	for sack := range sacks {
		name := datafolder.SackName(sack)
		format := datafolder.FormatOf(name)
		format.Store++
		fatal.If(t, claim.NoteStore(vfs.Default, f.data, name, format))
	}
	workerStops()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if damaged := slices.Collect(maps.Values(running.damaged())); len(damaged) > 0 {
			if !strings.Contains(damaged[0].Reason, storage.ErrLaterFormat.Error()) {
				t.Error(damaged)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the sack of the second process is served, or not spoken of")
		}
	}
}

// killed returns a copy of the folder as it is when a server on it is killed that has all stores open.
func (f *served) killed(t *testing.T) string {
	t.Helper()
	running := copyOf(t, f.data)
	n := serve(t, running, cluster.RoleBoth)
	defer n.stop()
	for _, id := range f.metrics {
		n.get(measuresOf(id) + "?refresh=true")
	}
	return copyOf(t, running)
}

func (f *served) check(t *testing.T, store string) {
	before := check(t, f.data, false)
	found := slices.ContainsFunc(before.Findings, func(finding fsck.Finding) bool {
		return finding.Store == store && finding.Damage
	})
	refused := slices.Contains(before.Refused(), store)
	if !found {
		t.Errorf("fsck does not find it:\n%s", text(t, before))
	}
	n := serve(t, f.data, cluster.RoleBoth)
	f.requireRest(t, n, store, refused)
	n.stop()
	if refused { // starts over and over must not fill the disk
		size := files(t, f.data, store)
		for range 2 {
			n = serve(t, f.data, cluster.RoleBoth)
			n.stop()
		}
		if grown := files(t, f.data, store) - size; grown > 12 {
			t.Errorf("%d files more after two starts, from %d", grown, size)
		}
	}
	if repaired := fix(t, f.data, fsck.Options{Repair: true}); refused &&
		(repaired.Damaged() == 0 || !slices.Contains(repaired.Refused(), store)) {
		t.Errorf("a repair says that all is well:\n%s", text(t, repaired))
	}
	given := fix(t, f.data, fsck.Options{Repair: true, GiveUp: []string{store}})
	if len(given.Refused()) > 0 {
		if store != "index" {
			t.Errorf("not given up:\n%s", text(t, given))
		}
		return // there is no way
	}
	if after := check(t, f.data, false); after.Damaged() > 0 {
		t.Errorf("after it was given up:\n%s\n%s", text(t, after), text(t, given))
	}
	n = serve(t, f.data, cluster.RoleBoth)
	defer n.stop()
	if damaged := n.damaged(); len(damaged) > 0 {
		t.Errorf("after it was given up: %v", damaged)
	}
	for _, id := range f.metrics {
		status, answer := n.do(http.MethodGet, measuresOf(id)+"?refresh=true", nil)
		if status != http.StatusOK && store != "index" {
			t.Errorf("metric %s after it was given up: %d %s", id, status, answer)
		}
		if sackOf(id) != store && store != f.store && store != "index" &&
			!strings.HasPrefix(answer, strings.TrimSuffix(f.waits[id], "]")) {
			t.Errorf("metric %s of another store: %s, want %s", id, answer, f.waits[id])
		}
		if refused && store != "index" && !strings.Contains(answer, "00:04:00") {
			t.Errorf("metric %s: what was taken meanwhile is missing: %s", id, answer)
		}
	}
}

func sackOf(id uuid.UUID) string { return fmt.Sprintf("sacks/%03d", model.Sack(id, sacks)) }

// requireRest requires that a server does without a damaged store, and only without that.
func (f *served) requireRest(t *testing.T, n node, store string, refused bool) {
	t.Helper()
	damaged := n.damaged()
	known := damaged[store]
	if refused && (known.Served || known.Reason == "" || len(damaged) != 1) || len(damaged) > 1 {
		t.Errorf("fsck refuses %v, the status has %+v", refused, damaged)
	}
	isDamaged, isMissing := known.Fault == model.StoreDamaged, known.Fault == model.StoreMissing
	left, globErr := filepath.Glob(filepath.Join(f.data, store, "e*", "*"))
	if _, err := os.Stat(filepath.Join(f.data, store)); refused && (globErr != nil || !isDamaged && !isMissing ||
		len(left) > 0 && !isDamaged || err != nil && !isMissing) {
		t.Errorf("the fault is %q, the folder: %v", known.Fault, err)
	}
	if metrics := n.get("/metrics"); refused &&
		!strings.Contains(metrics, fmt.Sprintf("gnocco_damaged_stores{store=%q} 1", store)) {
		t.Errorf("gnocco_damaged_stores is wrong")
	}
	named := func(status int, answer string) {
		t.Helper()
		if status != http.StatusServiceUnavailable || !strings.Contains(answer, fmt.Sprintf("%q", store)) {
			t.Errorf("%d %s, want 503 that names %s", status, answer, store)
		}
	}
	began := time.Now()
	for _, id := range f.metrics {
		plain, answer := n.do(http.MethodGet, measuresOf(id), nil)
		fresh, freshAnswer := n.do(http.MethodGet, measuresOf(id)+"?refresh=true", nil)
		switch {
		case refused && (store == "index" || store == sackOf(id)):
			named(plain, answer)
			named(fresh, freshAnswer)
		case refused && store == f.store:
			if plain != http.StatusOK || answer != f.answers[id] {
				t.Errorf("metric %s: %d %s, want %s", id, plain, answer, f.answers[id])
			}
			named(fresh, freshAnswer)
		case refused:
			if fresh != http.StatusOK || freshAnswer != f.waits[id] {
				t.Errorf("metric %s: %d %s, want %s", id, fresh, freshAnswer, f.waits[id])
			}
		case fresh == http.StatusServiceUnavailable: // a byte in a table: only who needs it learns of it
			named(fresh, freshAnswer)
		case fresh != http.StatusOK || freshAnswer != f.waits[id]:
			t.Errorf("metric %s: %d %s, want %s", id, fresh, freshAnswer, f.waits[id])
		}
	}
	if !refused {
		return
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("answers took %v", took)
	}
	all := make([]string, len(f.metrics))
	for i, id := range f.metrics {
		all[i] = "(" + id.String() + " mean)"
	}
	query := map[string]any{"operations": "(aggregate sum (metric " + strings.Join(all, " ") + "))"}
	switch status, answer := n.do(http.MethodPost, "/v1/aggregates", query); {
	case store != f.store:
		named(status, answer)
	case status != http.StatusOK:
		t.Errorf("aggregates: %d %s", status, answer)
	}
	if store == "index" {
		named(n.do(http.MethodGet, "/v1/metric", nil))
		named(n.do(http.MethodPost, "/v1/batch/metrics/measures", measure(f.metrics, 4)))
		return
	}
	if status, answer := n.do(http.MethodPost, "/v1/batch/metrics/measures",
		measure(f.metrics, 4)); status != http.StatusAccepted {
		t.Errorf("measures: %d %s", status, answer)
	}
}

// In a cluster every process names a damaged sack at once, whether its holder has a claim on it or nobody can; measures
// for it are taken, and the other sacks are served.
func TestDamagedSackOfACluster(t *testing.T) {
	original := makeServed(t)
	for _, what := range []string{"manifest missing", "folder removed"} {
		if testing.Short() && what != "folder removed" {
			continue
		}
		t.Run(what, func(t *testing.T) {
			f := *original
			f.data = copyOf(t, original.data)
			const store = "sacks/001"
			if !damages[what](t, filepath.Join(f.data, store)) {
				t.Fatal("nothing to damage")
			}
			api := serve(t, f.data, cluster.RoleAPI)
			defer api.stop()
			workers := []node{serve(t, f.data, cluster.RoleMetricd), serve(t, f.data, cluster.RoleMetricd)}
			defer workers[0].stop()
			for deadline := time.Now().Add(2 * time.Minute); api.damaged()[store].Reason == ""; time.Sleep(
				20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nobody tells of it")
				}
			}
			f.requireNamed(t, api, store)
			workers[1].stop() // the holder gives the sack back, and the other process finds the same
			for deadline := time.Now().Add(2 * time.Minute); api.damaged()[store].Reason == ""; time.Sleep(
				20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the next holder does not tell of it")
				}
			}
			f.requireNamed(t, api, store)
			if status, answer := api.do(http.MethodPost, "/v1/batch/metrics/measures",
				measure(f.metrics, 4)); status != http.StatusAccepted {
				t.Errorf("measures: %d %s", status, answer)
			}
		})
	}
}

// requireNamed requires that reads of a damaged sack are refused by its name, and others are answered.
func (f *served) requireNamed(t *testing.T, n node, store string) {
	t.Helper()
	for _, id := range f.metrics {
		if sackOf(id) != store {
			// it may be changing hands
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
				status, answer := n.do(http.MethodGet, measuresOf(id)+"?refresh=true", nil)
				if status == http.StatusOK && answer == f.waits[id] {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("metric %s of another sack: %d %s", id, status, answer)
				}
			}
			continue
		}
		for _, query := range []string{"", "?refresh=true"} {
			status, answer := n.do(http.MethodGet, measuresOf(id)+query, nil)
			if status != http.StatusServiceUnavailable || !strings.Contains(answer, fmt.Sprintf("%q", store)) {
				t.Errorf("metric %s: %d %s, want 503 that names %s", id, status, answer, store)
			}
		}
	}
}

// A store that is locked is not damaged: the rest is served, and it is too, as soon as the lock ends.
func TestLockedStore(t *testing.T) {
	original := makeServed(t)
	for _, store := range []string{"sacks/001", original.store, "index"} {
		t.Run(strings.ReplaceAll(store, "/", "-")[:5], func(t *testing.T) {
			f := *original
			f.data = copyOf(t, original.data)
			locks, err := filepath.Glob(filepath.Join(f.data, store, "e*", "LOCK"))
			if err != nil || len(locks) != 1 {
				t.Fatal(locks, err)
			}
			disk := claim.Fence(vfs.Default, claim.NewDeadline(claim.BootClock{}, 1<<62, 0))
			lock, err := disk.Lock(locks[0])
			fatal.If(t, err)
			n := serve(t, f.data, cluster.RoleBoth)
			defer n.stop()
			if damaged := n.damaged(); len(damaged) > 0 {
				t.Errorf("a locked store is damaged: %v", damaged)
			}
			if strings.Contains(n.get("/metrics"), "gnocco_damaged_stores{") {
				t.Error("a locked store is counted as damaged")
			}
			for _, id := range f.metrics {
				locked := store == "index" || store == sackOf(id)
				status, answer := n.do(http.MethodGet, measuresOf(id), nil)
				if !locked && status != http.StatusOK || strings.Contains(answer, "amaged") {
					t.Errorf("metric %s: %d %s", id, status, answer)
				}
				if locked && (status != http.StatusServiceUnavailable || !strings.Contains(answer, `"Locked store"`) ||
					!strings.Contains(answer, fmt.Sprintf("%q", store))) {
					t.Errorf("metric %s: %d %s, want 503 that names %s as locked", id, status, answer, store)
				}
			}
			fatal.If(t, lock.Close())
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
				answers := make(map[uuid.UUID]string)
				for _, id := range f.metrics {
					_, answers[id] = n.do(http.MethodGet, measuresOf(id)+"?refresh=true", nil)
				}
				if maps.Equal(answers, f.waits) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("after the lock ended: %v", answers)
				}
			}
		})
	}
}
