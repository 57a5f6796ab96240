// Package trusted marks requests that a listener of this cluster's own processes makes: an operator opened it, and no
// client's credentials go with it. The mark is part of the context, so no client can send it.
package trusted
