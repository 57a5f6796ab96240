package peer

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"gnocco/model"
)

// versionInterval is how often the index's holder is asked whether something has changed: for so long at most, a metric that
// was deleted still takes measures here.
const versionInterval = time.Second

// findTimeout is how long the holder has to answer: measures wait for it.
const findTimeout = 3 * time.Second

// findIDs is the number of metrics asked for at a time: a request is far below what the other side takes.
const findIDs = 20_000

// Index is the index as a process sees it that does not hold it: metrics by ID, with a cache that answers also while nobody
// holds the index.
type Index struct {
	client *Client
	holder func(context.Context) (address string, err error)
	limit  int // most metrics in the cache

	generation atomic.Uint64

	mu       sync.Mutex
	version  version
	metrics  map[uuid.UUID]cachedMetric
	policies map[string]cachedPolicy // by name
}

type cachedMetric struct {
	metric     *model.Metric
	generation uint64 // as of which it is known to be so
}

type cachedPolicy struct {
	sent  policy
	model *model.ArchivePolicy
}

// NewIndex returns a client of the index, which the process has whose address holder returns, and a cache of so many metrics.
func NewIndex(client *Client, holder func(context.Context) (string, error), cachedMetrics int) *Index {
	return &Index{client: client, holder: holder, limit: max(1, cachedMetrics),
		metrics: make(map[uuid.UUID]cachedMetric), policies: make(map[string]cachedPolicy)}
}

// Run watches the index's version until ctx ends.
func (x *Index) Run(ctx context.Context) {
	tick := time.NewTicker(versionInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		address, err := x.holder(ctx)
		if err != nil {
			continue
		}
		var v version
		ctx, cancel := context.WithTimeout(ctx, 5*versionInterval)
		if x.client.call(ctx, address, "version", struct{}{}, &v) == nil {
			x.mu.Lock()
			x.sees(v)
			x.mu.Unlock()
		}
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

// Sees notes that the index is at least as new as this: what is kept of before is asked for again.
func (x *Index) Sees(epoch, generation uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sees(version{epoch, generation})
}

// Generation implements metricd.Index.
func (x *Index) Generation() uint64 { return x.generation.Load() }

// Find sets found[i] to the metric ids[i], nil for one that is unknown or deleted. What is in the cache and may have changed
// is asked for again; if nobody answers it counts, and what is not in the cache makes the answer a model.ErrUnavailable.
func (x *Index) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	var err error
	for some := range slices.Chunk(x.fromCache(ids, found, false), findIDs) {
		if err = x.ask(ctx, ids, found, some); err != nil {
			break
		}
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, model.ErrUnavailable) && len(x.fromCache(ids, found, true)) == 0 {
		return nil
	}
	return err
}

// fromCache fills in what is known, and returns the places of what is not. stale takes what may have changed as well.
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

// ask looks up what is missing at the holder.
func (x *Index) ask(ctx context.Context, ids []uuid.UUID, found []*model.Metric, missing []int) error {
	address, err := x.holder(ctx)
	if err != nil {
		return err
	}
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
			ArchivePolicy: policies[m.Policy], ResourceID: m.Resource, Unsettled: m.Unsettled}
	}
	for _, at := range missing {
		m := known[ids[at]]
		found[at] = m
		x.keep(ids[at], m)
	}
	return nil
}

// keep puts a metric into the cache; nil takes it out. When there are too many, a quarter is forgotten, whichever. mu is held.
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

// policy returns the archive policy that was sent; the same one for as long as it says the same. mu is held.
func (x *Index) policy(sent *policy) (*model.ArchivePolicy, error) {
	if cached, ok := x.policies[sent.Name]; ok && reflect.DeepEqual(cached.sent, *sent) {
		return cached.model, nil
	}
	made, err := sent.model()
	if err != nil {
		return nil, err
	}
	x.policies[sent.Name] = cachedPolicy{*sent, made}
	return made, nil
}

// DeletedMetrics implements metricd.Index.
func (x *Index) DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error) {
	address, err := x.holder(ctx)
	if err != nil {
		return nil, err
	}
	var answer idsRequest
	err = x.client.call(ctx, address, "deleted", deletedRequest{limit}, &answer)
	return answer.IDs, err
}

// Expunge implements metricd.Index.
func (x *Index) Expunge(ctx context.Context, ids ...uuid.UUID) error {
	address, err := x.holder(ctx)
	if err != nil {
		return err
	}
	return x.client.call(ctx, address, "expunge", idsRequest{ids}, nil)
}
