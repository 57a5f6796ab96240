package auth

import (
	"errors"
	"os"
	"strings"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

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
	fault := func(text string) { faults = append(faults, errors.New("auth: Keystone account: "+text)) }
	if a.User != "" && a.ApplicationCredential != "" {
		fault("a user and an application credential exclude each other")
	}
	if !a.exists() && *a != (KeystoneAccount{}) {
		fault("there is neither a user nor an application credential")
	}
	if a.exists() && a.SecretFile == "" && a.Secret == "" {
		fault("there is no file with its secret")
	}
	if a.SecretFile != "" && a.Secret != "" {
		fault("a secret and a file with it exclude each other")
	}
	if a.User == "" && a.UserDomain+a.UserDomainID+a.Project+a.ProjectDomain+a.ProjectDomainID != "" {
		fault("domains and project go with a user: an application credential has its own")
	}
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
