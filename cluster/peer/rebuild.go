package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// rebuildRequest names metrics whose sacks the process holds, and the archive policies that they have.
type rebuildRequest struct {
	Version  version       `json:"version"` // of the index: the policies are as of it
	Policies []policy      `json:"policies"`
	Metrics  []rebuildItem `json:"metrics"`
}

type rebuildItem struct {
	Metric uuid.UUID `json:"metric"`
	Policy int       `json:"policy"` // index into Policies
}

// rebuildAnswer comes long after its header.
type rebuildAnswer struct {
	Done      model.RebuildCounts `json:"done"`
	Error     string              `json:"error,omitempty"`
	Elsewhere bool                `json:"elsewhere,omitempty"`
}

func (p *Process) rebuild(w http.ResponseWriter, r *http.Request) error {
	var request rebuildRequest
	if err := p.readForArchives(r, &request); err != nil {
		return err
	}
	policies, err := modelsOf(request.Policies)
	if err != nil {
		return err
	}
	metrics := make([]*model.Metric, len(request.Metrics))
	for i, m := range request.Metrics {
		if m.Policy < 0 || m.Policy >= len(policies) {
			return model.ErrInvalid
		}
		metrics[i] = &model.Metric{ID: m.Metric, ArchivePolicy: policies[m.Policy]}
	}
	p.Sees(request.Version.Epoch, request.Version.Generation)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // the header tells the caller that the work has begun
	var answer rebuildAnswer
	if answer.Done, err = p.Sacks.Rebuild(r.Context(), metrics); err != nil {
		answer.Error, answer.Elsewhere = err.Error(), errors.Is(err, ErrElsewhere)
	}
	_ = json.NewEncoder(w).Encode(&answer) // an error means that the caller is gone
	return nil
}

// Rebuild gives archives the schema of their policies, at the process that holds their sacks. The policies of
// metrics are as of this epoch and generation of the index.
func (c *Client) Rebuild(ctx context.Context, address string, epoch, generation uint64, metrics []*model.Metric) (
	model.RebuildCounts, error) {
	var numbers policies
	request := rebuildRequest{Version: version{epoch, generation}}
	for _, m := range metrics {
		request.Metrics = append(request.Metrics, rebuildItem{m.ID, numbers.of(m.ArchivePolicy)})
	}
	request.Policies = numbers.list
	var answer rebuildAnswer
	err := c.call(ctx, address, "rebuild", &request, &answer)
	if err == nil && answer.Error != "" {
		kind := ErrUnreachable
		if answer.Elsewhere {
			kind = ErrElsewhere
		}
		err = fmt.Errorf("peer: rebuild at %s: %w: %s", address, kind, answer.Error)
	}
	return answer.Done, err
}
