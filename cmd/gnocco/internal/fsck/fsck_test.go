package fsck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/fsck"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const sacks = 2

var methods = []string{"mean", "min", "max", "sum", "count", "std", "first", "last", "rate:mean"}

// makeFolder serves from a new data folder until three hours of measures of some metrics are in the archives.
func makeFolder(t *testing.T, metrics int) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s, err := server.Start(t.Context(), server.Options{Cluster: cluster.Options{Data: data, Sacks: sacks},
		Listen: "127.0.0.1:0"})
	fatal.If(t, err)
	post := func(path string, body any) []byte {
		text, err := json.Marshal(body)
		fatal.If(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, bytes.NewReader(text))
		fatal.If(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.SetBasicAuth("admin", "")
		answer, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		defer answer.Body.Close()
		content, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode/100 != 2 {
			t.Fatalf("%s: %s %s (%v)", path, answer.Status, content, err)
		}
		return content
	}
	post("/v1/archive_policy", map[string]any{"name": "p", "back_window": 0, "aggregation_methods": methods,
		"definition": []map[string]any{
			{"granularity": 10, "points": 2000}, {"granularity": 60, "points": 1000},
			{"granularity": 3600, "points": 100}}})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	batch := make(map[string][]map[string]any)
	random := rand.New(rand.NewPCG(1, 2))
	for range metrics {
		var m struct{ ID string }
		fatal.If(t, json.Unmarshal(post("/v1/metric", map[string]any{"archive_policy_name": "p"}), &m))
		for i := range 3 * 720 {
			batch[m.ID] = append(batch[m.ID],
				map[string]any{"timestamp": start.Add(time.Duration(i) * 5 * time.Second).Format(time.RFC3339),
					"value": float64(random.IntN(10000)) / 100})
		}
	}
	post("/v1/batch/metrics/measures", batch)
	fatal.If(t, s.Close(context.Background()))
	return data
}

// contents is all that the archives of a folder hold.
type contents map[uuid.UUID]map[time.Duration]*carbonara.Groups

// read reads all groups that can be read.
func read(t *testing.T, data string) contents {
	t.Helper()
	d, err := offline.Open(data)
	fatal.If(t, err)
	defer d.Close()
	all := make(contents)
	for sack := range sacks {
		fatal.If(t, d.InSack(sack, func(store *archive.Store) error {
			iter, err := store.DB().NewIter(nil)
			if err != nil {
				return err
			}
			defer iter.Close()
			for valid := iter.First(); valid; valid = iter.Next() {
				metric, kind, split, ok := archive.ParseKey(iter.Key())
				if !ok || kind != archive.KindSplit || all[metric][split.Granularity] != nil {
					continue
				}
				if all[metric] == nil {
					all[metric] = make(map[time.Duration]*carbonara.Groups)
				}
				groups := &carbonara.Groups{}
				groups.Reset(split.Granularity, carbonara.NewPlan([]time.Duration{split.Granularity}, parse(t)).Columns)
				if _, err := store.Groups(metric, split.Granularity, 0, carbonara.MaxTimestamp, groups); err != nil {
					return err
				}
				all[metric][split.Granularity] = groups
			}
			return iter.Error()
		}))
	}
	return all
}

func parse(t *testing.T) []carbonara.Method {
	t.Helper()
	parsed, err := carbonara.ParseMethods(methods)
	fatal.If(t, err)
	return parsed
}

// check runs fsck.
func check(t *testing.T, data string, repair bool) *fsck.Report {
	t.Helper()
	d, err := offline.Open(data)
	fatal.If(t, err)
	defer d.Close()
	report, err := fsck.Check(t.Context(), d, fsck.Options{Repair: repair})
	fatal.If(t, err)
	return report
}

func text(t *testing.T, r *fsck.Report) string {
	t.Helper()
	var out strings.Builder
	fatal.If(t, r.Print(&out))
	return out.String()
}

