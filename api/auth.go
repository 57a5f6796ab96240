package api

import (
	"net/http"

	"gnocco/api/policy"
)

// Authenticator finds out who sent a request. Each mode of authentication is one: Basic, RemoteUser, TrustedHeaders,
// Keystone and Htpasswd.
type Authenticator interface {
	// Authenticate returns who sent a request. An error other than an *Error is answered with 401.
	Authenticate(*http.Request) (*Identity, error)

	// Open tells whether lists and resources are shown to everyone, as Gnocchi shows them in modes basic and
	// remoteuser. What may be changed, and measures, are their creator's nevertheless.
	Open() bool

	// Challenge is the WWW-Authenticate header of a 401; "" for none.
	Challenge() string
}

// Identity is who sent a request. It is shared and never modified.
type Identity struct {
	User string // becomes the creator of what they create: a user's name, or "user ID:project ID"

	ProjectID   string // "" in modes without projects
	credentials policy.Credentials
}

// newUser returns a user of the modes that know names only.
func newUser(name string, roles ...string) *Identity {
	return &Identity{
		User:        name,
		credentials: policy.Credentials{Roles: roles, Attributes: map[string]string{"user": name, "system": "all"}},
	}
}

// newKeystoneUser returns a user as Keystone knows them.
func newKeystoneUser(user, project, domain string, roles []string) *Identity {
	creator := user + ":" + project
	return &Identity{
		User: creator, ProjectID: project,
		credentials: policy.Credentials{Roles: roles, Attributes: map[string]string{
			"user": creator, "user_id": user, "project_id": project, "domain_id": domain,
		}},
	}
}

// userRoles are the roles of a user whom no one else gives any.
func userRoles(name string) []string {
	if name == "admin" {
		return []string{"admin"}
	}
	return nil
}

var errNoCredentials = &Error{Status: http.StatusUnauthorized}
