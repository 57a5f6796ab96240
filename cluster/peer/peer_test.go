package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const start = carbonara.Timestamp(1_700_000_400e9)

// other is another process: its stores, and its listener.
type other struct {
	*testnode.Node
	address string
	client  *peer.Client
	down    atomic.Bool
	polls   atomic.Int64
	epoch   atomic.Uint64                 // of the index
	pushed  atomic.Pointer[string]        // the last push
	held    atomic.Pointer[chan struct{}] // told of each poll that gets no answer; nil: all get one
}

// startOther starts a process with all stores.
func startOther(t *testing.T, sacks int) *other {
	t.Helper()
	key, err := peer.LoadKey(t.TempDir())
	fatal.If(t, err)
	o := &other{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: sacks, Workers: 1}),
		client: peer.NewClient(key, nil, peer.TCP)}
	o.epoch.Store(1)
	process := &peer.Process{
		Key: key, Groups: o.Metricd.Groups, Logger: slog.New(slog.DiscardHandler),
		Store: func(id string) *incoming.Store {
			if id == o.Incoming.ID() {
				return o.Incoming
			}
			return nil
		},
		Index: func() (*index.Store, uint64, func()) { return o.Index, o.epoch.Load(), func() {} },
		API: func() (http.Handler, func()) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Seen-From", fmt.Sprint(r.RemoteAddr, " ", r.TLS != nil))
				fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.URL.EscapedPath(), r.Header.Get("Authorization"))
			}), func() {}
		},
		Push: func(_ context.Context, creator, protocol string, batch []byte) error {
			switch text := string(batch); text {
			case "odd":
				return fmt.Errorf("%w: it is odd", model.ErrInvalid)
			case "early":
				return errors.New("no room yet")
			default:
				o.pushed.Store(new(creator + " " + protocol + " " + text))
				return nil
			}
		},
		Notice: func(context.Context, *peer.Notice) error { return nil },
		Status: func() *peer.Status { return &peer.Status{Member: "other"} },
	}
	handler := process.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/peer/poll" {
			o.polls.Add(1)
		}
		handler.ServeHTTP(w, r)
		if held := o.held.Load(); held != nil && r.URL.Path == "/peer/poll" {
			*held <- struct{}{}
			<-r.Context().Done() // the answer is short, and goes out when this function returns
		}
	}))
	o.address = strings.TrimPrefix(server.URL, "http://")
	t.Cleanup(func() {
		o.client.Close()
		server.Close()
		o.Stop(context.Background())
	})
	return o
}

func (o *other) holder(_ context.Context, _ bool, there func(string) error) error {
	return there(o.address)
}

func (o *other) newMetric(t *testing.T) uuid.UUID {
	t.Helper()
	minute := time.Minute
	id := uuid.New()
	policy, err := model.NewArchivePolicy(id.String(), 3, []model.DefinitionInput{{Granularity: &minute}},
		[]string{"sum", "count", "rate:95pct"})
	fatal.If(t, err)
	if err := errors.Join(o.Index.CreateArchivePolicy(t.Context(), policy),
		o.Index.CreateMetric(t.Context(), &model.Metric{ID: id, Name: "n", Unit: "u", Creator: "c",
			ArchivePolicy: policy})); err != nil {
		t.Fatal(err)
	}
	return id
}

func (o *other) post(t *testing.T, id uuid.UUID, second int) {
	t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{id},
		Timestamps: []carbonara.Timestamp{start + carbonara.Timestamp(second)*1e9}, Values: []float64{float64(second)},
		Offsets: []int{0, 1}}
	fatal.If(t, o.Post(m))
}

