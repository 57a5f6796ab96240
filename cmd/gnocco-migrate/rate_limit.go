package main

import (
	"context"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// rateLimit lets so many requests go in a second.
type rateLimit struct {
	mu    sync.Mutex
	every time.Duration // 0: no limit
	next  time.Time
}

func newRateLimit(perSecond float64) *rateLimit {
	l := new(rateLimit)
	if perSecond > 0 {
		l.every = time.Duration(float64(time.Second) / perSecond)
	}
	return l
}

func (l *rateLimit) wait(ctx context.Context) error {
	if l.every == 0 {
		return ctx.Err()
	}
	l.mu.Lock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	at := l.next
	l.next = at.Add(l.every)
	l.mu.Unlock()
	return pause.For(ctx, at.Sub(now))
}
