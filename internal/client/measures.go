package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// firstPause is the wait before the first repetition; each time it doubles.
const (
	firstPause = 100 * time.Millisecond
	tries      = 7 // over 6.3 s in all
)

// SendMeasures posts a batch: {metric UUID: [{"timestamp", "value"}]}, as JSON. When the server is not reached, or
// busy, it tries again for some seconds: measures sent twice count once.
func (c *Client) SendMeasures(ctx context.Context, batch []byte) error {
	return Again(ctx, func() error {
		return c.send(ctx, http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	})
}

// Again repeats a request, which may be repeated, for some seconds while it may succeed later.
func Again(ctx context.Context, request func() error) error {
	for try, wait := 1, firstPause; ; try, wait = try+1, 2*wait {
		err := request()
		if err == nil || try == tries || !mayPass(err) || ctx.Err() != nil || pause.For(ctx, wait) != nil {
			return err
		}
	}
}

// mayPass reports whether the same request may succeed later.
func mayPass(err error) bool {
	var answer *StatusError
	if !errors.As(err, &answer) {
		return true
	}
	switch answer.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