// Measures of another process's store are taken once, also when it is away for a while, and deleted once they are kept.
func TestSourceBringsAllOnce(t *testing.T) {
	o := startOther(t, 2)
	id := o.newMetric(t)
	for sack := range 2 {
		fatal.If(t, o.Metricd.CloseSack(t.Context(), sack))
	}
	source := peer.NewSource(o.client, o.address, o.Incoming.ID(), nil, slog.New(slog.DiscardHandler))
	defer source.Close()
	fs := vfs.NewMem()
	found := peer.NewIndex(o.client, o.holder, 100, nil)
	w, err := testnode.Workers(metricd.Options{Sacks: 2, FS: fs, Index: found,
		CheckpointInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	defer w.Close(context.Background())
	const measures = 300
	for second := range measures {
		o.post(t, id, second)
		if second == 100 {
			o.down.Store(true)
		}
		if second == 150 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			if err := w.Refresh(ctx, []uuid.UUID{id}); !errors.Is(err, peer.ErrUnreachable) ||
				!errors.Is(err, model.ErrUnavailable) {
				t.Errorf("refresh while the store is away: %v", err)
			}
			cancel()
			o.down.Store(false)
		}
	}
	fatal.If(t, w.Refresh(t.Context(), []uuid.UUID{id}))
	metric, err := o.Index.Metric(id)
	fatal.If(t, err)
	var groups carbonara.Groups
	columns := metric.ArchivePolicy.Plan().Columns
	if err := w.Groups(t.Context(), model.Read{Metric: metric, Granularity: time.Minute, Columns: columns,
		To: carbonara.MaxTimestamp}, &groups); err != nil {
		t.Fatal(err)
	}
	count, sum := 0.0, 0.0
	for i, n := range groups.Column(carbonara.ColumnCount) {
		count += n
		sum += groups.Column(carbonara.ColumnSum)[i]
	}
	if count != measures || sum != measures*(measures-1)/2 {
		t.Errorf("count %v, sum %v", count, sum)
	}
	fatal.If(t, w.Checkpoint(t.Context()))
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if empty, err := o.Incoming.Empty(); err != nil || time.Now().After(deadline) {
			t.Fatalf("what was acknowledged is still there: %v", err)
		} else if empty {
			break
		}
	}
}

// Records come over as they are in the store, with the lists of their metrics.
func TestRecordsComeOver(t *testing.T) {
	const sacks, requests = 2, 50
	o := startOther(t, sacks)
	for sack := range sacks {
		fatal.If(t, o.Metricd.CloseSack(t.Context(), sack))
	}
	many := make([]uuid.UUID, 40)
	for i := range many {
		many[i] = uuid.UUID{15: byte(i)}
	}
	lists := [][]uuid.UUID{many, many, many[:4], many[10:]} // four metrics are too few for lists of both sacks
	for i := range requests {
		m := model.Measures{Metrics: lists[i%len(lists)], Offsets: []int{0}}
		for range m.Metrics {
			m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(i)*1e9)
			m.Values = append(m.Values, float64(i))
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		fatal.If(t, o.Post(&m))
	}
	source := peer.NewSource(o.client, o.address, o.Incoming.ID(), nil, slog.New(slog.DiscardHandler))
	defer source.Close()
	for sack := range sacks {
		want, err := o.Incoming.Drain(sack, 0, 64<<20)
		if err != nil || len(want) < 30 || want[0].List == (keyhash.Hash{}) || want[0].List != want[1].List {
			t.Fatalf("sack %d: %d records, %v", sack, len(want), err)
		}
		source.Follow(sack, 0)
		if more, err := source.Fetch(t.Context(), sack); more || err != nil {
			t.Fatal(more, err)
		}
		got, err := source.Drain(sack, 0, 64<<20)
		cut := make(map[bool]int)
		for i := range got {
			if got[i].List != (keyhash.Hash{}) {
				cut[got[i].IDs != nil]++
			}
			var scratch []byte
			got[i].Block, got[i].IDs = got[i].Whole(&scratch), nil
		}
		if cut[false] != 2 || cut[true] == 0 { // the first records of two lists
			t.Errorf("sack %d: ids were sent with %d records, and left out of %d", sack, cut[false], cut[true])
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("sack %d: %d records, %v, are not the %d of the store", sack, len(got), err, len(want))
		}
	}
}

