package main

import (
	"cmp"
	"net/url"

	"gnocco/internal/keystone"
)

// openStackAccount reads the variables that an openrc file sets; address is "" where they name no account.
func openStackAccount(getenv func(string) string) (address string, account keystone.Account) {
	account = keystone.Account{
		User: getenv("OS_USERNAME"), UserID: getenv("OS_USER_ID"),
		UserDomain: getenv("OS_USER_DOMAIN_NAME"), UserDomainID: getenv("OS_USER_DOMAIN_ID"),
		ApplicationCredential: getenv("OS_APPLICATION_CREDENTIAL_NAME"), ApplicationCredentialID: getenv("OS_APPLICATION_CREDENTIAL_ID"),
	}
	secret := getenv("OS_APPLICATION_CREDENTIAL_SECRET")
	if account.ApplicationCredential == "" && account.ApplicationCredentialID == "" {
		secret = getenv("OS_PASSWORD")
		account.Project, account.ProjectID = cmp.Or(getenv("OS_PROJECT_NAME"), getenv("OS_TENANT_NAME")), getenv("OS_PROJECT_ID")
		account.ProjectDomain, account.ProjectDomainID = getenv("OS_PROJECT_DOMAIN_NAME"), getenv("OS_PROJECT_DOMAIN_ID")
	}
	account.Secret = func() (string, error) { return secret, nil }
	if account.User == "" && account.UserID == "" && account.ApplicationCredentialID == "" {
		return "", account
	}
	return getenv("OS_AUTH_URL"), account
}

// withoutPassword returns an address as it may be kept and shown.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = url.User(u.User.Username())
	return u.String()
}
