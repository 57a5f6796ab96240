package client

import (
	"context"
	"net/http"
)

// Archive is what a server says of a metric's archive.
type Archive struct {
	Raw struct {
		KeptFrom *string `json:"kept_from"` // older measures are dropped; nil without measures
		Newest   *string `json:"newest"`    // time of the newest measure; nil for none
	} `json:"raw"`
	Dropped int64 `json:"dropped_measures"` // older than the back window, ever
}

// Archive returns what the server says of a metric's archive, once all that it accepted is processed; nil if the server
// does not know of archives, as Gnocchi does not.
func (c *Client) Archive(ctx context.Context, metric string) (*Archive, error) {
	var answer Archive
	err := again(ctx, func() error {
		return c.Do(ctx, http.MethodGet, "/v1/metric/"+metric+"/archive?refresh=true", nil, &answer)
	})
	if hasStatus(err, http.StatusNotFound) {
		return nil, nil
	}
	return &answer, err
}
