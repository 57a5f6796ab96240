package keystone

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Account says who a token is for. An ID goes before a name; a name lies in a domain, which is Default unless said.
type Account struct {
	User, UserID                   string
	UserDomain, UserDomainID       string
	Project, ProjectID             string // which the token is for; "": Keystone chooses
	ProjectDomain, ProjectDomainID string

	// An application credential has its own project. One that is named belongs to the user, who gives no password then.
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
