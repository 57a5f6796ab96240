package closers

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Stack ends the parts of a process, in the reverse order of opening.
type Stack []closer

// closer ends one part, until ctx ends where that may take long.
type closer struct {
	name  string
	close func(ctx context.Context) error
}

// Add adds a part that was opened.
func (s *Stack) Add(name string, close func(context.Context) error) {
	*s = append(*s, closer{name, close})
}

// Close ends all parts, and forgets them.
func (s *Stack) Close(ctx context.Context) error {
	var errs []error
	for _, part := range slices.Backward(*s) {
		if err := part.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", part.name, err))
		}
	}
	*s = nil
	return errors.Join(errs...)
}
