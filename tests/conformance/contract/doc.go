// Package contract holds answers, and the requests that were accepted, to openapi.yaml. Tests of package api put every
// answer that they get through it; contractproxy does the same between a client and a running server.
//
// An answer keeps the contract if its operation is described, with that status, the headers that are required, and a
// body of a type and form that is described. A body that was accepted has to be described too: who writes a client from
// openapi.yaml is not to be told less than what is possible.
package contract
