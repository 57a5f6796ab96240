package index

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// ledgerFields are the fields of an entry in the order of its value, a JSON list, which is shorter than an object. The
// range has its start and its length, and the ID has the time.
func ledgerFields(e *model.LedgerEntry, length *carbonara.Timestamp) []any {
	return []any{&e.Who, &e.Correction, &e.Selector, &e.From, length, &e.Reason, (*int)(&e.State),
		&e.Done.Metrics, &e.Done.Before, &e.Done.After, &e.Done.Measures, &e.Done.Bytes, &e.Done.LostGroups,
		&e.Done.Failed, &e.Metrics}
}

// PutLedger keeps an entry, which replaces one of the same ID. It is durable when PutLedger returns.
func (s *documents) PutLedger(ctx context.Context, e *model.LedgerEntry) error {
	return s.put(ctx, keyspace.Ledger, map[string]any{string(e.ID[:]): ledgerFields(e, new(e.To-e.From))})
}

// Ledger calls f with the entries after one (zero: all), the earliest first, until f returns false.
func (s *documents) Ledger(ctx context.Context, after uuid.UUID, f func(*model.LedgerEntry) bool) error {
	return each(ctx, s.log, keyspace.Ledger, after, func(key []byte, list *[]json.RawMessage) bool {
		id, _ := keyspace.LastID(key)
		e := &model.LedgerEntry{ID: id}
		var length carbonara.Timestamp
		fields := ledgerFields(e, &length)
		for i, field := range fields[:min(len(*list), len(fields))] {
			if err := json.Unmarshal((*list)[i], field); err != nil {
				s.log.SkipCorrupt(fmt.Errorf("ledger %s: %w: %w", id, records.ErrCorrupt, err))
				return true
			}
		}
		e.To, e.At = e.From+length, time.Unix(id.Time().UnixTime()).UTC()
		return f(e)
	})
}
