// Package trusted marks requests that a listener of this cluster's own processes makes: an operator opened it, and no
// client's credentials go with it. The mark is part of the context, so no client can send it.
package trusted

import "context"

type key struct{}

// With returns a context of a listener's request, whose measures belong to a creator.
func With(ctx context.Context, creator string) context.Context {
	return context.WithValue(ctx, key{}, creator)
}

// Creator returns the creator of a listener's measures; false for the requests of clients.
func Creator(ctx context.Context) (creator string, ok bool) {
	creator, ok = ctx.Value(key{}).(string)
	return creator, ok
}
