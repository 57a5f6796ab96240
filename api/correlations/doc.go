// Package correlations serves POST /v1/correlations, whose jobs package query/correlations computes, and POST
// /v1/changes. Read handlers.go first: it has the routes.
package correlations
