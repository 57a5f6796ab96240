package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

// Client sends requests to one server. It may be used by several goroutines.
type Client struct {
	base    string // without a slash at its end
	options Options
	tokens  *keystone.Tokens // nil: no tokens of Keystone are sent
	http    *http.Client
}

// New returns a client of the API at base, like "http://127.0.0.1:8041" or with a prefix below that. No request is sent
// yet.
func New(base string, options Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("client: %w", withoutPassword(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("client: %q is not an http URL", u.Redacted())
	}
	if u.User != nil {
		options.User = u.User.Username()
		if password, ok := u.User.Password(); ok {
			options.Password = password
		}
		u.User = nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true
	if options.CAs != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: options.CAs}
	}
	c := &Client{
		base:    strings.TrimRight(u.String(), "/"),
		options: options,
		http:    &http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: keepToken},
	}
	if options.Token == "" && options.User == "" && options.KeystoneURL != "" {
		tokens, err := keystone.TokensURL(options.KeystoneURL)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		c.tokens = keystone.NewTokens(tokens, options.Account, c.http)
	}
	return c, nil
}

// withoutPassword returns the error of url.Parse without the URL, which may hold a password.
func withoutPassword(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the URL cannot be read: %w", parse.Err)
	}
	return err
}

// tokenHeader is where a token is sent.
const tokenHeader = "X-Auth-Token"

// keepToken keeps the token from other hosts: net/http passes on to them headers that it does not know as credentials.
func keepToken(request *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	first := via[0].URL
	if request.URL.Hostname() != first.Hostname() || first.Scheme == "https" && request.URL.Scheme != "https" {
		request.Header.Del(tokenHeader)
	}
	return nil
}

// URL returns the address of a path below the base.
func (c *Client) URL(path string) string { return c.base + path }

// Do sends a request with body as JSON, as it is if it is a json.RawMessage, none if nil, and decodes the answer into
// answer, unless nil. An answer of 400 and above is a *StatusError.
func (c *Client) Do(ctx context.Context, method, path string, body, answer any) error {
	encoded, isEncoded := body.(json.RawMessage)
	if body != nil && !isEncoded {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return fmt.Errorf("client: %w", err)
		}
	}
	return c.send(ctx, method, path, encoded, answer)
}

// textAnswer is an answer of another type than JSON.
type textAnswer struct {
	accept string
	read   func(io.Reader) error
}

// GetText gets an answer of a type, and calls read with it as it arrives.
func (c *Client) GetText(ctx context.Context, path, accept string, read func(io.Reader) error) error {
	return c.send(ctx, http.MethodGet, path, nil, &textAnswer{accept, read})
}

// send asks once more, with another token, if the one that Keystone gave earlier is refused.
func (c *Client) send(ctx context.Context, method, path string, body []byte, answer any) error {
	refused := ""
	for {
		token := c.options.Token
		if c.tokens != nil {
			var err error
			if token, err = c.tokens.Get(ctx, time.Now(), refused); err != nil {
				return fmt.Errorf("client: %w", err)
			}
		}
		err := c.sendAs(ctx, token, method, path, body, answer)
		if c.tokens == nil || refused != "" || !HasStatus(err, http.StatusUnauthorized) {
			return err
		}
		refused = token
	}
}

// sendAs sends the request with a token, or if that is "", as the user.
func (c *Client) sendAs(ctx context.Context, token, method, path string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if token != "" {
		request.Header.Set(tokenHeader, token)
	} else {
		request.SetBasicAuth(c.options.User, c.options.Password)
	}
	text, isText := answer.(*textAnswer)
	request.Header.Set("Accept", "application/json")
	if isText {
		request.Header.Set("Accept", text.accept)
	}
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
		return newStatusError(request, response, text)
	}
	if isText {
		err = text.read(response.Body)
	} else if answer == nil {
		_, err = io.Copy(io.Discard, response.Body) // so that the connection is used again
	} else {
		err = json.NewDecoder(response.Body).Decode(answer)
	}
	if err != nil {
		return fmt.Errorf("client: answer to %s %s: %w", method, path, err)
	}
	return nil
}

// Options say who asks. The first of these that is given counts: Token, a user in the URL, User, KeystoneURL.
type Options struct {
	Token          string // sent as X-Auth-Token
	User, Password string // of basic authentication; the password also goes with a user in the URL without one

	KeystoneURL string           // where tokens are got, such as http://keystone:5000/v3
	Account     keystone.Account // that they are for

	CAs *x509.CertPool // who signs the certificates of the server and of Keystone; nil: whom the system trusts
}

// StatusError is an answer of 400 and above.
type StatusError struct {
	Method, URL string
	Status      int
	Description string // what the server says about it
	Challenge   string // of 401: how the server wants to be asked, if it says so
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.Method, e.URL, e.Status, http.StatusText(e.Status), e.Description)
}

// newStatusError takes the description out of the body, which is text where something before the API has answered.
func newStatusError(request *http.Request, response *http.Response, body []byte) *StatusError {
	e := &StatusError{Method: request.Method, URL: request.URL.Redacted(), Status: response.StatusCode,
		Challenge: response.Header.Get("WWW-Authenticate")}
	var answer struct {
		Description json.RawMessage `json:"description"`
		Error       string          `json:"error"` // of Prometheus' API
	}
	if json.Unmarshal(body, &answer) == nil && answer.Error != "" {
		e.Description = answer.Error
	} else if json.Unmarshal(answer.Description, &e.Description) != nil {
		if e.Description = string(answer.Description); e.Description == "" {
			e.Description = strings.TrimSpace(string(body))
		}
	}
	return e
}

// HasStatus reports whether err is an answer with this status.
func HasStatus(err error, status int) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status == status
}