// Where much comes in, records are brought over together.
func TestSourceGathers(t *testing.T) {
	o := startOther(t, 1)
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	m := model.Measures{Metrics: []uuid.UUID{{1}}, Offsets: []int{0}}
	for i := range 8 << 10 {
		m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(i)*1e9)
		m.Values = append(m.Values, math.Sqrt(float64(i)))
	}
	m.Offsets = append(m.Offsets, len(m.Values))
	source := peer.NewSource(o.client, o.address, o.Incoming.ID(), nil, slog.New(slog.DiscardHandler))
	defer source.Close()
	source.Follow(0, 0)
	began := time.Now()
	for time.Since(began) < time.Second {
		fatal.If(t, o.Post(&m))
		if _, err := source.Drain(0, o.Incoming.Last(0), 1); err != nil { // makes room
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	if polls, most := o.polls.Load(), int64(took/(25*time.Millisecond)); polls > most {
		t.Errorf("%d polls in %v, want %d at most", polls, took, most)
	}
}

// Records that were drained and could not be applied, since the index was away, are drained again.
func TestSourceKeepsWhatWasNotTaken(t *testing.T) {
	o := startOther(t, 1)
	id := o.newMetric(t)
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	for second := range 20 {
		o.post(t, id, second)
	}
	source := peer.NewSource(o.client, o.address, o.Incoming.ID(), nil, slog.New(slog.DiscardHandler))
	defer source.Close()
	var away atomic.Bool
	away.Store(true)
	found := peer.NewIndex(o.client, func(ctx context.Context, patient bool, there func(string) error) error {
		if away.Load() {
			return model.ErrUnavailable
		}
		return o.holder(ctx, patient, there)
	}, 100, nil)
	w, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(), Index: found,
		CheckpointInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	defer w.Close(context.Background())
	for range 3 {
		if err := w.Refresh(t.Context(), []uuid.UUID{id}); !errors.Is(err, model.ErrUnavailable) {
			t.Fatalf("refresh without an index: %v", err)
		}
	}
	away.Store(false)
	fatal.If(t, w.Refresh(t.Context(), []uuid.UUID{id}))
	metric, err := o.Index.Metric(id)
	fatal.If(t, err)
	var groups carbonara.Groups
	if err := w.Groups(t.Context(), model.Read{Metric: metric, Granularity: time.Minute,
		Columns: []carbonara.Column{carbonara.ColumnCount}, To: carbonara.MaxTimestamp}, &groups); err != nil {
		t.Fatal(err)
	}
	if counts := groups.Column(carbonara.ColumnCount); len(counts) != 1 || counts[0] != 20 {
		t.Errorf("counts %v of 20 measures", counts)
	}
}

// Groups come over as they are, and a sack that the other process does not hold is told apart.
func TestGroupsComeOver(t *testing.T) {
	o := startOther(t, 1)
	ids := []uuid.UUID{o.newMetric(t), o.newMetric(t), o.newMetric(t)}
	for second := range 200 {
		o.post(t, ids[second%2], second) // the third has none
	}
	fatal.If(t, o.Metricd.Refresh(t.Context(), []uuid.UUID{{}}))
	var reads []model.Read
	var got []*carbonara.Groups
	for _, id := range ids {
		metric, err := o.Index.Metric(id)
		fatal.If(t, err)
		for _, columns := range [][]carbonara.Column{metric.ArchivePolicy.Plan().Columns, {carbonara.ColumnSum}, {}} {
			reads = append(reads, model.Read{Metric: metric, Granularity: time.Minute, Columns: columns, From: start,
				To: start + 100e9})
			got = append(got, new(carbonara.Groups))
		}
	}
	fatal.If(t, o.client.Groups(t.Context(), o.address, reads, got))
	for i, r := range reads {
		var want carbonara.Groups
		fatal.If(t, o.Metricd.Groups(t.Context(), r, &want))
		if fmt.Sprint(*got[i]) != fmt.Sprint(want) {
			t.Errorf("read %d: got %v, want %v", i, *got[i], want)
		}
	}
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	if err := o.client.Groups(t.Context(), o.address, reads, got); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("groups of a sack that is not held: %v", err)
	}
}

