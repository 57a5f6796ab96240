package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrExhausted says that other requests hold the memory that this one asks for.
var ErrExhausted = errors.New("budget: the memory for requests is in use")

// A TooLargeError is an ErrExhausted of a request that needs more memory for its body, and what that becomes, than
// there ever is for one.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("budget: a request may have %d bytes at most", e.Most)
}

// Is makes a TooLargeError an ErrExhausted.
func (e *TooLargeError) Is(target error) bool { return target == ErrExhausted }

// Small is how much an Account may hold and still use the part that is reserved for small ones.
const Small = 1 << 20

// A Use is what memory is taken for.
type Use int

// The uses of memory.
const (
	Measures  Use = iota // bodies of measures, and what they are decoded to, until that is durable
	Documents            // other bodies, as maps and lists
	Answers              // what is read for an answer, and its text
	Labels               // labels of series, which stay for later requests
	uses
)

var useNames = [uses]string{"measures", "documents", "answers", "labels"}

// A Budget is the memory that requests share. It is for many goroutines at once. nil bounds nothing.
type Budget struct {
	limit   int64
	refused [uses]prometheus.Counter

	mu      sync.Mutex
	total   int64
	used    [uses]int64
	waiting []*waiter // in the order of arrival
}

// waiter is an Account that waits for memory.
type waiter struct {
	account *Account
	use     Use
	bytes   int64
	granted chan struct{} // closed once it has it
}

// New returns a budget of that many bytes, with metrics in the registerer; nil for none.
func New(bytes int64, registerer prometheus.Registerer) *Budget {
	b := &Budget{limit: bytes}
	b.instrument(registerer)
	return b
}

// Limit returns how much there is in all.
func (b *Budget) Limit() int64 { return b.limit }

// LargestBody is how much one Account may hold of a body and what it becomes, with the labels that are kept now.
func (b *Budget) LargestBody() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bodies()
}

// large is what large accounts may hold together, beside labels. Large accounts and labels leave an eighth. mu is held,
// as by bodies and answers.
func (b *Budget) large() int64 { return min(b.limit-b.limit/4, b.limit-b.limit/8-b.used[Labels]) }

// bodies is what large accounts may hold for bodies, and answers what for answers.
func (b *Budget) bodies() int64  { return min(b.limit-b.limit/8*3, b.large()) }
func (b *Budget) answers() int64 { return b.limit - b.limit/2 }

// Account returns an Account that holds nothing. Its owner closes it.
func (b *Budget) Account() *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b}
}

// Context returns a context that carries an Account, which its owner closes.
func (b *Budget) Context(ctx context.Context) *Context {
	return &Context{Context: ctx, Account: Account{budget: b}}
}

// An Account is what one request holds of a Budget. It is for several goroutines at once. nil bounds nothing.
type Account struct {
	budget *Budget     // nil bounds nothing
	total  int64       // with the following, guarded by the budget's mutex
	used   [uses]int64 // by use
	part   *part       // takes memory for answers from another Account; nil: is one of its own
}

func (a *Account) unbounded() bool { return a == nil || a.budget == nil }

// Take takes memory, or fails at once with ErrExhausted.
func (a *Account) Take(use Use, bytes int64) error {
	if a.unbounded() || bytes <= 0 {
		return nil
	}
	if a.part != nil && use == Answers {
		return a.part.take(bytes)
	}
	b := a.budget
	b.mu.Lock()
	ok := b.fits(a, use, bytes)
	if ok {
		b.take(a, use, bytes)
	}
	err := b.refusal(a, use, bytes)
	b.mu.Unlock()
	if !ok {
		b.refused[use].Inc()
		return err
	}
	return nil
}

