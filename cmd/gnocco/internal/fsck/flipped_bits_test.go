package fsck_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/fsck"
	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	flipRounds = flag.Int("damage.flips", 25, "trials of TestFlippedBits")
	flipKinds  = flag.String("damage.kinds", "",
		"kinds of files, of which a part of the name says this, that TestFlippedBits damages; empty: all")
)

// warnings keeps what a server logs from Warn on.
type warnings struct {
	slog.Handler
	mu   sync.Mutex
	text strings.Builder
}

func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprint(&w.text, r.Message)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&w.text, " %s=%v", a.Key, a.Value); return true })
	fmt.Fprintln(&w.text)
	return nil
}

func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *warnings) WithGroup(string) slog.Handler { return w }

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// serving is a server in this process.
type serving struct {
	*server.Server
	log *warnings
}

func serveFolder(ctx context.Context, data string, options cluster.Options) (*serving, error) {
	log := &warnings{}
	options.Data, options.Sacks, options.MinFreeBytes = data, sacks, 1<<20
	s, err := server.Start(ctx, server.Options{Listen: "127.0.0.1:0", Logger: slog.New(log), Cluster: options})
	return &serving{s, log}, err
}

// ask sends a request, and returns the status and body of the answer.
func (s *serving) ask(t *testing.T, method, path string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	fatal.If(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, bytes.NewReader(text))
	fatal.If(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth("admin", "")
	answer, err := http.DefaultClient.Do(request)
	fatal.If(t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	fatal.If(t, err)
	return answer.StatusCode, string(content)
}

// fill makes resources with metrics, and sends measures from a minute on.
func (s *serving) fill(t *testing.T, prefix string, resources, minute int) {
	t.Helper()
	for i := range resources {
		id := fmt.Sprintf("%s%d", prefix, i)
		status, text := s.ask(t, http.MethodPost, "/v1/resource/generic", map[string]any{"id": id,
			"metrics": map[string]any{"m": map[string]any{"archive_policy_name": "p"},
				"n": map[string]any{"archive_policy_name": "p"}}})
		if status/100 != 2 {
			t.Fatal(status, text)
		}
		var measures []map[string]any
		for j := range 100 {
			measures = append(measures, map[string]any{"timestamp": 1_700_000_000 + 60*minute + 7*j,
				"value": float64(i*j%17) / 4})
		}
		status, text = s.ask(t, http.MethodPost, "/v1/batch/resources/metrics/measures",
			map[string]any{id: map[string]any{"m": measures, "n": measures[:50]}})
		if status/100 != 2 {
			t.Fatal(status, text)
		}
	}
}

// answers are all that a client can ask for, by path. refused counts those that are no answers.
func (s *serving) answers(t *testing.T) (answers map[string]string, refused int) {
	t.Helper()
	answers = make(map[string]string)
	get := func(path string) string {
		status, text := s.ask(t, http.MethodGet, path, nil)
		if status >= 500 {
			refused++
			text = ""
		}
		answers[path] = text
		return text
	}
	get("/v1/archive_policy")
	get("/v1/archive_policy_rule")
	get("/v1/resource_type")
	get("/v1/resource/generic?details=true")
	var metrics []struct{ ID string }
	_ = json.Unmarshal([]byte(get("/v1/metric")), &metrics) // what was refused is counted
	for _, m := range metrics {
		get("/v1/metric/" + m.ID + "/measures?refresh=true&aggregation=count")
	}
	return answers, refused
}

// flipFolders makes two folders with equal kinds of content: of a server that was stopped, and of one as a kill leaves
// it, some time after its last heartbeat.
func flipFolders(t *testing.T) (stopped, killed string) {
	t.Helper()
	stopped, killed = filepath.Join(t.TempDir(), "stopped"), filepath.Join(t.TempDir(), "killed")
	start := func() *serving {
		s, err := serveFolder(t.Context(), stopped, cluster.Options{CheckpointInterval: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err, s.log)
		}
		return s
	}
	stop := func(s *serving) {
		fatal.If(t, s.Close(context.Background()))
	}
	s := start()
	if status, text := s.ask(t, http.MethodPost, "/v1/archive_policy", map[string]any{"name": "p", "back_window": 2,
		"aggregation_methods": []string{"mean", "count", "max"},
		"definition": []map[string]any{{"granularity": 60, "points": 1000},
			{"granularity": 3600, "points": 100}}}); status/100 != 2 {
		t.Fatal(status, text)
	}
	s.fill(t, "a", 2, 0)
	stop(s)
	s = start()
	s.fill(t, "b", 2, 10)
	// a heartbeat; a later one leaves an unprovable tail, which is also right
	time.Sleep(3 * time.Second)
	copyFolder(t, stopped, killed)
	stop(s)
	return stopped, killed
}

// copyFolder copies a data folder, which a server may be writing to: again, if a file was there only for a moment.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	for range 100 {
		err := os.CopyFS(to, os.DirFS(from))
		if err == nil {
			err = os.Chmod(filepath.Join(to, "key"), 0o600)
		}
		if err == nil {
			return
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		fatal.If(t, os.RemoveAll(to))
	}
	t.Fatal("the folder is never at rest")
}

// kindOf names the kind of a file of a data folder, "" for one that has no content of its own.
func kindOf(path string) string {
	base := filepath.Base(path)
	store := strings.Split(filepath.ToSlash(path), "/")[0]
	switch {
	case base == "lock" || base == "LOCK" || base == "reserve" || strings.HasPrefix(base, "marker."):
		return ""
	case store == "claims" || store == "members" || store == "clocks":
		return store
	case strings.HasSuffix(base, ".sst"):
		return store + " table"
	case strings.HasSuffix(base, ".log"):
		return store + " log"
	case strings.HasPrefix(base, "MANIFEST-"):
		return store + " manifest"
	case strings.HasPrefix(base, "OPTIONS-"):
		return "options"
	case filepath.Ext(base) == ".written" || filepath.Ext(base) == ".closed":
		return filepath.Ext(base)
	}
	return base
}

// filesByKind returns the paths of the files in a folder that hold something.
func filesByKind(t *testing.T, data string) map[string][]string {
	t.Helper()
	kinds := make(map[string][]string)
	fatal.If(t, fs.WalkDir(os.DirFS(data), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || kindOf(path) == "" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(data, path))
		if len(bytes.TrimRight(content, "\x00")) > 0 {
			kinds[kindOf(path)] = append(kinds[kindOf(path)], path)
		}
		return err
	}))
	return kinds
}

