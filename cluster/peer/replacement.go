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
