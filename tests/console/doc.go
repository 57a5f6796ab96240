// Package console holds tests in which a real browser, Chromium, uses the console of a server, where it is installed.
package console
