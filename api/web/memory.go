package web

import (
	"context"
	"errors"
	"time"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// A Factor is what a body takes at most until its request ends, as a multiple of its size.
type Factor float64

const (
	// the body and its measures as columns; then, without a large body, the columns and their blocks
	MeasuresFactor Factor = 2
	documentFactor Factor = 25 // a list of empty objects: 64 bytes for each three
	PlainFactor    Factor = 1  // the body alone
)

// MeasureBytes is what a decoded measure takes until it is durable: its columns, and three copies of its block.
const MeasureBytes = 16 + 18 + 10 + 10

// memoryPatience is how long a request waits for the memory that its body needs.
const memoryPatience = 5 * time.Second

// bodyLimit is the size of the largest body that memory is ever had for, and limit at most.
func (e *Env) bodyLimit(limit int64, factor Factor) int64 {
	if e.Budget == nil {
		return limit
	}
	return min(limit, int64(float64(e.Budget.LargestBody())/float64(factor)))
}

// bodyMemory acquires memory for a body while it is read.
type bodyMemory struct {
	account *budget.Account
	use     budget.Use
	factor  Factor
	taken   int64
}

// Of returns what a body of that many bytes takes.
func (f Factor) Of(bytes int64) int64 { return int64(float64(f) * float64(bytes)) }

// cover waits until memory is acquired for a body of that many bytes.
func (m *bodyMemory) cover(ctx context.Context, bytes int64) error {
	more := m.factor.Of(bytes) - m.taken
	if m.account == nil || more <= 0 {
		return nil
	}
	m.taken += more
	return m.account.Await(ctx, m.use, more, memoryPatience)
}

// settle gives back what a body of that many bytes does not need.
func (m *bodyMemory) settle(bytes int64) { m.account.Release(m.use, m.taken-m.factor.Of(bytes)) }

// Patiently reads an answer by read, and once more from its beginning where other requests held memory that it needed,
// after they have given back so much. It waits until ctx ends. The beginning of the answer releases its reservation.
func (e *Env) Patiently(ctx context.Context, read func() error) error {
	account := budget.Of(ctx)
	for {
		err := read()
		if !errors.Is(err, budget.ErrExhausted) || errors.As(err, new(*budget.TooLargeError)) ||
			errors.Is(err, text.ErrSent) || account.AwaitRefused(ctx) != nil {
			return err
		}
	}
}

// AcquireFor returns a function that acquires memory for a use from a request's account; nil without an account.
func AcquireFor(ctx context.Context, use budget.Use) func(bytes int) error {
	account := budget.Of(ctx)
	if account == nil {
		return nil
	}
	return func(bytes int) error { return account.Acquire(use, int64(bytes)) }
}