// isThere reports whether a folder has a file with that content, under any name.
func isThere(t *testing.T, data string, content []byte) (found bool) {
	t.Helper()
	fatal.If(t, filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || found {
			return err
		}
		have, err := os.ReadFile(path)
		found = bytes.Equal(have, content)
		return err
	}))
	return found
}

// fsckSays runs fsck, and returns what it finds damaged, "" for nothing: its status is 0 then.
func fsckSays(t *testing.T, data string) string {
	t.Helper()
	d, err := offline.Open(data)
	if err != nil {
		return err.Error()
	}
	report, err := fsck.Check(t.Context(), d, fsck.Options{})
	if err = errors.Join(err, d.Close()); err != nil {
		return err.Error()
	}
	if report.Damaged() == 0 {
		return ""
	}
	return text(t, report)
}

// flip is a trial: one bit of a file is turned.
type flip struct {
	original string // folder
	kind     string
	path     string // of the file in the folder
	random   *rand.Rand
	want     map[string]string // answers
}

type outcome int

const (
	equal  outcome = iota // to the answers before
	told                  // by fsck and by the server
	silent                // by one of them, or both
	outcomes
)

// try damages a copy of the folder, runs fsck on it, and then a server.
func (f *flip) try(t *testing.T) outcome {
	data := filepath.Join(t.TempDir(), "data")
	copyFolder(t, f.original, data)
	content, err := os.ReadFile(filepath.Join(data, f.path))
	fatal.If(t, err)
	at, bit := f.random.IntN(len(bytes.TrimRight(content, "\x00"))), byte(1)<<f.random.IntN(8)
	content[at] ^= bit
	fatal.If(t, os.WriteFile(filepath.Join(data, f.path), content, 0o600))
	fsckTold := fsckSays(t, data)
	options := cluster.Options{}
	if f.kind == "claims" { // of an owner that nobody knows, others wait until it must be dead
		options.Lease.TTL, options.Lease.Slack = 5*time.Second, time.Millisecond
	}
	s, err := serveFolder(t.Context(), data, options)
	serveTold := ""
	if err != nil {
		serveTold = err.Error()
	} else {
		got, refused := s.answers(t)
		for deadline := time.Now().Add(2 * time.Minute); refused > 0 && f.kind == "claims" &&
			time.Now().Before(deadline); {
			time.Sleep(time.Second)
			got, refused = s.answers(t)
		}
		serveTold = s.log.String()
		if refused > 0 {
			serveTold += fmt.Sprintf("%d answers of status 5xx", refused)
		}
		_ = s.Close(context.Background()) // a damaged store may refuse
		if maps.Equal(got, f.want) {
			return equal
		}
	}
	where := fmt.Sprintf("bit %#x of byte %d of %s", bit, at, f.path)
	if !isThere(t, data, content) {
		t.Errorf("%s: the damaged file is gone", where)
	}
	if fsckTold == "" || serveTold == "" {
		t.Errorf("%s: answers are not what they were.\nfsck: %s\nserve: %s", where, fsckTold, serveTold)
		return silent
	}
	return told
}

