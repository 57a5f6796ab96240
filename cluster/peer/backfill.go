package peer

import (
	"context"
	"errors"
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

// backfillAnswer is what the step did.
type backfillAnswer struct {
	model.Backfilled
	Invalid string `json:"invalid,omitempty"` // the reason of a model.BackfillError
}

func (p *Process) backfill(w http.ResponseWriter, r *http.Request) error {
	var request backfillRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	done, err := p.Sacks.Backfill(r.Context(), request.To, request.From, request.At)
	var invalid *model.BackfillError
	if errors.As(err, &invalid) {
		return writeJSON(w, backfillAnswer{Invalid: invalid.Reason})
	}
	if err != nil {
		return err
	}
	return writeJSON(w, backfillAnswer{Backfilled: done})
}

// Backfill moves groups of one metric into another one, at the process that holds their sack. It returns a
// model.BackfillError as that process does.
func (c *Client) Backfill(ctx context.Context, address string, to, from uuid.UUID, at carbonara.Timestamp) (
	model.Backfilled, error) {
	var answer backfillAnswer
	err := c.call(ctx, address, "backfill", backfillRequest{to, from, at}, &answer)
	if err == nil && answer.Invalid != "" {
		err = &model.BackfillError{Reason: answer.Invalid}
	}
	return answer.Backfilled, err
}
