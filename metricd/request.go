package metricd

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// request is the record in hand, and the heads of its metrics. It belongs to the worker, and its memory is reused.
type request struct {
	index Index
	heads *heads.Heads

	measures model.Measures
	block    []byte        // of the record, if it came without its ids
	targets  []*heads.Head // of the metrics; nil for those that are gone
	asked    bool          // the index, for all metrics of the records in hand
	askedAt  uint64        // its generation then
}

// idleRequest is the number of measures whose memory a sack keeps from one drain to the next.
const idleRequest = 16 << 10

// release lets go of the memory of a large request: every sack has some of its own.
func (r *request) release() {
	if cap(r.measures.Values) > idleRequest {
		r.measures, r.block = model.Measures{}, nil
	}
	r.asked = false
}

// decode reads the measures of a record. It returns the whole block, which is valid until the next one.
func (r *request) decode(record *incoming.Record) (block []byte, err error) {
	r.measures.Reset()
	block = record.Whole(&r.block)
	_, err = incoming.DecodeBlock(block, &r.measures)
	return block, err
}

// resolve sets targets to the heads of the record in hand, which is the first of these. The first time that it has to
// ask the index it asks for all metrics of the records that are left: the index may be far away.
func (r *request) resolve(ctx context.Context, rest []incoming.Record) error {
	generation, list := r.index.Generation(), rest[0].List
	var ok bool
	if r.targets, ok = r.heads.Listed(list, generation, r.targets[:0]); ok {
		return nil
	}
	if r.targets, ok = r.heads.Find(r.measures.Metrics, generation, r.targets[:0]); !ok {
		if r.asked && r.askedAt == generation {
			return nil // metrics without a head are gone
		}
		if err := r.ask(ctx, rest, generation); err != nil {
			return err
		}
		r.targets, ok = r.heads.Find(r.measures.Metrics, generation, r.targets[:0])
	}
	if ok {
		r.heads.Remember(list, generation, r.targets)
	}
	return nil
}

// ask looks up all metrics of records whose heads are not of this generation.
func (r *request) ask(ctx context.Context, records []incoming.Record, generation uint64) error {
	ids := r.outdated(records, generation)
	found := make([]*model.Metric, len(ids))
	if err := r.index.Find(ctx, ids, found); err != nil {
		return err
	}
	if err := r.heads.Renew(found, generation); err != nil {
		return err
	}
	r.asked, r.askedAt = true, generation
	return nil
}

// outdated returns the metrics of records whose heads are not of this generation, in the order in which the index and
// the archives keep what is read of them.
func (r *request) outdated(records []incoming.Record, generation uint64) []uuid.UUID {
	r.heads.RLock()
	defer r.heads.RUnlock()
	seen := make(map[uuid.UUID]bool)
	var ids, block []uuid.UUID
	for i := range records {
		block = records[i].AppendMetrics(block[:0])
		for _, id := range block {
			if !seen[id] && !r.heads.IsCurrent(id, generation) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, model.CompareIDs)
	return ids
}
