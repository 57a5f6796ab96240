// Package keystone gets tokens from Keystone, by its API version 3: for a user with a password, or by an application
// credential. The server needs one to validate the tokens of others, and commands to ask a server that wants one.
package keystone
