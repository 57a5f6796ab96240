// Package proxies holds a test of the proxies of deploy/ before a server, as far as they are installed.
package proxies
