package auth

import (
	"net/http"
	"strings"
)

// TrustedHeaders believes X-User-Id, X-Project-Id, X-Domain-Id and X-Roles. It is mode keystone behind a proxy that
// validates tokens, sets these headers, and removes those that clients send.
type TrustedHeaders struct{}

// Authenticate implements Authenticator.
func (TrustedHeaders) Authenticate(r *http.Request) (*Identity, error) {
	// Keystone's own middleware reports here what it found, if it is set to let invalid tokens pass.
	if status := r.Header.Get("X-Identity-Status"); status != "" && !strings.EqualFold(status, "Confirmed") {
		return nil, ErrNoCredentials
	}
	user := r.Header.Get("X-User-Id")
	if user == "" {
		return nil, ErrNoCredentials
	}
	var roles []string
	for role := range strings.SplitSeq(r.Header.Get("X-Roles"), ",") {
		if role = strings.TrimSpace(role); role != "" {
			roles = append(roles, role)
		}
	}
	return newKeystoneUser(user, r.Header.Get("X-Project-Id"), r.Header.Get("X-Domain-Id"), roles), nil
}

func (TrustedHeaders) Open() bool               { return false }
func (TrustedHeaders) Challenge() string        { return "" }
func (TrustedHeaders) Credentials() Credentials { return Nothing }

// RemoteUser believes a header that a proxy in front sets after it has checked the user. The proxy removes the header
// from the requests of clients. User "admin" has the admin role.
type RemoteUser struct {
	Header string // such as X-Remote-User
}

// Authenticate implements Authenticator.
func (a RemoteUser) Authenticate(r *http.Request) (*Identity, error) {
	user := r.Header.Get(a.Header)
	if user == "" {
		return nil, ErrNoCredentials
	}
	return newUser(user, userRoles(user)...), nil
}

func (RemoteUser) Open() bool               { return true }
func (RemoteUser) Challenge() string        { return "" }
func (RemoteUser) Credentials() Credentials { return Nothing }
