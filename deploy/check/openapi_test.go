package check

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// openapi.yaml is valid OpenAPI. The tests of api hold routes and answers to it.
func TestOpenAPI(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}
