package peer

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// backfillRequest is one step of a backfill of a metric whose sack the process holds.
type backfillRequest struct {
	To   uuid.UUID           `json:"to"`
	From uuid.UUID           `json:"from"`
	At   carbonara.Timestamp `json:"at"`
}

func (p *Process) backfill(w http.ResponseWriter, r *http.Request) error {
	var request backfillRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	done, err := p.Sacks.Backfill(r.Context(), request.To, request.From, request.At)
	if err != nil {
		return err
	}
	return writeJSON(w, done)
}

// Backfill moves groups of one metric into another one, at the process that holds their sack.
func (c *Client) Backfill(ctx context.Context, address string, to, from uuid.UUID, at carbonara.Timestamp) (
	done model.Backfilled, err error) {
	return done, c.call(ctx, address, "backfill", backfillRequest{to, from, at}, &done)
}
