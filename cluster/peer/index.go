package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// versionInterval is how often the index's holder is asked for changes. For so long at most, a metric that
// was deleted still takes measures here.
const versionInterval = time.Second

// findTimeout is how long the holder has to answer: measures wait for it.
const findTimeout = 2 * time.Second

// findIDs bounds the metrics of one request, which stays far below maxRequest.
const findIDs = 20_000

// Index is a client of the index in a process that does not hold it: metrics by ID, with a cache that answers also
// while no process holds the index.
type Index struct {
	client *Client
	holder AskHolder
	limit  int // most metrics in the cache
	quotas *quota.Book

	generation atomic.Uint64

	mu       sync.Mutex
	version  version
	metrics  map[uuid.UUID]cachedMetric
	policies map[string]cachedPolicy // by name
}

type cachedMetric struct {
	metric     *model.Metric
	generation uint64 // of the index, when it was last confirmed
}

type cachedPolicy struct {
	sent  index.ExactPolicy
	model *model.ArchivePolicy
}

// NewIndex returns a client of the index with a cache of cachedMetrics. It keeps quotas, if they are not nil, as the
// index's holder has them.
func NewIndex(client *Client, holder AskHolder, cachedMetrics int, quotas *quota.Book) *Index {
	return &Index{client: client, holder: holder, limit: max(1, cachedMetrics), quotas: quotas,
		metrics: make(map[uuid.UUID]cachedMetric), policies: make(map[string]cachedPolicy)}
}

// Run watches the index's version until ctx ends. held returns it while this process holds the index itself.
func (x *Index) Run(ctx context.Context, held func() (epoch, generation uint64, ok bool)) {
	for range pause.Ticks(ctx, versionInterval) {
		if epoch, generation, ok := held(); ok {
			x.Sees(epoch, generation)
			x.quotas.Counted()
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 5*versionInterval)
		_ = x.holder(ctx, false, func(address string) error { // else it is asked again
			var v versionAnswer
			report := x.quotas.Report()
			err := x.client.call(ctx, address, "version", versionRequest{report}, &v)
			if err == nil {
				x.quotas.Take(report, v.Quotas)
				x.mu.Lock()
				x.sees(v.version)
				x.mu.Unlock()
			}
			return err
		})
		cancel()
	}
}

// sees notes the index's version. mu is held.
func (x *Index) sees(v version) {
	if v != x.version {
		x.version = v
		x.generation.Add(1)
	}
}

// Sees notes that the index is at least as new as this. Older entries of the cache are asked for again.
func (x *Index) Sees(epoch, generation uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sees(version{epoch, generation})
}

// Generation implements metricd.Index.
func (x *Index) Generation() uint64 { return x.generation.Load() }

// Find sets found[i] to the metric ids[i], nil for one that is unknown or deleted. It asks again for cached metrics
// that may have changed. If no process answers, the cached ones count. For others it waits a little, as the index may
// be handed over. The lack of them is a model.ErrUnavailable.
func (x *Index) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	missing := x.fromCache(ids, found, false)
	if len(missing) == 0 {
		return nil
	}
	ask := func(address string) error {
		for some := range slices.Chunk(missing, findIDs) {
			if err := x.ask(ctx, address, ids, found, some); err != nil {
				return err
			}
		}
		return nil
	}
	if err := x.holder(ctx, false, ask); !errors.Is(err, model.ErrUnavailable) {
		return err
	}
	if len(x.fromCache(ids, found, true)) == 0 {
		return nil
	}
	return x.holder(ctx, true, ask)
}

// fromCache fills in the metrics of the cache, and returns the places of the others. stale accepts metrics that may
// have changed.
func (x *Index) fromCache(ids []uuid.UUID, found []*model.Metric, stale bool) (missing []int) {
	generation := x.generation.Load()
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, id := range ids {
		cached, ok := x.metrics[id]
		if !ok || !stale && cached.generation != generation {
			missing = append(missing, i)
			continue
		}
		found[i] = cached.metric
	}
	return missing
}

