package peer

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/model"
)

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
