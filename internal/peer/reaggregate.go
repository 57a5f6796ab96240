package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/uuid"

	"gnocco/model"
)

// reaggregateRequest names metrics whose sacks the process holds, and the archive policies that they have.
type reaggregateRequest struct {
	Version  version           `json:"version"` // of the index, as of which they have them
	Policies []policy          `json:"policies"`
	Metrics  []reaggregateItem `json:"metrics"`
}

type reaggregateItem struct {
	Metric uuid.UUID `json:"metric"`
	Policy int       `json:"policy"` // index into Policies
}

// reaggregateAnswer comes long after its header.
type reaggregateAnswer struct {
	Done      model.Reaggregated `json:"done"`
	Error     string             `json:"error,omitempty"`
	Elsewhere bool               `json:"elsewhere,omitempty"`
}

func (p *Process) reaggregate(w http.ResponseWriter, r *http.Request) error {
	var request reaggregateRequest
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
	_ = http.NewResponseController(w).Flush() // the header: who waits for it knows that we are at it
	var answer reaggregateAnswer
	if answer.Done, err = p.Archives.Reaggregate(r.Context(), metrics); err != nil {
		answer.Error, answer.Elsewhere = err.Error(), errors.Is(err, ErrElsewhere)
	}
	_ = json.NewEncoder(w).Encode(&answer) // an error means that who asked is gone
	return nil
}

// Reaggregate brings archives into the form of their policies, at the process that holds their sacks. epoch and generation are
// those of the index as of which the metrics have these policies.
func (c *Client) Reaggregate(ctx context.Context, address string, epoch, generation uint64, metrics []*model.Metric) (model.Reaggregated, error) {
	var numbers policies
	request := reaggregateRequest{Version: version{epoch, generation}}
	for _, m := range metrics {
		request.Metrics = append(request.Metrics, reaggregateItem{m.ID, numbers.of(m.ArchivePolicy)})
	}
	request.Policies = numbers.list
	var answer reaggregateAnswer
	err := c.post(ctx, address, "reaggregate", &request, func(body io.Reader) error { return json.NewDecoder(body).Decode(&answer) })
	if err == nil && answer.Error != "" {
		kind := ErrUnreachable
		if answer.Elsewhere {
			kind = ErrElsewhere
		}
		err = fmt.Errorf("peer: reaggregate at %s: %w: %s", address, kind, answer.Error)
	}
	return answer.Done, err
}
