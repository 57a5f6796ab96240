package auth

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"
)

// failedLogins delays password guessing per address: a number of wrong passwords is free, and each further one makes
// the address wait. An address uses a part of the processors only, so that others can log in meanwhile. The wait is the
// only lockout. It applies to the address, never to the user, so one address cannot lock out another.
type failedLogins struct {
	now func() time.Time

	mu        sync.Mutex
	addresses map[netip.Prefix]*loginAddress
}

// loginAddress is an address that checks passwords, or did of late, with one wrong at least.
type loginAddress struct {
	turns   chan struct{}
	inHand  int       // checks that wait or run
	settled time.Time // when nothing of its wrong passwords counts any more
}

const (
	freeFailures    = 10              // wrong passwords without a wait
	failureInterval = 2 * time.Second // between wrong passwords from then on
	maxInHand       = 100             // checks of an address, waiting or not
	// maxAddresses bounds memory. Each stays for some 20 s, and a core checks 20 passwords a second: this many are not
	// reached but by a very large machine, which then forgets the first it finds.
	maxAddresses = 10_000
)

// TooManyLoginsError says that an address has to wait before a password of its is checked.
type TooManyLoginsError struct{ RetryAfter time.Duration }

func (e *TooManyLoginsError) Error() string {
	return fmt.Sprintf("auth: too many wrong passwords from this address; the next is checked in %s", e.RetryAfter)
}

// enter waits until a password from an address may be checked, and returns what to call after that.
func (f *failedLogins) enter(ctx context.Context, from netip.Prefix) (leave func(failed bool), err error) {
	a, wait := f.open(from)
	if wait > 0 {
		return nil, &TooManyLoginsError{wait}
	}
	select {
	case a.turns <- struct{}{}:
	case <-ctx.Done():
		f.close(from, a, false)
		return nil, ctx.Err()
	}
	leave = func(failed bool) {
		<-a.turns
		f.close(from, a, failed)
	}
	f.mu.Lock()
	wait = f.wait(a) // those before it may have failed
	f.mu.Unlock()
	if wait > 0 {
		leave(false)
		return nil, &TooManyLoginsError{wait}
	}
	return leave, nil
}

// open counts a check in hand, unless the address has to wait.
func (f *failedLogins) open(from netip.Prefix) (a *loginAddress, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a = f.addresses[from]; a == nil {
		f.makeRoom()
		a = &loginAddress{turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
		f.addresses[from] = a
	}
	if wait = f.wait(a); wait == 0 && a.inHand >= maxInHand {
		wait = failureInterval
	}
	if wait == 0 {
		a.inHand++
	}
	return a, wait
}

// wait is how long an address has to wait. The caller holds mu.
func (f *failedLogins) wait(a *loginAddress) time.Duration {
	return max(0, max(0, a.settled.Sub(f.now()))-(freeFailures-1)*failureInterval)
}

func (f *failedLogins) close(from netip.Prefix, a *loginAddress, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.inHand--
	now := f.now()
	if failed {
		a.settled = later(a.settled, now).Add(failureInterval)
	}
	if a.inHand == 0 && !a.settled.After(now) && f.addresses[from] == a {
		delete(f.addresses, from)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// makeRoom drops addresses when there are too many: those that count for nothing, then any. The caller holds mu.
func (f *failedLogins) makeRoom() {
	if len(f.addresses) < maxAddresses {
		return
	}
	now := f.now()
	maps.DeleteFunc(f.addresses, func(_ netip.Prefix, a *loginAddress) bool {
		return a.inHand == 0 && !a.settled.After(now)
	})
	for from, a := range f.addresses {
		if len(f.addresses) < maxAddresses*9/10 { // so that not each new one looks at all
			break
		}
		if a.inHand == 0 {
			delete(f.addresses, from)
		}
	}
}

// clientAddress returns who sent r: the connection's other end or, if proxies are believed, whom the nearest of them
// names, last. An IPv6 address stands for its /64, which one machine has.
func clientAddress(r *http.Request, proxyHeaders bool) netip.Prefix {
	text := r.RemoteAddr
	if proxyHeaders {
		if forwarded := lastOf(r.Header.Values("X-Forwarded-For")); forwarded != "" {
			text = forwarded
		}
		for pair := range strings.SplitSeq(lastOf(r.Header.Values("Forwarded")), ";") {
			if key, value, ok := strings.Cut(pair, "="); ok && strings.EqualFold(strings.TrimSpace(key), "for") {
				text = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
	}
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Prefix{} // unknown: all such are one
	}
	bits := 64
	if address = address.Unmap().WithZone(""); address.Is4() {
		bits = 32
	}
	prefix, _ := address.Prefix(bits)
	return prefix
}

// lastOf returns the last item of a header's comma-separated lists.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}
