package peer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

// Client sends requests to the other processes of a cluster. Several goroutines may use it.
type Client struct {
	key     Key
	scheme  string
	http    *http.Client
	forward *http.Transport // of requests passed on, which may take longer
	pings   *pings
}

// answerTimeout and forwardTimeout bound the wait for the start of an answer from a process that answers pings.
const (
	answerTimeout  = 10 * time.Second
	forwardTimeout = 30 * time.Second
)

// Dialer opens a connection.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// TCP is the Dialer of TCP.
var TCP Dialer = (&net.Dialer{Timeout: 2 * time.Second, KeepAlive: 10 * time.Second}).DialContext

// NewClient returns a client that connects by dial; with a TLS configuration it talks TLS.
//
// The connections to a process have no bound here: a request that waits for one would wait for those that read, as
// slowly as some client takes their answers. A ping that waits makes a process silent that is not, and a poll or a
// lookup that waits holds up measures. The clients' requests are bounded by the public port, and the other side bounds
// what it accepts.
func NewClient(key Key, config *tls.Config, dial Dialer) *Client {
	transport := &http.Transport{
		DialContext:         dial,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true, // blocks and columns are binary, and the network is near
		TLSClientConfig:     config,
	}
	forward := transport.Clone()
	forward.ExpectContinueTimeout = continueTimeout
	transport.ResponseHeaderTimeout, forward.ResponseHeaderTimeout = answerTimeout, forwardTimeout
	c := &Client{key: key, scheme: "http", http: &http.Client{Transport: transport}, forward: forward}
	if config != nil {
		c.scheme = "https"
	}
	c.pings = newPings(func(ctx context.Context, address string) error {
		answer, err := c.send(ctx, address, "ping", struct{}{})
		if err == nil { // any answer shows that it is alive
			_ = answer.Body.Close()
		}
		return err
	})
	return c
}

// Close ends the pings, and gives back connections that are not in use.
func (c *Client) Close() {
	c.pings.close()
	c.http.CloseIdleConnections()
	c.forward.CloseIdleConnections()
}

// send sends a request, in JSON unless it is bytes.
func (c *Client) send(ctx context.Context, address, path string, request any) (*http.Response, error) {
	body, encoded := request.([]byte)
	if !encoded {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return nil, fmt.Errorf("peer: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.scheme+"://"+address+"/peer/"+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	c.key.sign(r)
	return c.http.Do(r)
}

// post sends a request and calls read with the answer's body.
func (c *Client) post(ctx context.Context, address, path string, request any, read func(io.Reader) error) error {
	return c.postWatched(ctx, address, path, request, false, read)
}

// postWatched is post. An idle request is answered when something happens.
func (c *Client) postWatched(ctx context.Context, address, path string, request any, idle bool,
	read func(io.Reader) error) error {
	watched, done, err := c.pings.watch(ctx, address, idle)
	if err != nil {
		return fmt.Errorf("peer: %s at %s: %w", path, address, err)
	}
	defer done()
	err = c.exchange(watched, address, path, request, read)
	if ended := ctx.Err(); err != nil && ended != nil {
		return errors.Join(err, ended)
	}
	return err
}

// exchange sends a request and calls read, unless it is nil, with the answer's body.
func (c *Client) exchange(ctx context.Context, address, path string, request any, read func(io.Reader) error) error {
	answer, err := c.send(ctx, address, path, request)
	if err != nil {
		return fmt.Errorf("peer: %s: %w: %w", path, ErrUnreachable, cause(ctx, err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		if err := errorOf(answer.Header); err != nil {
			return fmt.Errorf("peer: %s at %s: %w", path, address, err)
		}
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("peer: %s at %s: %w: %s: %s", path, address, ErrUnreachable, answer.Status,
			bytes.TrimSpace(text))
	}
	if read != nil {
		if err := read(bufio.NewReaderSize(answer.Body, 64<<10)); err != nil {
			if told := errorOf(answer.Trailer); told != nil {
				return fmt.Errorf("peer: %s at %s: %w", path, address, told)
			}
			return fmt.Errorf("peer: %s at %s: %w: %w", path, address, ErrUnreachable, cause(ctx, err))
		}
	}
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return nil
}

// cause returns ErrSilent if that ended a request, else the request's own error.
func cause(watched context.Context, err error) error {
	if errors.Is(context.Cause(watched), ErrSilent) {
		return ErrSilent
	}
	return err
}

// call is post for an answer in JSON; nil for none.
func (c *Client) call(ctx context.Context, address, path string, request, answer any) error {
	return c.post(ctx, address, path, request, decoding(answer))
}

// decoding reads an answer in JSON; nil for none.
func decoding(answer any) func(io.Reader) error {
	if answer == nil {
		return nil
	}
	return func(r io.Reader) error { return json.NewDecoder(r).Decode(answer) }
}

// Tell sends a process a notice, and returns when it has acted on it.
func (c *Client) Tell(ctx context.Context, address string, notice *Notice) error {
	return c.call(ctx, address, "wake", notice, nil)
}

// Status returns the status of a process.
func (c *Client) Status(ctx context.Context, address string) (*Status, error) {
	status := new(Status)
	return status, c.call(ctx, address, "status", struct{}{}, status)
}

// Activity returns the queries of a process, and ends one there if request says so.
func (c *Client) Activity(ctx context.Context, address string, request activity.Request) (*activity.Report, error) {
	answer := new(activity.Report)
	return answer, c.call(ctx, address, "activity", request, answer)
}

// Groups reads many metrics' groups from the process that holds their sacks; dst has one for each read.
func (c *Client) Groups(ctx context.Context, address string, reads []model.Read, dst []*carbonara.Groups) error {
	var numbers policies
	request := groupsRequest{Reads: make([]readItem, len(reads))}
	for i := range reads {
		request.Reads[i] = toReadItem(&reads[i], &numbers)
	}
	request.Policies = numbers.list
	return c.post(ctx, address, "groups", &request, func(body io.Reader) error {
		for i, r := range reads {
			dst[i].Reset(r.Granularity, r.Columns)
			if err := readGroups(ctx, body, dst[i]); err != nil {
				return err
			}
			r.MarkLead(dst[i])
		}
		return nil
	})
}

// find looks up metrics at the index's holder.
func (c *Client) find(ctx context.Context, address string, ids []uuid.UUID) (*findAnswer, error) {
	answer := new(findAnswer)
	return answer, c.call(ctx, address, "find", idsRequest{ids}, answer)
}
