package main

import (
	"context"
	"errors"
)

func openConfig(ctx context.Context, path string) (source, error) {
	return nil, errors.New("--from-config: not yet")
}
