package incoming

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Append stores the blocks of one request, ascending by sack and one for each, and returns once all of them are
// durable, and published. The caller may reuse the blocks as soon as it returns.
//
// On error none of them is acknowledged. After the end of ctx, ErrTimeout and ErrFailed they may be stored
// nevertheless: then all of them are.
func (s *Store) Append(ctx context.Context, blocks []Block) error {
	err := s.append(ctx, blocks)
	if err != nil {
		s.instruments.refused.WithLabelValues(refusal(err)).Inc()
		return fmt.Errorf("incoming: append: %w", err)
	}
	return nil
}

func (s *Store) append(ctx context.Context, blocks []Block) error {
	if len(blocks) == 0 {
		return nil
	}
	if err := s.failed(); err != nil {
		return err
	}
	timeout := time.NewTimer(s.options.Timeout)
	defer timeout.Stop()
	if err := s.space.check(ctx, timeout.C); err != nil {
		return err
	}
	r, err := newRequest(blocks, len(s.sacks))
	if err != nil {
		return err
	}
	if err := s.queue.push(r, s.options.QueueBytes); err != nil {
		return err
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timeout.C:
		err = ErrTimeout
	}
	r.taken.Swap(true) // if it was not, it is withdrawn
	return err
}

// refusal returns the label of an error's metric.
func refusal(err error) string {
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return r.reason
		}
	}
	return "invalid"
}

var refusals = []struct {
	err    error
	reason string
}{
	{ErrNoSpace, "no_space"},
	{ErrBusy, "busy"},
	{ErrTimeout, "timeout"},
	{context.DeadlineExceeded, "timeout"},
	{context.Canceled, "canceled"},
	{ErrClosed, "closed"},
	{ErrFailed, "failed"},
}
