package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

// Keystone validates the X-Auth-Token of requests with a Keystone server, by its API version 3. Clients that cannot
// renew tokens send an application credential's ID and secret instead, by Basic: its token is asked for here. Without
// an account of the service's own the token validates itself, which Keystone's default policy allows. X-User-Id and
// similar headers of a client are ignored.
type Keystone struct {
	url     string // of the tokens
	client  *http.Client
	now     func() time.Time
	valid   expiringCache[[sha256.Size]byte, *Identity] // by hash, so that no token lies in memory
	invalid expiringCache[[sha256.Size]byte, struct{}]
	running singleflight.Group
	account *keystone.Tokens // nil: tokens validate themselves
}

// KeystoneOptions configure a Keystone.
type KeystoneOptions struct {
	URL       string           // such as http://keystone:5000/v3
	CAFile    string           // PEM certificates trusted besides the system's; "": none. Not with Client
	Account   KeystoneAccount  // that validates tokens; the zero value for none
	CacheTime time.Duration    // how long an answer is believed, a token's end permitting; 0: 5 minutes
	Client    *http.Client     // nil: one that waits 10 s
	Now       func() time.Time // nil: time.Now
}

const (
	keystoneCacheTime = 5 * time.Minute
	keystoneTimeout   = 10 * time.Second
	// maxTokens bounds each cache: some 300 bytes a token.
	maxTokens = 10_000
	// maxTokenBytes bounds Keystone's answer, which may hold a catalog of services.
	maxTokenBytes = 4 << 20
)

// keystoneClient returns a client that also trusts the certificates of a PEM file; "" for none.
func keystoneClient(authority string) (*http.Client, error) {
	client := &http.Client{Timeout: keystoneTimeout}
	if authority == "" {
		return client, nil
	}
	trusted, err := keystone.TrustedCAs(authority)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	client.Transport = transport
	return client, nil
}

// NewKeystone returns one. It does not ask the server yet.
func NewKeystone(o KeystoneOptions) (*Keystone, error) {
	tokens, err := keystone.TokensURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	k := &Keystone{url: tokens, client: o.Client, now: o.Now}
	if k.client == nil {
		if k.client, err = keystoneClient(o.CAFile); err != nil {
			return nil, fmt.Errorf("auth: Keystone's authority: %w", err)
		}
	}
	if k.now == nil {
		k.now = time.Now
	}
	if err := o.Account.Validate(); err != nil {
		return nil, err
	}
	if o.Account.exists() {
		k.account = keystone.NewTokens(k.url, o.Account.account(), k.client)
	}
	o.CacheTime = cmp.Or(o.CacheTime, keystoneCacheTime)
	k.valid.init(o.CacheTime, maxTokens)
	k.invalid.init(o.CacheTime, maxTokens)
	return k, nil
}

// Authenticate implements Authenticator.
func (k *Keystone) Authenticate(r *http.Request) (*Identity, error) {
	ask := k.ask
	token := r.Header.Get("X-Auth-Token")
	if token == "" {
		id, secret, ok := r.BasicAuth()
		if !ok || id == "" || secret == "" {
			return nil, ErrNoCredentials
		}
		token = "Basic " + id + ":" + secret // no token has a space
		ask = func(ctx context.Context, _ string) (*keystoneToken, error) { return k.create(ctx, id, secret) }
	}
	key := sha256.Sum256([]byte(token))
	if who, ok := k.valid.get(key, k.now()); ok {
		return who, nil
	}
	if _, ok := k.invalid.get(key, k.now()); ok {
		return nil, ErrNoCredentials
	}
	// Requests with the same token wait for one answer, which does not end with the request that asked for it.
	ctx := context.WithoutCancel(r.Context())
	answer := k.running.DoChan(string(key[:]), func() (any, error) {
		return k.validate(key, func() (*keystoneToken, error) { return ask(ctx, token) })
	})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case result := <-answer:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*Identity), nil
	}
}

// keep implements keeper: a token, or an application credential. Keystone is asked about it as before.
func (*Keystone) keep(r *http.Request) string {
	name := "X-Auth-Token"
	if r.Header.Get(name) == "" {
		name = "Authorization"
	}
	return name + ":" + r.Header.Get(name)
}

// resume implements keeper.
func (k *Keystone) resume(r *http.Request, kept string) (*Identity, error) {
	name, value, _ := strings.Cut(kept, ":")
	sent := &http.Request{Header: http.Header{name: {value}}}
	return k.Authenticate(sent.WithContext(r.Context()))
}

func (*Keystone) Open() bool { return false }

func (k *Keystone) Challenge() string {
	return `Keystone uri="` + strings.TrimSuffix(k.url, "/v3/auth/tokens") + `"`
}

func (*Keystone) Credentials() Credentials { return Token }

// keystoneToken is what counts of Keystone's answer.
type keystoneToken struct {
	Token struct {
		ExpiresAt time.Time `json:"expires_at"`
		User      struct {
			ID     string `json:"id"`
			Domain struct {
				ID string `json:"id"`
			} `json:"domain"`
		} `json:"user"`
		Project struct {
			ID string `json:"id"`
		} `json:"project"`
		Domain struct { // that the token is for, instead of a project
			ID string `json:"id"`
		} `json:"domain"`
		Roles []struct {
			Name string `json:"name"`
		} `json:"roles"`
	} `json:"token"`
}