// Await takes memory, and waits for it up to patience, in the order of arrival. What will fit at no time fails at once.
func (a *Account) Await(ctx context.Context, use Use, bytes int64, patience time.Duration) error {
	if a.unbounded() || bytes <= 0 {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	first := len(b.waiting) == 0 || a.total+bytes <= Small
	if first && b.fits(a, use, bytes) {
		b.take(a, use, bytes)
		b.mu.Unlock()
		return nil
	}
	if err := b.refusal(a, use, bytes); err != ErrExhausted || bytes > b.bodies() {
		b.mu.Unlock()
		b.refused[use].Inc()
		return err
	}
	w := &waiter{account: a, use: use, bytes: bytes, granted: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.waiting {
		if b.waiting[i] == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.grant() // those behind may ask for less
			b.refused[use].Inc()
			return ErrExhausted
		}
	}
	return nil // granted meanwhile
}

// Give gives back memory that was taken for a use, as far as the Account holds any.
func (a *Account) Give(use Use, bytes int64) {
	if a.unbounded() {
		return
	}
	if a.part != nil && use == Answers {
		a.part.give(bytes, 2*partBytes)
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	bytes = min(bytes, a.used[use])
	a.total, a.used[use] = a.total-bytes, a.used[use]-bytes
	b.total, b.used[use] = b.total-bytes, b.used[use]-bytes
	b.grant()
}

// Close gives all back.
func (a *Account) Close() { a.Keep(Answers, 0) }

// Keep gives back all but so many bytes of a use.
func (a *Account) Keep(use Use, bytes int64) {
	if a.unbounded() {
		return
	}
	if a.part != nil {
		a.part.give(0, 0)
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.total == 0 {
		return
	}
	kept := min(bytes, a.used[use])
	for use, bytes := range a.used {
		b.used[use] -= bytes
	}
	b.total -= a.total
	a.total, a.used = 0, [uses]int64{}
	b.take(a, use, kept)
	b.grant()
}

// fits reports whether an Account may take bytes. mu is held.
func (b *Budget) fits(a *Account, use Use, bytes int64) bool {
	if a.total+bytes <= Small {
		return b.total+bytes <= b.limit
	}
	others := b.total - b.used[Labels] // not labels
	switch use {
	case Labels:
		return b.total+bytes <= b.limit-b.limit/8
	case Answers:
		return b.used[Answers]+bytes <= b.answers() && others+bytes <= b.large()
	}
	return others-b.used[Answers]+bytes <= b.bodies() && others+bytes <= b.large()
}

// refusal is the error of bytes that an Account cannot take now: a TooLargeError if it never can. mu is held.
func (b *Budget) refusal(a *Account, use Use, bytes int64) error {
	if own := a.total - a.used[Answers] + bytes; use < Answers && own > max(b.bodies(), Small) {
		return &TooLargeError{b.bodies()}
	}
	return ErrExhausted
}

// take gives bytes to an Account. mu is held.
func (b *Budget) take(a *Account, use Use, bytes int64) {
	a.total, a.used[use] = a.total+bytes, a.used[use]+bytes
	b.total, b.used[use] = b.total+bytes, b.used[use]+bytes
}

// grant serves those who wait, as far as there is room. mu is held.
func (b *Budget) grant() {
	for len(b.waiting) > 0 && b.fits(b.waiting[0].account, b.waiting[0].use, b.waiting[0].bytes) {
		w := b.waiting[0]
		b.take(w.account, w.use, w.bytes)
		close(w.granted)
		b.waiting[0] = nil
		b.waiting = b.waiting[1:]
	}
}

// Context is a context that carries an Account.
type Context struct {
	context.Context
	Account
}

// Without returns a context in which memory is not bounded.
func Without(ctx context.Context) context.Context { return (*Budget)(nil).Context(ctx) }

type accountKey struct{}

// Value implements context.Context.
func (c *Context) Value(key any) any {
	if key == (accountKey{}) {
		return &c.Account
	}
	return c.Context.Value(key)
}

// Of returns the Account that a context carries, nil for none.
func Of(ctx context.Context) *Account {
	a, _ := ctx.Value(accountKey{}).(*Account)
	return a
}
