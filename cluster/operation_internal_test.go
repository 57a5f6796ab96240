package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const start = carbonara.Timestamp(1_700_000_400e9)

// oneHolder is a session in which one process holds all stores.
type oneHolder struct {
	knownMembers
	address string
}

func (s *oneHolder) Holder(context.Context, string) (claim.Holder, error) {
	return claim.Holder{Epoch: 1, Member: claim.Member{ID: "other", Address: s.address}}, nil
}

// valid is a lease that holds.
type valid struct{ claim.Lease }

func (valid) Valid() bool { return true }

// otherNode is a process that holds all sacks, and the router of another one that holds none.
type otherNode struct {
	*testnode.Node
	t      *testing.T
	router *Router
	policy *model.ArchivePolicy
}

func startOtherNode(t *testing.T, sacks int, granularities ...time.Duration) *otherNode {
	t.Helper()
	key, err := peer.LoadKey(t.TempDir())
	fatal.If(t, err)
	o := &otherNode{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: sacks, Workers: 1}), t: t}
	logger := slog.New(slog.DiscardHandler)
	damaged := newDamagedStores(logger)
	local := &localArchives{metricd: o.Metricd, damaged: damaged, sacks: sacks, lease: valid{},
		reach: func(context.Context, time.Time) error { return nil }, sees: func(_, _ uint64) {}}
	process := &peer.Process{Key: key, Logger: logger}
	for _, operation := range operations {
		process.Operations = append(process.Operations, operation(local))
	}
	server := httptest.NewServer(process.Handler())
	session := &oneHolder{knownMembers{members: []claim.Member{{ID: "own"}}}, strings.TrimPrefix(server.URL, "http://")}
	o.router = &Router{holders: newHolders(newMembership(session, nil, logger), damaged),
		client: peer.NewClient(key, nil, peer.TCP), sacks: sacks}
	t.Cleanup(func() {
		o.router.client.Close()
		server.Close()
		o.Stop(context.Background())
	})
	var definition []model.DefinitionInput
	for _, g := range granularities {
		definition = append(definition, model.DefinitionInput{Granularity: &g})
	}
	o.policy, err = model.NewArchivePolicy("p", 0, definition, []string{"sum", "95pct"})
	if err == nil {
		err = o.Index.CreateArchivePolicy(t.Context(), o.policy)
	}
	fatal.If(t, err)
	return o
}

// newMetric creates a metric in a sack.
func (o *otherNode) newMetric(sack int) uuid.UUID {
	o.t.Helper()
	id := uuid.New()
	for o.router.Sack(id) != sack {
		id = uuid.New()
	}
	fatal.If(o.t, o.Index.CreateMetric(o.t.Context(), &model.Metric{ID: id, Creator: "c", ArchivePolicy: o.policy}))
	return id
}

func (o *otherNode) post(id uuid.UUID, seconds ...int) {
	o.t.Helper()
	for _, second := range seconds {
		fatal.If(o.t, o.Post(&model.Measures{Metrics: []uuid.UUID{id}, Values: []float64{float64(second)},
			Timestamps: []carbonara.Timestamp{start + carbonara.Timestamp(second)*1e9}, Offsets: []int{0, 1}}))
	}
}

// The answers of another process come in the order of the metrics, in any distribution of sacks.
func TestFiguresComeOver(t *testing.T) {
	o := startOtherNode(t, 2, time.Minute)
	ids := []uuid.UUID{o.newMetric(0), o.newMetric(1), o.newMetric(0)}
	for second := range 200 {
		o.post(ids[1+second%2], second) // the first has none
	}
	if err := errors.Join(o.router.Refresh(t.Context(), ids), o.Metricd.Checkpoint(t.Context())); err != nil {
		t.Fatal(err)
	}
	got, err := o.router.Sizes(t.Context(), ids, nil)
	fatal.If(t, err)
	want, err := o.Metricd.Sizes(t.Context(), ids)
	if err != nil || !reflect.DeepEqual(got, want) || got[0].Total() != 0 || got[1].Raw == 0 ||
		got[1].Splits[time.Minute] == 0 {
		t.Errorf("got %+v, want %+v (%v)", got, want, err)
	}
	last, err := o.router.LastMeasures(t.Context(), ids)
	if err != nil || !slices.Equal(last, []carbonara.Timestamp{0, start + 198e9, start + 199e9}) {
		t.Errorf("last measures are %v (%v)", last, err)
	}
	if one, err := o.router.LastMeasures(t.Context(), ids[1:2]); err != nil || one[0] != last[1] {
		t.Errorf("the last measure is %v (%v)", one, err)
	}
	fatal.If(t, o.Metricd.CloseSack(t.Context(), 0))
	if _, err := o.router.LastMeasures(t.Context(), ids); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("last measures in a sack that is not held: %v", err)
	}
}

