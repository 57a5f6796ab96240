// Package web is what the handlers of all protocols share. An Env knows who sent a request and what they may do, what a
// request may take of time and memory, and where failures are logged. Around it stand functions that read a body or a
// parameter, and that write an answer or an Error. This package gives each kind of error its status: see AsError.
//
// It is the ground of api: it knows no route. Read env.go first.
package web
