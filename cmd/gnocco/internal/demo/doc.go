// Package demo measures the machine that it runs on and sends the measures to a server, once a second, through the REST
// API as any agent would: host.go reads the figures, demo.go creates what the server lacks and sends.
package demo
