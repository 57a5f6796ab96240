package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// A factor is what a body takes at most until its request ends, as a multiple of its size.
type factor float64

const (
	// the body and its measures as columns; then, without a large body, the columns and their blocks
	measuresFactor factor = 2
	documentFactor factor = 25 // a list of empty objects: 64 bytes for each three
	plainFactor    factor = 1  // the body alone
)

// measureBytes is what a decoded measure takes until it is durable: its columns, and three copies of its block.
const measureBytes = 16 + 18 + 10 + 10

// fieldBytes is what a field of InfluxDB's lines takes: its time and value, where its names stand, its metric and its
// place among the metrics, and its measure.
const fieldBytes = 16 + 24 + 32 + measureBytes

// memoryPatience is how long a request waits for the memory that its body needs.
const memoryPatience = 5 * time.Second

// account gives each request an account of the memory that requests share, and takes all back at its end.
func (a *api) account(next http.Handler) http.Handler {
	if a.Budget == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := a.Budget.Context(r.Context())
		defer ctx.Close()
		r = r.WithContext(ctx)
		next.ServeHTTP(&accountWriter{ResponseWriter: w, request: r, account: &ctx.Account, refuse: a.refusalOf(r)}, r)
	})
}

// accountWriter takes memory for an answer that is sent as a whole, until the client has read it, or refuses the
// request in its place, unless a text.Writer asked first.
type accountWriter struct {
	http.ResponseWriter
	request *http.Request
	account *budget.Account
	refuse  func(http.ResponseWriter, *http.Request, error)
	begun   bool
	refused bool

	admitted bool // memory is taken for all of the answer
}

// WriteHeader implements http.ResponseWriter.
func (w *accountWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	if length := w.Header()["Content-Length"]; !w.admitted && len(length) == 1 && len(length[0]) > len("65536") {
		bytes, _ := strconv.Atoi(length[0])
		if err := w.Admit(bytes); err != nil {
			w.refused = true
			w.Header().Del("Content-Encoding")
			w.refuse(w.ResponseWriter, w.request, err)
			return
		}
	}
	w.account.Unreserve() // no more is read
	w.ResponseWriter.WriteHeader(status)
}

// Admit implements text.Admitter.
func (w *accountWriter) Admit(bytes int) error {
	err := w.account.Take(budget.Answers, int64(bytes))
	w.admitted = err == nil
	return err
}

// Write implements http.ResponseWriter.
func (w *accountWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *accountWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bodyLimit is the size of the largest body that memory is ever had for, and limit at most.
func (a *api) bodyLimit(limit int64, factor factor) int64 {
	if a.Budget == nil {
		return limit
	}
	return min(limit, int64(float64(a.Budget.LargestBody())/float64(factor)))
}

// bodyMemory takes memory for a body while it is read.
type bodyMemory struct {
	account *budget.Account
	use     budget.Use
	factor  factor
	taken   int64
}

// of returns what a body of that many bytes takes.
func (f factor) of(bytes int64) int64 { return int64(float64(f) * float64(bytes)) }

// cover waits until memory is taken for a body of that many bytes.
func (m *bodyMemory) cover(ctx context.Context, bytes int64) error {
	more := m.factor.of(bytes) - m.taken
	if m.account == nil || more <= 0 {
		return nil
	}
	m.taken += more
	return m.account.Await(ctx, m.use, more, memoryPatience)
}

// settle gives back what a body of that many bytes does not need.
func (m *bodyMemory) settle(bytes int64) { m.account.Give(m.use, m.taken-m.factor.of(bytes)) }

// decoded takes what the measures of a body need from here on, rather than what they might have needed, and lets go of
// a large body. Small ones are not worth it.
func (s *incomingScratch) decoded(ctx context.Context) error {
	body := len(s.body)
	if body <= 64<<10 {
		return nil
	}
	if body > budget.Small {
		s.body = nil
	}
	account := budget.Of(ctx)
	account.Give(budget.Measures, measuresFactor.of(int64(body)))
	return account.Take(budget.Measures, int64(s.batch.Measures.Len()*measureBytes+cap(s.body)))
}

// patiently reads an answer by read, and once more from its beginning where other requests held memory that it needed,
// after they have given back so much. It waits until ctx ends. What it reserved is given back when the answer begins.
func (a *api) patiently(ctx context.Context, read func() error) error {
	account := budget.Of(ctx)
	for {
		err := read()
		var neverFits *budget.TooLargeError
		if !errors.Is(err, budget.ErrExhausted) || errors.As(err, &neverFits) || errors.Is(err, text.ErrSent) ||
			account.AwaitRefused(ctx) != nil {
			return err
		}
	}
}

// takeFor returns a function that takes memory for a use from a request's account; nil without an account.
func takeFor(ctx context.Context, use budget.Use) func(bytes int) error {
	account := budget.Of(ctx)
	if account == nil {
		return nil
	}
	return func(bytes int) error { return account.Take(use, int64(bytes)) }
}