// ask looks up the missing metrics at the holder.
func (x *Index) ask(ctx context.Context, address string, ids []uuid.UUID, found []*model.Metric, missing []int) error {
	wanted := make([]uuid.UUID, len(missing))
	for i, at := range missing {
		wanted[i] = ids[at]
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	answer, err := x.client.find(ctx, address, wanted)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	policies := make([]*model.ArchivePolicy, len(answer.Policies))
	for i := range answer.Policies {
		if policies[i], err = x.policy(&answer.Policies[i]); err != nil {
			return err
		}
	}
	x.sees(answer.Version)
	known := make(map[uuid.UUID]*model.Metric, len(answer.Metrics))
	for i := range answer.Metrics {
		m := &answer.Metrics[i]
		if m.Policy < 0 || m.Policy >= len(policies) {
			return errFrame
		}
		known[m.ID] = &model.Metric{ID: m.ID, Name: m.Name, Unit: m.Unit, Creator: m.Creator,
			ArchivePolicy: policies[m.Policy], ResourceID: m.Resource, ResourceEndedAt: m.ResourceEndedAt,
			OwnSchemaPending: m.SchemaPending, Replicas: m.Replicas}
	}
	for _, at := range missing {
		m := known[ids[at]]
		found[at] = m
		x.keep(ids[at], m)
	}
	return nil
}

// keep puts a metric into the cache; nil takes it out. A full cache drops an arbitrary quarter. mu is held.
func (x *Index) keep(id uuid.UUID, m *model.Metric) {
	if m == nil {
		delete(x.metrics, id)
		return
	}
	if len(x.metrics) >= x.limit {
		drop := x.limit/4 + 1
		for other := range x.metrics {
			delete(x.metrics, other)
			if drop--; drop == 0 {
				break
			}
		}
	}
	x.metrics[id] = cachedMetric{m, x.generation.Load()}
}

// policy returns the archive policy that was sent, as the same pointer for as long as it is equal. mu is held.
func (x *Index) policy(sent *index.ExactPolicy) (*model.ArchivePolicy, error) {
	if cached, ok := x.policies[sent.Name]; ok && reflect.DeepEqual(cached.sent, *sent) {
		return cached.model, nil
	}
	made, err := sent.Policy()
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	x.policies[sent.Name] = cachedPolicy{*sent, made}
	return made, nil
}

func (x *Index) Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp, at carbonara.Timestamp) error {
	return x.callHolder(ctx, "revive", reviveRequest{newest, at}, nil)
}

// callHolder calls the holder of the index, without patience.
func (x *Index) callHolder(ctx context.Context, path string, request, answer any) error {
	return x.holder(ctx, false, func(address string) error {
		return x.client.call(ctx, address, path, request, answer)
	})
}

func (x *Index) Growing(ctx context.Context, ids []uuid.UUID) error {
	return x.callHolder(ctx, "growing", idsRequest{ids}, nil)
}

func (x *Index) DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error) {
	var answer idsRequest
	err := x.callHolder(ctx, "deleted", deletedRequest{limit}, &answer)
	return answer.IDs, err
}

func (x *Index) Expunge(ctx context.Context, ids ...uuid.UUID) error {
	return x.callHolder(ctx, "expunge", idsRequest{ids}, nil)
}

// pushSeparator follows the creator and the protocol of a push, before the encoded batch.
const pushSeparator = "\x00"

// Push has the index's holder store a batch of series, and waits a little while nobody holds it. A model.ErrInvalid
// refuses the batch; after a model.ErrUnavailable it may be sent again.
func (x *Index) Push(ctx context.Context, creator, protocol string, batch []byte) error {
	request := slices.Concat([]byte(creator+pushSeparator+protocol+pushSeparator), batch)
	var answer pushAnswer
	err := x.holder(ctx, true, func(address string) error {
		return x.client.call(ctx, address, "push", request, &answer)
	})
	switch {
	case answer.Refused != "":
		return fmt.Errorf("peer: push: %w: %s", model.ErrInvalid, answer.Refused)
	case answer.Failed != "":
		return fmt.Errorf("peer: push: %w: %s", model.ErrUnavailable, answer.Failed)
	}
	return err
}

// push answers Push.
func (p *Process) push(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	parts := bytes.SplitN(body, []byte(pushSeparator), 3)
	if len(parts) < 3 {
		return model.ErrInvalid
	}
	store, _, release := p.Index()
	if store == nil {
		return p.indexElsewhere()
	}
	defer release()
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // the header tells the caller that the work has begun
	var answer pushAnswer
	switch err := p.Push(r.Context(), string(parts[0]), string(parts[1]), parts[2]); {
	case errors.Is(err, model.ErrInvalid):
		answer.Refused = err.Error()
	case err != nil:
		answer.Failed = err.Error()
	}
	return writeJSON(w, answer)
}
