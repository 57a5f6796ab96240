package api

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// resourceJSON is a resource as the API shows it.
type resourceJSON struct {
	*model.Resource
	only []string // the members to show; nil for all
}

// showResource shows r with its metrics if it has them read, and with the attributes of its type.
func showResource(r *model.Resource) resourceJSON { return resourceJSON{Resource: r} }

// asType is for a resource that is read as of a type, which may be generic. Attributes that the type does not have are
// left out.
func asType(r *model.Resource, resourceType string) *model.Resource {
	if resourceType == model.GenericType && r.Type != resourceType {
		generic := *r
		generic.Attributes = nil
		return &generic
	}
	return r
}

func (r resourceJSON) MarshalJSON() ([]byte, error) { return r.append(make([]byte, 0, 768), ""), nil }

// append appends the object, with space after its colons and commas, as text.AppendJSON writes it.
func (r resourceJSON) append(dst []byte, space string) []byte {
	user, project, _ := strings.Cut(r.Creator, ":")
	o := objectWriter{only: r.only, space: space, dst: append(dst, '{'), empty: true}
	o.member("id", r.ID)
	o.member("original_resource_id", r.OriginalID)
	o.member("type", r.Type)
	o.member("creator", r.Creator)
	o.member("created_by_user_id", user)
	o.member("created_by_project_id", project)
	o.member("user_id", r.UserID)
	o.member("project_id", r.ProjectID)
	o.member("started_at", web.ShowTime(r.StartedAt))
	o.member("ended_at", web.ShowTimeOrNull(r.EndedAt))
	o.member("revision_start", web.ShowTime(r.RevisionStart))
	o.member("revision_end", web.ShowTimeOrNull(r.RevisionEnd))
	for _, a := range r.Attributes {
		if t, ok := a.Value.(carbonara.Timestamp); ok {
			o.member(a.Name, web.ShowTime(t))
			continue
		}
		o.member(a.Name, a.Value)
	}
	if r.Metrics != nil && o.name("metrics") {
		o.metrics(r.Metrics)
	}
	return append(o.dst, '}')
}

// writeResources answers with a list of resources: as writeJSON would, but without a second pass.
func writeResources(w http.ResponseWriter, resources []resourceJSON) error {
	dst := append(make([]byte, 0, 1024*(1+len(resources))), '[')
	for i, r := range resources {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = r.append(dst, " ")
	}
	w.Header().Set("Content-Type", "application/json")
	web.WriteBody(w, http.StatusOK, append(dst, ']'))
	return nil
}

// objectWriter appends the members of a JSON object.
type objectWriter struct {
	dst   []byte
	only  []string // nil for all
	space string   // after colons and commas
	empty bool
}

// member appends a member whose value always marshals.
func (o *objectWriter) member(name string, value any) {
	if o.name(name) {
		o.value(value)
	}
}

// name begins a member, unless it is not to be shown.
func (o *objectWriter) name(name string) bool {
	if o.only != nil && !slices.Contains(o.only, name) {
		return false
	}
	o.separate(&o.empty)
	o.text(name)
	o.dst = append(append(o.dst, ':'), o.space...)
	return true
}

// separate appends a comma, but for the first time.
func (o *objectWriter) separate(empty *bool) {
	if !*empty {
		o.dst = append(append(o.dst, ','), o.space...)
	}
	*empty = false
}

// value appends a value. Most are texts.
func (o *objectWriter) value(value any) {
	switch v := value.(type) {
	case string:
		o.text(v)
	case *string:
		if v == nil {
			o.dst = append(o.dst, "null"...)
		} else {
			o.text(*v)
		}
	case uuid.UUID:
		o.dst = append(o.dst, '"')
		o.dst = append(appendUUID(o.dst, v), '"')
	case float64:
		o.dst = text.AppendFloat(o.dst, v) // clients in Python tell 8.0 from 8
	default:
		o.marshal(value)
	}
}

// text appends a text, which needs no escapes as a rule.
func (o *objectWriter) text(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			o.marshal(text)
			return
		}
	}
	o.dst = append(append(append(o.dst, '"'), text...), '"')
}

func (o *objectWriter) marshal(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic("api: " + err.Error())
	}
	o.dst = append(o.dst, text...)
}

// metrics appends metrics by name.
func (o *objectWriter) metrics(metrics map[string]uuid.UUID) {
	o.dst = append(o.dst, '{')
	empty := true
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		o.separate(&empty)
		o.text(name)
		o.dst = append(append(o.dst, ':'), o.space...)
		o.value(metrics[name])
	}
	o.dst = append(o.dst, '}')
}

// appendUUID appends an ID as it is shown.
func appendUUID(dst []byte, id uuid.UUID) []byte {
	for i, part := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}