// If any bit of any file of a folder flips, after a stop or a kill, the answers stay as they were, or fsck and the
// server both name the damage, and the damaged file stays. So fsck without damage means equal answers.
func TestFlippedBits(t *testing.T) {
	stopped, killed := flipFolders(t)
	rounds := *flipRounds
	if testing.Short() {
		rounds = min(rounds, 12)
	}
	var mu sync.Mutex
	counts := make(map[string]*[outcomes]int) // by kind of file
	t.Cleanup(func() {
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("%-28s %3d equal, %3d told, %3d silent", kind, counts[kind][equal], counts[kind][told],
				counts[kind][silent])
		}
	})
	for _, original := range []string{stopped, killed} {
		how := filepath.Base(original)
		if says := fsckSays(t, original); says != "" {
			t.Fatalf("%s: %s", how, says)
		}
		pristine := filepath.Join(t.TempDir(), "pristine")
		copyFolder(t, original, pristine)
		s, err := serveFolder(t.Context(), pristine, cluster.Options{})
		fatal.If(t, err)
		want, refused := s.answers(t)
		if err := s.Close(context.Background()); err != nil || refused > 0 || len(want) < 12 || s.log.String() != "" {
			t.Fatal(how, err, refused, len(want), s.log)
		}
		kinds := filesByKind(t, original)
		maps.DeleteFunc(kinds, func(kind string, _ []string) bool { return !strings.Contains(kind, *flipKinds) })
		names := slices.Sorted(maps.Keys(kinds))
		for seed := *damageSeed; seed < *damageSeed+rounds/2; seed++ {
			random := rand.New(rand.NewPCG(uint64(seed), 11))
			f := &flip{original: original, kind: names[seed%len(names)], random: random, want: want}
			f.path = kinds[f.kind][random.IntN(len(kinds[f.kind]))]
			t.Run(fmt.Sprintf("%s/seed=%d", how, seed), func(t *testing.T) {
				t.Parallel() // most of it is waiting for the disk
				result := f.try(t)
				mu.Lock()
				defer mu.Unlock()
				kind := how + " " + f.kind
				if counts[kind] == nil {
					counts[kind] = new([outcomes]int)
				}
				counts[kind][result]++
			})
		}
	}
}
