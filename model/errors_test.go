package model_test

import (
	"errors"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

func TestObjectError(t *testing.T) {
	f := func(err, kind error, text, cause string) {
		t.Helper()
		var object *model.ObjectError
		if !errors.Is(err, kind) || !errors.As(err, &object) {
			t.Errorf("%v is not of kind %v", err, kind)
			return
		}
		if object.Error() != text || object.Cause() != cause {
			t.Errorf("got %q, %q, want %q, %q", object.Error(), object.Cause(), text, cause)
		}
	}
	f(model.NotFound(model.NounArchivePolicy, "low"), model.ErrNotFound, "Archive policy low does not exist",
		"Archive policy does not exist")
	f(model.Exists(model.NounNamedMetric, "cpu"), model.ErrExists, "Named metric cpu already exists",
		"Named metric already exists")
	f(model.InUse(model.NounResourceType, "vm"), model.ErrInUse, "Resource type vm is still in use",
		"Resource type is still in use")
}