// requireEqual compares the contents with those before. Every group of got must be one of want with equal values; sums
// and second moments may differ by a few units in the last place, since combined groups have the exact ones. The report
// must name missing groups as lost. It returns their number.
func requireEqual(t *testing.T, got, want contents, report *fsck.Report) (missing int) {
	t.Helper()
	miss := func(metric uuid.UUID, granularity time.Duration, start carbonara.Timestamp) {
		missing++
		told := slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool {
			return f.Metric == metric && f.Granularity == granularity && f.Remedy != nil && f.From <= start &&
				start < f.Remedy.Lost
		})
		if !told {
			t.Errorf("metric %s, granularity %v, group %s is missing and not told as lost", metric,
				granularity, start.Time())
		}
	}
	for metric, granularities := range want {
		for granularity, was := range granularities {
			is := got[metric][granularity]
			if is == nil {
				is = &carbonara.Groups{}
			}
			row := 0
			for i, start := range was.Starts {
				if row == is.Len() || is.Starts[row] != start {
					miss(metric, granularity, start)
					continue
				}
				for c, column := range was.Columns {
					a, b := is.Values[c][row], was.Values[c][i]
					if math.Abs(a-b) > 1e-9*math.Abs(b) && !(math.IsNaN(a) && math.IsNaN(b)) {
						t.Errorf("metric %s, granularity %v, group %s: %v is %v, was %v", metric, granularity,
							start.Time(), column, a, b)
					}
				}
				row++
			}
			if row != is.Len() {
				t.Errorf("metric %s, granularity %v: %d groups that were not there", metric, granularity, is.Len()-row)
			}
		}
	}
	return missing
}

func TestCleanFolder(t *testing.T) {
	data := makeFolder(t, 5)
	report := check(t, data, true)
	if len(report.Findings) != 0 {
		t.Errorf("%s", text(t, report))
	}
	if report.Metrics != 5 || report.Splits < 15 || report.RawSeries != 5 {
		t.Errorf("%s", text(t, report))
	}
}

// edit changes a value in a sack's store below Pebble's checksums.
func edit(t *testing.T, data string, change func(key, value []byte) []byte) (edited int) {
	t.Helper()
	for sack := range sacks {
		dir := filepath.Join(data, "sacks", fmt.Sprintf("%03d", sack), "e1")
		store, err := archive.Open(dir, archive.Options{})
		fatal.If(t, err)
		iter, err := store.DB().NewIter(nil)
		fatal.If(t, err)
		for valid := iter.First(); valid; valid = iter.Next() {
			if value := change(iter.Key(), bytes.Clone(iter.Value())); value != nil {
				edited++
				fatal.If(t, store.DB().Set(iter.Key(), value, pebble.Sync))
			}
		}
		fatal.If(t, iter.Close())
		fatal.If(t, errors.Join(store.Close(), datafolder.AtRest(vfs.Default, dir)))
	}
	return edited
}

