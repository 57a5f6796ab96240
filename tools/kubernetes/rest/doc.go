// Package rest stands for the one of Kubernetes' client: it has what Prometheus' util/logging names, and does nothing.
// Prometheus' engine imports that package for another logger; the client that would come with it is a tenth of the
// program's packages (docs/decisions/0050-weight.md).
package rest

import "context"

// WarningHandlerWithContext is told of warnings in a server's answers.
type WarningHandlerWithContext interface {
	HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, text string)
}

// WarningLogger drops warnings: nobody asks Kubernetes anything here.
type WarningLogger struct{}

// HandleWarningHeaderWithContext implements WarningHandlerWithContext.
func (WarningLogger) HandleWarningHeaderWithContext(context.Context, int, string, string) {}
