package keystone

import "cmp"

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
