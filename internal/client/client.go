package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client sends requests to one server. It may be used by several goroutines.
type Client struct {
	base string // without a slash at its end
	user string
	http *http.Client
}

// New returns a client of the API at base, like "http://127.0.0.1:8041" or with a prefix below that, as this user. A user
// that is part of the URL goes before. No request is sent yet.
func New(base, user string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("client: %q is not an http URL", base)
	}
	if u.User != nil {
		user = u.User.Username()
		u.User = nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true
	return &Client{
		base: strings.TrimRight(u.String(), "/"),
		user: user,
		http: &http.Client{Transport: transport, Timeout: time.Minute},
	}, nil
}

// URL returns the address of a path below the base.
func (c *Client) URL(path string) string { return c.base + path }

// Do sends a request with body as JSON, none if nil, and decodes the answer into answer, unless nil. An answer of 400 and
// above is a *StatusError.
func (c *Client) Do(ctx context.Context, method, path string, body, answer any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
	return c.send(ctx, method, path, encoded, answer)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	request.SetBasicAuth(c.user, "")
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return newStatusError(request, response.StatusCode, text)
	}
	if answer == nil {
		_, err = io.Copy(io.Discard, response.Body) // so that the connection is used again
	} else {
		err = json.NewDecoder(response.Body).Decode(answer)
	}
	if err != nil {
		return fmt.Errorf("client: answer to %s %s: %w", method, path, err)
	}
	return nil
}
