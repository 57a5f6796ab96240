package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Pulse is what a process says of its own heartbeat.
type Pulse struct {
	Member string `json:"member"` // its ID: another process may have come to have its address
	claim.Pulse
}

// ShowNames makes a process rename the names that others compare, and returns their round.
func (c *Client) ShowNames(ctx context.Context, address string) (round uint64, err error) {
	err = c.post(ctx, address, "show-names", struct{}{}, func(body io.Reader) error {
		return json.NewDecoder(body).Decode(&round)
	})
	return round, err
}

// Pulse asks a process for its pulse.
func (c *Client) Pulse(ctx context.Context, address string) (pulse Pulse, err error) {
	err = c.askSilent(ctx, address, "pulse", &pulse)
	return pulse, err
}

// Clock asks a process what its clock says, in nanoseconds.
func (c *Client) Clock(ctx context.Context, address string) (now int64, err error) {
	err = c.askSilent(ctx, address, "clock", &now)
	return now, err
}

// askSilent asks a process even if it is silent to others.
func (c *Client) askSilent(ctx context.Context, address, what string, into any) error {
	answer, err := c.send(ctx, address, what, struct{}{})
	if err != nil {
		return fmt.Errorf("peer: %s at %s: %w: %w", what, address, ErrUnreachable, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("peer: %s at %s: %w: %s", what, address, ErrUnreachable, answer.Status)
	}
	err = json.NewDecoder(answer.Body).Decode(into)
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return err
}
