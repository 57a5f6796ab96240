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

// Open implements Authenticator.
func (TrustedHeaders) Open() bool { return false }

// Challenge implements Authenticator.
func (TrustedHeaders) Challenge() string { return "" }

// Credentials implements Authenticator.
func (TrustedHeaders) Credentials() Credentials { return Nothing }
