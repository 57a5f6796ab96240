package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gnocco/internal/pause"
	"gnocco/model"
	"gnocco/storage/claim"
)

const (
	// holderFor is how long the answer to who holds a store is believed without a look at the disk. Who does not hold it any
	// more says so when asked.
	holderFor = time.Second
	// holderWait is how long a request waits for a store that nobody holds just now: it is being handed over, most likely.
	holderWait = 2 * time.Second
	holderLook = 20 * time.Millisecond
)

// holders knows which process to ask for what this one does not hold.
type holders struct {
	session claim.Session

	mu    sync.Mutex
	known map[string]knownHolder
}

type knownHolder struct {
	claim.Holder
	at time.Time
}

// address returns where the holder of a store is reached. The error is a model.ErrUnavailable if nobody has it.
func (h *holders) address(ctx context.Context, name string) (string, error) {
	h.mu.Lock()
	known, ok := h.known[name]
	h.mu.Unlock()
	if !ok || time.Since(known.at) > holderFor {
		holder, err := h.session.Holder(ctx, name)
		if err != nil {
			return "", fmt.Errorf("%w: %w", model.ErrUnavailable, err)
		}
		known = knownHolder{holder, time.Now()}
		if holder.Live() {
			h.mu.Lock()
			h.known[name] = known
			h.mu.Unlock()
		}
	}
	if !known.Live() {
		return "", fmt.Errorf("%w: nobody holds %s", model.ErrUnavailable, name)
	}
	return known.Member.Address, nil
}

// await is address for a request, which may wait a little.
func (h *holders) await(ctx context.Context, name string) (string, error) {
	deadline := time.Now().Add(holderWait)
	for look := holderLook; ; look = min(2*look, holderWait/8) {
		address, err := h.address(ctx, name)
		if err == nil || time.Now().After(deadline) {
			return address, err
		}
		if err := pause.For(ctx, look); err != nil {
			return "", err
		}
	}
}

// forget makes the next request look again.
func (h *holders) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, name)
}

// forgetAll makes all requests look again.
func (h *holders) forgetAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.known)
}
