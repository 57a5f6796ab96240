package api

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Identity is who sent a request.
type Identity struct {
	User  string // becomes the creator of what they create
	Admin bool
}

// Owns tells whether the identity may see and change what creator made: admin may everything.
func (i *Identity) Owns(creator string) bool { return i.Admin || i.User == creator }

// Authenticator finds out who sent a request. Its error is answered with 401.
type Authenticator interface {
	Authenticate(*http.Request) (*Identity, error)
}

// Basic believes the user name of the Authorization header, whatever the password, as Gnocchi's basic mode does: it
// keeps users apart who mean well, and belongs behind a proxy that checks. User "admin" has the admin role.
type Basic struct{}

var errNoCredentials = &Error{Status: http.StatusUnauthorized}

// Authenticate implements Authenticator.
func (Basic) Authenticate(r *http.Request) (*Identity, error) {
	scheme, credentials, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "basic") {
		return nil, errNoCredentials
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
	if err != nil {
		return nil, errNoCredentials
	}
	user, _, ok := strings.Cut(string(decoded), ":")
	if !ok {
		return nil, errNoCredentials
	}
	return &Identity{User: user, Admin: user == "admin"}, nil
}
