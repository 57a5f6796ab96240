package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// ErrSilent says that a process takes requests and answers none: it hangs, or the way to it is cut. It is an
// ErrUnreachable.
var ErrSilent = fmt.Errorf("%w: it is silent", ErrUnreachable)

const (
	// pingAfter is how long a request waits before its process is pinged: most are answered long before.
	pingAfter = 250 * time.Millisecond
	// pingTimeout is how long a process has to answer a ping, which takes nothing but a turn on a processor.
	pingTimeout  = time.Second
	pingInterval = 250 * time.Millisecond
	// silentFor is how long a silent process is pinged after the last request for it.
	silentFor = time.Minute
)

// pings tell processes that hang from those that take long: a stopped process still has its port, and its kernel takes
// requests for it. While a request waits, its process is pinged. Once a ping is not answered in time, all requests to
// the process fail with ErrSilent, those under way and later ones, until a ping is answered.
type pings struct {
	send func(ctx context.Context, address string) error

	ctx   context.Context // of the loops
	stop  context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	targets map[string]*target // by address; those with requests under way, and silent ones
}

// target is a process that is asked.
type target struct {
	waiting map[*waiting]bool
	pinging bool // a loop does
	silent  bool
	asked   time.Time // when a request was last refused
}

// waiting is a request under way.
type waiting struct {
	cancel context.CancelCauseFunc
	long   bool // it waits for longer than pingAfter
}

func newPings(send func(ctx context.Context, address string) error) *pings {
	p := &pings{send: send, targets: make(map[string]*target)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

func (p *pings) close() {
	p.stop()
	p.loops.Wait()
}

// watch returns a context for a request, which ends with ErrSilent once the process is silent. The caller calls done
// when it has the whole answer. A request that is idle by design, as it waits for something to happen, causes no pings.
func (p *pings) watch(ctx context.Context, address string, idle bool) (
	watched context.Context, done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[address]
	if t == nil {
		t = &target{waiting: make(map[*waiting]bool)}
		p.targets[address] = t
	}
	if t.silent {
		t.asked = time.Now()
		return nil, nil, ErrSilent
	}
	w := &waiting{}
	watched, w.cancel = context.WithCancelCause(ctx)
	t.waiting[w] = true
	stop := func() bool { return true }
	if !idle {
		stop = time.AfterFunc(pingAfter, func() { p.ping(address, t, w) }).Stop
	}
	return watched, func() {
		stop()
		w.cancel(nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(t.waiting, w)
		p.forget(address, t)
	}, nil
}

// forget drops a target that is of no more use. mu is held.
func (p *pings) forget(address string, t *target) {
	if len(t.waiting) == 0 && !t.pinging {
		delete(p.targets, address)
	}
}

// ping starts to ping the process of a request that waits for long.
func (p *pings) ping(address string, t *target, w *waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !t.waiting[w] || p.ctx.Err() != nil {
		return
	}
	w.long = true
	if !t.pinging {
		t.pinging = true
		p.loops.Go(func() { p.loop(address, t) })
	}
}

// loop pings a process for as long as somebody wants to know.
func (p *pings) loop(address string, t *target) {
	for {
		ctx, cancel := context.WithTimeout(p.ctx, pingTimeout)
		err := p.send(ctx, address)
		cancel()
		if p.note(address, t, err) || pause.For(p.ctx, pingInterval) != nil {
			return
		}
	}
}

// note notes what came of a ping, and reports whether it was the last.
func (p *pings) note(address string, t *target, err error) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	silent := isTimeout(err)
	if silent && !t.silent {
		t.asked = time.Now()
	}
	t.silent = silent
	wanted := silent && time.Since(t.asked) < silentFor
	for w := range t.waiting {
		if silent {
			w.cancel(ErrSilent)
		}
		wanted = wanted || w.long
	}
	if !wanted {
		t.pinging, t.silent = false, false
		p.forget(address, t)
	}
	return !wanted
}

// isTimeout reports whether a process did not answer in time. Other errors say nothing: a process that is about to end
// takes no more pings, and finishes the requests in hand.
func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}
