package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrExhausted says that other requests hold the memory that this one asks for.
var ErrExhausted = errors.New("budget: the memory for requests is in use")

// A TooLargeError is an ErrExhausted of a request that needs more memory for a use than there ever is for one.
type TooLargeError struct {
	Use  Use
	Need int64 // at least
	Most int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("budget: a request needs %d bytes for %s, and may have %d at most", e.Need, useNames[e.Use],
		e.Most)
}

// Is makes a TooLargeError an ErrExhausted.
func (e *TooLargeError) Is(target error) bool { return target == ErrExhausted }

// Small is how much an Account may hold and still use the part that is reserved for small ones.
const Small = 1 << 20

// A Use says for which purpose memory is acquired.
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
	bodies  queue
	answers queue // of reservations
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
	return b.mostBodies()
}

// large is what large accounts may hold together, beside labels. Large accounts and labels leave an eighth. mu is held,
// as by mostBodies.
func (b *Budget) large() int64 { return min(b.limit-b.limit/4, b.limit-b.limit/8-b.used[Labels]) }

// mostBodies is what large accounts may hold for bodies, and mostAnswers what for answers.
func (b *Budget) mostBodies() int64  { return min(b.limit-b.limit/8*3, b.large()) }
func (b *Budget) mostLabels() int64  { return b.limit - b.limit/8 }
func (b *Budget) mostAnswers() int64 { return b.limit - b.limit/2 }

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
	budget   *Budget     // nil bounds nothing
	total    int64       // charged to the budget; with the following, guarded by the budget's mutex
	used     [uses]int64 // by use
	reserved int64       // for answers, charged where it exceeds what is used
	refused  int64       // for answers in all, by the last Acquire; 0 after Reserve
	part     *part       // acquires memory for answers from another Account; nil: is one of its own
}

func (a *Account) unbounded() bool { return a == nil || a.budget == nil }

// Acquire acquires memory, or fails at once with ErrExhausted.
func (a *Account) Acquire(use Use, bytes int64) error {
	if a.unbounded() || bytes <= 0 {
		return nil
	}
	if a.part != nil && use == Answers {
		return a.part.acquire(bytes)
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	more := a.chargeOf(use, bytes) - a.charge(use)
	// An answer that grows large stands behind waiting ones.
	overtakes := use == Answers && len(b.answers) > 0 && a.total <= Small && a.total+more > Small
	if more == 0 || !overtakes && b.fits(a, use, more) {
		b.add(a, use, bytes)
		return nil
	}
	b.refused[use].Inc()
	if use == Answers {
		a.refused = a.used[Answers] + bytes
	}
	return b.refusal(a, use, bytes)
}

// Release releases memory that was acquired for a use, as far as the Account holds any.
func (a *Account) Release(use Use, bytes int64) {
	if a.unbounded() {
		return
	}
	if a.part != nil && use == Answers {
		a.part.release(bytes, 2*partBytes)
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(a, use, -min(bytes, a.used[use]))
	b.grant()
}

// Held returns how much the Account holds for a use.
func (a *Account) Held(use Use) int64 {
	if a.unbounded() {
		return 0
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.used[use]
}

// MostAnswers returns how much the Account may ever hold for an answer, beside what else it holds.
func (a *Account) MostAnswers() int64 {
	if a.unbounded() {
		return math.MaxInt64
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.budget.mostAnswersOf(a)
}

// Close releases all memory.
func (a *Account) Close() { a.Keep(Answers, 0) }

// Keep releases all but so many bytes of a use.
func (a *Account) Keep(use Use, bytes int64) {
	if a.unbounded() {
		return
	}
	if a.part != nil {
		a.part.release(0, 0)
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.total == 0 {
		return
	}
	kept := min(bytes, a.used[use])
	b.reserve(a, 0)
	for use, bytes := range a.used {
		b.add(a, Use(use), -bytes)
	}
	b.add(a, use, kept)
	b.grant()
}

// fits reports whether an Account may acquire bytes. mu is held.
func (b *Budget) fits(a *Account, use Use, bytes int64) bool {
	if a.total+bytes <= Small {
		return b.total+bytes <= b.limit
	}
	others := b.total - b.used[Labels] // not labels
	switch use {
	case Labels:
		return b.total+bytes <= b.mostLabels()
	case Answers:
		return b.used[Answers]+bytes <= b.mostAnswers() && others+bytes <= b.large()
	}
	return others-b.used[Answers]+bytes <= b.mostBodies() && others+bytes <= b.large()
}

// mostAnswersOf is how much an Account may ever hold for an answer, beside what else it holds. mu is held.
func (b *Budget) mostAnswersOf(a *Account) int64 {
	most := min(b.mostAnswers(), b.large()-(a.total-a.charge(Answers)))
	return max(most, min(b.limit, Small))
}

// refusal is the error of bytes that an Account cannot acquire now: a TooLargeError if it never can. mu is held.
func (b *Budget) refusal(a *Account, use Use, bytes int64) error {
	switch use {
	case Labels:
		if own := a.total + bytes; own > b.mostLabels() {
			return &TooLargeError{use, own, b.mostLabels()}
		}
	case Measures, Documents:
		if own := a.total - a.charge(Answers) + bytes; own > max(b.mostBodies(), Small) {
			return &TooLargeError{use, own, b.mostBodies()}
		}
	case Answers:
		if own, most := a.used[Answers]+bytes, b.mostAnswersOf(a); own > most {
			return &TooLargeError{use, own, most}
		}
	}
	return ErrExhausted
}

// charge is what the budget is charged for an Account's use, and chargeOf what it will be with so many bytes more.
func (a *Account) charge(use Use) int64 { return a.chargeOf(use, 0) }

func (a *Account) chargeOf(use Use, more int64) int64 {
	if use == Answers {
		return max(a.used[use]+more, a.reserved)
	}
	return a.used[use] + more
}

// add adds bytes to the memory that an Account holds; they may be negative. mu is held.
func (b *Budget) add(a *Account, use Use, bytes int64) {
	before := a.charge(use)
	a.used[use] += bytes
	b.charge(a, use, a.charge(use)-before)
}

// charge notes that an Account is charged for more bytes. mu is held.
func (b *Budget) charge(a *Account, use Use, more int64) {
	a.total, b.total, b.used[use] = a.total+more, b.total+more, b.used[use]+more
}

// Context is a context that carries an Account.
type Context struct {
	context.Context
	Account
}

// Without returns a context in which memory is not bounded.
func Without(ctx context.Context) context.Context { return (*Budget)(nil).Context(ctx) }

// With returns a context that carries an Account, which the caller closes.
func (a *Account) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

type accountKey struct{}

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
