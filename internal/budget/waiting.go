package budget

import (
	"context"
	"slices"
	"time"
)

// queue is who waits for memory, in the order of arrival.
type queue []*waiter

// waiter is an Account that waits for memory.
type waiter struct {
	account *Account
	use     Use
	bytes   int64         // of answers: to be reserved; else to be acquired
	granted chan struct{} // closed once it has it
}

// Await acquires memory for a body or labels. It waits up to patience, in the order of arrival. A body that never
// fits fails at once.
func (a *Account) Await(ctx context.Context, use Use, bytes int64, patience time.Duration) error {
	if a.unbounded() || bytes <= 0 {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	first := len(b.bodies) == 0 || a.total+bytes <= Small
	if first && b.fits(a, use, bytes) {
		b.add(a, use, bytes)
		b.mu.Unlock()
		return nil
	}
	if err := b.refusal(a, use, bytes); err != ErrExhausted || bytes > b.mostBodies() {
		b.mu.Unlock()
		b.refused[use].Inc()
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return b.wait(ctx, &b.bodies, &waiter{account: a, use: use, bytes: bytes})
}

// AwaitRefused waits, in the order of arrival, for twice the memory that the Account's last Take for an answer would
// have come to. It reserves that until Close or Unreserve. The answer is then read once more, from its beginning.
// AwaitRefused releases the Account's memory for it, so that waiting answers hold no memory that others wait for. It
// fails at once with ErrExhausted if no Take was refused.
func (a *Account) AwaitRefused(ctx context.Context) error {
	if a.unbounded() {
		return ErrExhausted
	}
	b := a.budget
	b.mu.Lock()
	if a.refused == 0 {
		b.mu.Unlock()
		return ErrExhausted
	}
	b.reserve(a, 0)
	b.add(a, Answers, -a.used[Answers])
	bytes := min(2*a.refused, b.mostAnswersOf(a))
	a.refused = 0
	return b.wait(ctx, &b.answers, &waiter{account: a, use: Answers, bytes: bytes})
}

// Unreserve releases the unused part of a reservation.
func (a *Account) Unreserve() {
	if a.unbounded() {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	if a.reserved > 0 {
		a.budget.reserve(a, 0)
		a.budget.grant()
	}
}

// wait puts w into a queue and waits until it is granted. mu is held, and released.
func (b *Budget) wait(ctx context.Context, q *queue, w *waiter) error {
	w.granted = make(chan struct{})
	*q = append(*q, w)
	b.grant() // also what the caller gave back
	b.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(*q, w)
	if i < 0 {
		return nil // granted meanwhile
	}
	*q = slices.Delete(*q, i, i+1)
	b.grant() // those behind may ask for less
	b.refused[w.use].Inc()
	return ErrExhausted
}

// grant serves those who wait, as far as there is room. Bodies and answers do not wait for each other. mu is held.
func (b *Budget) grant() {
	for _, q := range []*queue{&b.bodies, &b.answers} {
		for len(*q) > 0 && b.fits((*q)[0].account, (*q)[0].use, (*q)[0].bytes) {
			w := (*q)[0]
			if w.use == Answers {
				b.reserve(w.account, w.bytes)
			} else {
				b.add(w.account, w.use, w.bytes)
			}
			close(w.granted)
			*q = slices.Delete(*q, 0, 1)
		}
	}
}

// reserve sets what is reserved for an Account's answer. mu is held.
func (b *Budget) reserve(a *Account, bytes int64) {
	before := a.charge(Answers)
	a.reserved = bytes
	b.charge(a, Answers, a.charge(Answers)-before)
}