// The cache answers while the index is away. A metric that is not in it does not count as unknown.
func TestIndexAnswersFromItsCache(t *testing.T) {
	o := startOther(t, 1)
	known, other, gone := o.newMetric(t), o.newMetric(t), o.newMetric(t)
	x := peer.NewIndex(o.client, o.holder, 100, nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var held atomic.Uint64 // the epoch in which this process holds the index, 0 while another one does
	version := func() (epoch, generation uint64, ok bool) { return held.Load(), 1, held.Load() != 0 }
	go func() { x.Run(ctx, version); close(done) }()
	defer func() { stop(); <-done }()
	find := func(ids ...uuid.UUID) ([]*model.Metric, error) {
		found := make([]*model.Metric, len(ids))
		return found, x.Find(t.Context(), ids, found)
	}
	found, err := find(known, uuid.New(), gone)
	if err != nil || found[0] == nil || found[1] != nil || found[2] == nil {
		t.Fatalf("found %v, %v", found, err)
	}
	want, err := o.Index.Metric(known)
	fatal.If(t, err)
	m := found[0]
	if m.ID != known || m.Name != want.Name || m.Unit != want.Unit || m.Creator != want.Creator ||
		m.ArchivePolicy.BackWindow != 3 ||
		fmt.Sprint(m.ArchivePolicy.Plan().Columns) != fmt.Sprint(want.ArchivePolicy.Plan().Columns) {
		t.Errorf("found %+v, want %+v", m, want)
	}

	moves := func(what string, change func()) {
		t.Helper()
		generation := x.Generation()
		change()
		for deadline := time.Now().Add(2 * time.Minute); x.Generation() == generation; time.Sleep(
			5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not noticed", what)
			}
		}
	}
	// A deletion is noticed, and the archive policy stays the same object while it says the same.
	moves("a deletion", func() {
		fatal.If(t, o.Index.DeleteMetric(t.Context(), gone))
	})
	if again, err := find(known, gone); err != nil || again[1] != nil || again[0] == nil ||
		again[0].ArchivePolicy != m.ArchivePolicy {
		t.Errorf("found %v, %v", again, err)
	}
	if ids, err := x.DeletedMetrics(t.Context(), 10); err != nil || len(ids) != 1 || ids[0] != gone {
		t.Errorf("deleted: %v, %v", ids, err)
	}
	for range 2 { // the answer to the first may have been lost
		if err := x.Expunge(t.Context(), gone); err != nil {
			t.Error(err)
		}
	}

	o.down.Store(true)
	if found, err := find(known, known); err != nil || found[1] == nil {
		t.Errorf("a known metric while the index is away: %v", err)
	}
	if _, err := find(known, other); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("an unknown metric while the index is away: %v", err)
	}
	o.down.Store(false)
	o.epoch.Add(1) // another holder: all is asked for again
	if _, err := find(other); err != nil {
		t.Error(err)
	}
	o.down.Store(true)
	if found, err := find(known); err != nil || found[0] == nil {
		t.Errorf("what may have changed does not count while nobody can tell: %v", err)
	}

	// A change while this process holds the index itself is noticed, without a request to another.
	moves("that this process holds the index", func() { held.Store(100) })
}

