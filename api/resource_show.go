package api

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// resourceJSON is a resource as the API shows it.
type resourceJSON struct {
	*model.Resource
	only []string // the members to show; nil for all
}

// showResource shows r with its metrics if it has them read, and with the attributes of its type.
func showResource(r *model.Resource) resourceJSON { return resourceJSON{Resource: r} }

// asType is for a resource that is read as of a type, which may be generic: what the type does not have is left out.
func asType(r *model.Resource, resourceType string) *model.Resource {
	if resourceType == model.GenericType && r.Type != resourceType {
		generic := *r
		generic.Attributes = nil
		return &generic
	}
	return r
}

// MarshalJSON implements json.Marshaler.
func (r resourceJSON) MarshalJSON() ([]byte, error) {
	user, project, _ := strings.Cut(r.Creator, ":")
	o := objectWriter{only: r.only, dst: append(make([]byte, 0, 768), '{')}
	o.member("id", r.ID)
	o.member("original_resource_id", r.OriginalID)
	o.member("type", r.Type)
	o.member("creator", r.Creator)
	o.member("created_by_user_id", user)
	o.member("created_by_project_id", project)
	o.member("user_id", r.UserID)
	o.member("project_id", r.ProjectID)
	o.member("started_at", showTime(r.StartedAt))
	o.member("ended_at", showTimeOrNull(r.EndedAt))
	o.member("revision_start", showTime(r.RevisionStart))
	o.member("revision_end", showTimeOrNull(r.RevisionEnd))
	for _, a := range r.Attributes {
		if t, ok := a.Value.(carbonara.Timestamp); ok {
			o.member(a.Name, showTime(t))
			continue
		}
		o.member(a.Name, a.Value)
	}
	if r.Metrics != nil {
		o.member("metrics", r.Metrics)
	}
	return append(o.dst, '}'), nil
}

// objectWriter appends the members of a JSON object.
type objectWriter struct {
	dst  []byte
	only []string // nil for all
}

// member appends a member whose value always marshals.
func (o *objectWriter) member(name string, value any) {
	if o.only != nil && !slices.Contains(o.only, name) {
		return
	}
	if len(o.dst) > 1 {
		o.dst = append(o.dst, ',')
	}
	for i, part := range [...]any{name, value} {
		if number, ok := part.(float64); ok {
			o.dst = appendFloat(o.dst, number) // clients in Python tell 8.0 from 8
			continue
		}
		text, err := json.Marshal(part)
		if err != nil {
			panic("api: " + err.Error())
		}
		if o.dst = append(o.dst, text...); i == 0 {
			o.dst = append(o.dst, ':')
		}
	}
}

// showTime writes t as resources do: to the microsecond, without a fraction if that is zero.
func showTime(t carbonara.Timestamp) string {
	layout := "2006-01-02T15:04:05.000000+00:00"
	if t%carbonara.Timestamp(time.Second) < carbonara.Timestamp(time.Microsecond) {
		layout = "2006-01-02T15:04:05+00:00"
	}
	return t.Time().Format(layout)
}

func showTimeOrNull(t *carbonara.Timestamp) *string {
	if t == nil {
		return nil
	}
	text := showTime(*t)
	return &text
}
