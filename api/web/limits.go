package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// Limits bound what one request may take, and how many may be evaluated at once. A request beyond them gets an answer
// that says what to ask for instead.
type Limits struct {
	QueryTimeout  time.Duration // of a request that reads; 0: none
	Queries       int           // evaluated at once, see turns; 0: two for each processor, 4 at least
	QueuedQueries int           // that wait for their turn; 0: 256
	SearchTerms   int           // comparisons in a search; 0: 1,000
	Rows          int           // of an answer; 0: 5,000,000
	NewSeries     int           // that a project may begin in a minute, by remote write with labels; 0: 100,000
	ReplicaLabels []string      // labels that name the senders of one series
	MaxFuture     time.Duration // how far ahead of the clock a measure may be; 0: any time, as in Gnocchi
}

// EnsureDefaults fills in what was left zero.
func (l *Limits) EnsureDefaults() {
	l.Queries = cmp.Or(l.Queries, max(4, 2*runtime.GOMAXPROCS(0)))
	l.QueuedQueries = cmp.Or(l.QueuedQueries, 256)
	l.SearchTerms = cmp.Or(l.SearchTerms, 1000)
	l.NewSeries = cmp.Or(l.NewSeries, 100_000)
	l.Rows = cmp.Or(l.Rows, 5_000_000)
}

// Validate reports every fault of l at once.
func (l *Limits) Validate() error {
	var faults []error
	for name, n := range map[string]int64{"QueryTimeout": int64(l.QueryTimeout), "Queries": int64(l.Queries),
		"QueuedQueries": int64(l.QueuedQueries), "SearchTerms": int64(l.SearchTerms), "Rows": int64(l.Rows),
		"NewSeries": int64(l.NewSeries), "MaxFuture": int64(l.MaxFuture)} {
		if n < 0 {
			faults = append(faults, fmt.Errorf("api: %s is negative", name))
		}
	}
	for _, label := range l.ReplicaLabels {
		if label = strings.TrimSpace(label); label == "" || label == model.LabelName {
			faults = append(faults, fmt.Errorf("api: %q tells no replicas apart", label))
		}
	}
	return errors.Join(faults...)
}

// ErrQueryTimeout ends the context of a request that reads.
var ErrQueryTimeout = errors.New("api: the query took longer than --query-timeout")

// Timed serves h until the user's time for a query is over.
func (e *Env) Timed(h UserHandler) UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		limit := cmp.Or(e.Limits.QueryTimeout, math.MaxInt64)
		ctx, end := e.BeginQuery(r, who, limit)
		defer end() // and with it what h leaves behind
		err := h(w, r.WithContext(ctx), who)
		if err != nil && errors.Is(err, context.Canceled) {
			if killed := Killed(ctx); killed != nil {
				return &Error{Status: http.StatusServiceUnavailable, Err: err, Detail: killed.Error()}
			}
		}
		if _, ok := errors.AsType[*query.TooManyRowsError](err); ok {
			e.instruments.refusedQueries.WithLabelValues("rows").Inc()
		}
		if err != nil && context.Cause(ctx) == ErrQueryTimeout &&
			(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrQueryTimeout)) {
			e.instruments.refusedQueries.WithLabelValues("timeout").Inc()
			return &Error{Status: http.StatusGatewayTimeout, Err: err, Detail: Cause{
				Cause:  "The query took too long",
				Reason: "Ask for fewer metrics or resources, a shorter time or a coarser granularity",
				Detail: limit.Seconds(),
			}}
		}
		return err
	}
}