// A damaged split comes back from a finer granularity, the finest from the raw series as far as that goes; a second
// check finds nothing, and the damaged bytes are still there.
func TestDamagedSplits(t *testing.T) {
	data := makeFolder(t, 6)
	want := read(t, data)
	hit := make(map[uuid.UUID]time.Duration)
	order := []time.Duration{10 * time.Second, time.Minute, time.Hour}
	n := edit(t, data, func(key, value []byte) []byte {
		metric, kind, split, ok := archive.ParseKey(key)
		if !ok || kind != archive.KindSplit || hit[metric] != 0 || split.Granularity != order[len(hit)%3] {
			return nil
		}
		hit[metric] = split.Granularity
		value[len(value)/2] ^= 0x10
		return value
	})
	if n != 6 {
		t.Fatalf("%d splits damaged", n)
	}
	before := check(t, data, false)
	if before.Damaged() != n {
		t.Fatalf("%d damaged, want %d:\n%s", before.Damaged(), n, text(t, before))
	}
	for _, f := range before.Findings {
		if hit[f.Metric] != f.Granularity || f.Remedy == nil {
			t.Errorf("%s", f)
		}
		if f.Granularity > 10*time.Second && (len(f.Remedy.Sources) == 0 || f.Remedy.Lost != f.From) {
			t.Errorf("not all can be computed again: %s", f)
		}
	}
	if again := check(t, data, false); text(t, again) != text(t, before) {
		t.Error("a check changes something")
	}
	repaired := check(t, data, true)
	if repaired.Damaged() != 0 {
		t.Errorf("%s", text(t, repaired))
	}
	after := check(t, data, true)
	if after.Damaged() != 0 || !strings.Contains(text(t, after), "an earlier repair set aside") {
		t.Errorf("%s", text(t, after))
	}
	missing := requireEqual(t, read(t, data), want, repaired)
	// Of granularity 10s only what the raw series covers comes back: the last block.
	if most := 2 * (2000 - 360); missing == 0 || missing > most {
		t.Errorf("%d groups are missing, at most %d expected", missing, most)
	}
}

var (
	damageSeed   = flag.Int("damage.seed", 0, "seed of the first trial of TestDamagedTables; the next has the next one")
	damageRounds = flag.Int("damage.rounds", 4, "trials of TestDamagedTables")
)

// compact rewrites the sacks' stores, so that all lies in tables.
func compact(t *testing.T, data string) {
	t.Helper()
	for sack := range sacks {
		dir := filepath.Join(data, "sacks", fmt.Sprintf("%03d", sack), "e1")
		store, err := archive.Open(dir, archive.Options{})
		fatal.If(t, err)
		fatal.If(t, store.Compact())
		fatal.If(t, errors.Join(store.Close(), datafolder.AtRest(vfs.Default, dir)))
	}
}

// If any bit of a table flips, the check ends and finds it; after a repair the folder is clean and holds no wrong
// value.
func TestDamagedTables(t *testing.T) {
	original := makeFolder(t, 30)
	compact(t, original)
	want := read(t, original)
	rounds := *damageRounds
	if testing.Short() {
		rounds = min(rounds, 2)
	}
	recovered, lost := 0, 0
	for seed := *damageSeed; seed < *damageSeed+rounds; seed++ {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		data := filepath.Join(t.TempDir(), "data")
		fatal.If(t, os.CopyFS(data, os.DirFS(original)))
		tables, err := filepath.Glob(filepath.Join(data, "sacks", "*", "e1", "*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatal("no tables", err)
		}
		slices.Sort(tables)
		path := tables[random.IntN(len(tables))]
		content, err := os.ReadFile(path)
		fatal.If(t, err)
		at := random.IntN(len(content))
		content[at] ^= 1 << random.IntN(8)
		fatal.If(t, os.WriteFile(path, content, 0o600))
		before := check(t, data, false)
		if before.Damaged() == 0 {
			t.Errorf("seed %d: byte %d of %d of %s: not found", seed, at, len(content), filepath.Base(path))
			continue
		}
		repaired := check(t, data, true)
		after := check(t, data, false)
		if unopened := len(before.Refused()) > 0; after.Damaged() != 0 && !unopened {
			t.Errorf("seed %d: byte %d of %d: after the repair\n%safter\n%s", seed, at, len(content),
				text(t, after), text(t, repaired))
			continue
		}
		missing := requireEqual(t, read(t, data), want, repaired)
		lost += missing
		for _, f := range repaired.Findings {
			if f.Remedy != nil {
				for _, s := range f.Remedy.Sources {
					recovered += s.Groups
				}
			}
		}
	}
	t.Logf("%d rounds: %d groups computed again, %d lost", rounds, recovered, lost)
	if recovered == 0 && !testing.Short() {
		t.Error("nothing was computed again")
	}
}
