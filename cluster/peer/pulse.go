package peer

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Pulse is what a process says of its own heartbeat.
type Pulse struct {
	Member string `json:"member"` // its ID: another process may have come to have its address
	claim.Pulse
}

// ShowNames makes a process rename the names that others compare, and returns their round.
func (c *Client) ShowNames(ctx context.Context, address string) (round uint64, err error) {
	err = c.call(ctx, address, "show-names", none{}, &round)
	return round, err
}

// Pulse asks a process for its pulse.
func (c *Client) Pulse(ctx context.Context, address string) (pulse Pulse, err error) {
	err = c.exchange(ctx, address, "pulse", none{}, decoding(&pulse)) // even if it is silent to others
	return pulse, err
}

// clockRequest asks for another clock's reading.
type clockRequest struct {
	Own uuid.UUID `json:"own"` // the asking process's clock
}

// Clock asks a process what its clock says, in nanoseconds. One that has the same clock as own refuses: it has jumped
// with it. A dead process's address may even be our own by now.
func (c *Client) Clock(ctx context.Context, address string, own uuid.UUID) (now int64, err error) {
	err = c.exchange(ctx, address, "clock", clockRequest{own}, decoding(&now)) // as Pulse does
	return now, err
}
