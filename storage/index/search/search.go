package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// Query says which resources to find, and in what order. All but Type and Filter may be zero.
type Query struct {
	Type    string          // generic: of any
	Filter  *filter.Filter  // compiled for that type
	Order   *filter.Order   // nil: by ID, the states of one oldest first
	Limit   int             // 0: none
	After   *model.Resource // find what follows this one in the order
	History bool            // including past states
	Metrics bool            // with their metrics
	Names   []string        // of Metrics: only those of these names; nil: all

	// Visible says what the caller may see; nil: all. It is called by one goroutine at a time.
	Visible func(*model.Resource) bool
}

// Resources finds and reads the resources of a log. It has no state but the store's, and so no lock.
type Resources struct {
	log    *commits.Log
	table  *metrics.Table
	types  func() map[string]*model.ResourceType // all that there are, generic too; not modified
	limits *keyspace.Costs
}

func New(log *commits.Log, table *metrics.Table, types func() map[string]*model.ResourceType,
	limits *keyspace.Costs) *Resources {
	return &Resources{log: log, table: table, types: types, limits: limits}
}

// readLimit returns how many resources, most or fewer, are read by their IDs before a scan of all is shorter.
func (s *Resources) readLimit(most int) int {
	return min(most, int(s.log.Resources.Load())/s.limits.ScansPerRead)
}

// FindResources returns the resources of a query, in order; or a model.ErrNotFound for the type. It takes the first of
// these ways that is short enough:
//
//  1. the resources that the filter names by ID;
//  2. the candidates that the index has for the filter, if they are few;
//  3. the order of the page, if an index has it, until the page is full;
//  4. the candidates, even if they are many or need a scan of all values of an attribute; or all of the type;
//  5. all resources, by several goroutines.
func (s *Resources) FindResources(ctx context.Context, q Query) (found []*model.Resource, err error) {
	err = s.search(q, func(search *search) error {
		if err := search.run(ctx); err != nil {
			return err
		}
		found, err = search.found(ctx)
		return err
	})
	return found, err
}

// search calls run with the search of a query, on the store as it is now. All that it read is durable when search
// returns.
func (s *Resources) search(q Query, run func(*search) error) error {
	before := s.types()
	if before[q.Type] == nil {
		return model.NotFound(model.NounResourceType, q.Type)
	}
	if err := s.log.Durable(s.searchSnapshot(q, before, run)); err != nil {
		return fmt.Errorf("index: find resources: %w", err)
	}
	return nil
}

func (s *Resources) searchSnapshot(q Query, before map[string]*model.ResourceType,
	run func(*search) error) (err error) {
	snapshot := s.log.DB.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	search := &search{resources: s, query: q, snapshot: snapshot, before: before,
		decoder: &viewer{Decoder: s.Decoder(before)}}
	if search.kind = search.decoder.Types[q.Type]; search.kind == nil {
		search.kind = before[q.Type]
	}
	search.begin()
	return run(search)
}

// found returns what is on the page, with the metrics if the query is for these.
func (s *search) found(ctx context.Context) ([]*model.Resource, error) {
	order, items := s.query.Order, s.page.Unsorted()
	if s.query.Limit > 0 || order == nil {
		order, items = nil, s.page.Items()
	}
	found := make([]*model.Resource, len(items))
	var named, past []*model.Resource // whose metrics are elsewhere
	for i, r := range items {
		found[i] = &r.Resource
		switch {
		case !s.query.Metrics || r.Metrics != nil:
		case r.Revision != 0:
			past = append(past, &r.Resource)
		default:
			named = append(named, &r.Resource)
		}
	}
	if order != nil {
		order.Sort(found) // all of them, by values that are read once
	}
	names := s.query.Names
	metrics := s.resources.table
	return found, errors.Join(metrics.AddNamedMetrics(ctx, named, names), metrics.AddMetricsNamed(ctx, past, names))
}

// search is a query on one state of the store.
type search struct {
	resources *Resources
	query     Query
	kind      *model.ResourceType
	snapshot  *pebble.Snapshot
	before    map[string]*model.ResourceType
	decoder   *viewer

	mu    sync.Mutex // for page and named, and query.Visible
	page  *filter.Page[records.View]
	named *namedMetrics // what the query is for; nil: the page
}

