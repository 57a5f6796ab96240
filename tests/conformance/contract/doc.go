// Package contract holds answers, and the requests that were accepted, to openapi.yaml. Tests of package api put every
// answer that they get through it; contractproxy does the same between a client and a running server.
//
// An answer keeps the contract if its operation is described, with that status, the headers that are required, and a
// body of a type and form that is described. An accepted body also has to be described: the author of a client needs
// all possible bodies in openapi.yaml.
package contract
