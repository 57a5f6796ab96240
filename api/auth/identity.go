package auth

import (
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/policy"
)

var (
	// ErrNoCredentials says that a request has no credentials, or wrong ones.
	ErrNoCredentials = errors.New("auth: no valid credentials")

	// ErrKeystone says that Keystone gave no answer about a token.
	ErrKeystone = errors.New("auth: Keystone cannot be asked about the token")
)

// An Authenticator finds out who sent a request.
type Authenticator interface {
	// Authenticate returns who sent a request. Its error is ErrNoCredentials unless the check itself failed.
	Authenticate(*http.Request) (*Identity, error)

	// Open reports whether lists and resources are shown to everyone, as Gnocchi shows them in modes basic and
	// remoteuser. Changes and measures still belong to their creator.
	Open() bool

	// Challenge returns the WWW-Authenticate header of a 401; "" for none.
	Challenge() string

	// Credentials returns the kind of credentials that a login form asks for.
	Credentials() Credentials
}

// Credentials are the kinds of credentials that a login form asks for.
type Credentials string

// The kinds of Credentials.
const (
	NameOnly     Credentials = "name"     // a user's name by Basic; the password is not checked
	NamePassword Credentials = "password" // a user's name and password by Basic
	// a token as X-Auth-Token, or an application credential's ID and secret by Basic
	Token   Credentials = "token"
	Nothing Credentials = "none" // a proxy has asked
)

// An Identity is a user who sent a request. It is shared and never modified.
type Identity struct {
	User      string // becomes the creator of metrics and resources: a user's name, or "user ID:project ID"
	ProjectID string // "" in modes without projects

	Credentials policy.Credentials // what rules are checked against
}

// newUser returns a user of the modes that know names only.
func newUser(name string, roles ...string) *Identity {
	return &Identity{
		User:        name,
		Credentials: policy.Credentials{Roles: roles, Attributes: map[string]string{"user": name, "system": "all"}},
	}
}

// newKeystoneUser returns a user as Keystone knows them.
func newKeystoneUser(user, project, domain string, roles []string) *Identity {
	creator := user + ":" + project
	return &Identity{
		User: creator, ProjectID: project,
		Credentials: policy.Credentials{Roles: roles, Attributes: map[string]string{
			"user": creator, "user_id": user, "project_id": project, "domain_id": domain,
		}},
	}
}

// userRoles returns the roles that a user's name alone gives.
func userRoles(name string) []string {
	if name == "admin" {
		return []string{"admin"}
	}
	return nil
}
