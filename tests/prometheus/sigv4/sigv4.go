package sigv4

import (
	"errors"
	"net/http"
)

// SigV4Config has no settings.
type SigV4Config struct{}

// NewSigV4RoundTripper fails.
func NewSigV4RoundTripper(*SigV4Config, http.RoundTripper) (http.RoundTripper, error) {
	return nil, errors.ErrUnsupported
}
