// Package static sends files that are embedded in the program: held, and sent where the client agrees, as gzip, with an
// ETag and a Content-Security-Policy.
//
// It stands beside the API's two paths: pages for browsers are made of such files.
package static
