package keystone_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

func TestFromEnvironment(t *testing.T) {
	f := func(variables map[string]string, want keystone.Account, wantSecret string, wantOK bool) {
		t.Helper()
		_, account, ok := keystone.FromEnvironment(func(name string) string { return variables[name] })
		secret, err := account.Secret()
		account.Secret = nil
		shown := account.User + "," + account.Project + "," + account.ProjectID + "," + account.ApplicationCredentialID
		wanted := want.User + "," + want.Project + "," + want.ProjectID + "," + want.ApplicationCredentialID
		if err != nil || ok != wantOK || secret != wantSecret || shown != wanted {
			t.Errorf("%v: %s with secret %q, %t, %v; want %s with %q, %t", variables, shown, secret, ok, err, wanted,
				wantSecret, wantOK)
		}
	}
	type variables = map[string]string
	f(variables{"OS_USERNAME": "u", "OS_PASSWORD": "p"}, keystone.Account{User: "u"}, "p", false)
	f(variables{"OS_AUTH_URL": "a", "OS_PASSWORD": "p"}, keystone.Account{}, "p", false)
	f(variables{"OS_AUTH_URL": "a", "OS_USERNAME": "u", "OS_PASSWORD": "p", "OS_PROJECT_NAME": "n",
		"OS_TENANT_NAME": "t"},
		keystone.Account{User: "u", Project: "n"}, "p", true)
	f(variables{"OS_AUTH_URL": "a", "OS_USERNAME": "u", "OS_PASSWORD": "p", "OS_TENANT_NAME": "t", "OS_TENANT_ID": "i"},
		keystone.Account{User: "u", Project: "t", ProjectID: "i"}, "p", true)
	// A credential belongs to one project, and has a secret of its own.
	f(variables{"OS_AUTH_URL": "a", "OS_APPLICATION_CREDENTIAL_ID": "c", "OS_APPLICATION_CREDENTIAL_SECRET": "s",
		"OS_PASSWORD": "p", "OS_PROJECT_NAME": "n"}, keystone.Account{ApplicationCredentialID: "c"}, "s", true)
}
