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
