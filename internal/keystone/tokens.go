package keystone

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// renewBefore is how long before its end a token is replaced.
	renewBefore = time.Minute
	// maxAnswer bounds Keystone's answer, which may hold a catalog of services.
	maxAnswer = 4 << 20
)

// Tokens keeps a token of an account. It may be used by several goroutines.
type Tokens struct {
	account Account
	url     string // as TokensURL has it
	client  *http.Client

	mu    sync.Mutex
	token string // "": none
	until time.Time
}

// NewTokens returns one that asks at url, as TokensURL has it. No request is sent yet.
func NewTokens(url string, account Account, client *http.Client) *Tokens {
	return &Tokens{account: account, url: url, client: client}
}

// Get returns the token, or a new one where that is about to end, or is the one that was refused; "" if none was.
func (t *Tokens) Get(ctx context.Context, now time.Time, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && t.token != refused && now.Before(t.until.Add(-renewBefore)) {
		return t.token, nil
	}
	t.token = ""
	var answer struct {
		Token struct {
			ExpiresAt time.Time `json:"expires_at"`
		} `json:"token"`
	}
	token, status, err := Create(ctx, t.client, t.url, &t.account, &answer)
	if err != nil {
		return "", err
	}
	if status != http.StatusCreated {
		text := fmt.Sprintf("keystone: %s answers %d %s to %s", t.url, status, http.StatusText(status), &t.account)
		return "", &StatusError{status, text}
	}
	if token == "" || !answer.Token.ExpiresAt.After(now) {
		return "", errors.New("keystone: no valid token was given to " + t.account.String())
	}
	t.token, t.until = token, answer.Token.ExpiresAt
	return token, nil
}

// StatusError is an answer of Keystone that holds no token.
type StatusError struct {
	Status int
	text   string
}

func (e *StatusError) Error() string { return e.text }

// Create asks once for a token of an account. Keystone's description of it becomes answer, if the status is 201.
func Create(ctx context.Context, client *http.Client, url string, account *Account, answer any) (
	token string, status int, err error) {
	body, err := account.request()
	if err != nil {
		return "", 0, fmt.Errorf("keystone: secret of %s: %w", account, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"?nocatalog", bytes.NewReader(body))
	if err != nil {
		return "", 0, fmt.Errorf("keystone: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return "", 0, fmt.Errorf("keystone: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return "", response.StatusCode, nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
		return "", 0, fmt.Errorf("keystone: token of %s: %w", account, err)
	}
	return response.Header.Get("X-Subject-Token"), response.StatusCode, nil
}
