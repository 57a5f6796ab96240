package peer

import (
	"context"
	"errors"

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

func (p *Process) backfill(ctx context.Context, request *backfillRequest) (backfillAnswer, error) {
	done, err := p.Sacks.Backfill(ctx, request.To, request.From, request.At)
	if invalid, ok := errors.AsType[*model.BackfillError](err); ok {
		return backfillAnswer{Invalid: invalid.Reason}, nil
	}
	return backfillAnswer{Backfilled: done}, err
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

// contentAnswer is a part of a metric's content, or what became of one.
type contentAnswer struct {
	model.Content
	Invalid string `json:"invalid,omitempty"` // the reason of a model.BackfillError
}

func (p *Process) content(ctx context.Context, request *model.ContentRequest) (contentAnswer, error) {
	c, err := p.Sacks.Content(ctx, request)
	if invalid, ok := errors.AsType[*model.BackfillError](err); ok {
		return contentAnswer{Invalid: invalid.Reason}, nil
	}
	return contentAnswer{Content: c}, err
}

// Content asks the process that holds a metric's sack for a part of its content, or to put one. It returns a
// model.BackfillError as that process does.
func (c *Client) Content(ctx context.Context, address string, r *model.ContentRequest) (model.Content, error) {
	var answer contentAnswer
	err := c.call(ctx, address, "content", r, &answer)
	if err == nil && answer.Invalid != "" {
		err = &model.BackfillError{Reason: answer.Invalid}
	}
	return answer.Content, err
}
