package claim

import (
	"context"
	"sync"
)

// Watchers wait to hear that something has changed. The zero value works.
type Watchers struct {
	mu       sync.Mutex
	channels map[chan struct{}]struct{}
}

// Watch returns a channel that gets a token at each Wake, one at a time, until ctx ends.
func (w *Watchers) Watch(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.channels == nil {
		w.channels = make(map[chan struct{}]struct{})
	}
	w.channels[c] = struct{}{}
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.channels, c)
	})
	return c
}

// Wake gives every watcher a token.
func (w *Watchers) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.channels {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
