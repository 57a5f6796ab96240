package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// KeystoneAccount is the service's own account at Keystone, for where users' tokens may not validate themselves: a user with
// a password, or an application credential. The zero value is none.
type KeystoneAccount struct {
	User, UserDomain       string // names; the domain "" is Default
	Project, ProjectDomain string // which the token is for; "": that of Keystone's choice
	ApplicationCredential  string // ID, instead of a user
	SecretFile             string // holds the password, or the credential's secret; read whenever a token is asked for
}

// Validate lists every fault at once.
func (a *KeystoneAccount) Validate() error {
	var faults []error
	fault := func(text string) { faults = append(faults, errors.New("api: Keystone account: "+text)) }
	if a.User != "" && a.ApplicationCredential != "" {
		fault("a user and an application credential exclude each other")
	}
	if !a.exists() && *a != (KeystoneAccount{}) {
		fault("there is neither a user nor an application credential")
	}
	if a.exists() && a.SecretFile == "" {
		fault("there is no file with its secret")
	}
	if a.User == "" && (a.UserDomain != "" || a.Project != "" || a.ProjectDomain != "") {
		fault("domains and project go with a user: an application credential has its own")
	}
	return errors.Join(faults...)
}

func (a *KeystoneAccount) exists() bool { return a.User != "" || a.ApplicationCredential != "" }

// request is the body that asks for a token.
func (a *KeystoneAccount) request() ([]byte, error) {
	text, err := os.ReadFile(a.SecretFile)
	if err != nil {
		return nil, err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	type object map[string]any
	named := func(name, domain string) object {
		if domain == "" {
			domain = "Default"
		}
		return object{"name": name, "domain": object{"name": domain}}
	}
	var auth object
	if a.User != "" {
		user := named(a.User, a.UserDomain)
		user["password"] = secret
		auth = object{"identity": object{"methods": []string{"password"}, "password": object{"user": user}}}
		if a.Project != "" {
			auth["scope"] = object{"project": named(a.Project, a.ProjectDomain)}
		}
	} else {
		auth = object{"identity": object{"methods": []string{"application_credential"},
			"application_credential": object{"id": a.ApplicationCredential, "secret": secret}}}
	}
	return json.Marshal(object{"auth": auth})
}

// renewBefore is how long before its end a token of the account is replaced.
const renewBefore = time.Minute

// accountToken is a token of the account, got when it is first needed.
type accountToken struct {
	account KeystoneAccount
	url     string // where tokens are made
	client  *http.Client

	mu    sync.Mutex
	token string // "": none
	until time.Time
}

// get returns a token that is not refused, or a new one.
func (t *accountToken) get(ctx context.Context, now time.Time, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && t.token != refused && now.Before(t.until.Add(-renewBefore)) {
		return t.token, nil
	}
	t.token = ""
	body, err := t.account.request()
	if err != nil {
		return "", fmt.Errorf("secret of the account: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url+"?nocatalog", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("token of the account: keystone answers %s", response.Status)
	}
	var answer keystoneToken
	if err := json.NewDecoder(io.LimitReader(response.Body, maxTokenBytes)).Decode(&answer); err != nil {
		return "", fmt.Errorf("token of the account: %w", err)
	}
	token := response.Header.Get("X-Subject-Token")
	if token == "" || !answer.Token.ExpiresAt.After(now) {
		return "", errors.New("token of the account: keystone gave none that is valid")
	}
	t.token, t.until = token, answer.Token.ExpiresAt
	return token, nil
}
