package keystone

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Account says who a token is for. An ID goes before a name; a name lies in a domain, which is Default unless said.
type Account struct {
	User, UserID                   string
	UserDomain, UserDomainID       string
	Project, ProjectID             string // which the token is for; "": Keystone chooses
	ProjectDomain, ProjectDomainID string

	// ApplicationCredential has its own project. One that is named belongs to the user, who gives no password then.
	ApplicationCredential, ApplicationCredentialID string

	// Secret returns the password, or the application credential's secret. It is asked for each token.
	Secret func() (string, error)
}

// String names the account, without what is secret.
func (a *Account) String() string {
	switch {
	case a.ApplicationCredentialID != "":
		return "application credential " + a.ApplicationCredentialID
	case a.ApplicationCredential != "":
		return "application credential " + a.ApplicationCredential
	case a.UserID != "":
		return "user " + a.UserID
	}
	return "user " + a.User
}

type object map[string]any

// named describes a user or a project.
func named(name, id, domain, domainID string) object {
	switch {
	case id != "":
		return object{"id": id}
	case domainID != "":
		return object{"name": name, "domain": object{"id": domainID}}
	case domain != "":
		return object{"name": name, "domain": object{"name": domain}}
	}
	return object{"name": name, "domain": object{"name": "Default"}}
}

// request is the body that asks for a token.
func (a *Account) request() ([]byte, error) {
	secret, err := a.Secret()
	if err != nil {
		return nil, err
	}
	user := named(a.User, a.UserID, a.UserDomain, a.UserDomainID)
	var credential object
	switch {
	case a.ApplicationCredentialID != "":
		credential = object{"id": a.ApplicationCredentialID, "secret": secret}
	case a.ApplicationCredential != "":
		credential = object{"name": a.ApplicationCredential, "user": user, "secret": secret}
	}
	var auth object
	if credential != nil {
		auth = object{"identity": object{"methods": []string{"application_credential"},
			"application_credential": credential}}
	} else {
		user["password"] = secret
		auth = object{"identity": object{"methods": []string{"password"}, "password": object{"user": user}}}
		if a.Project != "" || a.ProjectID != "" {
			auth["scope"] = object{"project": named(a.Project, a.ProjectID, a.ProjectDomain, a.ProjectDomainID)}
		}
	}
	return json.Marshal(object{"auth": auth})
}

// TokensURL returns where tokens are made and validated, given Keystone's address, with or without its version.
func TokensURL(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", fmt.Errorf("keystone: URL %q does not look like http://host:5000/v3", address)
	}
	base := strings.TrimSuffix(address, "/")
	if !strings.HasSuffix(base, "/v3") {
		base += "/v3"
	}
	return base + "/auth/tokens", nil
}

// TrustedCAs returns the system's certificates and those of a PEM file.
func TrustedCAs(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", path)
	}
	return pool, nil
}

// FromEnvironment reads the variables that OpenStack's clients read, as an openrc file sets them. ok is false where
// they do not name a Keystone server and an account.
func FromEnvironment(getenv func(string) string) (address string, account Account, ok bool) {
	address = getenv("OS_AUTH_URL")
	secret := getenv("OS_PASSWORD")
	account = Account{
		User:                    getenv("OS_USERNAME"),
		UserID:                  getenv("OS_USER_ID"),
		UserDomain:              getenv("OS_USER_DOMAIN_NAME"),
		UserDomainID:            getenv("OS_USER_DOMAIN_ID"),
		ApplicationCredential:   getenv("OS_APPLICATION_CREDENTIAL_NAME"),
		ApplicationCredentialID: getenv("OS_APPLICATION_CREDENTIAL_ID"),
	}
	if account.ApplicationCredential != "" || account.ApplicationCredentialID != "" {
		secret = getenv("OS_APPLICATION_CREDENTIAL_SECRET")
	} else {
		account.Project = cmp.Or(getenv("OS_PROJECT_NAME"), getenv("OS_TENANT_NAME"))
		account.ProjectID = cmp.Or(getenv("OS_PROJECT_ID"), getenv("OS_TENANT_ID"))
		account.ProjectDomain, account.ProjectDomainID = getenv("OS_PROJECT_DOMAIN_NAME"), getenv(
			"OS_PROJECT_DOMAIN_ID")
	}
	account.Secret = func() (string, error) { return secret, nil }
	named := account.User != "" || account.UserID != "" || account.ApplicationCredentialID != ""
	return address, account, address != "" && named
}
