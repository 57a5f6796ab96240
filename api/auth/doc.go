// Package auth finds out who sent a request. Each mode of authentication is an Authenticator: Basic, Htpasswd,
// Keystone, RemoteUser and TrustedHeaders; Options choose one. Package policy decides what an Identity may do, and
// package api enforces it.
//
// Sessions wraps Htpasswd or Keystone for browsers: a sealed cookie stands for credentials that were checked.
//
// A request without valid credentials fails with ErrNoCredentials. A check that needs a server which does not answer
// fails with ErrKeystone. Failed logins of Htpasswd are slowed by address (failed_logins.go), with a
// TooManyLoginsError; tokens cannot be guessed, and Keystone has limits of its own. Package api gives these errors
// their status.
package auth
