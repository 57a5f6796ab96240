package client

import (
	"crypto/x509"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

// Options say who asks. The first of these that is given counts: Token, a user in the URL, User, KeystoneURL.
type Options struct {
	Token          string // sent as X-Auth-Token
	User, Password string // of basic authentication; the password also goes with a user in the URL without one

	KeystoneURL string           // where tokens are got, such as http://keystone:5000/v3
	Account     keystone.Account // that they are for

	CAs *x509.CertPool // who signs the certificates of the server and of Keystone; nil: whom the system trusts
}
