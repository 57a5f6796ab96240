package incoming

import "sync"

// queue holds what the committer has yet to do. It is what Append and Acknowledge share with it.
type queue struct {
	wake chan struct{} // capacity 1: there is something to do

	mu           sync.Mutex
	requests     []*request
	bytes        int // of requests
	acknowledged map[int]uint64
	closed       bool
}

// push adds a request unless more than maxBytes wait.
func (q *queue) push(r *request, maxBytes int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case q.bytes > 0 && q.bytes+r.bytes > maxBytes:
		return ErrBusy
	}
	q.requests = append(q.requests, r)
	q.bytes += r.bytes
	q.signal()
	return nil
}

// acknowledge notes that the records of a sack may be deleted up to a sequence.
func (q *queue) acknowledge(sack int, upTo uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if q.acknowledged == nil {
		q.acknowledged = make(map[int]uint64)
	}
	q.acknowledged[sack] = max(upTo, q.acknowledged[sack])
	q.signal()
	return nil
}

// next moves the oldest requests, up to maxBytes and at least one, to group, and returns what may be deleted.
// closed says that there is nothing left and nothing will come.
func (q *queue) next(group []*request, maxBytes int) (_ []*request, acknowledged map[int]uint64, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.requests) && (n == 0 || bytes+q.requests[n].bytes <= maxBytes) {
		bytes += q.requests[n].bytes
		n++
	}
	group = append(group, q.requests[:n]...)
	rest := copy(q.requests, q.requests[n:])
	clear(q.requests[rest:])
	q.requests = q.requests[:rest]
	q.bytes -= bytes
	acknowledged, q.acknowledged = q.acknowledged, nil
	closed = q.closed && n == 0 && len(acknowledged) == 0
	if rest > 0 || q.closed && !closed {
		q.signal()
	}
	return group, acknowledged, closed
}

// close refuses what comes from now on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
