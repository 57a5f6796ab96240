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
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
)

// ErrUnreachable says that a process did not answer, or not what was asked of it. It is a model.ErrUnavailable.
var ErrUnreachable = fmt.Errorf("%w: process of the cluster does not answer", model.ErrUnavailable)

// ErrElsewhere says that a process does not hold what it was asked for: another one may. It is a model.ErrUnavailable.
var ErrElsewhere = fmt.Errorf("%w: held by another process", model.ErrUnavailable)

// Client sends requests to the other processes of a cluster. It may be used by several goroutines.
type Client struct {
	key     Key
	scheme  string
	http    *http.Client
	forward *http.Transport // of requests passed on, which may take longer
}

// answerTimeout and forwardTimeout are how long an answer may take to begin: a process that is stopped still has its port.
const (
	answerTimeout  = 10 * time.Second
	forwardTimeout = 30 * time.Second
)

// NewClient returns a client; with a TLS configuration it talks TLS.
func NewClient(key Key, config *tls.Config) *Client {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 2 * time.Second, KeepAlive: 10 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true, // blocks and columns are binary, and the network is near
		TLSClientConfig:     config,
	}
	forward := transport.Clone()
	transport.ResponseHeaderTimeout, forward.ResponseHeaderTimeout = answerTimeout, forwardTimeout
	c := &Client{key: key, scheme: "http", http: &http.Client{Transport: transport}, forward: forward}
	if config != nil {
		c.scheme = "https"
	}
	return c
}

// Close gives back connections that are not in use.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.forward.CloseIdleConnections()
}

// post sends a request and has its answer read.
func (c *Client) post(ctx context.Context, address, path string, request any, read func(io.Reader) error) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.scheme+"://"+address+"/peer/"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	c.key.sign(r)
	answer, err := c.http.Do(r)
	if err != nil {
		return errors.Join(fmt.Errorf("peer: %s: %w: %w", path, ErrUnreachable, err), ctx.Err())
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		kind := ErrUnreachable
		if answer.StatusCode == http.StatusMisdirectedRequest {
			kind = ErrElsewhere
		}
		return fmt.Errorf("peer: %s at %s: %w: %s: %s", path, address, kind, answer.Status, bytes.TrimSpace(text))
	}
	if read != nil {
		if err := read(bufio.NewReaderSize(answer.Body, 64<<10)); err != nil {
			return fmt.Errorf("peer: %s at %s: %w: %w", path, address, ErrUnreachable, err)
		}
	}
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return nil
}

// call is post for an answer in JSON; nil for none.
func (c *Client) call(ctx context.Context, address, path string, request, answer any) error {
	return c.post(ctx, address, path, request, func(r io.Reader) error {
		if answer == nil {
			return nil
		}
		return json.NewDecoder(r).Decode(answer)
	})
}

// Wake tells a process that members or claims have changed, and returns when it has looked. leaving is a member that is about
// to leave, "" for none.
func (c *Client) Wake(ctx context.Context, address, leaving string) error {
	return c.call(ctx, address, "wake", wakeRequest{leaving}, nil)
}

// Status returns what a process says of itself.
func (c *Client) Status(ctx context.Context, address string) (*Status, error) {
	status := new(Status)
	return status, c.call(ctx, address, "status", struct{}{}, status)
}

// Refresh makes all visible that was accepted for these sacks, which the process holds.
func (c *Client) Refresh(ctx context.Context, address string, sacks []int) error {
	return c.call(ctx, address, "refresh", sacksRequest{sacks}, nil)
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
			if err := readGroups(body, dst[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sizes tells what metrics take in the archives of the process that holds their sacks.
func (c *Client) Sizes(ctx context.Context, address string, metrics []uuid.UUID) ([]archive.Size, error) {
	var answer sizesAnswer
	err := c.call(ctx, address, "sizes", idsRequest{metrics}, &answer)
	if err == nil && len(answer.Sizes) != len(metrics) {
		err = fmt.Errorf("peer: sizes at %s: %w: %d of %d", address, ErrUnreachable, len(answer.Sizes), len(metrics))
	}
	return answer.Sizes, err
}

// find looks up metrics at the index's holder.
func (c *Client) find(ctx context.Context, address string, ids []uuid.UUID) (*findAnswer, error) {
	answer := new(findAnswer)
	return answer, c.call(ctx, address, "find", idsRequest{ids}, answer)
}

// Forward returns a handler that passes requests of the public API on to the process at the address that holder returns.
// Who sent them is told by their own headers, as it would be here. refuse answers those that can't be passed on.
func (c *Client) Forward(holder func(context.Context) (string, error), refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: c.forward,
		Rewrite: func(r *httputil.ProxyRequest) {
			address, _ := r.In.Context().Value(holderKey{}).(string)
			target := &url.URL{Scheme: c.scheme, Host: address, Path: "/peer/api"}
			r.SetURL(target)
			r.Out.Host = r.In.Host // what links in the answer point to
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix"} {
				if values, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = values
				}
			}
			c.key.sign(r.Out)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, r, fmt.Errorf("peer: pass on: %w: %w", ErrUnreachable, err))
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusMisdirectedRequest {
				return ErrElsewhere
			}
			return nil
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, err := holder(r.Context())
		if err != nil {
			refuse(w, r, err)
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), holderKey{}, address)))
	})
}

// holderKey is where Forward keeps the address in a request's context.
type holderKey struct{}
