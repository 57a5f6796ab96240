package budget

import (
	"context"
	"sync"
)

// partBytes is how much more than it needs a part acquires at once. It keeps twice that at most.
const partBytes = 16 << 10

// part is an Account's share of another one.
type part struct {
	of *Account

	mu   sync.Mutex
	free int64 // acquired for answers and not used
}

// Part returns a context for one of the goroutines that read for an answer. Its Account acquires memory for answers
// from that of ctx some at a time, so that they seldom wait for each other. Close ends it; memory that it did not
// release stays with ctx's Account.
func Part(ctx context.Context) *Context {
	c := &Context{Context: ctx}
	if of := Of(ctx); !of.unbounded() {
		c.Account.budget, c.Account.part = of.budget, &part{of: of}
	}
	return c
}

func (p *part) acquire(bytes int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if lack := bytes - p.free; lack > 0 {
		if p.of.Acquire(Answers, lack+partBytes) == nil {
			p.free += lack + partBytes
		} else if err := p.of.Acquire(Answers, lack); err != nil {
			return err
		} else {
			p.free += lack
		}
	}
	p.free -= bytes
	return nil
}

// release frees bytes; once more than most are free, all of these go back to the Account.
func (p *part) release(bytes, most int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free += bytes; p.free > most {
		p.of.Release(Answers, p.free)
		p.free = 0
	}
}
