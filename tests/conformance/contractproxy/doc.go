// Command contractproxy stands between a client and a server and holds every answer to openapi.yaml: each breach is
// told on standard error, and when it is ended by SIGTERM its exit status says whether there was one.
package main
