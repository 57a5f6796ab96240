package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// The answers are those of Python's uuid module.
func TestResourceID(t *testing.T) {
	f := func(text, creator, want string) {
		t.Helper()
		got, err := model.ResourceID(text, creator)
		if err != nil || got.String() != want {
			t.Errorf("%q of %q is %v (%v), want %s", text, creator, got, err, want)
		}
	}
	const plain = "0a7a15ff-aa13-4ac2-897c-9bdf30ce175b"
	f(plain, "admin", plain)
	f("{0A7A15FFAA134AC2897C9BDF30CE175B}", "admin", plain)
	f("urn:uuid:0a7a15ff-aa13-4ac2-897c-9bdf30ce175b", "", plain)
	f("0-a7a15ffaa134ac2897c9bdf30ce175b", "", plain)
	f("generic zero", "admin", "89f24208-d077-5fdc-921d-43a095957052")
	f("é", "", "ce52144f-2164-55e8-b036-78165b5b4f9e")

	a, _ := model.ResourceID(strings.Repeat("é", 289), "a")
	b, _ := model.ResourceID(strings.Repeat("é", 289), "b")
	if a == b || a == uuid.Nil || a.Version() != 5 {
		t.Errorf("IDs of two creators: %v, %v", a, b)
	}

	refused := func(text string) {
		t.Helper()
		_, err := model.ResourceID(text, "admin")
		var fieldErr *model.FieldError
		if !errors.As(err, &fieldErr) || fieldErr.Field != "id" {
			t.Errorf("%q: error %v", text, err)
		}
	}
	refused("id-with-/")
	refused(strings.Repeat("é", 290))
}

func FuzzParseUUID(f *testing.F) {
	f.Add("urn:uuid:0a7a15ff-aa13-4ac2-897c-9bdf30ce175b")
	f.Add("{0A7A15FFAA134AC2897C9BDF30CE175B}")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := model.ParseUUID(text)
		if err != nil {
			return
		}
		if again, err := model.ParseUUID(id.String()); err != nil || again != id {
			t.Fatalf("%q is %v, which is %v (%v)", text, id, again, err)
		}
	})
}

func TestValidate(t *testing.T) {
	policy := model.DefaultArchivePolicies()[0]
	resource := uuid.New()
	f := func(m model.Metric, field string) {
		t.Helper()
		err := m.Validate()
		var fieldErr *model.FieldError
		if field == "" && err != nil || field != "" && (!errors.As(err, &fieldErr) || fieldErr.Field != field) {
			t.Errorf("%+v: error %v, want one of field %q", m, err, field)
		}
	}
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy}, "")
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy, Name: "cpu", Unit: strings.Repeat("é", 31),
		ResourceID: &resource}, "")
	f(model.Metric{ArchivePolicy: policy}, "") // gets its ID where it is kept
	f(model.Metric{ID: uuid.New()}, "archive_policy_name")
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy, Name: "a/b"}, "name")
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy, Name: strings.Repeat("n", 256)}, "name")
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy, ResourceID: &resource}, "name")
	f(model.Metric{ID: uuid.New(), ArchivePolicy: policy, Unit: strings.Repeat("u", 32)}, "unit")

	early := model.Resource{ID: uuid.New(), Type: model.GenericType, StartedAt: 5}
	if err := early.Validate(); err != nil {
		t.Error(err)
	}
	ended := early.StartedAt - 1
	early.EndedAt = &ended
	if err := early.Validate(); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("a resource that ended before it started: %v", err)
	}
}
