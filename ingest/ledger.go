package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// ledgerTimeout bounds the wait for the index after a change.
const ledgerTimeout = 10 * time.Second

// WriteDown changes archives with an entry in the ledger, to which it gives an ID: before, so that nothing is changed
// without an entry, and after.
func WriteDown(ctx context.Context, store *index.Store, e *model.LedgerEntry,
	change func() (model.Replaced, error)) (err error) {
	if e.ID, err = uuid.NewV7(); err == nil {
		err = store.PutLedger(ctx, e)
	}
	if err != nil {
		return err
	}
	e.Done, err = change()
	if e.State = model.LedgerDone; err != nil {
		e.State = model.LedgerFailed
	}
	// The client may be gone. The entry is completed in any case.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	return errors.Join(err, store.PutLedger(ctx, e))
}
