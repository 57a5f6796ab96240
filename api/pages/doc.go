// Package pages has the handlers for browsers: the console and its boards, the description of the API with its viewer,
// the list of the API's versions, and sessions. handlers.go has the routes.
package pages