// viewer is a decoder with the finds of one goroutine of a search.
type viewer struct {
	*records.Decoder
	part *namedPart // of a search for metrics alone; nil: nothing found yet
}

// another returns a viewer for another goroutine.
func (v *viewer) another() *viewer { return &viewer{Decoder: v.Decoder.Another()} }

// begin empties the page.
func (s *search) begin() {
	compare := compareStates
	if s.query.Order != nil {
		compare = s.query.Order.Compare
	}
	var after *records.View
	if s.query.After != nil {
		after = &records.View{Resource: *s.query.After}
	}
	s.page = filter.NewPage(func(a, b *records.View) int { return compare(&a.Resource, &b.Resource) },
		s.query.Limit, after)
}

// compareStates orders by ID, and the states of one from the oldest to the live one.
func compareStates(a, b *model.Resource) int {
	return cmp.Or(model.CompareIDs(a.ID, b.ID), cmp.Compare(a.Revision-1, b.Revision-1)) // the live one is 0
}

func (s *search) run(ctx context.Context) error {
	if ids, ok := s.query.Filter.IDs(); ok {
		return s.readAll(ctx, ids)
	}
	if s.query.Filter.Type() != s.kind { // changed since the request was read; its names may have a new meaning
		return s.scanAll(ctx)
	}
	index := &candidates{db: s.resources.log.DB, reader: s.snapshot, kind: s.kind}
	bounds := s.query.Filter.Bounds()
	if s.query.History {
		return s.runHistory(ctx, index, bounds)
	}
	if bounds != nil {
		if ids, ok, err := index.find(ctx, bounds, s.fewCandidates()); ok || err != nil {
			return errors.Join(err, s.readLive(ids))
		}
	}
	if s.query.Limit > 0 {
		if done, err := s.stream(ctx); done || err != nil {
			return err
		}
		s.begin()
	}
	if bounds != nil {
		if ids, ok, err := index.find(ctx, bounds, s.anyNumber()); ok || err != nil {
			return errors.Join(err, s.readLive(ids))
		}
	}
	if s.kind.Name != model.GenericType {
		ids, ok, err := index.scan(ctx, keyspace.TypeResourcePrefix(s.kind.Name), &filter.Range{}, s.anyNumber())
		if ok || err != nil {
			return errors.Join(err, s.readLive(ids))
		}
	}
	return s.scan(ctx, keyspace.Resource)
}

// fewCandidates allows as many candidates as are read before any other way is tried.
func (s *search) fewCandidates() candidateLimit {
	few := s.resources.readLimit(s.resources.limits.FewCandidates)
	return candidateLimit{few, few}
}

// anyNumber allows as many candidates as a scan of all resources outweighs.
func (s *search) anyNumber() candidateLimit {
	return candidateLimit{s.resources.readLimit(math.MaxInt), math.MaxInt}
}

// runHistory reads all past states, which have no keys to be found by.
func (s *search) runHistory(ctx context.Context, index *candidates, bounds *filter.Bounds) error {
	if err := s.scan(ctx, keyspace.Revision); err != nil {
		return err
	}
	if bounds != nil {
		if ids, ok, err := index.find(ctx, bounds, s.anyNumber()); ok || err != nil {
			return errors.Join(err, s.readLive(ids))
		}
	}
	return s.scan(ctx, keyspace.Resource)
}

// scanAll shows all that the query may be after.
func (s *search) scanAll(ctx context.Context) error {
	if s.query.History {
		if err := s.scan(ctx, keyspace.Revision); err != nil {
			return err
		}
	}
	return s.scan(ctx, keyspace.Resource)
}

// readAll shows resources, with their past states if the query is for these.
func (s *search) readAll(ctx context.Context, ids []uuid.UUID) error {
	if s.query.History {
		for _, id := range ids {
			prefix := keyspace.IDKey(keyspace.Revision, id)
			if err := s.scanRange(ctx, s.decoder, prefix, keyspace.PrefixEnd(prefix)); err != nil {
				return err
			}
		}
	}
	return s.readLive(ids)
}