// validate asks Keystone whose a token is, and keeps a clear answer, yes or no.
func (k *Keystone) validate(key [sha256.Size]byte, ask func() (*keystoneToken, error)) (*Identity, error) {
	answer, err := ask()
	if errors.Is(err, ErrNoCredentials) {
		k.invalid.put(key, struct{}{}, k.now(), time.Time{})
	}
	if err != nil {
		return nil, err
	}
	t := &answer.Token
	if t.User.ID == "" || !t.ExpiresAt.After(k.now()) {
		return nil, ErrNoCredentials
	}
	roles := make([]string, len(t.Roles))
	for i, role := range t.Roles {
		roles[i] = role.Name
	}
	who := newKeystoneUser(t.User.ID, t.Project.ID, t.Domain.ID, roles)
	k.valid.put(key, who, k.now(), t.ExpiresAt)
	return who, nil
}

// ask asks Keystone about a token. It replaces the account's token once if Keystone refuses it.
func (k *Keystone) ask(ctx context.Context, token string) (*keystoneToken, error) {
	failed := func(err error) error { return fmt.Errorf("%w: %w", ErrKeystone, err) }
	if k.account == nil {
		answer, status, err := k.get(ctx, token, token)
		switch {
		case err != nil:
			return nil, failed(err)
		case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound:
			return nil, ErrNoCredentials
		case status != http.StatusOK:
			return nil, failed(fmt.Errorf("keystone answers %d", status))
		}
		return answer, nil
	}
	refused := ""
	for {
		own, err := k.account.Get(ctx, k.now(), refused)
		if err != nil {
			return nil, failed(err)
		}
		answer, status, err := k.get(ctx, own, token)
		switch {
		case err != nil:
			return nil, failed(err)
		case status == http.StatusOK:
			return answer, nil
		case status == http.StatusNotFound:
			return nil, ErrNoCredentials // the user's token
		case status == http.StatusUnauthorized && refused == "":
			refused = own // ours
		default:
			return nil, failed(fmt.Errorf("keystone answers %d to the account that validates tokens", status))
		}
	}
}

// create asks Keystone for a token by an application credential. Only the description of the token is used.
func (k *Keystone) create(ctx context.Context, id, secret string) (*keystoneToken, error) {
	account := keystone.Account{ApplicationCredentialID: id, Secret: func() (string, error) { return secret, nil }}
	answer := new(keystoneToken)
	_, status, err := keystone.Create(ctx, k.client, k.url, &account, answer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrKeystone, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound:
		return nil, ErrNoCredentials
	case status != http.StatusCreated:
		return nil, fmt.Errorf("%w: keystone answers %d", ErrKeystone, status)
	}
	return answer, nil
}

// get asks about the token subject, authorized by the token by. The answer is non-nil if the status is 200.
func (k *Keystone) get(ctx context.Context, by, subject string) (answer *keystoneToken, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url+"?nocatalog", nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("X-Auth-Token", by)
	request.Header.Set("X-Subject-Token", subject)
	request.Header.Set("Accept", "application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, nil
	}
	answer = new(keystoneToken)
	if err := json.NewDecoder(io.LimitReader(response.Body, maxTokenBytes)).Decode(answer); err != nil {
		return nil, 0, fmt.Errorf("keystone's answer: %w", err)
	}
	return answer, response.StatusCode, nil
}

// KeystoneAccount is the service's own account at Keystone, for where users' tokens may not validate themselves: a user
// with a password, or an application credential. The zero value is none.
type KeystoneAccount struct {
	User, UserDomain       string // names; the domain "" is Default
	Project, ProjectDomain string // which the token is for; "": Keystone chooses
	UserDomainID           string // goes before its name, as does the next
	ProjectDomainID        string
	ApplicationCredential  string // ID, instead of a user
	Secret                 string // the password, or the credential's secret; "": see SecretFile
	SecretFile             string // holds the secret; read whenever a token is asked for
}

// Validate lists every fault at once.
func (a *KeystoneAccount) Validate() error {
	var faults []error
	refuse := func(bad bool, text string) {
		if bad {
			faults = append(faults, errors.New("auth: Keystone account: "+text))
		}
	}
	refuse(a.User != "" && a.ApplicationCredential != "", "a user and an application credential exclude each other")
	refuse(!a.exists() && *a != (KeystoneAccount{}), "there is neither a user nor an application credential")
	refuse(a.exists() && a.SecretFile == "" && a.Secret == "", "there is no file with its secret")
	refuse(a.SecretFile != "" && a.Secret != "", "a secret and a file with it exclude each other")
	refuse(a.User == "" && a.UserDomain+a.UserDomainID+a.Project+a.ProjectDomain+a.ProjectDomainID != "",
		"domains and project go with a user: an application credential has its own")
	return errors.Join(faults...)
}

func (a *KeystoneAccount) exists() bool { return a.User != "" || a.ApplicationCredential != "" }

// account is what Keystone is asked with.
func (a *KeystoneAccount) account() keystone.Account {
	return keystone.Account{User: a.User, UserDomain: a.UserDomain, Project: a.Project, ProjectDomain: a.ProjectDomain,
		UserDomainID: a.UserDomainID, ProjectDomainID: a.ProjectDomainID,
		ApplicationCredentialID: a.ApplicationCredential, Secret: func() (string, error) {
			if a.Secret != "" {
				return a.Secret, nil
			}
			text, err := os.ReadFile(a.SecretFile)
			return strings.TrimRight(string(text), "\r\n"), err
		}}
}