// Requests are passed on unchanged, and the handler that answers them does not see the key.
func TestForward(t *testing.T) {
	o := startOther(t, 1)
	refused := 0
	away := false
	front := httptest.NewServer(o.client.Forward(func(ctx context.Context, patient bool,
		there func(string) error) error {
		if away {
			return model.ErrUnavailable
		}
		return o.holder(ctx, patient, there)
	}, func(w http.ResponseWriter, _ *http.Request, err error) {
		refused++
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}))
	defer front.Close()
	get := func(path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, front.URL+path, nil)
		fatal.If(t, err)
		r.Host = "public.example"
		r.Header.Set("Authorization", "Basic YWRtaW46")
		r.Header.Set("Gnocco-Client-Address", "192.0.2.1:1") // which the holder does not believe
		r.Header.Set("Gnocco-Client-TLS", "1")
		answer, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		fatal.If(t, err)
		if from := answer.Header.Get("Seen-From"); answer.StatusCode == http.StatusOK &&
			(!strings.HasPrefix(from, "127.0.0.1:") || !strings.HasSuffix(from, " false")) {
			t.Errorf("%s: the client is %s", path, from)
		}
		return answer.StatusCode, string(body)
	}
	for _, path := range []string{"/v1/resource/generic/a%2Fb//c", "/", "/v1/metric"} {
		if status, body := get(path); status != http.StatusOK ||
			body != "DELETE public.example "+path+" Basic YWRtaW46" {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	o.down.Store(true)
	if status, _ := get("/v1"); status != http.StatusServiceUnavailable || refused != 1 {
		t.Errorf("the other process is away: %d", status)
	}
	away = true
	if status, _ := get("/v1"); status != http.StatusServiceUnavailable || refused != 2 {
		t.Errorf("nobody holds the index: %d", status)
	}
}

func TestKey(t *testing.T) {
	dir := t.TempDir()
	keys := make(chan peer.Key)
	for range 8 {
		go func() {
			key, err := peer.LoadKey(dir)
			if err != nil {
				t.Error(err)
			}
			keys <- key
		}()
	}
	first := <-keys
	for range 7 {
		if key := <-keys; key != first {
			t.Errorf("two keys for one folder: %s, %s", first, key)
		}
	}
	path := filepath.Join(dir, "key")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || len(first) != 64 {
		t.Errorf("key %s: %v, %v", first, info, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	fails := func(want string, change func() error) {
		t.Helper()
		fatal.If(t, change())
		if _, err := peer.LoadKey(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	fails("may be read by others", func() error { return os.Chmod(path, 0o640) })
	fails("holds no key", func() error {
		return errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("abc"), 0o600))
	})
}

// A request without the key is never answered, even if it is right otherwise.
func TestRequestsNeedTheKey(t *testing.T) {
	o := startOther(t, 1)
	ask := func(c *peer.Client) error { _, err := c.Status(t.Context(), o.address); return err }
	fatal.If(t, ask(o.client))
	for _, key := range []peer.Key{"", "0", peer.Key(strings.Repeat("0", 64))} {
		if err := ask(peer.NewClient(key, nil, peer.TCP)); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

// A process without the index sees that a metric's resource ended, and revives it.
func TestRevivalComesOver(t *testing.T) {
	o := startOther(t, 1)
	end := carbonara.Timestamp(1e18)
	r := &model.Resource{ID: uuid.New(), OriginalID: "vm", Type: model.GenericType, Creator: "u", StartedAt: 1,
		RevisionStart: 1, EndedAt: &end}
	fatal.If(t, o.Index.CreateResource(t.Context(), r, nil))
	m, err := o.Index.Metric(o.newMetric(t))
	fatal.If(t, err)
	within := &model.Metric{ID: uuid.New(), Name: "cpu", Creator: "u",
		ArchivePolicy: m.ArchivePolicy, ResourceID: &r.ID}
	fatal.If(t, o.Index.CreateMetric(t.Context(), within))
	x := peer.NewIndex(o.client, o.holder, 100, nil)
	found := make([]*model.Metric, 1)
	if err := x.Find(t.Context(), []uuid.UUID{within.ID}, found); err != nil || found[0].ResourceEndedAt == nil ||
		*found[0].ResourceEndedAt != end {
		t.Fatalf("found %+v, %v", found[0], err)
	}
	for _, newest := range []carbonara.Timestamp{end - 1, end} {
		if err := x.Revive(t.Context(), map[uuid.UUID]carbonara.Timestamp{r.ID: newest, uuid.New(): newest},
			end+5); err != nil {
			t.Fatal(err)
		}
		r, err := o.Index.Resource(model.GenericType, r.ID)
		if err != nil || (r.EndedAt == nil) != (newest == end) {
			t.Errorf("a measure at %d: %+v, %v", newest, r, err)
		}
	}
	if m, err := o.Index.Metric(within.ID); err != nil || m.ResourceEndedAt != nil {
		t.Errorf("%+v, %v", m, err)
	}
}

// A batch of series is stored by the index's holder, refused, or sent again later.
func TestPushComesOver(t *testing.T) {
	o := startOther(t, 1)
	x := peer.NewIndex(o.client, o.holder, 1, nil)
	fatal.If(t, x.Push(t.Context(), "jd", "graphite", []byte("a\x00b")))
	if got := *o.pushed.Load(); got != "jd graphite a\x00b" {
		t.Errorf("pushed %q", got)
	}
	err := x.Push(t.Context(), "jd", "graphite", []byte("odd"))
	if !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "it is odd") {
		t.Errorf("refused: %v", err)
	}
	err = x.Push(t.Context(), "jd", "graphite", []byte("early"))
	if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), "no room yet") {
		t.Errorf("not yet: %v", err)
	}
	o.down.Store(true)
	if err := x.Push(t.Context(), "jd", "graphite", []byte("c")); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("of a process that is down: %v", err)
	}
}