// readLive shows the live states of resources, whose IDs ascend.
func (s *search) readLive(ids []uuid.UUID) error {
	return keyspace.InParts(len(ids), func(from, to int) error {
		decoder := s.decoder.another()
		for _, id := range ids[from:to] {
			if err := s.read(decoder, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// read shows the live state of a resource, if there is one.
func (s *search) read(decoder *viewer, id uuid.UUID) error {
	key := [17]byte{keyspace.Resource}
	copy(key[1:], id[:])
	value, closer, err := s.snapshot.Get(key[:])
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(s.show(decoder, id, 0, value), closer.Close())
}

// show puts a state of a resource on the page if it belongs there. revision is the number of a past one.
func (s *search) show(decoder *viewer, id uuid.UUID, revision uint64, value []byte) error {
	r, err := decoder.View(id, value)
	if s.resources.log.SkipCorrupt(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Revision = revision
	if s.kind.Name != model.GenericType && r.Type != s.kind.Name || !s.query.Filter.Matches(&r.Resource) {
		return nil
	}
	if s.named != nil {
		s.showNamed(decoder, r)
		return nil
	}
	if !s.wants(r) {
		return nil
	}
	var metrics map[string]uuid.UUID
	ok := false
	if s.query.Metrics && revision == 0 && r.Inline.Fields != nil {
		metrics, ok = r.Inline.ByName(s.query.Names)
	} else {
		ok = r.Inline.Valid()
	}
	if !ok {
		s.resources.log.SkipCorrupt(records.ErrInline(id))
		return nil
	}
	if r, err = decoder.Keep(id, value); err != nil {
		return err
	}
	r.Revision, r.Metrics = revision, metrics
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.query.Visible == nil || s.query.Visible(&r.Resource) {
		s.page.Add(r)
	}
	return nil
}

// wants reports whether the page would keep r, as it is now.
func (s *search) wants(r *records.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.page.Wants(r)
}

// scan shows all live resources, or all past states.
func (s *search) scan(ctx context.Context, prefix byte) error {
	return keyspace.InParts(256, func(from, to int) error { // by the first byte of their IDs
		upper := keyspace.PrefixEnd([]byte{prefix})
		if to < 256 {
			upper = []byte{prefix, byte(to)}
		}
		return s.scanRange(ctx, s.decoder.another(), []byte{prefix, byte(from)}, upper)
	})
}

// scanRange shows what stands in a range of live resources or past states.
func (s *search) scanRange(ctx context.Context, decoder *viewer, lower, upper []byte) (err error) {
	iter, err := s.snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	return keyspace.EachKey(ctx, iter, func() (bool, error) {
		id, revision, ok := stateOfKey(iter.Key())
		if !ok {
			return true, nil
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return false, err
		}
		return true, s.show(decoder, id, revision, value)
	})
}

// stateOfKey takes the key of a live resource, whose revision is 0, or of a past state apart.
func stateOfKey(key []byte) (id uuid.UUID, revision uint64, ok bool) {
	switch {
	case len(key) == 1+16 && key[0] == keyspace.Resource:
		return uuid.UUID(key[1:]), 0, true
	case len(key) == 1+16+8 && key[0] == keyspace.Revision:
		for _, b := range key[17:] {
			revision = revision<<8 | uint64(b)
		}
		return uuid.UUID(key[1:17]), revision, true
	}
	return id, 0, false
}

// sameGroup reports whether two values of keys agree in their first length bytes; length 0: in all.
func sameGroup(a, b []byte, length int) bool {
	if length > 0 {
		a, b = a[:min(length, len(a))], b[:min(length, len(b))]
	}
	return bytes.Equal(a, b)
}

// EachLiveResource calls f for all resources as they are, without their metrics, one after the other.
func (s *Resources) EachLiveResource(ctx context.Context, f func(*model.Resource)) error {
	all, err := filter.Compile(nil, filter.Scope{Type: s.types()[model.GenericType]})
	if err != nil {
		return err
	}
	_, err = s.FindResources(ctx, Query{Type: model.GenericType, Filter: all,
		Visible: func(r *model.Resource) bool {
			f(r)
			return false
		}})
	return err
}