// Archives are changed at another process as the request says, and the answers add up.
func TestChangesComeOver(t *testing.T) {
	o := startOtherNode(t, 2, time.Minute)
	ids := []uuid.UUID{o.newMetric(0), o.newMetric(1), o.newMetric(0)}
	for _, id := range ids {
		o.post(id, 0, 60, 120)
	}
	done, err := o.router.Replace(t.Context(), ids, &model.Replacement{From: start + 60e9, To: start + 120e9,
		Timestamps: []carbonara.Timestamp{start + 61e9, start + 62e9}, Values: []float64{0.5, -7}})
	if err != nil || done.Metrics != 3 {
		t.Errorf("replaced %+v, %v", done, err)
	}
	for _, id := range ids {
		if sums := o.Read(id, time.Minute).Column(carbonara.ColumnSum); !slices.Equal(sums, []float64{0, -6.5, 120}) {
			t.Errorf("%v", sums)
		}
	}
	changed, err := o.policy.Change(nil, nil, []string{"sum", "count"})
	fatal.If(t, err)
	_, _, err = o.Index.ChangeArchivePolicy(t.Context(), "p", time.Now(),
		func(*model.ArchivePolicy) (*model.ArchivePolicy, error) { return changed, nil })
	fatal.If(t, err)
	metrics, err := o.Index.CurrentMetrics(ids)
	fatal.If(t, err)
	rebuilt, err := o.router.Rebuild(t.Context(), 1, 2, metrics)
	if err != nil || rebuilt.Changed != 3 {
		t.Errorf("rebuilt %+v, %v", rebuilt, err)
	}
	outdated := &model.Metric{ID: ids[0], ArchivePolicy: o.policy}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := o.router.Rebuild(ctx, 1, 1, []*model.Metric{outdated}); !errors.Is(err, model.ErrUnavailable) &&
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("rebuilt by a policy that the metric has no more: %v", err)
	}
	part, err := o.router.Content(t.Context(), &model.ContentRequest{Metric: ids[1]})
	if err != nil || len(part.Part) == 0 {
		t.Errorf("content %+v, %v", part, err)
	}
	var refused *model.RefusedError
	cut := &model.ContentRequest{Metric: ids[0], Put: part.Part[1:]}
	if _, err := o.router.Content(t.Context(), cut); !errors.As(err, &refused) {
		t.Errorf("content that is cut off: %v", err)
	}
}

// History that is put at another process becomes what it does there, also as groups.
func TestHistoryComesOver(t *testing.T) {
	const hour, week = time.Hour, 7 * 86_400
	o := startOtherNode(t, 2, time.Minute, hour)
	live, from := o.newMetric(0), o.newMetric(0)
	o.post(live, week)
	o.post(from, -2*week, -2*week+100)
	fatal.If(t, o.router.Refresh(t.Context(), []uuid.UUID{live, from}))
	at := func(second int) carbonara.Timestamp { return start + carbonara.Timestamp(second)*1e9 }
	put := func(r *model.Replacement) (model.Replaced, error) {
		r.Empty = true
		return o.router.Replace(t.Context(), []uuid.UUID{live}, r)
	}
	done, err := put(&model.Replacement{Timestamps: []carbonara.Timestamp{at(-week), at(week + 1)},
		Values: []float64{1, 2}})
	if err != nil || done.Put != 1 || done.Refused != 1 || len(done.RefusedBlocks) != 1 ||
		done.RefusedBlocks[0] != at(week).Floor(hour) {
		t.Errorf("%+v, %v", done, err)
	}
	groups := &model.Replacement{Groups: model.PlacedGroups{*o.Read(from, time.Minute), *o.Read(from, hour)}}
	for _, want := range []model.Replaced{{Put: groups.Rows()}, {Known: groups.Rows()}} {
		if done, err = put(groups); err != nil || done.Put != want.Put || done.Known != want.Known {
			t.Errorf("groups: %+v, %v", done, err)
		}
	}
}
