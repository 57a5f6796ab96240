package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// AskHolder calls there with the address of the process that holds the index. A patient one waits a little while nobody
// holds it, and calls there again after a model.ErrUnavailable, as the index may have another holder by then.
type AskHolder func(ctx context.Context, patient bool, there func(address string) error) error

// Forward returns a handler that passes requests of the public API on to the holder of the index. Their own headers
// name the user, as they would here. A request waits while the index is handed over: it is sent again as long as no
// process can have begun to act on it. refuse answers a request that cannot be passed on.
func (c *Client) Forward(ask AskHolder, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return &httputil.ReverseProxy{
		Transport: &forwarder{c, ask},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: c.scheme, Path: "/peer/api"}) // the forwarder knows the host
			r.Out.Host = r.In.Host                                  // links in the answer point to it
			for _, name := range []string{
				"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix"} {
				if values, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = values
				}
			}
			if r.Out.Body != nil && r.Out.Body != http.NoBody {
				r.Out.Header.Set("Expect", "100-continue") // the body goes out once the holder wants to read it
			}
			// For who they are to the holder, as they are here; a client's own headers of these names are replaced.
			r.Out.Header.Set(clientAddressHeader, r.In.RemoteAddr)
			r.Out.Header.Del(clientTLSHeader)
			if r.In.TLS != nil {
				r.Out.Header.Set(clientTLSHeader, "1")
			}
			c.key.sign(r.Out)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, r, fmt.Errorf("peer: pass on: %w", err))
		},
	}
}

// The headers of a request that is passed on: the client's address, and whether it came by TLS.
const (
	clientAddressHeader = "Gnocco-Client-Address"
	clientTLSHeader     = "Gnocco-Client-TLS"
)

// continueTimeout is how long the holder may take until it reads a body: it may have to ask for the user first.
const continueTimeout = time.Second

// forwarder sends requests to the holder of the index.
type forwarder struct {
	client *Client
	ask    AskHolder
}

func (f *forwarder) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	body := &unreadBody{body: r.Body}
	var final error // of a request that some process may have acted on
	err = f.ask(r.Context(), true, func(address string) (err error) {
		if answer, err = f.try(r, address, body); err != nil && body.isRead() {
			final, err = err, nil
		}
		return err
	})
	return answer, errors.Join(final, err)
}

// try sends a request to one process. If that may have acted on it in vain, body is taken.
func (f *forwarder) try(r *http.Request, address string, body *unreadBody) (*http.Response, error) {
	c := f.client
	watched, done, err := c.pings.watch(valueless{r.Context()}, address, false)
	if err != nil {
		return nil, err
	}
	var sent atomic.Bool
	out := r.WithContext(httptrace.WithClientTrace(watched, &httptrace.ClientTrace{WroteHeaders: func() {
		sent.Store(true)
	}}))
	target := *r.URL
	target.Host, out.URL = address, &target
	lent := &lentBody{body: body}
	if r.Body != nil {
		out.Body = lent
	}
	answer, err := c.forward.RoundTrip(out)
	var told error
	if err == nil {
		told = errorOf(answer.Header)
	}
	if err != nil || told != nil {
		defer done()
		lent.giveBack()
	}
	if err != nil {
		// Without the body the holder did nothing. A request that has none may be done.
		if safe := r.Method == http.MethodGet || r.Method == http.MethodHead; sent.Load() && !safe && r.Body == nil {
			body.markRead()
		}
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, cause(watched, err))
	}
	if told != nil {
		return nil, errors.Join(told, answer.Body.Close())
	}
	answer.Body = &watchedAnswer{answer.Body, done}
	return answer, nil
}

// valueless is a context without values: the reverse proxy's trace among them would pass on interim answers.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }

// watchedAnswer is an answer's body, whose end is the end of the request.
type watchedAnswer struct {
	io.ReadCloser
	done func()
}

func (b *watchedAnswer) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}

// unreadBody is a request's body, which can be sent once.
type unreadBody struct {
	body io.ReadCloser // nil for none
	read atomic.Bool
}

// markRead notes that the request cannot be sent again.
func (b *unreadBody) markRead() { b.read.Store(true) }

func (b *unreadBody) isRead() bool { return b.read.Load() }

// lentBody is the body for one try. It is not closed by it.
type lentBody struct {
	body *unreadBody

	mu    sync.Mutex
	ended bool
}

func (b *lentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	b.body.markRead()
	b.mu.Unlock()
	n, err := b.body.body.Read(p)
	if errors.Is(err, http.ErrBodyReadAfterClose) {
		err = io.EOF // the answer is under way: an error here would cut it off
	}
	return n, err
}

// Close implements io.Closer. The body is for another try.
func (b *lentBody) Close() error { return nil }

// giveBack ends the try: a body that was not read by now is not read by it.
func (b *lentBody) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}
