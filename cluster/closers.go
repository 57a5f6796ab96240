package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Closers end the parts of a process, in the reverse order of opening.
type Closers []closer

// closer ends one part, until ctx ends where that may take long.
type closer struct {
	name  string
	close func(ctx context.Context) error
}

// Add adds a part that was opened.
func (c *Closers) Add(name string, close func(context.Context) error) {
	*c = append(*c, closer{name, close})
}

// Close ends all parts, and forgets them.
func (c *Closers) Close(ctx context.Context) error {
	var errs []error
	for _, part := range slices.Backward(*c) {
		if err := part.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", part.name, err))
		}
	}
	*c = nil
	return errors.Join(errs...)
}
