package auth

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Basic believes the user name of the Authorization header, with any password, as Gnocchi's basic mode does. It
// separates users who mean well, and belongs behind a proxy that checks. User "admin" has the admin role.
type Basic struct{}

// Authenticate implements Authenticator.
func (Basic) Authenticate(r *http.Request) (*Identity, error) {
	user, _, ok := basicCredentials(r)
	if !ok {
		return nil, ErrNoCredentials
	}
	return newUser(user, userRoles(user)...), nil
}

func (Basic) Open() bool { return true }

// Challenge implements Authenticator: like Gnocchi, it asks for nothing.
func (Basic) Challenge() string        { return "" }
func (Basic) Credentials() Credentials { return NameOnly }

// basicCredentials reads the Authorization header. It is laxer than http.Request.BasicAuth, as Gnocchi is.
func basicCredentials(r *http.Request) (user, password string, ok bool) {
	scheme, credentials, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(decoded), ":")
}
