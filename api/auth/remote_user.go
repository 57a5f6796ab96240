package auth

import "net/http"

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

// Open implements Authenticator.
func (RemoteUser) Open() bool { return true }

// Challenge implements Authenticator.
func (RemoteUser) Challenge() string { return "" }

// Credentials implements Authenticator.
func (RemoteUser) Credentials() Credentials { return Nothing }
