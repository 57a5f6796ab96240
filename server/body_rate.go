package server

import (
	"io"
	"net/http"
	"time"
)

// A body has to come at least at a rate, after some grace. A large one also has to come within some minutes, as memory
// is kept for all of it.
const (
	bodyGrace    = 10 * time.Second
	leastRate    = 16 << 10 // bytes a second
	longestBody  = 2 * time.Minute
	bodyProgress = 64 << 10 // bytes after which the deadline is moved
)

// limitBodyTime cuts off clients whose bodies come too slowly.
func limitBodyTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			rate := max(leastRate, time.Duration(r.ContentLength)*time.Second/longestBody)
			body := &timedBody{ReadCloser: r.Body, connection: http.NewResponseController(w), rate: rate}
			r.Body = body
			body.allowGrace() // the HTTP server reads the rest of a body before it writes the answer
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				r = withoutBody(r)
			} else {
				defer body.allowGrace()
			}
		}
		next.ServeHTTP(w, r)
	})
}

// mostDropped is how much of a body that has no meaning is read, so that its connection can be used again.
const mostDropped = 256 << 10

// withoutBody reads the body of a request, and returns the request without it. The answer may last longer than the
// body's grace.
func withoutBody(r *http.Request) *http.Request {
	_, _ = io.CopyN(io.Discard, r.Body, mostDropped)
	r = r.WithContext(r.Context()) // the HTTP server still has to know whether there was more
	r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, 0, nil
	return r
}

// timedBody is a body that has to come in time.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	rate       time.Duration // bytes a second
	began      time.Time     // of the first read
	received   int64
	moved      int64 // received when the deadline was moved
	ended      bool
}

// allowGrace gives what is left of a body the time that its beginning has. Its reader may never begin, or give up.
func (b *timedBody) allowGrace() {
	if !b.ended {
		_ = b.connection.SetReadDeadline(time.Now().Add(bodyGrace)) // a connection of a test may have no deadlines
	}
}

func (b *timedBody) Read(p []byte) (int, error) {
	if b.began.IsZero() || b.received-b.moved >= bodyProgress {
		if b.began.IsZero() {
			b.began = time.Now()
		}
		b.moved = b.received
		// A connection without deadlines, as in tests, has none.
		_ = b.connection.SetReadDeadline(b.began.Add(bodyGrace + time.Duration(b.received)*time.Second/b.rate))
	}
	n, err := b.ReadCloser.Read(p)
	b.received += int64(n)
	if err == io.EOF {
		b.ended = true
		_ = b.connection.SetReadDeadline(time.Time{}) // the client has nothing to send while it waits for the answer
	}
	return n, err
}
