// Package testcert makes certificates for tests of TLS.
package testcert
