package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

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

// replacementRequest replaces measures of metrics whose sacks the process holds.
type replacementRequest struct {
	Metrics []uuid.UUID       `json:"metrics"`
	What    model.Replacement `json:"what"`
	With    []byte            `json:"with,omitempty"` // 16 bytes a measure: timestamp, value, big endian
}

// replacementAnswer is what was done.
type replacementAnswer struct {
	model.Replaced
	Invalid string `json:"invalid,omitempty"` // the reason of a model.ReplacementError
}

func (p *Process) replace(ctx context.Context, request *replacementRequest) (replacementAnswer, error) {
	what := &request.What
	for with := request.With; len(with) >= 16; with = with[16:] {
		what.Timestamps = append(what.Timestamps, carbonara.Timestamp(binary.BigEndian.Uint64(with)))
		what.Values = append(what.Values, math.Float64frombits(binary.BigEndian.Uint64(with[8:])))
	}
	if len(request.Metrics) == 0 {
		return replacementAnswer{}, nil
	}
	done, err := p.Sacks.Replace(ctx, request.Metrics, what)
	if invalid, ok := errors.AsType[*model.ReplacementError](err); ok {
		return replacementAnswer{Invalid: invalid.Reason}, nil
	}
	return replacementAnswer{Replaced: done}, err
}

// Replace replaces measures of metrics at the process that holds their sacks. It returns a model.ReplacementError as
// that process does.
func (c *Client) Replace(ctx context.Context, address string, metrics []uuid.UUID, r *model.Replacement) (
	model.Replaced, error) {
	request := replacementRequest{Metrics: metrics, What: *r}
	for i, at := range r.Timestamps {
		request.With = binary.BigEndian.AppendUint64(request.With, uint64(at))
		request.With = binary.BigEndian.AppendUint64(request.With, math.Float64bits(r.Values[i]))
	}
	var answer replacementAnswer
	err := c.call(ctx, address, "replace", &request, &answer)
	if err == nil && answer.Invalid != "" {
		err = &model.ReplacementError{Reason: answer.Invalid}
	}
	return answer.Replaced, err
}
