// Package requests has the requests that only imports and exports send: contents of archives, measures of any age,
// metrics by their labels.
package requests
